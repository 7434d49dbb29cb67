"""What stands for NumPy's functions in kernels."""
