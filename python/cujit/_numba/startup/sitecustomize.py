"""Python reads this when it starts below `python -m cujit`, which puts this folder on PYTHONPATH: programs and all
Python processes that they start find cujit in the place of numba.cuda. cujit itself is imported when numba is."""
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class _WhenNumbaIsWanted:
    """A finder that calls cujit.install_as_numba() when the program imports numba."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "numba":
            return None
        sys.meta_path.remove(cls)
        from cujit import install_as_numba

        install_as_numba()
        return sys.meta_path[0].find_spec(name, path, target)


def _run_what_this_hides():
    """Executes the sitecustomize that Python would have found without this one."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None:
        module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]
sys.meta_path.insert(0, _WhenNumbaIsWanted)
_run_what_this_hides()
