"""The types of cujit.types, where programs written for numba.cuda look for them."""
import sys

import cujit.types
from cujit.types import *  # noqa: F403

sys.modules[__name__] = cujit.types
