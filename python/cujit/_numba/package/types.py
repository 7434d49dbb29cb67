"""cujit.types, where numba.types is looked for."""
import sys

import cujit.types

sys.modules[__name__] = cujit.types
