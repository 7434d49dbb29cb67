"""What Dask's entry point `dask.sizeof` finds: imported with dask itself, so it imports nothing of it."""
from __future__ import annotations

from typing import Any


def register_sizeof(sizeof: Any) -> None:
    """Tells dask.sizeof how many bytes device arrays have, as soon as it meets one."""

    @sizeof.register_lazy("cujit")
    def register_arrays() -> None:
        from cujit.cuda.devicearray import DeviceNDArray

        @sizeof.register(DeviceNDArray)
        def bytes_of(array: DeviceNDArray) -> int:
            return int(array.nbytes)
