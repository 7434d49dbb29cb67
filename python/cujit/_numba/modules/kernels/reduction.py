"""cuda.Reduce, where numba.cuda.kernels.reduction is looked for."""
from cujit._algorithms.reduce import Reduce

__all__ = ["Reduce"]
