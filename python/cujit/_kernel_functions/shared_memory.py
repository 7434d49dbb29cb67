"""Arrays in the shared memory that a launch gives."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import cuda
from cujit._kernel_functions.stands_for import stands_for
from cujit.types import uint8

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cujit._annotations import ElementType, Shape


def product(first, *rest):
    return first * product(*rest) if rest else first


@stands_for(
    "cuda.shared.dynamic",
    doc="An array in the shared memory that the launch gives, at an offset in bytes; its shape may be known at run "
        "time.")
def dynamic(shape: Shape, dtype: ElementType, offset: int = 0) -> NDArray[Any]:
    memory = cuda.shared.array(0, uint8)
    size = cuda.local.array(1, dtype).itemsize
    if isinstance(shape, tuple):
        return memory[offset:offset + product(*shape) * size].view(dtype).reshape(shape)
    return memory[offset:offset + shape * size].view(dtype)
