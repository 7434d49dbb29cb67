"""Settings under numba's names, to be read and assigned: `cujit.config.CUDA_LOW_OCCUPANCY_WARNINGS = False`.

CUDA_LOW_OCCUPANCY_WARNINGS, CUDA_WARN_ON_IMPLICIT_COPY: whether small grids and host arrays as arguments are warned of.
CUDA_ARRAY_INTERFACE_SYNC: whether a launch waits for the streams that arrays of other libraries name.
ENABLE_CUDASIM: False; the CPU device is no simulator.
"""
from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

from cujit import _core

_NAMES = {
    "CUDA_LOW_OCCUPANCY_WARNINGS": "low_occupancy_warnings",
    "CUDA_WARN_ON_IMPLICIT_COPY": "implicit_copy_warnings",
    "CUDA_ARRAY_INTERFACE_SYNC": "array_interface_sync",
}

ENABLE_CUDASIM = False

if TYPE_CHECKING:
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
        if name.isupper() and name not in _NAMES:
            raise AttributeError(f"there is no setting '{name}'; there are {', '.join(_NAMES)}")
        super().__setattr__(name, value)


for _name, _own in _NAMES.items():
    setattr(_Settings, _name, _setting(_own))
sys.modules[__name__].__class__ = _Settings
