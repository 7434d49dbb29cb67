"""What cujit's memory pools hold, and how much they may."""
from __future__ import annotations

import numbers
import operator
from typing import Any

from cujit import _core


def _bytes(size: Any) -> int:
    """ValueError for what no memory has."""
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(f"a limit is a number of bytes, not {size!r}")
    found = operator.index(size)
    if not 0 <= found < 1 << 63:
        raise ValueError(f"a limit is not negative: {size}" if found < 0 else f"a limit of {size} bytes is too large")
    return found


class MemoryPool:
    """Memory that arrays have given back and that is kept for the next ones: of the device that is current at a call.

    Of the sums, which are in multiples of 512 bytes, `used` is what arrays have, and `free` what is kept.
    """

    def __init__(self, is_pinned: bool) -> None:
        self._is_pinned = is_pinned

    def _use(self) -> tuple[int, int, int, int, int]:
        return _core.current_device().pool_use(self._is_pinned)

    def used_bytes(self) -> int:
        """Bytes in use."""
        return self._use()[0]

    def free_bytes(self) -> int:
        """Bytes that are kept for later allocations."""
        return self._use()[1]

    def total_bytes(self) -> int:
        """Bytes in use and bytes kept."""
        used, kept, *_ = self._use()
        return used + kept

    def n_free_blocks(self) -> int:
        """How many pieces of memory are kept."""
        return self._use()[2]

    def n_allocations(self) -> int:
        """How often the driver has been asked for memory so far."""
        return self._use()[4]

    def free_all_blocks(self) -> None:
        """Gives what is kept to the driver and the system. What arrays have stays theirs."""
        _core.current_device().empty_pool(self._is_pinned)

    def get_limit(self) -> int:
        """The most bytes that may be in use or kept; 0: as many as there are."""
        return self._use()[3]

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Limits what is in use and kept to `size` bytes, or to a fraction of the memory there is, in the place of
        CUJIT_GPU_MEMORY_LIMIT; size=0: no limit. An allocation beyond it is a DeviceMemoryError. ValueError unless one
        of the two is given."""
        if (size is None) == (fraction is None):
            raise ValueError("set_limit takes a size in bytes or a fraction of the memory, one of the two")
        device = _core.current_device()
        size = self._part(fraction, device) if fraction is not None else _bytes(size)
        device.limit_pool(self._is_pinned, size)
        if 0 < size < self.total_bytes():
            self.free_all_blocks()

    def _part(self, fraction: Any, device: Any) -> int:
        """In bytes; at least one, since 0 is no limit, unless the fraction is 0."""
        if not isinstance(fraction, numbers.Real) or isinstance(fraction, bool):
            raise TypeError(f"a fraction is a number from 0 to 1, not {fraction!r}")
        fraction = float(fraction)
        if not 0 <= fraction <= 1:
            raise ValueError(f"a fraction is from 0 to 1, not {fraction}")
        part = int(fraction * device.pool_total(self._is_pinned))
        return part if part or not fraction else 1

    def __repr__(self) -> str:
        used, kept, blocks, *_ = self._use()
        what = "pinned memory" if self._is_pinned else repr(_core.current_device().name)
        return f"<pool of {what}: {used} bytes in use, {kept} kept in {blocks} blocks>"


_DEVICE, _PINNED = MemoryPool(False), MemoryPool(True)


def get_default_memory_pool() -> MemoryPool:
    """The pool of device memory: of the device that is current when it is asked."""
    return _DEVICE


def get_default_pinned_memory_pool() -> MemoryPool:
    """The pool of pinned memory: of pinned_array, its kin, and mapped arrays."""
    return _PINNED
