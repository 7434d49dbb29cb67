"""Options: every row of core/option.def is read, checked, shown, and a part of what code is kept under."""
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cujit
from cujit import cuda
from cujit.cuda._dispatch import options
from cujit.errors import OptionsWarning

ROOT = Path(__file__).resolve().parents[3]

# For each kind, two values that differ.
VALUES = {"flag": (False, True), "level": (1, 2), "float_rules": ({"nnan"}, {"ninf"}), "literals": ("numba", "weak"),
          "number": (40, 48), "launch_bounds": ((64, 1), (64, 2)), "carveout": (50, 60),
          "checks": ("bounds", False), "observation": ("lines", "accesses")}
WRONG = {"flag": np.zeros(2), "level": 4, "float_rules": "quick", "literals": "wide", "number": "many",
         "launch_bounds": (1, 2, 3, 4), "carveout": 101, "checks": "bonds", "observation": "words"}


def no_op(out):
    out[0] = 1.0


@pytest.mark.parametrize("function, names", [(cuda.jit, options.TABLE), (cuda.compile, options.OF_CODE),
                                             (cuda.compile_ptx, options.OF_CODE), (cujit.vectorize, options.OF_LOOPS),
                                             (cujit.guvectorize, options.OF_LOOPS)])
def test_signatures_show_every_option(function, names):
    shown = inspect.signature(function).parameters
    assert {name: shown[name].default for name in names} == {name: options.DEFAULTS[name] for name in names}
    assert all(f"\n{name} : default" in function.__doc__ for name in names)
    assert "given" not in shown and "options" not in shown


def test_defaults_are_numbas():
    shown = inspect.signature(cuda.jit).parameters
    assert shown["device"].default is False and shown["opt"].default is None and shown["fastmath"].default is False


@pytest.mark.parametrize("name", options.TABLE)
def test_every_option_is_read(name):
    kind = options.TABLE[name]["kind"]
    for value in (*VALUES[kind], None):
        kernel = cuda.jit(**{name: value})(no_op)
        out = np.zeros(1)
        kernel[1, 1](out)
        assert out[0] == 1.0
    with pytest.raises((ValueError, TypeError)):
        cuda.jit(**{name: WRONG[kind]})(no_op)


def test_nothing_else_is_an_option():
    for make in (cuda.jit, lambda **given: cuda.compile_ptx(no_op, "void(float64[::1])", **given)):
        with pytest.raises(TypeError, match="has no option 'fast_math'"):
            make(fast_math=True)
    with pytest.raises(TypeError, match="has no option 'cache'"):
        cuda.compile_ptx(no_op, "void(float64[::1])", cache=True)


def test_an_unknown_option_of_a_device_function_is_ignored():
    """As numba.cuda does, which programs rely on: they have misspelled ones there."""
    with pytest.warns(OptionsWarning, match=r"no option 'fast_math'; did you mean 'fastmath'\?") as given:
        @cuda.jit(device=True, fast_math=True)
        def twice(x):
            return 2 * x
    assert [each.filename for each in given] == [__file__]

    @cuda.jit
    def kernel(out):
        out[0] = twice(out[0])

    out = np.ones(1)
    kernel[1, 1](out)
    assert out[0] == 2.0
    with pytest.raises(TypeError, match=r"has no option 'fast_math'; did you mean 'fastmath'\?$"):
        cuda.jit(fast_math=True)
    with pytest.raises(TypeError, match="has no option 'xyzzy'$"):
        cuda.jit(xyzzy=True)


@pytest.mark.parametrize("name", options.OF_CODE)
def test_options_of_code_are_in_the_key(name, tmp_path, monkeypatch):
    """Code that was kept with one value is not taken for another one's."""
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CUJIT_CACHE", "1")
    hits = []
    for value in (*VALUES[options.TABLE[name]["kind"]], VALUES[options.TABLE[name]["kind"]][0]):
        kernel = cuda.jit(**{name: value, "cache": True})(no_op)
        kernel[1, 1](np.zeros(1))
        hits.append(len(kernel.stats.cache_hits))
    assert hits == [0, 0, 1]


def test_stub_is_made_of_the_table():
    subprocess.run([sys.executable, ROOT / "scripts" / "options_stub.py"], check=True)


def test_options_of_numbas_compiler_for_cpus_are_ignored_with_one_warning():
    with pytest.warns(OptionsWarning, match="nogil, nopython") as caught:
        kernel = cuda.jit("void(int64[:])", nopython=True, nogil=False)(lambda x: None)
    assert len(caught) == 1 and "nopython" not in kernel.targetoptions


class _OfNumba:
    """What numba's dispatchers are for others: objects with the Python function."""

    def __init__(self, function):
        self.py_func = function

    def __call__(self, *args):
        return self.py_func(*args)


def test_a_function_that_numba_has_compiled():
    plus = cuda.jit(device=True)(_OfNumba(lambda x: x + 5))

    @cuda.jit
    def kernel(out):
        out[0] = plus(3)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 8
