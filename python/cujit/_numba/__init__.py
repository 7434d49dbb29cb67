"""What cujit knows of an installed numba and of its names: this folder goes when they are forgotten."""
