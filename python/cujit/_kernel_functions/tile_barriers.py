"""Waiting at barriers in shared memory."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import cuda
from cujit._kernel_functions.stands_for import stands_for

if TYPE_CHECKING:
    from numpy.typing import NDArray


@stands_for(
    "cuda.mbarrier.wait",
    doc="Waits until the phase of that parity has ended: 0 the first, 1 the second, 0 the third.")
def wait(barriers: NDArray[Any], index: int, parity: int) -> None:
    while not cuda.mbarrier.try_wait(barriers, index, parity):
        pass
