"""cuda.cg as a module, for imports of its names."""
import sys

from cujit.cuda import _intrinsics

sys.modules[__name__] = _intrinsics.cg   # type: ignore[assignment]
