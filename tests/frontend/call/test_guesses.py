"""Messages that say what may have been meant."""
import math

import numpy as np
import pytest

from cujit import cuda, errors

X = np.zeros(4)


def message(function, *arguments):
    with pytest.raises(errors.CujitError) as caught:
        cuda.jit(function)[1, 1](*arguments or (X,))
    return str(caught.value)


def misspelt_register(x):
    x[0] = cuda.threadidx.x


def misspelt_barrier(x):
    cuda.syncthread()


def misspelt_root(x):
    x[0] = math.sqr(x[1])


def misspelt_of_numpy(x):
    x[0] = np.sqr(x[1])


def misspelt_atomic(x):
    cuda.atomic.ad(x, 0, 1)


def misspelt_module(x):
    x[0] = mth.sqrt(x[1])  # noqa: F821


def misspelt_variable(x):
    distance = x[1]
    x[0] = distnace  # noqa: F821
    return distance


GUESSES = {
    misspelt_register: "did you mean 'cuda.threadIdx'?",
    misspelt_barrier: "did you mean 'cuda.syncthreads'?",
    misspelt_root: "did you mean 'math.sqrt'?",
    misspelt_of_numpy: "did you mean 'np.sqrt'?",
    misspelt_atomic: "did you mean 'cuda.atomic.add'?",
    misspelt_module: "did you mean 'math'?",
    misspelt_variable: "did you mean 'distance'?",
}


@pytest.mark.parametrize("function", GUESSES)
def test_misspelt_names(function):
    assert GUESSES[function] in message(function)


def far_off(x):
    x[0] = cuda.entirely_unknown(x[1])


def test_no_guess_where_nothing_is_near():
    assert "did you mean" not in message(far_off)


def no_axis(x):
    x[0] = cuda.threadIdx.w


def three_indices(x):
    i = cuda.threadIdx
    x[i] = x[i] + 1


def stores_only(x):
    i = cuda.blockIdx
    x[i] = 1


def test_registers_without_an_axis():
    assert "there are x, y and z" in message(no_axis)
    assert "cuda.threadIdx.x is a number" in message(three_indices)
    assert "cuda.blockIdx.x is a number" in message(stores_only)


@cuda.jit
def inner(x):
    x[0] = 1


def launches(x):
    inner[1, 1](x)


def norm(x):
    x[0] = np.linalg.norm(x)


def test_what_is_of_the_host():
    assert "kernels cannot launch kernels" in message(launches)
    assert "'np.linalg.norm' is a function of NumPy that kernels do not have" in message(norm)
    assert "write what it does as a loop" in message(norm)


def test_launches():
    with pytest.raises(errors.LaunchConfigurationError, match="no block"):
        inner[4](X)
    single = cuda.jit("void(float32[:])")(three_indices_of_numbers)
    with pytest.raises(errors.LaunchArgumentError, match=r"; x\.astype\(np\.float32\) makes one"):
        single[1, 1](X)


def three_indices_of_numbers(x):
    x[0] = 1


def test_registers_on_the_host():
    for use in (
        lambda: cuda.threadIdx.x + 1,
        lambda: 2 * cuda.blockDim.x,
        lambda: range(cuda.gridDim.x),
        lambda: float(cuda.laneid),
        lambda: [1, 2][cuda.threadIdx.y],
        lambda: cuda.threadIdx.x == 0,
        lambda: 0 != cuda.threadIdx.x,
        lambda: cuda.laneid < 3,
        lambda: 3.5 >= cuda.laneid,
    ):
        with pytest.raises(errors.UnsupportedError, match="can be used in kernels only"):
            use()
    assert cuda.threadIdx.x != cuda.threadIdx.y and cuda.threadIdx.x not in [None, "x"]
    assert {cuda.threadIdx.x: 1}[cuda.threadIdx.x] == 1


def test_names_with_surrogates():
    def kernel(x):
        x[0] = 5

    kernel.__name__ = kernel.__qualname__ = "\ud800"
    try:
        cuda.jit(kernel)[1, 1](X)
    except UnicodeEncodeError:
        pass
    scope = {"cuda": cuda}
    exec("def other(x):\n    x[0] = cuda.zz\n", scope)
    other = scope["other"]
    other.__code__ = other.__code__.replace(co_names=("cuda", "\ud800"))
    with pytest.raises((UnicodeEncodeError, errors.CujitError)):
        cuda.jit(other)[1, 1](X)
