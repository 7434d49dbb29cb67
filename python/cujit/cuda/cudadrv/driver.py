"""The classes of devices, contexts, streams and events, under the names of numba.cuda.cudadrv.driver."""
from cujit._core import Event
from cujit.cuda.devices import Context, Device
from cujit.cuda.linker import Linker
from cujit.cuda.streams import Stream
from cujit.errors import CudaAPIError, LinkerError

__all__ = ["Context", "CudaAPIError", "Device", "Event", "Linker", "LinkerError", "Stream"]
