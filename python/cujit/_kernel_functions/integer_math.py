"""math's functions of integers. They are computed in 64 bits, and what does not fit wraps."""
import math

from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import int64, uint8, uint16, uint32, uint64

UNSIGNED = uint8, uint16, uint32, uint64


def wide(x):
    """The integer in 64 bits; what is no integer is refused."""
    if isinstance(x, uint64):
        return x
    return int64(x | int64(0))


def below_zero(x):
    return x if x < 0 else type(x)(-x)


def divisor_of_two(x, y):
    """Their greatest common divisor; of numbers below zero it is there, too, where there is one more than above."""
    while y != 0:
        x, y = y, type(x)(x % y)
    return x


@tells_overflow
def gcd_of_two(x, y):
    if isinstance(x, UNSIGNED):
        return divisor_of_two(x, y)
    return type(x)(-divisor_of_two(below_zero(x), below_zero(y)))


@tells_overflow
def lcm_of_two(x, y):
    if x == 0 or y == 0:
        return type(x)(0)
    return abs(type(x)(x // gcd_of_two(x, y) * y))


@stands_for("math.gcd", doc="Greatest common divisor of any count of integers.")
@tells_overflow
def gcd(*integers):
    result = int64(0)
    for integer in integers:
        result = divisor_of_two(result, below_zero(int64(wide(integer))))
    return -result


@stands_for("math.lcm", doc="Least common multiple of any count of integers.")
@tells_overflow
def lcm(*integers):
    result = int64(1)
    for integer in integers:
        result = lcm_of_two(result, int64(wide(integer)))
    return result


@stands_for("math.factorial", doc="1 * 2 * ... * n.")
@tells_overflow
def factorial(n):
    result = int64(1)
    for i in range(int64(2), wide(n) + int64(1)):
        result *= i
    return result


@stands_for("math.perm", doc="Ways to choose k of n things in order.")
@tells_overflow
def perm(n, k=None):
    if k is None:
        return factorial(n)
    n, k = int64(wide(n)), int64(wide(k))
    if k > n:
        return int64(0)
    result = int64(1)
    for i in range(k):
        result *= n - i
    return result


@stands_for("math.comb", doc="Ways to choose k of n things without order.")
@tells_overflow
def comb(n, k):
    n, k = int64(wide(n)), int64(wide(k))
    if k > n or k < 0:
        return int64(0)
    k = min(k, n - k)
    result = int64(1)
    for i in range(k):
        # exact at every step, and divided before it is multiplied so that fewer results wrap
        common = gcd_of_two(result, i + 1)
        result = result // common * ((n - i) // ((i + 1) // common))
    return result


@stands_for("builtins.pow")
@tells_overflow
def power(base, exp, mod=None):
    """By squaring; the modulus has at most 31 bits where products must not wrap."""
    if mod is None:
        return base ** exp
    base, exp, modulus = int64(wide(base)), int64(wide(exp)), int64(wide(mod))
    result = int64(1) % modulus
    base %= modulus
    while exp > 0:
        if exp & 1:
            result = product_modulo(result, base, modulus)
        base = product_modulo(base, base, modulus)
        exp >>= 1
    return result


def product_modulo(a, b, modulus):
    """a * b % modulus; a and b lie between 0 and the modulus."""
    if abs(modulus) < 3037000500:   # the square fits
        return a * b % modulus
    result = int64(0)
    negative = modulus < 0
    if negative:
        a, b, modulus = -a, -b, -modulus
    while b > 0:
        if b & 1:
            result = result - (modulus - a) if result >= modulus - a else result + a
        a = a - (modulus - a) if a >= modulus - a else a + a
        b >>= 1
    return result


@stands_for("math.isqrt", doc="The integer part of an integer's square root.")
@tells_overflow
def isqrt(n):
    n = int64(wide(n))
    if n <= 0:
        return int64(0)
    root = int64(math.sqrt(n))
    while root > n // root:   # the square of the root might wrap
        root -= 1
    while root + 1 <= n // (root + 1):
        root += 1
    return root
