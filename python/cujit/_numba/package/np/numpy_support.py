"""Types and dtypes."""
from cujit.cuda.np.numpy_support import as_dtype, from_dtype

__all__ = ["as_dtype", "from_dtype"]
