"""Settings under numba's names, to be read and assigned: `cujit.config.CUDA_LOW_OCCUPANCY_WARNINGS = False`.

CUDA_LOW_OCCUPANCY_WARNINGS, CUDA_WARN_ON_IMPLICIT_COPY: whether small grids and host arrays as arguments are warned of.
CUDA_ARRAY_INTERFACE_SYNC: whether a launch waits for the streams that arrays of other libraries name.
DISABLE_PERFORMANCE_WARNINGS: whether none of the first two is on.
CUDA_DEFAULT_PTX_CC: the compute capability that cuda.compile and its kin compile for unless they are told one.
CUDA_DEBUGINFO_DEFAULT: whether cuda.jit has debug=True unless it is told.
ENABLE_CUDASIM: False; the CPU device is no simulator.
Other settings of numba.cuda have numba's values and no effect: assigning another one is warned of.
"""
from __future__ import annotations

import os
import re
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.errors import OptionsWarning

_NAMES = {
    "CUDA_LOW_OCCUPANCY_WARNINGS": "low_occupancy_warnings",
    "CUDA_WARN_ON_IMPLICIT_COPY": "implicit_copy_warnings",
    "CUDA_ARRAY_INTERFACE_SYNC": "array_interface_sync",
}

_WITHOUT_EFFECT = {   # numba's settings: their values there, which cujit does not look at
    "ENABLE_CUDASIM": False, "DISABLE_CUDA": False, "DISABLE_JIT": False,
    "ALWAYS_WARN_UNINIT_VAR": False, "CUDA_DEBUG_POLY": False,
    "CUDA_DEALLOCS_COUNT": 10, "CUDA_DEALLOCS_RATIO": 0.2, "CUDA_ENABLE_NRT": False,
    "CUDA_LOG_API_ARGS": False, "CUDA_LOG_LEVEL": "",
    "CUDA_LOG_SIZE": 1024, "CUDA_NRT_STATS": False, "CUDA_PER_THREAD_DEFAULT_STREAM": False,
    "CUDA_USE_NVIDIA_BINDING": True, "CUDA_VERBOSE_JIT_LOG": True, "DEBUG": False, "DUMP_ASSEMBLY": False,
    "DUMP_BYTECODE": False, "DUMP_CFG": False, "DUMP_IR": False, "DUMP_LLVM": False, "DUMP_OPTIMIZED": False,
    "FORCE_CUDA_CC": None, "FULL_TRACEBACKS": False, "OPT": 3,
}

if TYPE_CHECKING:
    ENABLE_CUDASIM: bool
    CUDA_LOW_OCCUPANCY_WARNINGS: bool
    CUDA_WARN_ON_IMPLICIT_COPY: bool
    CUDA_ARRAY_INTERFACE_SYNC: bool
    DISABLE_PERFORMANCE_WARNINGS: bool


def _setting(name: str) -> property:
    return property(lambda module: _core.get_setting(name),
                    lambda module, value: _core.set_setting(name, value))


_HINTS = "low_occupancy_warnings", "implicit_copy_warnings"


def _set_hints(module: types.ModuleType, disabled: Any) -> None:
    for name in _HINTS:
        _core.set_setting(name, not disabled)


def _environment(name: str, numbas: str) -> str:
    return os.environ.get(f"CUJIT_{name}", os.environ.get(numbas, ""))


def _default_cc() -> tuple[int, int]:
    text = _environment("DEFAULT_PTX_CC", "NUMBA_CUDA_DEFAULT_PTX_CC")
    found = re.fullmatch(r"(\d+)\.(\d)", text)
    if text and not found:
        warnings.warn(f"the default compute capability {text!r} is none such as 8.0", OptionsWarning, stacklevel=2)
    return (int(found[1]), int(found[2])) if found else (7, 5)


class _Settings(types.ModuleType):
    """The module itself, with properties."""

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_NAMES, "DISABLE_PERFORMANCE_WARNINGS"})

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _WITHOUT_EFFECT:
            if value != _WITHOUT_EFFECT[name]:
                warnings.warn(f"the setting {name} has no effect on cujit", OptionsWarning, stacklevel=2)
        elif name.isupper() and name not in _KNOWN:
            raise AttributeError(f"there is no setting '{name}'; there are {', '.join(_KNOWN)}")
        super().__setattr__(name, value)


CUDA_DEFAULT_PTX_CC = _default_cc()
CUDA_DEBUGINFO_DEFAULT = _environment("DEBUGINFO", "NUMBA_CUDA_DEBUGINFO") not in ("", "0")
_KNOWN = *_NAMES, "DISABLE_PERFORMANCE_WARNINGS", "CUDA_DEFAULT_PTX_CC", "CUDA_DEBUGINFO_DEFAULT"

globals().update(_WITHOUT_EFFECT)
_Settings.DISABLE_PERFORMANCE_WARNINGS = property(  # type: ignore[attr-defined]
    lambda module: not any(map(_core.get_setting, _HINTS)), _set_hints)
for _name, _own in _NAMES.items():
    setattr(_Settings, _name, _setting(_own))
sys.modules[__name__].__class__ = _Settings
if _environment("DISABLE_PERFORMANCE_WARNINGS", "NUMBA_DISABLE_PERFORMANCE_WARNINGS") not in ("", "0"):
    _set_hints(sys.modules[__name__], True)
