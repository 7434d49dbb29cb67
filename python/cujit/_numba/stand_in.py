"""cujit in the place of numba.cuda, for programs that are not to be changed: an import hook.

`numba.cuda` and every module below it are cujit.cuda's of the same name, the same objects. What else numba has stays
numba's where it is installed; where it is not, `numba` is the small package in the folder `package`.
"""
from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_PACKAGE = os.path.join(os.path.dirname(__file__), "package")


class _Alias:
    """A loader that gives a module of cujit's another name."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._spec: Any = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._own)
        self._spec = getattr(module, "__spec__", None)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self._spec is not None:
            module.__spec__ = self._spec   # the import system has put the alias there
        if self._own == "cujit.cuda":
            _when_cuda_is_there()


class NumbaFinder:
    """A finder for sys.meta_path: numba.cuda in cujit, and numba itself where none is installed."""

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "numba":
            return self._numba_itself(path, target)
        if name != "numba.cuda" and not name.startswith("numba.cuda."):
            return None
        own = name.replace("numba", "cujit", 1)
        if own not in sys.modules and importlib.util.find_spec(own) is None:
            raise ModuleNotFoundError(f"No module named '{name}': cujit is in the place of numba.cuda, and has none "
                                      "of this name", name=name)
        return ModuleSpec(name, _Alias(own))   # type: ignore[arg-type]

    def _numba_itself(self, path, target):
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec("numba", path, target)
            if spec is not None:
                return spec
        return importlib.util.spec_from_file_location("numba", os.path.join(_PACKAGE, "__init__.py"),
                                                      submodule_search_locations=[_PACKAGE])


def _when_cuda_is_there() -> None:
    """Connects settings and errors with those of an installed numba. Hints for GPUs are not given where the CPU device
    was asked for: the libraries' tests that run there take warnings for failures. Nor are they in processes that this
    one starts: kernels that come there in a pickle import cujit without a name of numba's."""
    from cujit import config

    if getattr(sys.modules.get("numba"), "__path__", None) != [_PACKAGE]:
        from cujit._numba import installed_numba

        installed_numba.connect()
    if os.environ.get("CUJIT_DEVICE") == "cpu":
        for name in ("LOW_OCCUPANCY_WARNINGS", "WARN_ON_IMPLICIT_COPY"):
            if os.environ.get(f"CUJIT_{name}", os.environ.get(f"NUMBA_CUDA_{name}")) is None:
                setattr(config, f"CUDA_{name}", False)
                os.environ[f"CUJIT_{name}"] = "0"


def install_as_numba() -> None:
    """From now on `numba.cuda`, and vectorize and guvectorize of numba with target="cuda", are cujit's.

    Programs and libraries that are written for numba.cuda then run as they are. To be called before any of them
    imports numba.cuda; a second call does nothing. An installed numba keeps all else; without one, `import numba` gives
    a package with cuda, vectorize, guvectorize, the types, config and errors. NUMBA_ENABLE_CUDASIM=1 asks for the CPU
    device, as CUJIT_DEVICE=cpu does.

    Raises
    ------
    RuntimeError
        numba.cuda has been imported before.

    Examples
    --------
    >>> import cujit
    >>> cujit.install_as_numba()
    >>> from numba import cuda
    >>> cuda is cujit.cuda
    True
    """
    if any(isinstance(finder, NumbaFinder) for finder in sys.meta_path):
        return
    if "numba.cuda" in sys.modules:
        raise RuntimeError("numba.cuda has been imported before: call cujit.install_as_numba() first of all, or run "
                           "the program by python -m cujit")
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0"):
        os.environ.setdefault("CUJIT_DEVICE", "cpu")
    sys.meta_path.insert(0, NumbaFinder())
