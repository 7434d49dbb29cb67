"""math's functions of real numbers that are made of others."""
import math

from cujit import cuda
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import float64, int64


@stands_for("math.isclose", doc="Whether two numbers are near each other.")
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    x, y = float64(a), float64(b)
    if x == y:
        return True
    if math.isinf(x) or math.isinf(y):
        return False
    distance = abs(y - x)
    return distance <= abs(rel_tol * x) or distance <= abs(rel_tol * y) or distance <= abs_tol


@stands_for("math.dist", doc="The distance of two points, given as tuples.")
def dist(p, q):
    size = float64(0)
    for x, y in zip(p, q):
        size = math.hypot(size, float64(x) - float64(y))
    return size


@stands_for("math.ulp", doc="The value of the least significant bit of a float.")
def ulp(x):
    size = math.fabs(x)
    if math.isnan(size) or math.isinf(size):
        return size
    above = math.nextafter(size, type(size)(math.inf))
    if math.isinf(above):
        return size - math.nextafter(size, type(size)(0))
    return above - size


def nearest(scaled, rest):
    """The integer nearest to scaled + rest, halves to even; rest is less than what scaled's last bit is worth."""
    whole = float64(round(scaled))
    if abs(scaled - whole) == 0.5 and rest != 0:
        return math.floor(scaled) + (1.0 if rest > 0 else 0.0)
    return whole


def round_decimals(x, digits):
    """Exact where the power of ten is, that is up to 22 digits."""
    power = 10.0 ** min(digits, 22)
    more = 10.0 ** max(digits - 22, 0)
    scaled = x * power * more
    if not abs(scaled) < 9007199254740992.0:   # no float has digits there; NaN and what overflows
        return x
    rest = cuda.fma(x, power, -scaled) if digits <= 22 else 0.0
    return math.copysign(nearest(scaled, rest) / more / power, x)


def round_integers(x, digits):
    power = 10.0 ** digits
    scaled = x / power
    if math.isinf(power) or not abs(scaled) < 9007199254740992.0:
        return math.copysign(0.0, x) if math.isinf(power) and math.isfinite(x) else x
    return math.copysign(nearest(scaled, cuda.fma(-scaled, power, x)) * power, x)


@tells_overflow
def round_integer(x, digits):
    """An integer to tens, hundreds, ...: halves to even."""
    if digits > 18:
        if digits == 19 and (x > 5 * 10 ** 18 or x < -5 * 10 ** 18):   # to 10**19, of which the last 64 bits are left
            return int64(10) ** digits if x > 0 else -int64(10) ** digits
        return int64(0)
    power = int64(10) ** digits
    above = x % power
    is_up = above > power - above or (above == power - above and x // power % 2 != 0)
    return x + (power - above) if is_up else x - above


@stands_for("builtins.round")
def round_to(number, ndigits=None):
    if ndigits is None:
        return round(number)
    if isinstance(number, int):
        if ndigits >= 0:
            return number
        return round_integer(int64(number), -int64(ndigits))
    x = float64(number)
    if ndigits >= 0:
        return type(number)(round_decimals(x, int64(ndigits)))
    return type(number)(round_integers(x, -int64(ndigits)))
