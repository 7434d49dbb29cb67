"""Hints for host arguments, where extensions of kernels (their prepare_args) look for them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit._core import HostArgument as ArgHint
from cujit.cuda._array.hostarray import In, InOut, Out

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ArgHint", "In", "InOut", "Out", "wrap_arg"]


def wrap_arg(value: Any, default: Callable[[Any], ArgHint] = InOut) -> ArgHint:
    """The argument with a hint: as it is where it has one, else with `default`."""
    return value if isinstance(value, ArgHint) else default(value)
