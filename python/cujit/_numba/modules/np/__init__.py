"""What numba.cuda.np has of dtypes."""
