"""A function of elements as one of what kernels have of its arguments: their leaves."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit._algorithms import functions
from cujit._algorithms.values import Element
from cujit.cuda.dispatcher import Dispatcher
from cujit.errors import LaunchArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cujit._algorithms.arguments import Arguments


class LeafFunction:
    """The function with what is said of its parameters: raw (positions of arguments that get whole arrays), index (the
    position of the parameter that gets a place, or None)."""

    def __init__(self, function: Any, raw: Sequence[str], index: str | None, name: str | None,
                 options: dict[str, Any]) -> None:
        """ValueError for parameters that the function does not have."""
        self.function = functions.device_function(function, options, name)
        self.name: str = self.function.__name__
        code = self.function.py_func.__code__
        names = list(code.co_varnames[:code.co_argcount])
        for parameter in (*raw, *([] if index is None else [index])):
            if parameter not in names:
                raise ValueError(f"'{self.name}' has no parameter '{parameter}'; it has {', '.join(names)}")
        self.index = None if index is None else names.index(index)
        if index is not None:
            names.remove(index)
        self.raw = frozenset(names.index(parameter) for parameter in raw)
        self._names, self._has_rest = names, bool(code.co_flags & 4)   # *args
        self._least = len(names) - len(self.function.py_func.__defaults__ or ())
        self._of: dict[Any, tuple[Dispatcher[..., Any], Element | None]] = {}

    def with_outputs(self, args: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], Any]:
        """(arguments, out): what is passed behind all parameters are the outputs, as in NumPy and CuPy."""
        if out is not None or self._has_rest or len(args) <= len(self._names):
            return args, out
        outputs = args[len(self._names):]
        return args[:len(self._names)], outputs if len(outputs) > 1 else outputs[0]

    def check_count(self, args: Sequence[Any]) -> None:
        """LaunchArgumentError for a wrong number of arguments."""
        if len(args) > len(self._names) and not self._has_rest or len(args) < self._least:
            raise LaunchArgumentError(f"'{self.name}' takes {len(self._names)} arguments "
                                      f"({', '.join(self._names)}), {len(args)} given")

    def of(self, arguments: Arguments) -> tuple[Dispatcher[..., Any], Element | None]:
        """(a device function of the index, where wanted, and the arguments' leaves; what it returns, or None)."""
        types = arguments.types()
        key = arguments.forms, types
        found = self._of.get(key)
        if found is None:
            names = [f"x{k}" for k in range(len(types))]
            namespace: dict[str, Any] = {"its_function": self.function}
            texts = iter(names)
            values = [form.source(texts, namespace) for form in arguments.forms]
            if self.index is not None:
                names, types = ["i", *names], (_core.scalar_types["int64"], *types)
                values.insert(self.index, "i")
            label = functions.identifier(self.name)
            source = f"def {label}({', '.join(names)}):\n    return its_function({', '.join(values)})\n"
            made = functions.written(self.function, source, label, namespace)
            function = Dispatcher(made, device=True, **self.function.options)
            found = self._of.setdefault(key, (function, self._result(function.stored_type(types))))
        return found

    def _result(self, type_: Any) -> Element | None:
        if str(type_) == "none":
            return None
        try:
            return Element(type_)
        except TypeError as error:
            raise TypeError(f"the result of '{self.name}': {error}") from None
