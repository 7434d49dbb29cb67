"""Signatures and the types of values."""
from cujit.types import Signature, typeof

__all__ = ["Signature", "signature", "typeof"]


def signature(return_type, *args):
    """The signature of a function of such arguments with such a result."""
    return return_type(*args)
