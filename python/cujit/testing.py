"""Kernels under many orders of their threads, on the CPU device."""
import operator
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cujit import cuda, errors

__all__ = ["ScheduleError", "explore"]


class ScheduleError(errors.CheckError, AssertionError):
    """A kernel gives other results, or fails, where its threads run in another order. `seed`: the first such order,
    which `CUJIT_SCHEDULE=seed` has the kernel run in again."""

    seed: int

    def __init__(self, message: str, seed: int) -> None:
        super().__init__(message)
        self.seed = seed


def explore(kernel: Any, configuration: tuple[Any, ...], *arguments: Any, seeds: int | Iterable[int] = 100,
            compare: Callable[[Any, Any], bool] | None = None) -> int:
    """Launches the kernel once for each of many orders of blocks and threads, always with the same arguments, and
    compares what it leaves in arrays with what the first order left.

    Parameters
    ----------
    kernel : Dispatcher
        What `cuda.jit` made; its options hold.
    configuration : tuple
        What stands in `kernel[...]`.
    arguments
        Of the launch. Arrays of the host are copied for each launch, and stay as they are.
    seeds : int or iterable of int
        How many orders, from 0 on, or which.
    compare : callable, optional
        Says of two arrays, the first order's and another one's, whether they are alike; by default to the bit.

    Returns
    -------
    int
        How many orders there were.

    Raises
    ------
    ScheduleError
        At the first order that differs or fails.
    TypeError, ValueError
        What is given is no kernel of `cuda.jit`; there is no order to try.

    Examples
    --------
    >>> @cuda.jit
    ... def double(x):
    ...     x[cuda.grid(1)] *= 2
    >>> explore(double, (1, 32), np.ones(32), seeds=5)
    5
    """
    if not isinstance(kernel, cuda.dispatcher.Dispatcher):
        raise TypeError(f"explore launches a kernel that cuda.jit has made, not {kernel!r}")
    before = os.environ.get("CUJIT_SCHEDULE")
    orders = [operator.index(seed) for seed in (range(seeds) if isinstance(seeds, int) else seeds)]
    if not orders:
        raise ValueError(f"seeds={seeds!r}: there is no order to try")
    first: list[Any] | None = None
    try:
        os.environ["CUJIT_SCHEDULE"] = "0"
        scheduled = cuda.jit(**kernel.targetoptions)(kernel.py_func)
        for seed in orders:
            os.environ["CUJIT_SCHEDULE"] = str(seed)
            left = _launch(scheduled, configuration, arguments, seed)
            first = first or left
            _compare(scheduled, first, left, orders[0], seed, compare or _same_bits)
    finally:
        if before is None:
            del os.environ["CUJIT_SCHEDULE"]
        else:
            os.environ["CUJIT_SCHEDULE"] = before
    return len(orders)


def _launch(kernel: Any, configuration: tuple[Any, ...], arguments: tuple[Any, ...], seed: int) -> list[Any]:
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    try:
        kernel[configuration](*copies)
    except Exception as error:
        raise ScheduleError(f"{kernel.__name__} fails with CUJIT_SCHEDULE={seed}: {error}", seed) from error
    return [value for value in copies if isinstance(value, np.ndarray)]


def _same_bits(first: Any, other: Any) -> bool:
    return first.tobytes() == other.tobytes()


def _compare(kernel: Any, first: list[Any], left: list[Any], first_seed: int, seed: int,
             compare: Callable[[Any, Any], bool]) -> None:
    for place, (expected, got) in enumerate(zip(first, left, strict=True)):
        if compare(expected, got):
            continue
        differs = np.argwhere(np.atleast_1d(expected != got))
        where = tuple(int(i) for i in differs[0]) if len(differs) else ()
        shown = f": element {where} is {got[where]}, not {expected[where]}" if where and got.ndim else ""
        raise ScheduleError(f"{kernel.__name__} leaves another array with CUJIT_SCHEDULE={seed} than with "
                            f"{first_seed}, the {place + 1}. of its arrays{shown}", seed)
