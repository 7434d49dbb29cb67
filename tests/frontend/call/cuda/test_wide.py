"""cuda.wide: several elements in one access, of every dtype, and as one instruction on a GPU."""
import re

import numpy as np
import pytest

from cujit import cuda


def mirror_kernel(width):
    @cuda.jit
    def mirror(x, out):
        i = cuda.grid(1) * width
        if i < x.size:
            items = cuda.wide.load(x, i, width)
            if width == 2:
                cuda.wide.store(out, i, (items[1], items[0]))
            else:
                cuda.wide.store(out, i, (items[3], items[2], items[1], items[0]))

    return mirror


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.float16, np.int32, np.float64, np.complex64,
                                   np.complex128])
def test_loads_and_stores(dtype, width):
    x = np.arange(64).astype(dtype) if dtype is not np.bool_ else np.arange(64) % 3 == 0
    out = cuda.to_device(np.zeros(64, dtype))
    mirror_kernel(width)[1, 32](cuda.to_device(x), out)
    np.testing.assert_array_equal(out.copy_to_host(), x.reshape(-1, width)[:, ::-1].ravel())


def test_values_are_converted_to_the_elements():
    @cuda.jit
    def store(out):
        cuda.wide.store(out, 2, (1.75, 3))

    out = cuda.to_device(np.zeros(4, np.int32))
    store[1, 1](out)
    assert out.copy_to_host().tolist() == [0, 0, 1, 3]


@pytest.mark.parametrize("element, width, access", [("int8", 4, "b32"), ("float32", 4, "v4.b32"),
                                                    ("float64", 2, "v2.b64"), ("int16", 4, "v4.b16")])
def test_one_instruction_on_a_gpu(element, width, access):
    array = getattr(cuda.types, element)[::1]
    ptx = mirror_kernel(width).inspect_asm((array, array), cc=(8, 0))
    assert re.findall(r"(?:ld|st)\.global\.((?:nc\.)?[\w.]+)", ptx) == [f"nc.{access}", access]
