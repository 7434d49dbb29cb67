"""What programs import from numba.cuda.cudadrv, in modules of the same names: classes to ask isinstance of, exceptions,
and the current context."""
from cujit.cuda.cudadrv import devicearray, devices, driver, drvapi, enums, error, linkable_code, nvvm, runtime

__all__ = ["devicearray", "devices", "driver", "drvapi", "enums", "error", "linkable_code", "nvvm", "runtime"]
