"""The kernels of algorithms over arrays, which cujit._algorithms and cujit._ufunc launch."""
