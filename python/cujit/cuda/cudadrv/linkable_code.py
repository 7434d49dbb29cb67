"""What can be linked, under the names of numba.cuda.cudadrv.linkable_code."""
from cujit.cuda._link.foreign import (
    LTOIR,
    Archive,
    Cubin,
    CUSource,
    Fatbin,
    LinkableCode,
    Object,
    PTXSource,
)

__all__ = ["LTOIR", "Archive", "CUSource", "Cubin", "Fatbin", "LinkableCode", "Object", "PTXSource"]
