"""NumPy's arithmetic, comparisons, logic and bits for numbers. Results have the type that the operands have in common,
where operators of kernels compute in 64 bits."""
import math

from numpy import timedelta64

from cujit._kernel_functions.integer_math import UNSIGNED, gcd_of_two, lcm_of_two
from cujit._kernel_functions.numpy_functions.elementwise import INTEGER, as_float, common, of_one, of_two
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import complex64, complex128, float64, int8, int64, uint64

COMPLEX = complex64, complex128

# --- arithmetic -------------------------------------------------------------------------------------------------------


@stands_for("numpy.add", doc="x + y.")
@of_two
@tells_overflow
def add(x, y):
    result = common(x, y)
    return result(result(x) + result(y))


@stands_for("numpy.subtract", doc="x - y.")
@of_two
@tells_overflow
def subtract(x, y):
    result = common(x, y)
    if isinstance(result(0), UNSIGNED):
        difference = uint64(result(x)) - uint64(result(y))   # apart from the conversion, which may be meant to wrap
        return result(difference)
    return result(result(x) - result(y))


@stands_for("numpy.multiply", doc="x * y.")
@of_two
@tells_overflow
def multiply(x, y):
    result = common(x, y)
    return result(result(x) * result(y))


@stands_for("numpy.divide", "numpy.true_divide", doc="x / y.")
@of_two
@tells_overflow
def divide(x, y):
    result = common(x, y)
    if isinstance(result(0), INTEGER):
        return float64(x) / float64(y)
    return result(result(x) / result(y))


@stands_for("numpy.floor_divide", doc="x // y.")
@of_two
@tells_overflow
def floor_divide(x, y):
    result = common(x, y)
    return result(result(x) // result(y))


@stands_for("numpy.remainder", "numpy.mod", doc="x % y.")
@of_two
@tells_overflow
def remainder(x, y):
    result = common(x, y)
    return result(result(x) % result(y))


@stands_for("numpy.fmod", doc="Remainder with the sign of x.")
@of_two
def fmod(x, y):
    """With the sign of x; of integers by 0 it is 0."""
    result = common(x, y)
    a, b = result(x), result(y)
    if not isinstance(a, INTEGER):
        return result(math.fmod(as_float(a), as_float(b)))
    if b == 0:
        return result(0)
    rest = abs(a) % abs(b)
    return result(-rest if a < 0 else rest)


@stands_for("numpy.divmod", doc="Quotient and remainder of numbers.")
@tells_overflow
def divmod_of_two(x, y):
    result = common(x, y)
    quotient, rest = divmod(result(x), result(y))
    return result(quotient), result(rest)


@stands_for("numpy.power", doc="x ** y.")
@of_two
@tells_overflow
def power(x, y):
    result = common(x, y)
    return result(result(x) ** result(y))


@stands_for("numpy.negative", doc="-x.")
@of_one
@tells_overflow
def negative(x):
    return type(x)(-x)


@stands_for("numpy.positive", doc="+x.")
@of_one
def positive(x):
    return x


@stands_for("numpy.absolute", "numpy.abs", doc="The absolute value.")
@of_one
@tells_overflow
def absolute(x):
    if isinstance(x, bool):
        return x
    return abs(x)


@stands_for("numpy.square", doc="x * x.")
@of_one
@tells_overflow
def square(x):
    return type(x)(x * x)


@tells_overflow
def reciprocal_of_complex(x):
    """By the larger part first: real and imaginary zeros keep NumPy's signs, which 1 / x does not."""
    real, imag = x.real, x.imag
    one = type(real)(1)
    if abs(real) >= abs(imag):
        ratio = imag / real
        size = real + imag * ratio
        return complex(one / size, -ratio / size)
    ratio = real / imag
    size = real * ratio + imag
    return complex(ratio / size, -one / size)


@stands_for("numpy.reciprocal", doc="1 / x.")
@of_one
@tells_overflow
def reciprocal(x):
    if isinstance(x, INTEGER):
        return type(x)(x if x == 1 or x == -1 else 0)
    if isinstance(x, complex):
        return reciprocal_of_complex(x)
    return type(x)(type(x)(1) / x)


def sign_of_complex(x):
    real, imag = x.real, x.imag
    if x == 0:
        return complex(type(real)(0), type(real)(0))
    if math.isinf(real) == math.isinf(imag):
        return complex(real / abs(x), imag / abs(x))
    one, zero = type(real)(1), type(real)(0)
    return complex(math.copysign(one, real), zero) if math.isinf(real) else complex(zero, math.copysign(one, imag))


def sign_of_duration(x):
    """A float: NaN where it is NaT."""
    count = int64(x)
    return math.nan if x != x else float64((count > 0) - (count < 0))


@stands_for("numpy.sign", doc="-1, 0 or 1; of a complex number x / |x|.")
@of_one
def sign(x):
    if isinstance(x, timedelta64):
        return sign_of_duration(x)
    if isinstance(x, INTEGER):
        return type(x)((x > 0) - (x < 0))
    if isinstance(x, complex):
        return sign_of_complex(x)
    if x > 0:
        return type(x)(1)
    if x < 0:
        return type(x)(-1)
    return x + type(x)(0)   # 0, or NaN


@stands_for("numpy.conjugate", doc="The complex conjugate.")
@of_one
def conjugate(x):
    if isinstance(x, bool):
        return int8(x)
    return x.conjugate()


@stands_for("numpy.gcd", doc="Greatest common divisor.")
@of_two
def gcd(x, y):
    result = common(x, y)
    return gcd_of_two(result(x), result(y))


@stands_for("numpy.lcm", doc="Least common multiple.")
@of_two
def lcm(x, y):
    result = common(x, y)
    return lcm_of_two(result(x), result(y))


# --- extremes ---------------------------------------------------------------------------------------------------------


def is_below(x, y):
    """x < y; complex numbers by their real parts, those of equal ones by their imaginary parts."""
    if isinstance(x, COMPLEX) or isinstance(y, COMPLEX):
        return x.imag < y.imag if x.real == y.real else x.real < y.real and x.imag == x.imag and y.imag == y.imag
    return x < y


def is_not_above(x, y):
    """x <= y, likewise."""
    if isinstance(x, COMPLEX) or isinstance(y, COMPLEX):
        return x.imag <= y.imag if x.real == y.real else x.real < y.real and x.imag == x.imag and y.imag == y.imag
    return x <= y


def larger(x, y):
    """NaN where one is."""
    result = common(x, y)
    a, b = result(x), result(y)
    return a if is_not_above(b, a) or a != a else b


def smaller(x, y):
    result = common(x, y)
    a, b = result(x), result(y)
    return a if is_not_above(a, b) or a != a else b


maximum = stands_for("numpy.maximum", doc="The larger number; NaN where one is.")(of_two(larger))
minimum = stands_for("numpy.minimum", doc="The smaller number; NaN where one is.")(of_two(smaller))


@stands_for("numpy.fmax", doc="The larger number; the other where one is NaN.")
@of_two
def fmax(x, y):
    """The number where one is NaN."""
    result = common(x, y)
    a, b = result(x), result(y)
    return a if is_not_above(b, a) or b != b else b


@stands_for("numpy.fmin", doc="The smaller number; the other where one is NaN.")
@of_two
def fmin(x, y):
    result = common(x, y)
    a, b = result(x), result(y)
    return a if is_not_above(a, b) or b != b else b


@of_one
def same(x):
    return x


@stands_for("numpy.clip", doc="x, but at least low and at most high.")
def clip(x, low=None, high=None, out=None):
    if low is None and high is None:
        return same(x, out)
    if low is None:
        return minimum(x, high, out)
    if high is None:
        return maximum(x, low, out)
    if out is None:
        return smaller(larger(x, low), high)
    maximum(x, low, out)
    return minimum(out, high, out)


@stands_for("numpy.where", doc="x where the condition is true, else y.")
def where(condition, x, y):
    result = common(x, y)
    return result(x) if condition else result(y)


# --- comparisons and logic --------------------------------------------------------------------------------------------


@stands_for("numpy.equal", doc="x == y.")
@of_two
def equal(x, y):
    return x == y


@stands_for("numpy.not_equal", doc="x != y.")
@of_two
def not_equal(x, y):
    return x != y


@stands_for("numpy.less", doc="x < y.")
@of_two
def less(x, y):
    return is_below(x, y)


@stands_for("numpy.less_equal", doc="x <= y.")
@of_two
def less_equal(x, y):
    return is_not_above(x, y)


@stands_for("numpy.greater", doc="x > y.")
@of_two
def greater(x, y):
    return is_below(y, x)


@stands_for("numpy.greater_equal", doc="x >= y.")
@of_two
def greater_equal(x, y):
    return is_not_above(y, x)


@stands_for("numpy.logical_and", doc="Whether x and y are true.")
@of_two
def logical_and(x, y):
    return bool(x) and bool(y)


@stands_for("numpy.logical_or", doc="Whether x or y is true.")
@of_two
def logical_or(x, y):
    return bool(x) or bool(y)


@stands_for("numpy.logical_xor", doc="Whether one of x and y is true.")
@of_two
def logical_xor(x, y):
    return bool(x) != bool(y)


@stands_for("numpy.logical_not", doc="Whether x is false.")
@of_one
def logical_not(x):
    return not x


# --- bits -------------------------------------------------------------------------------------------------------------


@stands_for("numpy.bitwise_and", doc="x & y.")
@of_two
def bitwise_and(x, y):
    result = common(x, y)
    return result(result(x) & result(y))


@stands_for("numpy.bitwise_or", doc="x | y.")
@of_two
def bitwise_or(x, y):
    result = common(x, y)
    return result(result(x) | result(y))


@stands_for("numpy.bitwise_xor", doc="x ^ y.")
@of_two
def bitwise_xor(x, y):
    result = common(x, y)
    return result(result(x) ^ result(y))


@stands_for("numpy.invert", doc="~x.")
@of_one
def invert(x):
    if isinstance(x, bool):
        return not x
    return type(x)(~x)


def shift_type(x, y):
    if isinstance(x, bool) and isinstance(y, bool):
        return int8
    return common(x, y)


@stands_for("numpy.left_shift", doc="x << y.")
@of_two
@tells_overflow
def left_shift(x, y):
    result = shift_type(x, y)
    return result(result(x) << result(y))


@stands_for("numpy.right_shift", doc="x >> y.")
@of_two
@tells_overflow
def right_shift(x, y):
    result = shift_type(x, y)
    return result(result(x) >> result(y))
