"""NumPy's functions of numbers beside its ufuncs: rounding to digits, parts of complex numbers, tests, replacements;
the ufuncs with two results; and searches in tables."""
import math

from cujit import cuda
from cujit._kernel_functions.numpy_functions.elementwise import (
    INTEGER,
    NUMBER,
    as_float,
    as_wide,
    common_float,
    of_one,
    of_two,
)
from cujit._kernel_functions.numpy_functions.math import nearest
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import bfloat16, boolean, float16, float32, float64, int64, uint8

# --- rounding ---------------------------------------------------------------------------------------------------------


def power_of_ten(digits):
    result = 1.0
    for _ in range(digits):
        result *= 10.0
    return result


def nearest_of(x):
    return type(x)(nearest(as_wide(x)))


def round_real(x, digits):
    if digits == 0:
        return nearest_of(x)
    factor = type(x)(power_of_ten(abs(digits)))
    if digits > 0:
        return type(x)(nearest_of(type(x)(x * factor)) / factor)
    return type(x)(nearest_of(type(x)(x / factor)) * factor)


@tells_overflow
def round_integer(x, digits):
    if digits >= 0:
        return x
    factor = power_of_ten(-digits)
    return type(x)(nearest(float64(x) / factor) * factor)


def round_to_digits(x, decimals):
    if isinstance(x, bool):
        return float16(x)
    if isinstance(x, int):
        return round_integer(x, decimals)
    if isinstance(x, complex):
        return complex(round_real(x.real, decimals), round_real(x.imag, decimals))
    return round_real(x, decimals)


@tells_overflow
def fill_rounded(a, decimals, out):
    for i in range(out.shape[0]):
        if out.ndim == 1:
            out[i] = round_to_digits(a[i], decimals)
        else:
            fill_rounded(a[i], decimals, out[i])
    return out


@stands_for("numpy.round", "numpy.around", doc="x rounded to decimals, halves to even.")
def around(a, decimals=0, out=None):
    """np.round(a, decimals, out)."""
    if out is None:
        return round_to_digits(a, decimals)
    cuda._array.fit(a, out)
    return fill_rounded(a, decimals, out)


@stands_for("numpy.fix", doc="x without its fraction.")
@of_one
def fix(x):
    if isinstance(x, INTEGER):
        return x
    return type(x)(math.trunc(as_wide(x)))


# --- complex numbers --------------------------------------------------------------------------------------------------


@stands_for("numpy.real", doc="The real part.")
def real(val):
    if isinstance(val, bool):
        return val
    return val.real


@stands_for("numpy.imag", doc="The imaginary part.")
def imag(val):
    if isinstance(val, bool):
        return boolean(False)
    return val.imag


@stands_for("numpy.angle", doc="The angle of a complex number in radians, or in degrees.")
def angle(z, deg=False):
    if isinstance(z, complex):
        result = math.atan2(z.imag, z.real)
    else:
        number = as_float(z)
        result = type(number)(math.atan2(type(as_wide(number))(0), as_wide(number)))
    if deg:
        return type(result)(result * type(result)(57.29577951308232))
    return result


@stands_for("numpy.isreal", doc="Whether the imaginary part is 0.")
def isreal(x):
    if isinstance(x, complex):
        return x.imag == 0
    return True


@stands_for("numpy.iscomplex", doc="Whether the imaginary part is not 0.")
def iscomplex(x):
    return not isreal(x)


@stands_for("numpy.isrealobj", doc="Whether the type is not complex.")
def isrealobj(x):
    return not iscomplexobj(x)


@stands_for("numpy.iscomplexobj", doc="Whether the type is complex.")
def iscomplexobj(x):
    if isinstance(x, NUMBER):
        return isinstance(x, complex)
    return isinstance(x.flat[0], complex)


# --- tests ------------------------------------------------------------------------------------------------------------


@stands_for("numpy.isposinf", doc="Whether x is infinite and positive.")
@of_one
def isposinf(x):
    if isinstance(x, INTEGER):
        return False
    return math.isinf(x) and x > 0


@stands_for("numpy.isneginf", doc="Whether x is infinite and negative.")
@of_one
def isneginf(x):
    if isinstance(x, INTEGER):
        return False
    return math.isinf(x) and x < 0


def finite(x):
    if isinstance(x, complex):
        return math.isfinite(x.real) and math.isfinite(x.imag)
    return math.isfinite(x)


@stands_for("numpy.isclose", "numpy.allclose", doc="Whether two numbers are near each other.")
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    if a == b:
        return True
    if equal_nan and a != a and b != b:
        return True
    if not finite(b):
        return False
    if isinstance(a, INTEGER) and isinstance(b, INTEGER):
        return abs(float64(a) - float64(b)) <= atol + rtol * abs(float64(b))
    return abs(a - b) <= atol + rtol * abs(b)


@stands_for("numpy.ndim", doc="The number of axes.")
def ndim(a):
    if isinstance(a, NUMBER):
        return 0
    return a.ndim


@stands_for("numpy.size", doc="The number of elements.")
def size(a):
    if isinstance(a, NUMBER):
        return 1
    return a.size


@stands_for("numpy.shape", doc="The extents.")
def shape(a):
    if isinstance(a, NUMBER):
        return ()
    return a.shape


# --- other functions of numbers ---------------------------------------------------------------------------------------


@stands_for("numpy.heaviside", doc="0 below zero, 1 above, y at zero.")
@of_two
def heaviside(x, at_zero):
    result = common_float(x, at_zero)
    number = result(x)
    if number != number:
        return number
    if number == 0:
        return result(at_zero)
    return result(1 if number > 0 else 0)


@stands_for("numpy.sinc", doc="sin(pi * x) / (pi * x).")
def sinc(x):
    number = float64(x) if isinstance(x, INTEGER) else x
    if number == 0:
        return type(number)(1)
    angle_of = type(number)(number * type(number)(3.141592653589793))
    return type(number)(math.sin(as_wide(angle_of)) / as_wide(angle_of))


@stands_for("numpy.i0", doc="Modified Bessel function of order 0.")
def i0(x):
    number = float64(x) if isinstance(x, INTEGER) else x
    return type(number)(cuda.libdevice.cyl_bessel_i0(number))


def largest_of(x):
    """The largest number of a float's type."""
    if isinstance(x, float16):
        return float16(65504)
    if isinstance(x, bfloat16):
        return bfloat16(3.3895313892515355e38)
    if isinstance(x, float32):
        return float32(3.4028234663852886e38)
    return float64(1.7976931348623157e308)


def without_nan(x, nan, posinf, neginf):
    if x != x:
        return type(x)(nan)
    if math.isinf(x):
        if x > 0:
            return largest_of(x) if posinf is None else type(x)(posinf)
        return -largest_of(x) if neginf is None else type(x)(neginf)
    return x


@stands_for("numpy.nan_to_num", doc="x with numbers for NaN and infinities.")
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if isinstance(x, INTEGER):
        return x
    if isinstance(x, complex):
        return complex(without_nan(x.real, nan, posinf, neginf), without_nan(x.imag, nan, posinf, neginf))
    return without_nan(x, nan, posinf, neginf)


@stands_for("numpy.bitwise_count", doc="The number of one bits of the absolute value.")
@of_one
def bitwise_count(x):
    if isinstance(x, bool):
        return uint8(x)
    return uint8(cuda.popc(abs(x)))


def two_results(function):
    def of(x):
        number = as_float(x)
        first, second = function(as_wide(number))
        return type(number)(first), second
    return of


frexp = stands_for("numpy.frexp", doc="Mantissa and exponent of x.")(two_results(math.frexp))


@stands_for("numpy.modf", doc="Fraction and integer part of x.")
def modf(x):
    number = as_float(x)
    fraction, whole = math.modf(as_wide(number))
    return type(number)(fraction), type(number)(whole)


# --- tables -----------------------------------------------------------------------------------------------------------


def is_before(x, y):
    """In sorted order, where NaN comes last."""
    return x < y or (y != y and x == x)


def place_in(a, v, behind_equals):
    low, high = int64(0), int64(a.shape[0])
    while low < high:
        middle = (low + high) >> 1
        if not is_before(v, a[middle]) if behind_equals else is_before(a[middle], v):
            low = middle + 1
        else:
            high = middle
    return low


@stands_for("numpy.searchsorted", doc="The place for a number in a sorted array.")
def searchsorted(a, v, side="left"):
    """The place for v in a sorted array."""
    return place_in(a, v, side == "right")


@stands_for("numpy.digitize", doc="The bin that a number falls into.")
def digitize(x, bins, right=False):
    """The bin that x falls into; the edges go up or down."""
    count = bins.shape[0]
    if count == 0 or bins[0] <= bins[count - 1]:
        return place_in(bins, x, not right)
    return count - place_in(bins[::-1], x, not right)


@stands_for("numpy.interp", doc="A number between points, linearly.")
def interp(x, xp, fp, left=None, right=None):
    """Linear between the points (xp, fp), constant outside of them."""
    count = xp.shape[0]
    if x != x:
        return float64(x)
    if x > xp[count - 1]:
        return float64(fp[count - 1] if right is None else right)
    if x < xp[0]:
        return float64(fp[0] if left is None else left)
    place = place_in(xp, x, True) - 1
    if place == count - 1 or xp[place] == x:
        return float64(fp[place])
    slope = (float64(fp[place + 1]) - float64(fp[place])) / (float64(xp[place + 1]) - float64(xp[place]))
    return slope * (float64(x) - float64(xp[place])) + float64(fp[place])
