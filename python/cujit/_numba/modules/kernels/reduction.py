"""cuda.Reduce, where numba.cuda.kernels.reduction is looked for."""
from cujit.cuda.reduction import Reduce

__all__ = ["Reduce"]
