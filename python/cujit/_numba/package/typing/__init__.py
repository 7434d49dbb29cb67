"""Signatures and the types of values."""
from cujit.cuda.typing import Signature, signature, typeof

__all__ = ["Signature", "signature", "typeof"]
