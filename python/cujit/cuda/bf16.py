"""CUDA's functions of bfloat16 and the type, as a module: from cujit.cuda.bf16 import bfloat16, hadd."""
from cujit import _core

_PREFIX = "cuda.bf16."
__all__ = sorted(path.removeprefix(_PREFIX) for path in _core.intrinsics if path.startswith(_PREFIX))
globals().update({name: _core.intrinsics[_PREFIX + name] for name in __all__})
