"""cuda.fp16 as a module, for imports of its names."""
import sys

from cujit.cuda import _intrinsics

sys.modules[__name__] = _intrinsics.fp16   # type: ignore[assignment]
