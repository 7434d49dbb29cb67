"""Makes codegen/host/elementary/coefficients.h: polynomials near the best ones for the functions of that folder.

    python scripts/elementary_coefficients.py > codegen/host/elementary/coefficients.h

Each row is a function, an interval and a degree; the polynomial meets the function at Chebyshev's points. Those of
BY_TERMS are computed so, the others by four terms at a time (lane.h). Behind them stand the tables of the exponential
functions and logarithms of float64."""

import itertools
import struct

import mpmath
from mpmath import mp, mpf

mp.prec = 300


def odd(function):
    """(f(sqrt(z)) / sqrt(z) - 1) / z of an odd function with derivative 1."""
    def form(z):
        if z < mpf("1e-3"):
            coefficients = mpmath.taylor(function, 0, 41)[3::2]
            return mpmath.polyval(coefficients[::-1], z)
        x = mpmath.sqrt(z)
        return (function(x) / x - 1) / z
    return form


def beyond(function, first):
    """What is left of a function behind its Taylor terms below x ** first, divided by that power."""
    start = mpmath.taylor(function, 0, first - 1)
    rest = mpmath.taylor(function, 0, first + 40)[first:]

    def form(x):
        if abs(x) < mpf("1e-2"):
            return mpmath.polyval(rest[::-1], x)
        return (function(x) - mpmath.polyval(start[::-1], x)) / x ** first
    return form


def cosine(z):
    """(cos(sqrt(z)) - 1 + z / 2) / z ** 2"""
    return mpmath.nsum(lambda k: (-1) ** int(k) * z ** k / mpmath.factorial(2 * k + 4), [0, 40], method="d")


def logarithm(first):
    """(2 * atanh(s) less its terms before s ** first) / s ** first of z = s * s"""
    return lambda z: mpmath.nsum(lambda k: 2 * z ** k / (2 * k + first), [0, 200], method="d")


def error_function(z):
    """erf(x) / x of z = x * x"""
    return mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z) if z else 2 / mpmath.sqrt(mpmath.pi)


def scaled_erfc(t):
    """exp(x ** 2) * erfc(x) / t, where t = 1 / (1 + x / 2)"""
    if t < mpf("1e-12"):
        return mpf(1) / (2 * mpmath.sqrt(mpmath.pi))
    x = 2 / t - 2
    return mpmath.exp(x * x) * mpmath.erfc(x) / t


QUARTER = (mpmath.pi / 4) ** 2 * mpf("1.0001")
HALF_LN2 = mpmath.log(2) / 2 * mpf("1.0001")
LOG_LOW, LOG_HIGH = mpmath.sqrt(mpf(1) / 2) - 1 - mpf("1e-6"), mpmath.sqrt(2) - 1 + mpf("1e-6")
LOG_Z = mpf("0.02945")
TAN_EIGHTH = mpf("0.1717")
ENTRIES = 16   # of a table; AVX-512 looks it up in two registers
LOG_SHORT = mpf("0.03126")
LOG_SHORTEST = mpf("0.003907")
FINE_ENTRIES = 128   # of the tables of pow
LOG_START = 0x3ff0000000000000 - (1 << 47) - 10 * (1 << 48)   # 1 is within an interval
FINE_START = 0x3ff0000000000000 - (1 << 44) - 80 * (1 << 45)

ROWS = [
    ("SIN32", "(sin(r) / r - 1) / r**2 of r**2", odd(mpmath.sin), 0, QUARTER, 3),
    ("COS32", "(cos(r) - 1 + r**2 / 2) / r**4 of r**2", cosine, 0, QUARTER, 2),
    ("EXP32", "(exp(r) - 1 - r) / r**2 of r", beyond(mpmath.exp, 2), -HALF_LN2, HALF_LN2, 5),
    ("LOG32", "(log(1 + f) - f) / f**2 of f", beyond(mpmath.log1p, 2), LOG_LOW, LOG_HIGH, 11),
    ("ATANH32", "(2 atanh(s) - 2 s) / s**3 of s**2", logarithm(3), 0, LOG_Z, 5),
    ("ASIN32", "(asin(s) / s - 1) / s**2 of s**2", odd(mpmath.asin), 0, mpf("0.25"), 7),
    ("ATAN32", "(atan(t) / t - 1) / t**2 of t**2", odd(mpmath.atan), 0, 1, 11),
    ("ERF32", "erf(x) / x of x**2", error_function, 0, 1, 7),
    ("ERFC32", "exp(x**2) erfc(x) / t of t = 1 / (1 + x / 2)", scaled_erfc, mpf("0.09"), 1, 14),
    ("ERF64", "erf(x) / x - 1 of x**2", lambda z: error_function(z) - 1, 0, 1, 13),
    ("ERFC64", "exp(x**2) erfc(x) / t of t - 1/2, t = 1 / (1 + x / 2)", lambda u: scaled_erfc(u + mpf("0.5")),
     mpf("-0.435"), mpf("0.5"), 27),
    ("SIN64", "(sin(r) / r - 1) / r**2 of r**2", odd(mpmath.sin), 0, QUARTER, 6),
    ("COS64", "(cos(r) - 1 + r**2 / 2) / r**4 of r**2", cosine, 0, QUARTER, 6),
    ("EXP64", "(exp(r) - 1 - r) / r**2 of r", beyond(mpmath.exp, 2), -HALF_LN2, HALF_LN2, 10),
    ("EXP64_SHORT", "the same", beyond(mpmath.exp, 2), -HALF_LN2 / ENTRIES, HALF_LN2 / ENTRIES, 5),
    ("LOG64", "(2 atanh(s) - 2 s) / s**3 of s**2", logarithm(3), 0, LOG_Z, 7),
    ("LOG64_SHORT", "(log(1 + r) - r + r**2 / 2) / r**3 of r", beyond(mpmath.log1p, 3), -LOG_SHORT, LOG_SHORT, 7),
    ("LOG64_SHORTEST", "the same", beyond(mpmath.log1p, 3), -LOG_SHORTEST, LOG_SHORTEST, 5),
    ("ASIN64", "(asin(s) / s - 1) / s**2 of s**2", odd(mpmath.asin), 0, mpf("0.25"), 13),
    ("ATAN64", "(atan(t) / t - 1) / t**2 of t**2", odd(mpmath.atan), 0, TAN_EIGHTH, 11),
]

# Whose roundings are seen in the results.
BY_TERMS = {"SIN32", "COS32", "SIN64", "COS64", "ERF32", "ERF64", "ERFC32", "ERFC64"}

# Which are added to a number after a product with x**2.
BEHIND = {"EXP64_SHORT"}


def fit(function, low, high, degree):
    """The coefficients, and the largest error found."""
    low, high, n = mpf(low), mpf(high), degree + 1
    nodes = [(low + high) / 2 + (high - low) / 2 * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    matrix = mp.matrix(n, n)
    for i, node in enumerate(nodes):
        for k in range(n):
            matrix[i, k] = node ** k
    found = [mpf(float(c)) for c in mpmath.lu_solve(matrix, mp.matrix([function(x) for x in nodes]))]
    places = [low + (high - low) * k / 200 for k in range(201)]
    return found, max(abs(mpmath.polyval(found[::-1], x) - function(x)) for x in places)


def powers():
    """2 ** (k / ENTRIES), rounded, and what each is to be multiplied with, less 1."""
    exact = [mpf(2) ** (mpf(k) / ENTRIES) for k in range(ENTRIES)]
    rounded = [mpf(float(power)) for power in exact]
    return rounded, [power / near - 1 for power, near in zip(exact, rounded, strict=True)]


def intervals(start, count):
    """Of numbers that begin with the bits `start`, as long as each other in bits."""
    places = [start + k * (2 ** 52 // count) for k in range(count + 1)]
    return itertools.pairwise(mpf(struct.unpack("<d", struct.pack("<Q", place))[0]) for place in places)


def reciprocals():
    """For each interval of ENTRIES a number near the reciprocal of its middle, and the logarithm of what that is the
    reciprocal of. The numbers are chosen so that the logarithm is a multiple of 2**-42 but for less than 2**-66
    (S. Gal, 1986): one number has it, and its sum with an exponent's is exact."""
    factors, logarithms = [], []
    for low, high in intervals(LOG_START, ENTRIES):
        first = 0 if low < 1 < high else int(mpmath.nint(mpmath.log((low + high) / 2) * 2 ** 42))
        for step in range(1 << 16):
            exact = mpf(first + (step + 1) // 2 * (-1) ** step) / 2 ** 42
            factor = mpf(float(mpmath.exp(-exact)))
            if abs(mpmath.log(factor) + exact) < mpf(2) ** -66:
                break
        else:
            raise SystemExit(f"no reciprocal found between {low} and {high}")
        assert max(abs(low * factor - 1), abs(high * factor - 1)) <= LOG_SHORT
        factors.append(factor)
        logarithms.append(exact)
    return factors, logarithms


def fine_reciprocals():
    """Those of FINE_ENTRIES, with logarithms that are multiples of 2**-42, and what is missing there."""
    factors, logarithms, rests = [], [], []
    for low, high in intervals(FINE_START, FINE_ENTRIES):
        factor = mpf(1) if low < 1 < high else mpf(float(2 / (low + high)))
        assert max(abs(low * factor - 1), abs(high * factor - 1)) <= LOG_SHORTEST
        exact = -mpmath.log(factor)
        rounded = mpmath.nint(exact * 2 ** 42) / 2 ** 42
        factors.append(factor)
        logarithms.append(rounded)
        rests.append(exact - rounded)
    return factors, logarithms, rests


def table(name, doc, numbers):
    texts = [float(number).hex() for number in numbers]
    lines = ",\n    ".join(", ".join(texts[place:place + 4]) for place in range(0, len(texts), 4))
    print(f"/* {doc} */\nstatic const double {name}[{len(texts)}] = {{\n    {lines},\n}};")


def listed(coefficients):
    """Of a row in C, that of x ** 0 first, three on a line."""
    texts = [float(each).hex() for each in coefficients]
    return ", \\\n    ".join(", ".join(texts[place:place + 3]) for place in range(0, len(texts), 3))


def main():
    print("/* Polynomials and tables of codegen/host/elementary, made by scripts/elementary_coefficients.py. */")
    print("#ifndef CUJIT_CODEGEN_COEFFICIENTS_H\n#define CUJIT_CODEGEN_COEFFICIENTS_H\n\n/* clang-format off */")
    for name, doc, function, low, high, degree in ROWS:
        found, error = fit(function, low, high, degree)
        print(f"/* {doc} from {mpmath.nstr(low, 4)} to {mpmath.nstr(high, 4)};"
              f" off by 2**{float(mpmath.log(error, 2)):.1f} */")
        scheme = "POLYNOMIAL_BY_TERMS" if name in BY_TERMS else "POLYNOMIAL_BEHIND" if name in BEHIND else "POLYNOMIAL"
        parameters = "first, x" if name in BEHIND else "x"
        print(f"#define {name}({parameters}) {scheme}({parameters}, {listed(found)})")
    (power, rest), (factor, logarithm) = powers(), reciprocals()
    print(f"\nenum {{ ENTRIES = {ENTRIES} }};")
    table("POWERS", "2**(k / ENTRIES)", power)
    table("POWERS_REST", "and what is missing there, as a part of each", rest)
    print("/* An interval of numbers begins with these bits, and each with 1 << 48 more. */")
    print(f"#define LOG_START {LOG_START:#x}u")
    table("RECIPROCALS", "1 / c, where c is near the middle of an interval", factor)
    table("LOGARITHMS", "log(c), off by less than 2**-66", logarithm)
    factor, logarithm, rest = fine_reciprocals()
    print("/* The same of more intervals, each with 1 << 45 more; a logarithm is a multiple of 2**-42 and a rest. */")
    print(f"enum {{ FINE_ENTRIES = {FINE_ENTRIES} }};\n#define FINE_START {FINE_START:#x}u")
    table("FINE_RECIPROCALS", "1 / c", factor)
    table("FINE_LOGARITHMS", "log(c)", logarithm)
    table("FINE_LOGARITHMS_REST", "and what is missing there", rest)
    print("/* clang-format on */\n\n#endif")


if __name__ == "__main__":
    main()
