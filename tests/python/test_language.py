"""Python in kernels against Python itself: each sample runs in a kernel for all its arguments, and in CPython.

A sample takes int64 or float64 scalars and returns a scalar or a tuple of them. PYTEST_DONT_REWRITE: asserts in samples
stay as they are.
"""
import math
import operator

import numpy as np
import pytest

from cujit import cuda, float32, float64, int32, int64

INTS = [0, 1, -1, 2, -2, 3, -3, 7, -7, 10, -10, 63, 100, -100, 12345]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.75, -3.25, 1e-3, 100.125, -1e6, 3.0]

SAMPLES = []


def sample(*columns, missing=None):
    """Registers a function with the values of its arguments: every combination is tried.

    missing: what kernels do not have yet; the sample is expected to fail.
    """
    def add(function):
        marks = [pytest.mark.xfail(reason=missing, strict=True)] if missing else []
        SAMPLES.append(pytest.param(function, columns, id=function.__name__, marks=marks))
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
    z = complex(a, b) * 2j + 1
    w = z.conjugate() - (b + 1j)
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


# --- running them ----------------------------------------------------------------------------------------------------

def combinations(columns):
    rows = [()]
    for column in columns:
        rows = [(*row, value) for row in rows for value in column]
    return rows


def run_in_kernel(function, columns, rows):
    """The results of the function for all rows, by a kernel that stores the items of its tuples."""
    first = function(*rows[0])
    is_tuple = isinstance(first, tuple)
    count = len(first) if is_tuple else 1
    arrays = [np.array([row[k] for row in rows]) for k in range(len(columns))]
    results = [function(*row) if is_tuple else (function(*row),) for row in rows]
    outs = [np.zeros(len(rows), np.array([r[k] for r in results]).dtype) for k in range(count)]
    names = [f"a{k}" for k in range(len(arrays))] + [f"r{k}" for k in range(count)]
    call = f"function({', '.join(f'a{k}[i]' for k in range(len(arrays)))})"
    lines = [f"def kernel({', '.join(names)}):", "    i = cuda.grid(1)", "    if i < r0.size:", f"        r = {call}"]
    lines += [f"        r{k}[i] = r[{k}]" if is_tuple else f"        r{k}[i] = r" for k in range(count)]
    namespace = {"cuda": cuda, "function": function}
    exec("\n".join(lines), namespace)
    cuda.jit(namespace["kernel"])[len(rows) // 64 + 1, 64](*arrays, *outs)
    return results, outs


@pytest.mark.parametrize("function, columns", SAMPLES)
def test_as_python(function, columns):
    rows = combinations(columns)
    results, outs = run_in_kernel(function, columns, rows)
    for k, out in enumerate(outs):
        expected = [result[k] for result in results]
        if out.dtype.kind == "f":
            np.testing.assert_allclose(out, expected, rtol=1e-14, atol=0, err_msg=f"result {k}")
            np.testing.assert_array_equal(np.signbit(out), np.signbit(expected), err_msg=f"result {k}: sign")
        else:
            np.testing.assert_array_equal(out, expected, err_msg=f"result {k}")


# --- arrays ----------------------------------------------------------------------------------------------------------

def test_array_attributes_and_indices():
    @cuda.jit
    def kernel(x, out):
        out[0] = x.shape[0] * 100 + x.shape[1]
        out[1] = x.size
        out[2] = x.ndim
        out[3] = len(x)
        out[4] = x[-1, -2]
        out[5] = x[1][2]
        rows, columns = x.shape
        out[6] = rows - columns
        out[7] = x.strides[0]
        index = (1, 0)
        out[8] = x[index]

    x, out = np.arange(12).reshape(3, 4), np.zeros(9, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [304, 12, 2, 3, x[-1, -2], x[1][2], -1, 32, x[1, 0]]


def test_slices_are_views():
    @cuda.jit
    def kernel(x, out):
        row = x[1]
        part = row[1:]
        back = x[0][::-1]
        column = x[:, 2]
        out[0] = part[0]
        out[1] = back[0]
        out[2] = column[2]
        out[3] = len(part)
        out[4] = x[1:, 1:3].shape[1]
        part[1] = 70
        column[0] = 80
        x[2, :2] = 9

    x, out = np.arange(12).reshape(3, 4), np.zeros(5, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [5, 3, 10, 3, 2]
    expected = np.arange(12).reshape(3, 4)
    expected[1, 2], expected[0, 2], expected[2, :2] = 70, 80, 9
    np.testing.assert_array_equal(x, expected)


def test_loops_over_arrays():
    @cuda.jit
    def kernel(x, out):
        for v in x:
            out[0] += v
        for k, v in enumerate(x):
            out[1] += k * v
        for v, w in zip(x, x[1:]):
            out[2] += v * w

    x, out = np.arange(1, 6), np.zeros(3, np.int64)
    kernel[1, 1](x, out)
    assert out.tolist() == [x.sum(), (x * np.arange(5)).sum(), (x[:-1] * x[1:]).sum()]


def test_arrays_of_the_module_are_constants():
    table = np.array([3, 1, 4, 1, 5])

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = table[i] + cuda.const.array_like(table)[0]

    out = np.zeros(5, np.int64)
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, table + 3)


def test_local_and_shared_memory():
    @cuda.jit
    def kernel(out):
        mine = cuda.local.array(4, int64)
        ours = cuda.shared.array(32, np.int64)
        t = cuda.threadIdx.x
        for k in range(4):
            mine[k] = t * k
        ours[t] = mine[3] + mine[1]
        cuda.syncthreads()
        out[cuda.grid(1)] = ours[31 - t]

    out = np.zeros(64, np.int64)
    kernel[2, 32](out)
    np.testing.assert_array_equal(out.reshape(2, 32), [4 * np.arange(32)[::-1]] * 2)


def test_kernels_without_source():
    namespace = {"cuda": cuda}
    exec("def kernel(x):\n    x[cuda.grid(1)] = 7\n", namespace)
    x = np.zeros(4)
    cuda.jit(namespace["kernel"])[1, 4](x)
    np.testing.assert_array_equal(x, 7)


def test_globals_of_the_module_are_found_by_name():
    @cuda.jit
    def kernel(x):
        x[0] = SCALE + OFFSETS[2]

    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 7


def test_captured_values_stay_constant_in_functions_that_are_called():
    def size_of(count):
        def first(x):
            block = cuda.local.array(count, np.float64)
            block[count - 1] = x
            return block[count - 1]

        return first

    three, five = size_of(3), size_of(5)

    @cuda.jit
    def kernel(out):
        out[0] = three(1.5)
        out[1] = five(2.5)

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [1.5, 2.5]


@pytest.mark.parametrize("expression, message", [
    ("tuple(range(out[0]))", "the number of items of a tuple made of range"),
    ("tuple(zip(range(out[0]), (1, 2)))", "the number of items of a tuple made of zip"),
    ("(*out,)", "a tuple can be made of a tuple"),
    ("list(5)", "a tuple can be made of a tuple"),
])
def test_tuples_of_unknown_length_are_refused(refused, expression, message):
    refused(expression, message)


@pytest.mark.parametrize("call", ['float("x")', 'float("0x10")', 'int("1.5")', 'float("")', 'int(" ")', 'complex("1j")'
                                  ])
def test_text_that_is_no_number_is_refused(call, refused):
    refused(call, "the text is no number")


def test_nan_as_text():
    @cuda.jit
    def kernel(out):
        out[0] = float("nan")

    out = np.zeros(1)
    kernel[1, 1](out)
    assert np.isnan(out[0])
