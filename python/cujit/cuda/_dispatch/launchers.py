"""What launches kernels beside kernel[grid, block]: forall, launch, and launches whose arguments extensions prepare."""
from __future__ import annotations

import copyreg
import operator
import pickle
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._array.hostarray import In, InOut, Out
from cujit.cuda._dispatch import signature as signatures
from cujit.cuda.devicearray import as_cuda_array, is_cuda_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import StreamLike
    from cujit.cuda.dispatcher import Dispatcher


def quiet_launcher(kernel: Dispatcher[..., Any], blocks: int | tuple[int, ...], threads: int | tuple[int, ...],
                   stream: StreamLike = 0, sharedmem: int = 0) -> Callable[..., None]:
    """kernel[blocks, threads, stream, sharedmem] without a hint that the grid is small: its size is not the user's."""
    launcher = kernel.quiet_launcher((blocks, threads, stream, sharedmem))
    return ExtendedLauncher(kernel, launcher) if kernel._extensions else launcher


class ForAll:
    """A kernel to be launched with at least `ntasks` threads; calling it launches."""

    def __init__(self, kernel: Dispatcher[..., Any], ntasks: int, tpb: int, stream: StreamLike,
                 sharedmem: int) -> None:
        self.kernel, self.ntasks, self.thread_per_block = kernel, ntasks, tpb
        self.stream, self.sharedmem = stream, sharedmem

    def __call__(self, *args: Any) -> None:
        if self.ntasks == 0:
            return
        threads = self.thread_per_block or self._block_size(args)
        blocks = -(-self.ntasks // threads)
        quiet_launcher(self.kernel, blocks, threads, self.stream, self.sharedmem)(*args)

    def _block_size(self, args: tuple[Any, ...]) -> int:
        kernel = self.kernel
        if kernel.specialized:
            types = kernel.signatures[0]
        else:
            types = tuple(argument_type(value) for value in args)
            kernel.compile(types)
        return kernel.occupancy(types, self.sharedmem)[1]


def block_for(x: int, y: int, z: int) -> tuple[int, ...]:
    """Threads of a block along each axis of a grid of so many threads."""
    most = (256, 1, 1) if y == z == 1 else (32, 8, 1) if z == 1 else (8, 8, 4)
    return tuple(min(1 << max(count - 1, 0).bit_length(), limit) for count, limit in zip((x, y, z), most, strict=True))


class ExtendedLauncher:
    """A launcher that hands each argument to every extension's prepare_args(type, value, stream=, retr=), last first.

    What the extensions append to `retr` is called after the launch.
    """

    def __init__(self, kernel: Dispatcher[..., Any], launcher: _core.Launcher) -> None:
        self._kernel, self._launcher = kernel, launcher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._launcher, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reduce_launcher(self._launcher)

    def __call__(self, *args: Any) -> None:
        retr: list[Callable[[], object]] = []
        stream = self._launcher.stream
        self._launcher(*[self._prepare(value, stream, retr) for value in args])
        for call in retr:
            call()

    def _prepare(self, value: Any, stream: StreamLike, retr: list[Callable[[], object]]) -> Any:
        ty = argument_type(value)
        for extension in reversed(self._kernel.extensions):
            ty, value = extension.prepare_args(ty, value, stream=stream, retr=retr)
        return value


def _reduce_launcher(launcher: _core.Launcher) -> tuple[Any, ...]:
    """Pickles a kernel with its configuration, for copyreg."""
    if launcher.pre_launch_callbacks:
        raise pickle.PicklingError("a configured kernel with pre_launch_callbacks cannot be pickled")
    configuration = launcher.griddim, launcher.blockdim, launcher.stream, launcher.sharedmem, launcher.cluster
    return operator.getitem, (launcher.kernel, configuration)


copyreg.pickle(_core.Launcher, _reduce_launcher)


def _registered_type(value: Any) -> Any:
    """What extending.typeof_impl knows of the value's class, which may be no type of kernels; None for others."""
    for cls in type(value).__mro__:
        if cls in _core.typeof_functions:
            return _core.typeof_functions[cls](value, None)
    return None


def argument_type(value: Any) -> Any:
    """The type that a kernel sees for an argument; of a type, itself. TypeError where it takes none such."""
    if _core.typeof_functions and (registered := _registered_type(value)) is not None:
        return registered
    if (stated := signatures.as_type(value)) is not None:
        return stated
    if isinstance(value, (In, Out, InOut)):
        value = value.value
    if not isinstance(value, _core.DeviceArrayBase) and is_cuda_array(value):
        value = as_cuda_array(value, sync=False)
    return _core.type_of(value)
