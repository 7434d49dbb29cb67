"""cujit.extending, where programs written for numba.cuda look for it."""
import sys

import cujit.extending
from cujit.extending import *  # noqa: F403

sys.modules[__name__] = cujit.extending
