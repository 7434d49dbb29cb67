"""carray and farray over what types.CPointer declares."""
import numpy as np
import pytest

import cujit
from cujit import carray, cuda, errors, farray, types

SIGNATURE = types.void(types.CPointer(types.float64), types.int64, types.float64[:])


def reads(pointer, n, out):
    matrix, transposed, line = carray(pointer, (n, 3)), farray(pointer, (2, 3)), carray(pointer, n)
    out[0] = matrix[1, 2]
    out[1] = transposed[1, 2]
    out[2] = transposed[1, 0]
    out[3] = line.size
    out[4] = carray(pointer, 2, np.int64)[1]
    matrix[0, 0] = 77


def test_views_of_a_pointer(assembles):
    memory, out = np.arange(6.0) * 10, np.zeros(5)
    cuda.jit(SIGNATURE)(reads)[1, 1](memory, 2, out)
    assert list(out) == [50, 50, 10, 2, float(np.float64(10).view(np.int64))] and memory[0] == 77
    assembles(reads, SIGNATURE.args, (8, 0))


def test_on_the_host():
    memory = np.arange(6)
    np.testing.assert_array_equal(cujit.carray(memory, (2, 3)), memory.reshape(2, 3))
    np.testing.assert_array_equal(cujit.farray(memory, (2, 3)), memory.reshape(3, 2).T)


def test_what_is_no_pointer():
    @cuda.jit
    def kernel(number, out):
        out[0] = carray(number, 2)[0]

    with pytest.raises(errors.TypingError):
        kernel[1, 1](3, np.zeros(1))
