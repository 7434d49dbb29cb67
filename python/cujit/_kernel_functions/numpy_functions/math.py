"""NumPy's functions of floating-point numbers, for real and complex ones: those of intrinsic.def's UFUNC rows, and
those that have no row or a rule of their own."""
import math

import numpy as np

from cujit import _core
from cujit._kernel_functions import complex_math
from cujit._kernel_functions.numpy_functions.elementwise import (
    INTEGER,
    as_float,
    as_wide,
    common,
    common_float,
    of_one,
    of_two,
    renamed,
)
from cujit._kernel_functions.stands_for import stands_for
from cujit.types import bfloat16, complex128, float16, float32, float64, int32

NARROW = float16, bfloat16


def of_float(real, of_complex=None):
    """NumPy's function that is `real` of math for floats, and of_complex for complex numbers where it has them."""
    def function(x):
        number = as_float(x)
        if of_complex is not None and isinstance(number, complex):
            return of_complex(number)
        return type(number)(real(as_wide(number)))
    return of_one(renamed(function, real))


def of_two_floats(real, of_narrow=None):
    """of_narrow: what it is of float16 and bfloat16, where that is not `real` of float32, rounded."""
    def function(x, y):
        result = common_float(x, y)
        if of_narrow is not None and isinstance(result(x), NARROW):
            return of_narrow(result(x), result(y))
        return result(real(as_wide(result(x)), as_wide(result(y))))
    return of_two(renamed(function, real))


# --- one number -------------------------------------------------------------------------------------------------------


def complex_tanh(z):
    return complex_math.hyperbolic_tangent(z)


def complex_exp2(z):
    factor = type(z.real)(0.6931471805599453)
    return complex_math.exp(complex(z.real * factor, z.imag * factor))


def complex_log2(z):
    factor = type(z.real)(1.4426950408889634)
    logarithm = complex_math.natural_log(z)
    return complex(logarithm.real * factor, logarithm.imag * factor)


def complex_expm1(z):
    x, y = z.real, z.imag
    half = math.sin(y * type(x)(0.5))
    return complex(math.expm1(x) * math.cos(y) - type(x)(2) * half * half, math.exp(x) * math.sin(y))


def complex_log1p(z):
    x, y = z.real, z.imag
    if abs(x) > 1 or abs(y) > 1 or x < -0.5:   # there x + 1 has no error, and x * (2 + x) may lose y
        return complex_math.natural_log(complex(x + type(x)(1), y))
    return complex(math.log1p(x * (type(x)(2) + x) + y * y) * type(x)(0.5), math.atan2(y, x + type(x)(1)))


def narrow_nextafter(x, y):
    kind = type(x)
    least, most, digits = (-14, 15, 10) if isinstance(x, float16) else (-126, 127, 7)
    if x != x or y != y:
        return kind(x + y)
    if x == y:
        return y
    size, is_up = abs(float32(x)), (y > x) == (x > 0)
    if size == 0:
        return kind(math.copysign(math.ldexp(float32(1), least - digits), float32(y)))
    if math.isinf(size):
        return kind(math.copysign(math.ldexp(float32(2) - math.ldexp(float32(1), -digits), most), float32(x)))
    fraction, exponent = math.frexp(size)
    power = max(exponent - 1, least)
    if not is_up and fraction == 0.5 and exponent - 1 > least:   # below a power of two they are nearer
        power -= 1
    step = math.ldexp(float32(1), power - digits)
    return kind(math.copysign(size + step if is_up else size - step, float32(x)))


def of_row(row):
    """NumPy's function of a UFUNC row: math's for floats; for complex numbers cmath's, or complex_NAME above; for
    narrow floats narrow_NAME, where there is one."""
    name = next(path for path in row["paths"] if path.startswith("math.")).removeprefix("math.")
    if row["arity"] == 2:
        return of_two_floats(getattr(math, name), globals().get("narrow_" + name))
    return of_float(getattr(math, name), globals().get("complex_" + name) or getattr(complex_math, name, None))


for row in _core.intrinsic_table:
    if row["numpy"]:
        globals()[row["numpy"].removeprefix("numpy.")] = of_row(row)

log = stands_for("numpy.log", doc="Natural logarithm.")(of_float(math.log, complex_math.log))
fabs = stands_for("numpy.fabs", doc="The absolute value as a float.")(of_float(math.fabs))


def nearest(x):
    """The nearest integer, halves to even; floats of 2**52 and more have no fraction."""
    if abs(x) < 4503599627370496.0:
        return math.copysign(type(x)(round(x)), x)
    return x


@stands_for("numpy.spacing", doc="The distance to the next float away from zero.")
@of_one
def spacing(x):
    number = as_float(x)   # not a wider one: of that the next float is another
    kind = type(number)
    size, infinite = abs(number), kind(math.inf)
    if size == infinite:
        return kind(math.nan)
    step = kind(np.nextafter(size, infinite) - size)
    return -step if number < 0 else step


def complex_nearest(z):
    return complex(nearest(z.real), nearest(z.imag))


rint = stands_for("numpy.rint", doc="The nearest integer as a float, halves to even.")(
    of_float(nearest, complex_nearest))


def times_180_over_pi(x):
    return x * type(x)(57.29577951308232)


def times_pi_over_180(x):
    return x * type(x)(0.017453292519943295)


rad2deg = stands_for("numpy.rad2deg", "numpy.degrees", doc="Radians to degrees.")(of_float(times_180_over_pi))
deg2rad = stands_for("numpy.deg2rad", "numpy.radians", doc="Degrees to radians.")(of_float(times_pi_over_180))


def to_integer(function):
    """floor, ceil, trunc: integers are what they are."""
    def rounded(x):
        if isinstance(x, INTEGER):
            return x
        return type(x)(function(x))
    return of_one(renamed(rounded, function))


floor = stands_for("numpy.floor", doc="Largest integer not above x.")(to_integer(math.floor))
ceil = stands_for("numpy.ceil", doc="Smallest integer not below x.")(to_integer(math.ceil))
trunc = stands_for("numpy.trunc", doc="x without its fraction.")(to_integer(math.trunc))


def test_of_float(real, of_complex):
    def function(x):
        if isinstance(x, complex):
            return of_complex(x)
        return real(x)
    return of_one(renamed(function, real))


isnan = stands_for("numpy.isnan", doc="Whether x is not a number.")(test_of_float(math.isnan, complex_math.isnan))
isinf = stands_for("numpy.isinf", doc="Whether x is infinite.")(test_of_float(math.isinf, complex_math.isinf))
isfinite = stands_for("numpy.isfinite", doc="Whether x is finite.")(test_of_float(math.isfinite, complex_math.isfinite))


@stands_for("numpy.signbit", doc="Whether x has a minus sign.")
@of_one
def signbit(x):
    if isinstance(x, float):
        return math.copysign(as_wide(type(x)(1)), as_wide(x)) < 0
    return x < 0


# --- two numbers ------------------------------------------------------------------------------------------------------


def log_of_sum(x, y):
    """log(exp(x) + exp(y))."""
    if x == y:
        return x + type(x)(0.6931471805599453)
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def log2_of_sum(x, y):
    """log2(2**x + 2**y)."""
    if x == y:
        return x + type(x)(1)
    return max(x, y) + math.log1p(math.exp2(-abs(x - y))) * type(x)(1.4426950408889634)


logaddexp = stands_for("numpy.logaddexp", doc="log(exp(x) + exp(y)).")(of_two_floats(log_of_sum))
logaddexp2 = stands_for("numpy.logaddexp2", doc="log2(2 ** x + 2 ** y).")(of_two_floats(log2_of_sum))


@stands_for("numpy.ldexp", doc="x * 2 ** y.")
@of_two
def ldexp(x, exponent):
    number = as_float(x)
    return type(number)(math.ldexp(as_wide(number), int32(exponent)))


@stands_for("numpy.float_power", doc="x ** y in float64.")
@of_two
def float_power(x, y):
    if isinstance(common(x, y)(0), complex):
        return complex128(x) ** complex128(y)
    return float64(x) ** float64(y)
