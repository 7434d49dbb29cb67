"""cujit.extending, where numba.core.extending is looked for."""
import sys

import cujit.extending

sys.modules[__name__] = cujit.extending
