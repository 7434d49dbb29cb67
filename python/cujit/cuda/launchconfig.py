"""The launch that code is compiled for, for overloads that choose an implementation by its configuration."""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

from cujit import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cujit.cuda.dispatcher import Dispatcher


class LaunchConfig(NamedTuple):
    """The configuration and the arguments of a launch while code is compiled for it."""

    launcher: _core.Launcher
    args: tuple[Any, ...]

    @property
    def dispatcher(self) -> Dispatcher[..., Any]:
        """The kernel."""
        kernel: Any = self.launcher.kernel
        return kernel

    @property
    def griddim(self) -> tuple[int, int, int]:
        """Blocks along x, y and z."""
        return self.launcher.griddim

    @property
    def blockdim(self) -> tuple[int, int, int]:
        """Threads of a block along x, y and z."""
        return self.launcher.blockdim

    @property
    def sharedmem(self) -> int:
        """Bytes of dynamic shared memory."""
        return self.launcher.sharedmem

    @property
    def stream(self) -> Any:
        """The stream, as given."""
        return self.launcher.stream


def current_launch_config() -> LaunchConfig | None:
    """The launch of this thread that code is compiled for; None outside of such a compilation.

    Returns
    -------
    LaunchConfig or None
        griddim, blockdim, sharedmem, stream, args, dispatcher.

    Examples
    --------
    >>> from cujit.cuda import launchconfig
    >>> launchconfig.current_launch_config() is None
    True
    """
    found = _core.current_launch()
    return None if found is None else LaunchConfig(*found)


def ensure_current_launch_config() -> LaunchConfig:
    """The same. RuntimeError where there is none."""
    found = current_launch_config()
    if found is None:
        raise RuntimeError("no code is compiled for a launch in this thread")
    return found


@contextlib.contextmanager
def capture_compile_config(dispatcher: Dispatcher[..., Any]) -> Iterator[dict[str, LaunchConfig | None]]:
    """Notes for which launch a kernel is compiled.

    Parameters
    ----------
    dispatcher : Dispatcher
        The kernel.

    Yields
    ------
    dict
        Its "config" is None until a launch compiles code, then what current_launch_config() gave for the last that did.

    Raises
    ------
    TypeError
        This is not a kernel.

    Examples
    --------
    >>> from cujit.cuda import launchconfig
    >>> with launchconfig.capture_compile_config(kernel) as captured:
    ...     pass
    >>> captured["config"] is None
    True
    """
    if not isinstance(dispatcher, _core.KernelBase):
        raise TypeError(f"a kernel is needed, not {dispatcher!r}")
    record: dict[str, LaunchConfig | None] = {"config": None}
    dispatcher._capture(record, True)
    try:
        yield record
    finally:
        dispatcher._capture(record, False)
