"""cujit.errors, where numba.cuda.core.errors is looked for."""
import sys

import cujit.errors

sys.modules[__name__] = cujit.errors
