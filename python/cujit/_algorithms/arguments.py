"""Arguments of algorithms as what kernels take: arrays and scalars, and how the values of a function are made of their
elements. A tuple or dataclass of arrays is an array of tuples or instances."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cujit import _core
from cujit._ufunc.operands import as_input, is_scalar, own_type, staged
from cujit.cuda.devicearray import DeviceNDArray, as_host_array, is_cuda_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cujit._annotations import StreamLike


class Form(NamedTuple):
    """How an argument's value is made of leaves; kind: "leaf", "raw" (an array as a whole), or a class of tuples or a
    dataclass with the forms of its items."""

    kind: Any
    items: tuple[Form, ...] = ()

    def source(self, texts: Iterator[str], namespace: dict[str, Any]) -> str:
        """An expression for the value. What it names is put into the namespace."""
        if isinstance(self.kind, str):
            return next(texts)
        items = [item.source(texts, namespace) for item in self.items]
        if dataclasses.is_dataclass(self.kind):
            items = [f"{field.name}={item}" for field, item in zip(dataclasses.fields(self.kind), items, strict=True)]
        if self.kind is tuple:
            return f"({', '.join(items)},)"
        name = f"class_{self.kind.__name__}_{id(self.kind)}"
        namespace[name] = self.kind
        return f"{name}({', '.join(items)})"


class Arguments:
    """The leaves of arguments, in order: device arrays, host arrays that stay what they are (raw ones), scalars."""

    def __init__(self, args: Sequence[Any], raw: frozenset[int] = frozenset()) -> None:
        """raw: positions of arguments that are passed whole. TypeError for what kernels do not take."""
        self.leaves: list[Any] = []
        self.are_raw: list[bool] = []
        self.forms = tuple(self._take(arg, k in raw) for k, arg in enumerate(args))

    def _take(self, arg: Any, is_raw: bool) -> Form:
        if is_raw:
            return self._leaf(arg if is_cuda_array(arg) or isinstance(arg, np.ndarray) else as_input(arg), True)
        if isinstance(arg, tuple):
            items = tuple(self._take(item, False) for item in arg)
            return Form(type(arg) if hasattr(arg, "_fields") else tuple, items)
        if dataclasses.is_dataclass(arg) and not isinstance(arg, type):
            fields = [getattr(arg, field.name) for field in dataclasses.fields(arg)]
            return Form(type(arg), tuple(self._take(item, False) for item in fields))
        return self._leaf(as_input(arg), False)

    def _leaf(self, value: Any, is_raw: bool) -> Form:
        self.leaves.append(value)
        self.are_raw.append(is_raw)
        return Form("raw" if is_raw else "leaf")

    @property
    def arrays(self) -> list[Any]:
        """Those whose elements are taken one by one."""
        return [x for x, is_raw in zip(self.leaves, self.are_raw, strict=True) if not is_raw and not is_scalar(x)]

    @property
    def shape(self) -> tuple[int, ...]:
        """That of all arrays together, by NumPy's broadcasting. ValueError where they do not fit."""
        shapes = {x.shape for x in self.arrays}
        return shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)

    @property
    def on_device(self) -> bool:
        return any(isinstance(x, DeviceNDArray) or is_raw and is_cuda_array(x)
                   for x, is_raw in zip(self.leaves, self.are_raw, strict=True))

    def types(self) -> tuple[Any, ...]:
        """What the function sees of each leaf."""
        return tuple(_core.type_of(x) if is_raw else own_type(x)
                     for x, is_raw in zip(self.leaves, self.are_raw, strict=True))

    def stage(self, stream: StreamLike) -> list[Any]:
        """The leaves, those whose elements are taken as device arrays."""
        return [x if is_raw or is_scalar(x) else staged(x, stream)
                for x, is_raw in zip(self.leaves, self.are_raw, strict=True)]


def one_axis(array: Any, what: str) -> Any:
    """An array of one axis, of the host or the device. TypeError for others."""
    array = as_input(array)
    array = as_host_array(array) if is_scalar(array) else array
    if array.ndim != 1:
        raise TypeError(f"{what} takes arrays of one axis, not of {array.ndim}")
    return array


def leaves_of(value: Any) -> Iterator[Any]:
    """What stands in a tuple or an instance of a dataclass, and in those within; of anything else itself."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves_of(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves_of(getattr(value, field.name))
    else:
        yield value


def outputs_of(out: Any) -> list[Any]:
    """The arrays that results are written to: none for None."""
    return [] if out is None else list(leaves_of(out))


def of_form(form: Form, leaves: Iterator[Any]) -> Any:
    """Arrays in the form of the argument that they come from."""
    if isinstance(form.kind, str):
        return next(leaves)
    items = [of_form(item, leaves) for item in form.items]
    if form.kind is tuple:
        return tuple(items)
    cls: Any = form.kind
    if dataclasses.is_dataclass(form.kind):
        return cls(**dict(zip([field.name for field in dataclasses.fields(form.kind)], items, strict=True)))
    return cls(*items)
