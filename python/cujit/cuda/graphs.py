"""Graphs: work that is recorded once and launched as a whole."""
from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda.devices import need_device

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from cujit.cuda.devicearray import DeviceNDArray


class Graph(_core.Graph):
    """Work of one device, recorded by `with cuda.graph() as g:` and done by g.launch(stream).

    Recorded are launches, ufuncs, reductions with res=, copies, fills, and events and waits for them, on any streams.
    The graph keeps what they use. What waits for the device, and what allocates, is a CudaAPIError there.
    """

    def __enter__(self) -> Graph:
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.end()
        else:
            self.leave()

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<CUDA graph of {self.size} nodes>"

    @contextlib.contextmanager
    def _body(self, repeats: bool, flag: DeviceNDArray) -> Iterator[None]:
        self.begin_body(repeats, flag)
        yield
        self.end_body()

    def if_(self, flag: DeviceNDArray) -> contextlib.AbstractContextManager[None]:
        """A context inside of the capture: what is recorded in it is done if `flag`, a device array of one bool or
        integer that kernels may set, is not 0 when its turn comes. A GPU needs a driver of CUDA 12.3."""
        return self._body(False, flag)

    def while_(self, flag: DeviceNDArray) -> contextlib.AbstractContextManager[None]:
        """The same, again and again as long as `flag` is not 0."""
        return self._body(True, flag)

    def update(self, **arguments: Any) -> None:
        """Gives the kernels that were recorded other arguments, by the names of their parameters: all that have such a
        parameter. The grid stays. TypeError for a name that no kernel has."""
        changes = [(node, self._with(launcher, given, arguments))
                   for node, (launcher, given, _) in self.launches.items()]
        known = {name for launcher, *_ in self.launches.values() for name in _parameters(launcher)}
        if unknown := arguments.keys() - known:
            raise TypeError(f"no kernel of the graph has a parameter '{min(unknown)}'; there are: "
                            f"{', '.join(sorted(known)) or 'none'}")
        for node, given in changes:
            if given is not None:
                self.replace(node, self.launches[node][0], given)

    @staticmethod
    def _with(launcher: _core.Launcher, given: tuple[Any, ...], arguments: dict[str, Any]) -> tuple[Any, ...] | None:
        """The arguments of a launch with the new ones; None where none is."""
        names = _parameters(launcher)
        if not arguments.keys() & set(names):
            return None
        return tuple(arguments.get(name, value) for name, value in zip(names, given, strict=True))


def _parameters(launcher: _core.Launcher) -> list[str]:
    function = getattr(launcher.kernel, "py_func", None)
    return list(inspect.signature(function).parameters) if function is not None else []


def graph() -> Graph:
    """A new graph of the current device, to be recorded by `with cuda.graph() as g:`."""
    need_device()
    return Graph()
