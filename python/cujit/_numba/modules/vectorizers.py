"""What numba.vectorize and numba.guvectorize look for when they are asked for target="cuda"."""
from cujit import guvectorize, vectorize


class CUDAVectorize:
    """A ufunc that gets its signatures one by one."""

    def __init__(self, function, identity=None, cache=False, targetoptions=None):
        self._function, self._signatures, self._options = function, [], targetoptions or {}

    def add(self, sig):
        self._signatures.append(sig)

    def disable_compile(self):
        """Nothing: what has signatures accepts no others."""

    def build_ufunc(self):
        return vectorize(self._signatures, target="cuda", **self._options)(self._function)


class CUDAGUFuncVectorize(CUDAVectorize):
    """A gufunc that gets its signatures one by one."""

    def __init__(self, function, signature, identity=None, cache=False, targetoptions=None, writable_args=()):
        super().__init__(function, targetoptions=targetoptions)
        self._layout = signature
        if writable_args:
            self._options = {**self._options, "writable_args": writable_args}

    def build_ufunc(self):
        return guvectorize(self._signatures, self._layout, target="cuda", **self._options)(self._function)
