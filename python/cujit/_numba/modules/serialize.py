"""Objects as bytes, under numba.cuda.serialize's name: kernels and device functions pickle by themselves."""
import pickle
from typing import Any


def dumps(obj: Any) -> bytes:
    """The object's pickle."""
    return pickle.dumps(obj, protocol=4)
