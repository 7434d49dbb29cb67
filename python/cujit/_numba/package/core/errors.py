"""cujit.errors, where numba.core.errors is looked for."""
import sys

import cujit.errors

sys.modules[__name__] = cujit.errors
