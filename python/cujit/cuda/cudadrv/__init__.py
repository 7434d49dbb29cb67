"""What programs import from numba.cuda.cudadrv, in modules of the same names: classes to ask isinstance of, exceptions,
and the current context."""
from cujit.cuda.cudadrv import devicearray, devices, driver, error, runtime

__all__ = ["devicearray", "devices", "driver", "error", "runtime"]
