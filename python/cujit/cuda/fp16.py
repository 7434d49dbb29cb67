"""CUDA's functions of float16 and the type, as a module: from cujit.cuda.fp16 import hadd, __half2int_rz."""
from cujit import _core

_PREFIX = "cuda.fp16."
__all__ = sorted(path.removeprefix(_PREFIX) for path in _core.intrinsics if path.startswith(_PREFIX))
globals().update({name: _core.intrinsics[_PREFIX + name] for name in __all__})
