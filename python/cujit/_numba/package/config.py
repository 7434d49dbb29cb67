"""cujit.config, where numba.config is looked for."""
import sys

import cujit.config

sys.modules[__name__] = cujit.config
