"""cujit.types, where numba.cuda.core.types is looked for."""
import sys

import cujit.types

sys.modules[__name__] = cujit.types
