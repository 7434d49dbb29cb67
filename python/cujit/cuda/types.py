"""The types of cujit.types, where programs written for numba.cuda look for them."""
import sys

import cujit.types

sys.modules[__name__] = cujit.types
