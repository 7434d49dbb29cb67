"""How long a function takes, on the host and on the device."""
from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from cujit import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


class BenchmarkResult:
    """The times of the calls of one function, in seconds.

    cpu_times: from a call to its return, an array of float64; gpu_times: from the call to the end of the work that it
    put into the device's default stream.
    """

    def __init__(self, name: str, cpu_times: NDArray[Any], gpu_times: NDArray[Any], device: _core.Device) -> None:
        self.name, self.cpu_times, self.gpu_times = name, cpu_times, gpu_times
        self._device = f"GPU-{device.id}" if device.kind == "cuda" else "CPU device"

    def to_str(self, show_gpu: bool = True) -> str:
        """A line: mean, deviation, least and most of the times, in microseconds."""
        times = {"CPU": self.cpu_times, **({self._device: self.gpu_times} if show_gpu else {})}
        return f"{self.name:<20}:" + "   ".join(_summary(name, each) for name, each in times.items())

    def __str__(self) -> str:
        return self.to_str()

    __repr__ = __str__


def _summary(name: str, times: NDArray[Any]) -> str:
    micro = times * 1e6
    text = f"{name:>5}: {micro.mean():9.3f} us"
    if micro.size > 1:
        text += f"   +/- {micro.std():6.3f} (min: {micro.min():9.3f} / max: {micro.max():9.3f}) us"
    return text


def benchmark(f: Callable[..., object], args: Sequence[Any] = (), n_repeat: int = 10_000, n_warmup: int = 10,
              kwargs: Mapping[str, Any] | None = None, name: str | None = None,
              max_duration: float = math.inf) -> BenchmarkResult:
    """Calls f(*args, **kwargs) n_warmup times, and then n_repeat times with its time taken, or until `max_duration`
    seconds have gone by. Every call begins when the device is idle. ValueError for numbers that
    are too small.
    """
    if n_repeat < 1 or n_warmup < 0:
        raise ValueError(f"n_repeat is at least 1 and n_warmup at least 0, not {n_repeat} and {n_warmup}")
    given = dict(kwargs or {})
    for _ in range(n_warmup):
        f(*args, **given)
    device = _core.current_device()
    start, end = _core.Event(), _core.Event()
    cpu_times: list[float] = []
    gpu_times: list[float] = []
    begun = time.perf_counter()
    while len(cpu_times) < n_repeat and time.perf_counter() - begun <= max_duration:
        device.synchronize()
        start.record()
        before = time.perf_counter()
        f(*args, **given)
        after = time.perf_counter()
        end.record()
        end.synchronize()
        cpu_times.append(after - before)
        gpu_times.append(start.elapsed_time(end) * 1e-3)
    shown = name if name is not None else getattr(f, "__name__", type(f).__name__)
    return BenchmarkResult(shown, np.array(cpu_times), np.array(gpu_times), device)
