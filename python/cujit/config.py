"""Settings under numba's names, to be read and assigned: `cujit.config.CUDA_LOW_OCCUPANCY_WARNINGS = False`.

CUDA_LOW_OCCUPANCY_WARNINGS, CUDA_WARN_ON_IMPLICIT_COPY: whether small grids and host arrays as arguments are warned of.
CUDA_ARRAY_INTERFACE_SYNC: whether a launch waits for the streams that arrays of other libraries name.
ENABLE_CUDASIM: False; the CPU device is no simulator.
Other settings of numba.cuda have numba's values and no effect: assigning another one is warned of.
"""
from __future__ import annotations

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
    "ENABLE_CUDASIM": False, "DISABLE_CUDA": False, "DISABLE_JIT": False, "CUDA_DEBUGINFO_DEFAULT": False,
    "ALWAYS_WARN_UNINIT_VAR": False, "CUDA_DEBUG_POLY": False,
    "DISABLE_PERFORMANCE_WARNINGS": False, "CUDA_DEALLOCS_COUNT": 10, "CUDA_DEALLOCS_RATIO": 0.2,
    "CUDA_DEFAULT_PTX_CC": (7, 5), "CUDA_ENABLE_NRT": False, "CUDA_LOG_API_ARGS": False, "CUDA_LOG_LEVEL": "",
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


def _setting(name: str) -> property:
    return property(lambda module: _core.get_setting(name),
                    lambda module, value: _core.set_setting(name, value))


class _Settings(types.ModuleType):
    """The module itself, with properties."""

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_NAMES})

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _WITHOUT_EFFECT:
            if value != _WITHOUT_EFFECT[name]:
                warnings.warn(f"the setting {name} has no effect on cujit", OptionsWarning, stacklevel=2)
        elif name.isupper() and name not in _NAMES:
            raise AttributeError(f"there is no setting '{name}'; there are {', '.join(_NAMES)}")
        super().__setattr__(name, value)


globals().update(_WITHOUT_EFFECT)
for _name, _own in _NAMES.items():
    setattr(_Settings, _name, _setting(_own))
sys.modules[__name__].__class__ = _Settings
