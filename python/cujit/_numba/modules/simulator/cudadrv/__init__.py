"""Arrays, by the names of numba's simulator."""
