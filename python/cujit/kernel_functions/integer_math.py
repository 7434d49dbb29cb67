"""math's functions of integers. They are computed in 64 bits, and what does not fit wraps."""
import math

from cujit.types import int64, uint64


def wide(x):
    """The integer in 64 bits; what is no integer is refused."""
    if isinstance(x, uint64):
        return x
    return int64(x | int64(0))


def gcd_of_two(x, y):
    x, y = abs(x), abs(y)
    while y != 0:
        x, y = y, type(x)(x % y)
    return x


def lcm_of_two(x, y):
    if x == 0 or y == 0:
        return type(x)(0)
    return abs(type(x)(x // gcd_of_two(x, y) * y))


def gcd(*integers):
    result = int64(0)
    for integer in integers:
        result = gcd_of_two(result, int64(wide(integer)))
    return result


def lcm(*integers):
    result = int64(1)
    for integer in integers:
        result = lcm_of_two(result, int64(wide(integer)))
    return result


def factorial(n):
    result = int64(1)
    for i in range(int64(2), wide(n) + int64(1)):
        result *= i
    return result


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
