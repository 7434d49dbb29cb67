"""JAX's own arrays. They cannot be written, and their dtypes include bfloat16, which NumPy's interface cannot name.
Without a GPU those in host memory are tested on the CPU device."""
import os

import numpy as np
import pytest

from cujit import cuda, errors, vectorize

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pytestmark = pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")


def copy(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


@pytest.fixture(params=["cpu", "gpu"])
def place(request):
    try:
        with jax.default_device(jax.devices(request.param)[0]):
            yield request.param
    except RuntimeError:
        pytest.skip("JAX has no such device")


@pytest.fixture(autouse=True)
def _reachable(place):
    if place == "gpu" and cuda.get_current_device().kind == "cpu":
        pytest.skip("needs a GPU")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint32", "float16", "bfloat16", "float32",
                                   "complex64"])
def test_kernels_read_them(dtype):
    x = jnp.arange(40).astype(dtype)
    out = cuda.to_device(np.zeros(40, "c16"))
    cuda.jit(copy)[1, 64](x, out)
    assert out.copy_to_host().real.tolist() == np.asarray(x, "c16").real.tolist()


def test_a_kernel_that_writes_is_refused(place):
    x = jnp.zeros(4)

    @cuda.jit
    def fill(out):
        out[0] = 1

    if place == "cpu":
        with pytest.raises(errors.TypingError, match="read-only"):
            fill[1, 1](x)
        assert x[0] == 0


def test_ufuncs_and_copies():
    x = jnp.arange(6.0)
    assert np.asarray(vectorize(lambda a, b: a + b)(x, x)).tolist() == [0, 2, 4, 6, 8, 10]
    assert cuda.to_device(x).copy_to_host().tolist() == list(range(6))
    assert cuda.reduce(lambda a, b: a + b)(x) == 15


def test_dlpack_both_ways(place):
    if (place == "gpu") != (cuda.get_current_device().kind == "cuda"):
        pytest.skip("memory of the other device")
    ours = cuda.from_dlpack(jnp.arange(5.0))
    assert ours.copy_to_host().tolist() == [0, 1, 2, 3, 4]
    theirs = jnp.from_dlpack(cuda.to_device(np.arange(5, dtype="f4")))
    assert theirs.tolist() == [0, 1, 2, 3, 4]
