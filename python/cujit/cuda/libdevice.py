"""NVIDIA's device math library by its C names, as a module: from cujit.cuda.libdevice import rsqrtf."""
from cujit import _core

_PREFIX = "cuda.libdevice."
__all__ = sorted(path.removeprefix(_PREFIX) for path in _core.intrinsics if path.startswith(_PREFIX))
globals().update({name: _core.intrinsics[_PREFIX + name] for name in __all__})
