"""What device arrays do not do, and what their errors say to use in its place."""
import operator

import numpy as np
import pytest

from cujit import cuda

OPERATORS = [operator.add, operator.sub, operator.mul, operator.matmul, operator.truediv, operator.floordiv,
             operator.mod, divmod, operator.pow, operator.lshift, operator.rshift, operator.and_, operator.xor,
             operator.or_, operator.lt, operator.le, operator.gt, operator.ge, operator.iadd]


@pytest.fixture
def array():
    return cuda.to_device(np.arange(3))


@pytest.mark.parametrize("operate", OPERATORS, ids=lambda f: f.__name__)
def test_operators_name_what_to_use(array, operate):
    for operands in (array, 1), (1.5, array), (array, array), (True, array):
        with pytest.raises(TypeError, match=r"@vectorize .*copy_to_host\(\).* cupy\.asarray"):
            operate(*operands)


@pytest.mark.parametrize("operate", [operator.neg, operator.pos, abs, operator.invert], ids=lambda f: f.__name__)
def test_unary_operators_too(array, operate):
    with pytest.raises(TypeError, match="device arrays have no .*@vectorize"):
        operate(array)


def test_methods_of_numpys_arrays(array):
    with pytest.raises(AttributeError, match=r"no attribute 'sum': array.copy_to_host\(\).sum .* cuda.reduce"):
        array.sum()
    with pytest.raises(AttributeError, match=r"no attribute 'astype': array.copy_to_host\(\).astype .* cupy"):
        array.astype("f4")
    for name in "nonsense", "__array_function__", "_private":
        assert not hasattr(array, name)
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'$"):
            getattr(array, name)


def test_numpy_still_does_what_it_can(array):
    """By __array__, as before: a copy on the host."""
    assert (array + np.ones(3)).tolist() == [1, 2, 3] == (np.ones(3) + array).tolist()
    assert (np.float64(2) * array).tolist() == [0, 2, 4]
    assert (array < np.ones(3)).tolist() == [True, False, False]
    assert (array == array) is True and array != 1
