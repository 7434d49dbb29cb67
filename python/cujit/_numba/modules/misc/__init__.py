"""What numba.cuda.misc has of markers in kernels."""
