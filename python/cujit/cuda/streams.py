"""Streams and events: the order of work on a device."""
from __future__ import annotations

import contextlib
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from cujit import _core

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from cujit._annotations import StreamLike
    from cujit._core import Event


class Stream(_core.Stream):
    """An order of work: what is put into one stream runs one after another.

    Made by cuda.stream() and its siblings. int(stream) is the CUstream handle; 0, 1 and 2 are the default streams.
    `with stream:` makes it the stream of launches, copies, ufuncs and events of this thread that name none.
    """

    def __new__(cls, context: Any = None, handle: Any = None, finalizer: Callable[[], object] | None = None,
                external: bool = False) -> Stream:
        """Stream(context, handle, finalizer) is numba's, of a CUstream made elsewhere, as external_stream(handle) is.

        The context is not looked at; finalizer() is called once nothing refers to the stream.
        """
        if context is None or type(context) is int:   # no isinstance: a weak proxy is a context, too
            return super().__new__(cls) if context is None else super().__new__(cls, context)
        made = super().__new__(cls, getattr(handle, "value", handle) or 0)
        made.external = made.handle > 2   # below that: the default streams
        if finalizer is not None:
            weakref.finalize(made, finalizer)
        return made

    external = False     # whether it was made elsewhere
    owner: Any = None    # what keeps a stream of another library alive

    def __int__(self) -> int:
        return self.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol of CUDA Python libraries: (version, handle)."""
        return (0, self.handle)

    def __repr__(self) -> str:
        names = {0: "default", 1: "legacy default", 2: "per-thread default"}
        return f"<CUDA stream {names.get(self.handle, hex(self.handle))}>"

    def synchronize(self) -> None:
        """Waits until all work put into the stream is done, and the callbacks behind it have returned."""
        super().synchronize()
        _callbacks.wait(self.handle)

    def record(self, event: Event) -> None:
        """Marks this place in the stream: event.record(stream)."""
        event.record(self)

    def wait_event(self, event: Event) -> None:
        """Work put into the stream from now on waits until the event, of this or another stream, is reached."""
        self.wait(event)

    def close(self) -> None:
        """Waits for all work put into the stream and the callbacks behind it. From then on its use is a ValueError."""
        super().close()
        _callbacks.wait(self.handle)

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """A context at whose end all work put into the stream is done."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Calls callback(stream, status, arg) in a thread of cujit's, once the work before it is done. status is 0."""
        if not callable(callback):
            raise TypeError(f"a callback is called, which {type(callback).__name__} cannot be")
        reached = _core.Event(timing=False)
        reached.record(self)
        _callbacks.put(reached, callback, self, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """An asyncio future that gets this stream as its result once the work before it is done.

        RuntimeError outside of a running event loop.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def finish():
            if not future.done():
                future.set_result(self)

        self.add_callback(lambda stream, status, arg: loop.call_soon_threadsafe(finish))
        return future


class _CallbackThread:
    """One thread that waits for events in their order and makes the calls that belong to them."""

    def __init__(self) -> None:
        self.forget_all()

    def forget_all(self) -> None:
        """Of a child that was forked: it has no other threads, and makes none of their calls."""
        self._lock = threading.Lock()
        self._thread: Any = None
        self._last: dict[int, threading.Event] = {}   # a stream's handle: set when its last callback has returned
        self._waiting: Any = None   # a queue and a thread, made for the first callback

    def put(self, event: Event, callback: Callable[[Stream, int, Any], object], stream: Stream, arg: Any) -> None:
        with self._lock:
            if self._waiting is None:
                import queue

                self._waiting = queue.SimpleQueue()
                self._thread = threading.Thread(target=self._run, name="cujit-callbacks", daemon=True)
                self._thread.start()
            returned = self._last[stream.handle] = threading.Event()
            self._waiting.put((event, callback, stream, arg, returned))

    def wait(self, handle: int | None = None) -> None:
        """Until the callbacks put so far have returned: of that stream, or of all. A callback does not wait."""
        if self._waiting is None or threading.current_thread() is self._thread:
            return
        with self._lock:
            waited_for = [self._last.get(handle)] if handle is not None else list(self._last.values())
        for returned in waited_for:
            if returned is not None:
                returned.wait()

    def _forget(self, handle: int, returned: threading.Event) -> None:
        returned.set()
        with self._lock:
            if self._last.get(handle) is returned:
                del self._last[handle]

    def _run(self) -> None:
        while True:
            event, callback, stream, arg, returned = self._waiting.get()
            try:
                event.synchronize()
                callback(stream, 0, arg)
            except BaseException:   # sys.exit() too: the next callbacks need the thread
                import traceback

                traceback.print_exc()
            self._forget(stream.handle, returned)
            del event, callback, stream, arg, returned


_callbacks = _CallbackThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_callbacks.forget_all)
wait_for_callbacks = _callbacks.wait


def stream() -> Stream:
    """A new stream of the current device."""
    from cujit.cuda import devices

    devices.need_device()
    return Stream()


def default_stream() -> Stream:
    """The stream that work goes to when none is named."""
    return external_stream(0)


def legacy_default_stream() -> Stream:
    """The default stream that waits for all others."""
    return external_stream(1)


def per_thread_default_stream() -> Stream:
    """The default stream of the calling thread."""
    return external_stream(2)


def external_stream(ptr: StreamLike) -> Stream:
    """A stream made elsewhere: by its CUstream value (int), or another library's stream object, which it keeps alive.

    The driver hears of it when it is first used: ValueError then where no stream can be at that address. TypeError for
    no int and no stream.
    """
    if ptr is None or isinstance(ptr, bool):
        raise TypeError(f"a stream's handle is an int, not {type(ptr).__name__}")
    made = Stream(_core.stream_handle(ptr))
    made.external = made.handle > 2   # below that: the default streams
    made.owner = None if isinstance(ptr, int) else ptr
    return made


def current_stream() -> _core.Stream:
    """The stream of the innermost `with stream:` of this thread, else the default stream."""
    return _core.current_stream() or default_stream()


def event(timing: bool = True) -> Event:
    """A new event, a mark in a stream. Without timing it costs less and tells no time."""
    from cujit.cuda import devices

    devices.need_device()
    return _core.Event(timing=timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds from one recorded event to another. CudaAPIError unless both keep time and are reached."""
    return start.elapsed_time(end)
