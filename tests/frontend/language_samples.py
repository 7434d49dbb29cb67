"""Functions that test_language.py runs in kernels and in CPython.

A sample takes int64 or float64 scalars and returns a scalar or a tuple of them.
"""
import math
import operator

import numpy as np

from cujit import cuda, float32, float64, int32, int64

INTS = [0, 1, -1, 2, -2, 3, -3, 7, -7, 10, -10, 63, 100, -100, 12345]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.75, -3.25, 1e-3, 100.125, -1e6, 3.0]

SAMPLES = []


def sample(*columns):
    """Registers a function with the values of its arguments: every combination is tried."""
    def add(function):
        SAMPLES.append((function, columns))
        return function
    return add


# --- operators -------------------------------------------------------------------------------------------------------

@sample(INTS, INTS)
def integer_arithmetic(a, b):
    return a + b, a - b, a * b, -a, +b, ~a, a & b, a | b, a ^ b


@sample(INTS, [b for b in INTS if b])
def integer_division_has_pythons_signs(a, b):
    return a // b, a % b, a / b, divmod(a, b)[0], divmod(a, b)[1]


@sample(FLOATS, [b for b in FLOATS if b])
def float_division_has_pythons_signs(a, b):
    return a / b, a // b, a % b


@sample(FLOATS, FLOATS)
def float_arithmetic(a, b):
    return a + b, a - b, a * b, -a, abs(a)


@sample(INTS, FLOATS)
def mixed_arithmetic(a, b):
    return a + b, a * b, a - b, b - a


@sample(INTS, range(12))
def shifts(a, n):
    return a << n, a >> n


@sample([-3, -2, -1, 1, 2, 3, 7], range(8))
def integer_powers(a, n):
    return a ** n, a ** 2, a ** 3, pow(a, n)


@sample([0.5, 1.5, 2.0, 10.0], FLOATS[:8])
def float_powers(a, b):
    return a ** b, a ** 2, a ** 0.5, a ** -1


@sample(INTS, INTS)
def comparisons(a, b):
    return a < b, a <= b, a == b, a != b, a >= b, a > b


@sample(FLOATS, INTS)
def mixed_comparisons(a, b):
    return a < b, a <= b, a == b, a != b, a >= b, a > b


@sample(INTS, INTS, [-5, 0, 5])
def chained_comparisons(a, b, c):
    return a < b < c, a <= b == c, a > b != c > -7


@sample(INTS, INTS)
def truth_and_short_circuits(a, b):
    return bool(a and b), bool(a or b), not a, (a and b) + 0, (a or b) + 0


@sample(INTS, INTS)
def short_circuits_do_not_evaluate_the_rest(a, b):
    return b != 0 and a // b > 1, b == 0 or a % b == 0


@sample(INTS)
def augmented_assignments(a):
    b = a
    b += 3
    b -= 1
    b *= 2
    b //= 3
    b %= 17
    b <<= 2
    b >>= 1
    b |= 8
    b &= 0xFF
    b ^= 5
    c = b / 1
    c /= 4
    c **= 2
    return b, c


@sample(FLOATS)
def casts(a):
    return int(a), float(int(a)), bool(a), complex(a).real


@sample([3.7, -3.7, 0.1], [-2, 5])
def casts_by_types(a, b):
    return float64(float32(a)), int64(int32(b)), int64(a)


@sample([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6, 1e9 + 0.5])
def rounding(a):
    return round(a), math.floor(a), math.ceil(a), math.trunc(a)


# --- control flow ----------------------------------------------------------------------------------------------------

@sample(INTS)
def if_elif_else(a):
    if a < -5:
        r = 1
    elif a < 0:
        r = 2
    elif a == 0:
        r = 3
    else:
        r = 4
    return r


@sample(INTS, INTS)
def conditional_expressions(a, b):
    return a if a > b else b, (1.5 if a > 0 else 2.5) if b > 0 else 3.5


@sample(INTS)
def early_returns(a):
    if a < 0:
        return -1
    for k in range(a):
        if k * k > a:
            return k
    return 0


@sample(range(8))
def while_with_break_continue_and_else(n):
    k = total = 0
    while k < 10:
        k += 1
        if k % 2:
            continue
        if k > n:
            break
        total += k
    else:
        total += 1000
    return total, k


@sample(range(8))
def for_with_else(n):
    r = -1
    for k in range(n):
        if k == 5:
            r = k
            break
    else:
        r = 100
    return r


@sample([-3, 0, 4], [-2, 7], [1, 2, -1, -3])
def ranges(start, stop, step):
    total = count = 0
    for k in range(start, stop, step):
        total += k * k
        count += 1
    for k in range(stop):
        total += k
    return total, count


@sample(range(6))
def the_loop_variable_after_the_loop(n):
    k = -7
    for k in range(n):
        pass
    return k


@sample(range(6))
def changing_the_loop_variable_inside(n):
    total = 0
    for k in range(n):
        total += k
        k = 100
        total += k
    return total


@sample(range(5), range(5))
def nested_loops(n, m):
    total = 0
    for i in range(n):
        for j in range(i, m):
            if (i + j) % 3 == 0:
                continue
            if j > 3:
                break
            total += i * 10 + j
        else:
            total += 1000
    return total


@sample(INTS)
def collatz(a):
    n = abs(a) % 50 + 1
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@sample(INTS)
def one_name_with_several_types(a):
    x = a
    x = x + 0.5
    if a > 0:
        y = 1
    else:
        y = 2.5
    return x, y


def type_of_a_choice(a, b):
    return type(a if a > b else b)


def type_of_what_widens(a, b):
    x = 0
    for _ in range(3):
        x += b
    return type(x if a > 0 else b)


@sample(INTS, FLOATS)
def type_of_a_conditional_expression(a, b):
    return (type_of_a_choice(a, 2)(2.75), type_of_a_choice(b, 0.5)(2.75), type_of_what_widens(a, b)(2.75),
            type_of_what_widens(b, a)(2.75))


@sample([0, 1, 5, 7], FLOATS)
def nested_functions_that_call_themselves(a, b):
    def factorial(k):
        return 1 if k < 2 else k * factorial(k - 1)

    def down(k, total):
        if k == 0:
            return total
        return down(k - 1, total + b)
    return factorial(a), down(a, 0.5), sum(factorial(i) for i in range(a))


@sample(INTS, INTS)
def swaps(a, b):
    a, b = b, a
    c, (d, e) = a, (b, a + b)
    d, e, c = e, c, d
    return a, b, c, d, e


@sample(INTS)
def match_with_literals(a):
    match a:
        case 0:
            return 10
        case 1 | 2 | 3:
            return 20
        case -1:
            return 30
        case _:
            return 40


@sample(INTS)
def walrus(a):
    if (b := a * 2) > 5:
        return b
    return -b


@sample(range(5))
def deleted_names(n):
    x = n
    y = x + 1
    del x
    return y


@sample(INTS)
def assertions_and_raises_are_silent_where_they_hold(a):
    assert a == a
    if a != a:
        raise ValueError("never")
    return a


# --- builtins and tuples ---------------------------------------------------------------------------------------------

@sample(INTS, INTS, INTS[:6])
def minima_and_maxima(a, b, c):
    return min(a, b), max(a, b), min(a, b, c), max(a, b, c), min((a, b)), max((a, b, c))


@sample([f for f in FLOATS if f], FLOATS[:6])
def float_minima_and_maxima(a, b):
    return min(a, b), max(a, b)


@sample(INTS, INTS)
def tuples(a, b):
    t = (a, b, a + b)
    u = t + (7,)
    x, y, z = t
    return len(u), t[0], t[-1], u[1:3][1], x - y, z, (1, 2, 3)[abs(a) % 3], sum(t), a in t, 5 in (1, 2, 5)


@sample(INTS, INTS)
def loops_over_tuples(a, b):
    total = 0
    for v in (a, b, 3):
        total = total * 3 + v
    for k, v in enumerate((a, b)):
        total += k * v
    for v, w in zip((a, b), (1, 2)):
        total += v * w
    for v in reversed((a, b, 9)):
        total = total * 2 + v
    return total


@sample(INTS, INTS)
def any_and_all(a, b):
    return any((a > 0, b > 0)), all((a > 0, b > 0))


@sample(range(6))
def enumerate_and_zip_of_ranges(n):
    total = 0
    for k, v in enumerate(range(2, n + 2), 5):
        total += k * v
    for v, w in zip(range(n), range(10, 3, -1)):
        total += v * w
    return total


@sample([True, False], [True, False])
def booleans(a, b):
    return a & b, a | b, a ^ b, a + b, not a, a and not b, a == b


@sample(FLOATS, FLOATS[:5])
def complex_numbers(a, b):
    z = complex(a, b) * 2j + complex(1, 0)  # since CPython 3.14 a sum with a real number keeps the other's sign of zero
    w = z.conjugate() - complex(b, 1)
    return z.real, z.imag, (z + w).real, (z * w).imag, z == w


# --- functions -------------------------------------------------------------------------------------------------------

def helper(a, b=10, *, c=2):
    return a * c + b


@sample(INTS)
def defaults_and_keywords(a):
    return helper(a), helper(a, 1), helper(b=a, a=3), helper(a, c=5), helper(1, c=a, b=2)


def two_results(a):
    if a > 0:
        return a, a + 0.5
    return -a, 0.25


@sample(INTS)
def several_results(a):
    x, y = two_results(a)
    return x, y, two_results(x)[1]


@sample(INTS)
def inner_functions_capture(a):
    k = a * 2

    def inner(v):
        return v + k

    f = lambda v: inner(v) * 3  # noqa: E731
    return inner(1), f(2)


def apply(function, a, b):
    return function(a, b)


@sample(INTS, INTS)
def functions_as_arguments(a, b):
    return apply(helper, a, b), apply(lambda x, y: x - y, a, b), apply(max, a, b)


@sample(INTS, INTS)
def functions_of_operator(a, b):
    return operator.add(a, b), apply(operator.mul, a, b), operator.neg(a)


def star(first, *rest):
    total = first
    for v in rest:
        total = total * 2 + v
    return total


def sum_by_reference(a, b):
    total = 0

    def add(v):
        nonlocal total
        total += v
    for k in range(a % 5):
        add(k * b)
    return total, a


@sample(INTS, INTS)
def variables_shared_with_nested_functions(a, b):
    return sum_by_reference(a, b)


@sample(INTS)
def star_parameters(a):
    return star(a, 1), star(a, 1, -a)


@sample(INTS)
def star_parameters_without_arguments(a):
    return star(a)


@sample(INTS)
def star_arguments(a):
    t = (a, 2, 3)
    return star(*t), star(0, *t)


def make_adder(k):
    def add(v):
        return v + k
    return add


add_five, add_half = make_adder(5), make_adder(0.5)


@sample(INTS)
def closures_made_outside(a):
    return add_five(a), add_half(a)


@cuda.jit(device=True)
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@sample(range(12))
def recursion(n):
    return factorial(n)


SCALE, OFFSETS = 4, (1, 2, 3)


@sample(INTS)
def globals_and_attributes(a):
    return a * SCALE + OFFSETS[1], math.pi + a, np.float64(a) * 2


@sample([0.1, 0.5, 0.9, 1.5, 3.0])
def math_functions(a):
    return (math.sqrt(a), math.exp(a), math.log(a), math.sin(a), math.cos(a), math.tan(a), math.atan(a), math.sinh(a),
            math.hypot(a, 2.0), math.atan2(a, -1.0), math.fabs(-a), math.copysign(a, -0.0), math.fmod(a, 0.4),
            math.log2(a), math.log10(a), math.log1p(a), math.expm1(a), math.erf(a), math.gamma(a), math.pow(a, 1.5),
            math.degrees(a), math.radians(a), math.isnan(a), math.isinf(a), math.isfinite(a))
