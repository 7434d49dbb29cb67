"""The types of cujit.types, where programs written for numba.cuda look for them."""
from cujit.types import *  # noqa: F403
from cujit.types import Array, NPDatetime, NPTimedelta, Signature, Tuple, Type, UniTuple  # noqa: F401
