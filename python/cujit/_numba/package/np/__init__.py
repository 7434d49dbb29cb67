"""What numba.np has of dtypes."""
