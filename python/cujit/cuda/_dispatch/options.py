"""The options of functions, by the rows of core/option.def: no other place lists them."""
import ast
import inspect

from cujit import _core

TABLE = {row["name"]: row for row in _core.option_table}
DEFAULTS = {name: ast.literal_eval(row["default"]) for name, row in TABLE.items()}
OF_CODE = [name for name, row in TABLE.items() if row["is_of_code"]]
OF_LOOPS = [name for name, row in TABLE.items() if row["loops"]]


def takes(names):
    """A decorator: the function, which takes **options, has these in its signature and its docstring."""

    def complete(function):
        own = inspect.signature(function)
        parameters = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name])
                       for name in names]
        function.__signature__ = own.replace(parameters=parameters)
        head, raises, rest = inspect.cleandoc(function.__doc__).partition("\nRaises\n")  # indented before CPython 3.13
        section = "".join(f"{name} : default {DEFAULTS[name]!r}\n    {TABLE[name]['doc']}\n" for name in names)
        function.__doc__ = f"{head.rstrip()}\n\nOther Parameters\n----------------\n{section}{raises}{rest}\n"
        return function

    return complete


def check(function, options, names):
    """TypeError for what is no option of that function."""
    for name in unknown(options, names):
        raise TypeError(f"{function} has no option {name}")


def unknown(options, names):
    """What is no option, with the name that may be meant."""
    for name in options:
        if name not in names:
            import difflib  # only mistakes pay for it

            close = difflib.get_close_matches(name, names, 1)
            yield f"'{name}'" + (f"; did you mean '{close[0]}'?" if close else "")


def given(options):
    """The options that are not as they are without them, their values as KernelBase wants them."""
    values = {name: _value(name, value) for name, value in options.items() if value is not None}
    return {name: value for name, value in values.items() if value is not None and
            (value != DEFAULTS[name] or type(value) is not type(DEFAULTS[name]))}   # opt=1 is not True


def of_loops(options):
    """Those that the kernels which are made around a function take over from it."""
    return {name: value for name, value in options.items() if name in OF_LOOPS}


def _value(name, value):
    kind = TABLE[name]["kind"]
    if kind == "flag":
        return bool(value)
    return _carveout_percent(name, value) if kind == "carveout" else value


_CARVEOUTS = {"maxl1": 0, "maxshared": 100, "default": None}


def _carveout_percent(name, carveout):
    """Of the L1 cache for shared memory; None for the driver's own choice."""
    if isinstance(carveout, str) and carveout.lower() in _CARVEOUTS:
        return _CARVEOUTS[carveout.lower()]
    if not isinstance(carveout, (int, str)):
        raise TypeError(f"{name} is text or a number of percent, not {type(carveout).__name__}")
    if isinstance(carveout, str) or not -1 <= carveout <= 100:
        raise ValueError(f"{name} {carveout!r}: expected 'MaxL1', 'MaxShared', 'default' or -1 to 100")
    return None if carveout == -1 else int(carveout)
