"""Numbers that know their type and obey the typing table: what CPython runs the programs of the fuzzer with.

A Value is an immutable number of one scalar type. Its operators follow core/type/promotion.def, and the backend's rules
for what Python leaves open: wrapping, division by zero, saturating casts. Unspecified is raised where nothing is
defined.
"""
import ctypes
import ctypes.util
import functools
import math
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SCALARS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
           "float64", "complex64", "complex128"]
SHORT = dict(zip("b i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split(), SCALARS, strict=True), no=None)
SIGNED = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
INTEGERS = SIGNED | UNSIGNED
FLOATS = {"float32": np.float32, "float64": np.float64}
PARTS = {"complex64": "float32", "complex128": "float64"}
LARGEST_EXPONENT = 64    # of what is multiplied out

np.seterr(all="ignore")


class Unspecified(Exception):
    """The program's result is not defined for this input: the input is not compared."""


def read_rules():
    """core/type/promotion.def: {rule: {(a, b): result}} of operators, {rule: {a: result}} of functions of a number."""
    text = (ROOT / "core" / "type" / "promotion.def").read_text()
    binary, unary = {}, {}
    for part in re.split(r"^PROMOTION\(", text, flags=re.M)[1:]:
        rows = re.findall(r"^ROW\((.*?)\)", part, flags=re.M)
        cells = [[SHORT[c.strip()] for c in row.split(",")] for row in rows]
        binary[part.split(",")[0]] = {(a, b): cells[i][j] for i, a in enumerate(SCALARS) for j, b in enumerate(SCALARS)}
    for name, cells in re.findall(r"^UNARY_PROMOTION\((\w+), \".*?\",\s*(.*?)\)", text, flags=re.M | re.S):
        unary[name] = {a: SHORT[c.strip()] for a, c in zip(SCALARS, cells.split(","), strict=True)}
    return binary, unary


BINARY, UNARY = read_rules()
OPERATOR_RULES = {"+": "ARITHMETIC", "-": "ARITHMETIC", "*": "ARITHMETIC", "/": "TRUE_DIVIDE", "//": "FLOOR_DIVIDE",
                  "%": "FLOOR_DIVIDE", "&": "BITWISE", "|": "BITWISE", "^": "BITWISE", "<<": "SHIFT", ">>": "SHIFT",
                  "**": "POWER"}


def wrap(kind, number):
    """The integer in the width of the type."""
    bits = INTEGERS[kind]
    number &= (1 << bits) - 1
    return number - (1 << bits) if kind in SIGNED and number >> (bits - 1) else number


def saturate(kind, real):
    """A float as an integer: truncated, cut to the range of the type; NaN is 0."""
    if real != real:
        return 0
    bits = INTEGERS[kind]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind in SIGNED else (0, (1 << bits) - 1)
    if np.isinf(real):
        return high if real > 0 else low
    return min(max(int(real), low), high)


def to_float(kind, number):
    """A number as a float of the type, rounded once."""
    if isinstance(number, int):
        number = np.uint64(number) if number > (1 << 63) - 1 else np.int64(number)
    return FLOATS[kind](number)


class Value:
    """A number of a scalar type. number: bool, int, np.float32, np.float64, or a pair of floats."""

    __slots__ = ("kind", "number")
    steps_left = 0      # arithmetic a run may still do

    def __init__(self, kind, number):
        self.kind, self.number = kind, number

    def __repr__(self):
        return f"{self.kind}({self.number})"

    def __bool__(self):
        if self.kind in PARTS:
            return bool(self.number[0] != 0 or self.number[1] != 0)
        return bool(self.number != 0)

    def __index__(self):
        if self.kind in INTEGERS or self.kind == "bool":
            return int(self.number)
        raise TypeError(f"{self.kind} is no index")

    def __hash__(self):
        return hash(self.number)

    @property
    def real(self):
        return Value(PARTS[self.kind], self.number[0]) if self.kind in PARTS else self

    @property
    def imag(self):
        return Value(PARTS[self.kind], self.number[1]) if self.kind in PARTS else Value(self.kind, type(self.number)(0))

    def conjugate(self):
        return Value(self.kind, (self.number[0], -self.number[1])) if self.kind in PARTS else self

    def __neg__(self):
        kind = UNARY["NEGATE"][self.kind]
        if self.kind in PARTS:
            return Value(kind, (-self.number[0], -self.number[1]))
        if self.kind in INTEGERS and self.kind != "int16":    # in its own width
            return convert(Value(self.kind, wrap(self.kind, -self.number)), kind)
        wide = convert(self, kind)
        return Value(kind, wrap(kind, -wide.number) if kind in INTEGERS else -wide.number)

    def __pos__(self):
        return convert(self, UNARY["NEGATE"][self.kind])

    def __invert__(self):
        if self.kind == "bool":
            return Value("bool", not self.number)
        return convert(Value(self.kind, wrap(self.kind, ~self.number)), UNARY["INVERT"][self.kind])

    def __abs__(self):
        kind = UNARY["ABS"][self.kind]
        if self.kind in PARTS:
            return Value(kind, libm2("hypot", kind, *self.number))
        value = convert(self, kind)
        return Value(kind, wrap(kind, abs(value.number)) if kind in INTEGERS else abs(value.number))


def lift(x):
    """Python's own numbers as Values."""
    if isinstance(x, Value):
        return x
    if isinstance(x, bool):
        return Value("bool", x)
    if isinstance(x, int):
        kind = "int64" if -(1 << 63) <= x < 1 << 63 else "uint64"
        return Value(kind, wrap(kind, x))
    if isinstance(x, float):
        return Value("float64", np.float64(x))
    if isinstance(x, complex):
        return Value("complex128", (np.float64(x.real), np.float64(x.imag)))
    raise TypeError(f"{x!r} is no number")


def convert(value, kind):
    """The value in another type, as a cast and an assignment to an array convert it."""
    value = lift(value)
    source, number = value.kind, value.number
    if source == kind:
        return value
    if kind == "bool":
        return Value(kind, bool(value))
    if source == "bool":
        number = int(number)
    if kind in INTEGERS:
        return Value(kind, wrap(kind, number) if isinstance(number, int) else saturate(kind, number))
    if kind in FLOATS:
        return Value(kind, to_float(kind, number))
    real, imaginary = number if source in PARTS else (number, 0)
    return Value(kind, (to_float(PARTS[kind], real), to_float(PARTS[kind], imaginary)))


# --- operators -------------------------------------------------------------------------------------------------------

def fmod(a, b):
    return np.fmod(a, b)


def float_mod(a, b):
    rest = fmod(a, b)
    if rest == 0:
        return np.copysign(type(a)(0), b)
    return rest + b if (rest < 0) != (b < 0) else rest


def float_floordiv(a, b):
    if b == 0:
        return a / b
    rest = fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0 and (rest < 0) != (b < 0):
        quotient = quotient - type(a)(1)
    if quotient == 0:
        return np.copysign(type(a)(0), a / b)
    floor = np.floor(quotient)
    return floor + type(a)(1) if quotient - floor > 0.5 else floor


def integer_floordiv(kind, a, b):
    if b == 0 or (b == -1 and wrap(kind, -a) == a):    # defined, as 0
        return 0
    return a // b


def complex_product(a, b):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def complex_quotient(a, b):
    if not all(np.isfinite(x) for x in (*a, *b)) or b == (0, 0):
        raise Unspecified
    swapped = abs(b[0]) < abs(b[1])
    large, small = (b[1], b[0]) if swapped else b
    ratio = small / large
    divisor = large + small * ratio
    if swapped:
        return (a[0] * ratio + a[1]) / divisor, (a[1] * ratio - a[0]) / divisor
    return (a[0] + a[1] * ratio) / divisor, (a[1] - a[0] * ratio) / divisor


INTEGER_OPERATIONS = {
    "+": lambda kind, a, b: a + b, "-": lambda kind, a, b: a - b, "*": lambda kind, a, b: a * b,
    "//": integer_floordiv, "%": lambda kind, a, b: a % b if b else 0,
    "&": lambda kind, a, b: a & b, "|": lambda kind, a, b: a | b, "^": lambda kind, a, b: a ^ b,
    "<<": lambda kind, a, b: a << (b & 63), ">>": lambda kind, a, b: a >> (b & 63),
}
FLOAT_OPERATIONS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
                    "//": float_floordiv, "%": float_mod}
COMPLEX_OPERATIONS = {"+": lambda a, b: (a[0] + b[0], a[1] + b[1]), "-": lambda a, b: (a[0] - b[0], a[1] - b[1]),
                      "*": complex_product, "/": complex_quotient}


def power(base, exponent):
    """By repeated squaring, for integer exponents."""
    if exponent.kind not in INTEGERS or abs(exponent.number) > LARGEST_EXPONENT:
        raise Unspecified
    kind = BINARY["POWER"][base.kind, "int64"] if base.kind not in FLOATS else base.kind
    if kind in INTEGERS:
        kind = BINARY["POWER"][base.kind, exponent.kind]
    number, count = convert(base, kind).number, exponent.number
    if kind in INTEGERS and count < 0:
        if number in (1, -1):
            return Value(kind, number if count % 2 else 1)
        return Value(kind, 0 if number else wrap(kind, 1 << (INTEGERS[kind] - 1)))
    if kind in INTEGERS:
        return Value(kind, wrap(kind, number ** count))
    times = complex_product if kind in PARTS else FLOAT_OPERATIONS["*"]
    one = to_float(PARTS.get(kind, kind), 1)
    one = (one, to_float(PARTS[kind], 0)) if kind in PARTS else one
    result, square, left = None, number, abs(count)
    while left:
        if left & 1:
            result = square if result is None else times(result, square)
        square, left = times(square, square), left >> 1
    result = one if result is None else result
    if count < 0:
        result = complex_quotient(one, result) if kind in PARTS else one / result
    return Value(kind, result)


def binary(text, a, b):
    """a text b by the rule of the operator."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        return NotImplemented
    Value.steps_left -= 1
    if Value.steps_left < 0:
        raise Unspecified
    a, b = lift(a), lift(b)
    if text == "**":
        return power(a, b)
    kind = BINARY[OPERATOR_RULES[text]][a.kind, b.kind]
    if kind is None:
        raise TypeError(f"{a.kind} {text} {b.kind}")
    x, y = convert(a, kind).number, convert(b, kind).number
    if kind == "bool":
        return Value(kind, bool(INTEGER_OPERATIONS[text](kind, x, y)))
    if kind in INTEGERS:
        return Value(kind, wrap(kind, INTEGER_OPERATIONS[text](kind, x, y)))
    return Value(kind, (COMPLEX_OPERATIONS if kind in PARTS else FLOAT_OPERATIONS)[text](x, y))


def comparison_type(a, b):
    if a == b:
        return a
    if "bool" in (a, b) and (a in INTEGERS or b in INTEGERS):
        return b if a == "bool" else a
    if a in INTEGERS and b in INTEGERS and (a in SIGNED) != (b in SIGNED):
        return "float64" if "uint64" in (a, b) else "int64"
    return BINARY["ARITHMETIC"][a, b]


def compare(text, a, b):
    if isinstance(b, tuple) or isinstance(a, tuple):
        return NotImplemented
    a, b = lift(a), lift(b)
    kind = comparison_type(a.kind, b.kind)
    x, y = convert(a, kind).number, convert(b, kind).number
    if kind in PARTS:
        same = bool(x[0] == y[0]) and bool(x[1] == y[1])
        return Value("bool", {"==": same, "!=": not same}[text])
    return Value("bool", bool({"<": x < y, "<=": x <= y, "==": x == y, "!=": x != y, ">": x > y, ">=": x >= y}[text]))


def add_operators():
    """__add__, __radd__ and all the others."""
    names = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "&": "and", "|": "or",
             "^": "xor", "<<": "lshift", ">>": "rshift", "**": "pow"}
    for text, name in names.items():
        setattr(Value, f"__{name}__", lambda a, b, text=text: binary(text, a, b))
        setattr(Value, f"__r{name}__", lambda a, b, text=text: binary(text, b, a))
    for text, name in {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}.items():
        setattr(Value, f"__{name}__", lambda a, b, text=text: compare(text, a, b))


add_operators()

# --- functions -------------------------------------------------------------------------------------------------------

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


# Those that the C library and the device may round differently: the device says what they are of a number. Comparing
# finds out whether a kernel's forms of them agree; tests/codegen/host/elementary/test_elementary.py measures errors.
ROUNDED = {"sin", "cos", "exp", "expm1", "atan", "atan2", "hypot", "pow"}


@functools.cache
def libm_function(name, kind, count):
    function = getattr(LIBM, name + ("f" if kind == "float32" else ""))
    number = ctypes.c_float if kind == "float32" else ctypes.c_double
    function.restype, function.argtypes = number, [number] * count
    return function


@functools.cache
def device_function(name, kind, count):
    from cujit import cuda

    parameters = ", ".join("xyz"[:count])
    scope = {"math": math}
    exec(f"def kernel({parameters}, out):\n    out[0] = math.{name}({parameters})", scope)
    compiled, out = cuda.jit(scope["kernel"])[1, 1], np.zeros(1, FLOATS[kind])

    def call(*numbers):
        compiled(*map(FLOATS[kind], numbers), out)
        return out[0]

    return call


def math_function(name, kind, count):
    return (device_function if name in ROUNDED else libm_function)(name, kind, count)


def libm1(name, kind, x):
    return FLOATS[kind](math_function(name, kind, 1)(float(x)))


def libm2(name, kind, x, y):
    return FLOATS[kind](math_function(name, kind, 2)(float(x), float(y)))


def extreme(name, a, b):
    """min or max of two numbers: of floats the number where one is NaN, else the first unless the second is better."""
    a, b = lift(a), lift(b)
    kind = BINARY["MIN_MAX"][a.kind, b.kind]
    if kind is None:
        raise TypeError(f"{name}({a.kind}, {b.kind})")
    x, y = convert(a, kind).number, convert(b, kind).number
    if kind in FLOATS and x == 0 and y == 0 and np.signbit(x) != np.signbit(y):
        raise Unspecified
    if a.kind in FLOATS and b.kind in FLOATS and x != x:
        return Value(kind, y)
    return Value(kind, y if (y < x if name == "min" else y > x) else x)


def round_value(x):
    x = lift(x)
    if x.kind in INTEGERS and x.kind != "uint64" or x.kind == "bool":
        return convert(x, "int64")
    return Value("int64", saturate("int64", np.rint(convert(x, "float64").number)))


def divmod_value(a, b):
    a, b = lift(a), lift(b)
    kind = BINARY["DIVMOD"][a.kind, b.kind]
    x, y = convert(a, kind), convert(b, kind)
    if kind in INTEGERS:
        return (Value(kind, wrap(kind, integer_floordiv(kind, x.number, y.number))),
                Value(kind, x.number % y.number if y.number else 0))
    return Value(kind, float_floordiv(x.number, y.number)), Value(kind, float_mod(x.number, y.number))


def number_function(rule, fallback):
    def call(*arguments):
        if len(arguments) == 2:
            kinds = {lift(x).kind for x in arguments}
            part = "float32" if kinds == {"float32"} else "float64"
            parts = tuple(convert(x, part).number for x in arguments)
            return Value("complex64" if part == "float32" else "complex128", parts)
        value = lift(arguments[0])
        return convert(value, UNARY[rule][value.kind] or fallback)
    return call
