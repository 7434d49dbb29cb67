"""cmath for kernels, in the precision of the argument.

Formulas: W. Kahan, "Branch Cuts for Complex Elementary Functions", 1987, as C99's Annex G asks for their signs of zero.
"""
import math

from cujit._kernel_functions.stands_for import stands_for
from cujit.types import boolean, complex64, complex128, float16, float32, int8, int16, uint8

SINGLE = boolean, int8, int16, uint8, float16, float32   # what complex64 holds


def as_complex(x):
    if isinstance(x, complex):
        return x
    if isinstance(x, SINGLE):
        return complex64(x)
    return complex128(x)


def sign_or_one(x):
    """1 or -1 by the sign; 1 for NaN."""
    return math.copysign(type(x)(1), x) if x == x else type(x)(1)


def is_negative(x):
    return math.copysign(type(x)(1), x) < 0


def square_root(z):
    x, y = z.real, z.imag
    real = type(x)
    if x == 0 and y == 0:
        return complex(abs(x), y)
    if math.isinf(y):
        return complex(abs(y), y)
    # scaled down where the sum could overflow, up where it could vanish
    size = max(abs(x), abs(y))
    scale, back = real(1), real(1)
    if size > real(1e37):
        scale, back = real(0.0625), real(4)
    elif size < real(1e-37):
        scale, back = real(2.0**54), real(2.0**-27)
    a, b = abs(x) * scale, abs(y) * scale
    t = math.sqrt((a + math.hypot(a, b)) * real(0.5))
    other = b / (t + t)
    if x >= 0:
        return complex(t * back, math.copysign(other * back, y))
    return complex(other * back, math.copysign(t * back, y))


@stands_for("cmath.sqrt", doc="Square root of a complex number.")
def sqrt(z):
    return square_root(as_complex(z))


def pair(real, x, y):
    return complex(real(x), real(y))


@stands_for("cmath.exp", doc="e to a complex power.")
def exp(z):
    z = as_complex(z)
    x, y = z.real, z.imag
    if y == 0:
        return complex(math.exp(x), y)
    if math.isinf(x) and not math.isfinite(y):
        return pair(type(x), math.inf, math.nan) if x > 0 else pair(type(x), 0, 0)
    # in two steps: the parts may fit where exp(x) does not
    root = math.exp(x * type(x)(0.5))
    if x > 80 and not math.isinf(x):
        return complex(root * math.cos(y) * root, root * math.sin(y) * root)
    size = math.exp(x)
    return complex(size * math.cos(y), size * math.sin(y))


def log_of_size(z):
    """log(abs(z)), exact where abs(z) is near 1."""
    real = type(z.real)
    a, b = abs(z.real), abs(z.imag)
    large, small = max(a, b), min(a, b)
    size = math.hypot(a, b)
    if size > real(0.71) and size < real(1.73):
        return math.log1p((large - real(1)) * (large + real(1)) + small * small) * real(0.5)
    if large > real(1e37):
        return math.log(math.hypot(a * real(0.25), b * real(0.25))) + real(1.3862943611198906)
    if large < real(1e-37) and large > 0:
        return math.log(math.hypot(a * real(2.0**60), b * real(2.0**60))) - real(41.58883083359672)
    return math.log(size)


def natural_log(z):
    return complex(log_of_size(z), math.atan2(z.imag, z.real))


@stands_for("cmath.log", doc="Logarithm of a complex number, natural or to a base.")
def log(z, base=None):
    if base is None:
        return natural_log(as_complex(z))
    return natural_log(as_complex(z)) / natural_log(as_complex(base))


@stands_for("cmath.log10", doc="Logarithm of a complex number to base 10.")
def log10(z):
    value = natural_log(as_complex(z))
    factor = type(value.real)(0.4342944819032518)
    return complex(value.real * factor, value.imag * factor)


@stands_for("cmath.phase", doc="The angle of a complex number.")
def phase(z):
    z = as_complex(z)
    return math.atan2(z.imag, z.real)


@stands_for("cmath.polar", doc="The size and the angle of a complex number.")
def polar(z):
    z = as_complex(z)
    return math.hypot(z.real, z.imag), math.atan2(z.imag, z.real)


@stands_for("cmath.rect", doc="The complex number with that size and angle.")
def rect(r, phi):
    if phi == 0:
        return complex(r, sign_or_one(r) * phi if r == r else abs(phi))
    if r == 0 and not math.isfinite(phi):
        return complex(abs(r), abs(r))
    if math.isinf(r) and not math.isfinite(phi):
        return complex(abs(r), abs(r) * math.cos(phi))
    return complex(r * math.cos(phi), r * math.sin(phi))


@stands_for("cmath.isnan", doc="Whether a part is not a number.")
def isnan(z):
    z = as_complex(z)
    return math.isnan(z.real) or math.isnan(z.imag)


@stands_for("cmath.isinf", doc="Whether a part is infinite.")
def isinf(z):
    z = as_complex(z)
    return math.isinf(z.real) or math.isinf(z.imag)


@stands_for("cmath.isfinite", doc="Whether both parts are finite.")
def isfinite(z):
    z = as_complex(z)
    return math.isfinite(z.real) and math.isfinite(z.imag)


def hyperbolic_sine(z):
    x, y = z.real, z.imag
    if y == 0:
        return complex(math.sinh(x), y)
    if not math.isfinite(y):
        return complex(abs(x) if x == 0 or math.isinf(x) else math.cos(y), math.cos(y))
    if abs(x) > 80 and not math.isinf(x):
        root = math.exp(abs(x) * type(x)(0.5))
        half = math.copysign(root * type(x)(0.5), x)
        return complex(half * math.cos(y) * root, abs(half) * math.sin(y) * root)
    return complex(math.sinh(x) * math.cos(y), math.cosh(x) * math.sin(y))


def hyperbolic_cosine(z):
    x, y = z.real, z.imag
    if y == 0:   # the imaginary part is a zero, also beside an infinity
        return complex(math.cosh(x), math.copysign(type(x)(1), x) * y if x == x else abs(y))
    if x == 0:
        return complex(math.cos(y), x * math.sin(y) if math.isfinite(y) else abs(x))
    if math.isinf(x) and not math.isfinite(y):
        return complex(abs(x), math.cos(y))
    if abs(x) > 80 and not math.isinf(x):
        root = math.exp(abs(x) * type(x)(0.5))
        half = math.copysign(root * type(x)(0.5), x)
        return complex(abs(half) * math.cos(y) * root, half * math.sin(y) * root)
    return complex(math.cosh(x) * math.cos(y), math.sinh(x) * math.sin(y))


@stands_for("cmath.sinh", doc="Hyperbolic sine of a complex number.")
def sinh(z):
    return hyperbolic_sine(as_complex(z))


@stands_for("cmath.cosh", doc="Hyperbolic cosine of a complex number.")
def cosh(z):
    return hyperbolic_cosine(as_complex(z))


def hyperbolic_tangent(z):
    x, y = z.real, z.imag
    real = type(x)
    if y == 0:
        return complex(math.tanh(x), y)
    if not math.isfinite(y):
        if math.isinf(x):
            return complex(math.copysign(real(1), x), real(0))
        return complex(x if x == 0 else math.cos(y), math.cos(y))
    if abs(x) > real(20):   # tanh(x) is 1 to all digits, and cosh(x) may overflow
        return complex(math.copysign(real(1), x), real(4) * math.sin(y) * math.cos(y) * math.exp(-real(2) * abs(x)))
    tx, ty = math.tanh(x), math.tan(y)
    inverse = real(1) / math.cosh(x)
    product = tx * ty
    denominator = real(1) + product * product
    return complex(tx * (real(1) + ty * ty) / denominator, ((ty / denominator) * inverse) * inverse)


@stands_for("cmath.tanh", doc="Hyperbolic tangent of a complex number.")
def tanh(z):
    """numba's tanh of complex64 is complex128."""
    return hyperbolic_tangent(complex128(as_complex(z)))


@stands_for("cmath.sin", doc="Sine of a complex number.")
def sin(z):
    z = as_complex(z)
    w = hyperbolic_sine(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


@stands_for("cmath.cos", doc="Cosine of a complex number.")
def cos(z):
    z = as_complex(z)
    return hyperbolic_cosine(complex(-z.imag, z.real))


@stands_for("cmath.tan", doc="Tangent of a complex number.")
def tan(z):
    z = as_complex(z)
    w = hyperbolic_tangent(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


def has_infinity(x, y):
    return math.isinf(x) or math.isinf(y)


def inverse_sinh(z):
    x, y = z.real, z.imag
    one = type(x)(1)
    if has_infinity(x, y):
        return complex(sign_or_one(x) * type(x)(math.inf), math.atan2(y, abs(x)))
    if y == 0 and x != x:
        return z
    s = square_root(complex(one + y, -x))
    t = square_root(complex(one - y, x))
    return complex(math.asinh(s.real * t.imag - t.real * s.imag),
                   math.atan2(y, s.real * t.real - s.imag * t.imag))


@stands_for("cmath.asinh", doc="Inverse hyperbolic sine of a complex number.")
def asinh(z):
    return inverse_sinh(as_complex(z))


@stands_for("cmath.asin", doc="Arc sine of a complex number.")
def asin(z):
    z = as_complex(z)
    w = inverse_sinh(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


@stands_for("cmath.acos", doc="Arc cosine of a complex number.")
def acos(z):
    z = as_complex(z)
    x, y = z.real, z.imag
    real = type(x)
    if has_infinity(x, y):
        return complex(math.atan2(abs(y), x), -sign_or_one(y) * real(math.inf) if y == y else real(math.inf))
    if x == 0 and y != y:
        return complex(real(1.5707963267948966), y)
    s = square_root(complex(real(1) - x, -y))
    t = square_root(complex(real(1) + x, y))
    return complex(real(2) * math.atan2(s.real, t.real), math.asinh(t.real * s.imag - t.imag * s.real))


@stands_for("cmath.acosh", doc="Inverse hyperbolic cosine of a complex number.")
def acosh(z):
    z = as_complex(z)
    x, y = z.real, z.imag
    real = type(x)
    if has_infinity(x, y):
        return complex(real(math.inf), math.atan2(y, x))
    if x == 0 and y != y:
        return complex(y, real(1.5707963267948966))
    s = square_root(complex(x - real(1), y))
    t = square_root(complex(x + real(1), y))
    return complex(math.asinh(s.real * t.real + s.imag * t.imag), real(2) * math.atan2(s.imag, t.real))


def inverse_tanh_right(x, y):
    """For x >= 0, or a zero of either sign."""
    real = type(x)
    size = abs(y)
    if (x > real(1e18) or size > real(1e18)) and x == x and y == y:
        h = math.hypot(x * real(0.5), y * real(0.5))
        return complex(x / real(4) / h / h, math.copysign(real(1.5707963267948966), y))
    gap = real(1) - x
    if gap == 0 and size == 0:
        return complex(real(math.inf), y)
    if gap == 0 and size < real(1e-15):   # its square might vanish
        return complex((real(0.6931471805599453) - math.log(size)) * real(0.5),
                       math.copysign(real(0.7853981633974483), y))
    part = math.log1p(real(4) * x / (gap * gap + size * size)) * real(0.25)
    return complex(part, -math.atan2(-real(2) * y, gap * (real(1) + x) - size * size) * real(0.5))


def inverse_tanh(z):
    x, y = z.real, z.imag
    if has_infinity(x, y):
        quarter = math.copysign(type(x)(1.5707963267948966), y)
        return complex(sign_or_one(x) * type(x)(0), quarter if y == y else y)
    if x == 0 and y != y:
        return z
    if is_negative(z.real):
        w = inverse_tanh_right(-z.real, -z.imag)
        return complex(-w.real, -w.imag)
    return inverse_tanh_right(z.real, z.imag)


@stands_for("cmath.atanh", doc="Inverse hyperbolic tangent of a complex number.")
def atanh(z):
    return inverse_tanh(as_complex(z))


@stands_for("cmath.atan", doc="Arc tangent of a complex number.")
def atan(z):
    z = as_complex(z)
    w = inverse_tanh(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


@stands_for("cmath.isclose", doc="Whether two complex numbers are near each other.")
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    x, y = complex128(as_complex(a)), complex128(as_complex(b))
    if x == y:
        return True
    if isinf(x) or isinf(y):
        return False
    distance = abs(y - x)
    return distance <= rel_tol * abs(x) or distance <= rel_tol * abs(y) or distance <= abs_tol
