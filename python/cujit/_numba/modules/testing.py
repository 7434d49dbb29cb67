"""What test suites of programs written for numba.cuda take from numba.cuda.testing."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

from cujit import config, cuda

__all__ = ["CUDATestCase", "ContextResettingTestCase", "ForeignArray", "captured_cuda_stdout",
           "skip_if_cudadevrt_missing", "skip_on_cudasim", "skip_unless_cc_50", "skip_unless_cc_53",
           "skip_unless_cc_60", "skip_unless_cc_75", "skip_unless_cc_90", "skip_unless_cudasim", "unittest",
           "xfail_unless_cudasim"]


class CUDATestCase(unittest.TestCase):
    """A test case without hints about small grids and host arrays."""

    def setUp(self):
        names = "CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY"
        for name in names:
            self.addCleanup(setattr, config, name, getattr(config, name))
            setattr(config, name, False)


class ContextResettingTestCase(CUDATestCase):
    """A test case after which this thread's device is chosen anew."""

    def tearDown(self):
        super().tearDown()
        cuda.close()


class ForeignArray:
    """An array of another library, as far as kernels can tell: one with the array interface and nothing else."""

    def __init__(self, arr):
        self._arr = arr
        self.__cuda_array_interface__ = arr.__cuda_array_interface__


def skip_on_cudasim(reason):
    """A decorator that does nothing: the CPU device is no simulator."""
    return unittest.skipIf(False, reason)


def skip_unless_cudasim(reason):
    """A decorator of tests that are about numba's simulator."""
    return unittest.skip(reason)


def skip_if_cudadevrt_missing(fn):
    """A decorator that does nothing: grids that synchronize need no library of NVIDIA's."""
    return fn


def xfail_unless_cudasim(fn):
    """A decorator of tests of what numba's compiler cannot do."""
    return unittest.expectedFailure(fn)


def _skip_unless_cc(major, minor):
    def decorate(fn):
        enough = cuda.get_current_device().compute_capability >= (major, minor)
        return unittest.skipUnless(enough, f"needs compute capability {major}.{minor}")(fn)

    return decorate


skip_unless_cc_50 = _skip_unless_cc(5, 0)
skip_unless_cc_53 = _skip_unless_cc(5, 3)
skip_unless_cc_60 = _skip_unless_cc(6, 0)
skip_unless_cc_75 = _skip_unless_cc(7, 5)
skip_unless_cc_90 = _skip_unless_cc(9, 0)


@contextlib.contextmanager
def captured_cuda_stdout():
    """A context that gives a StringIO, in which at its end is what kernels have printed meanwhile."""
    text = io.StringIO()
    cuda.synchronize()
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield text
            cuda.synchronize()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        text.write(file.read().decode())
        text.seek(0)
