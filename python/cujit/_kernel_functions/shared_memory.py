"""Arrays in the shared memory that a launch gives."""
from cujit import cuda
from cujit.types import uint8


def product(first, *rest):
    return first * product(*rest) if rest else first


def dynamic(shape, dtype, offset=0):
    memory = cuda.shared.array(0, uint8)
    size = cuda.local.array(1, dtype).itemsize
    if isinstance(shape, tuple):
        return memory[offset:offset + product(*shape) * size].view(dtype).reshape(shape)
    return memory[offset:offset + shape * size].view(dtype)
