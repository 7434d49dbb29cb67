"""What has a meaning in kernels only, from the extension's table; _intrinsics.pyi says the same to type checkers."""
from cujit import _core

_core.intrinsics["cuda.bf16.bfloat16"] = _core.scalar_types["bfloat16"]   # the types among their functions
_core.intrinsics["cuda.fp16.__half"] = _core.scalar_types["float16"]
_named = {path.removeprefix("cuda."): intrinsic for path, intrinsic in _core.intrinsics.items()
          if path.startswith("cuda.") and path.count(".") == 1}
_named.update(_core.vector_types)   # float32x4, float4, ...
globals().update(_named)
__all__ = tuple(_named)   # those with an underscore, too: _kernel_functions names them below cuda
