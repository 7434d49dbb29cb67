"""Nested functions that call each other and share variables, in kernels as in CPython: the samples run in both, as
kernels and as device functions."""
import numpy as np
import pytest

from cujit import cuda, errors, float64

SAMPLES = []


def sample(function):
    SAMPLES.append(pytest.param(function, id=function.__name__))
    return function


# --- functions that call each other ----------------------------------------------------------------------------------

@sample
def even_and_odd(x, n, out):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)
    out[0], out[1], out[2] = even(n), odd(n), even(n + 1)


@sample
def one_defined_behind_its_caller(x, n, out):
    def twice(k):
        return helper(k) * 2

    def helper(k):
        return k + 0.5
    out[0] = twice(n)


@sample
def three_in_a_circle(x, n, out):
    def a(k):
        return 1 if k <= 0 else b(k - 1) + 1

    def b(k):
        return 2 if k <= 0 else c(k - 1) + a(k - 2)

    def c(k):
        return 3 if k <= 0 else a(k - 1) + b(k - 2)
    out[0], out[1], out[2] = a(n), b(n), c(n)


@sample
def captured_values_beside(x, n, out):
    def a(k):
        return scale if k <= 0 else b(k - 1) + scale
    scale = n * 3

    def b(k):
        return x[0] if k <= 0 else a(k - 1) * 2 + scale + x[1]
    out[0], out[1] = a(n), b(n)


@sample
def lambdas(x, n, out):
    even = lambda k: 1 if k == 0 else odd(k - 1)  # noqa: E731
    odd = lambda k: 0 if k == 0 else even(k - 1)  # noqa: E731
    first, second = (lambda k: 5 if k == 0 else second(k - 1)), (lambda k: 7 if k == 0 else first(k - 1))
    out[0], out[1], out[2], out[3] = even(n), odd(n), first(n), second(n)


@sample
def passed_to_each_other(x, n, out):
    def apply(function, k):
        return function(k)

    def even(k):
        return 1 if k == 0 else apply(odd, k - 1)

    def odd(k):
        return 0 if k == 0 else apply(even, k - 1)
    out[0], out[1] = apply(even, n), apply(odd, n)


@sample
def nested_in_one_another(x, n, out):
    def outer(k):
        def inner(j):
            return 0 if j <= 0 else helper(j - 1) + k
        return inner(k)

    def helper(j):
        return 1 if j <= 0 else outer(j - 1) + n
    out[0], out[1] = outer(n), helper(n)


@sample
def of_several_types(x, n, out):
    def down(k, total):
        return total if k == 0 else other(k - 1, total + step)

    def other(k, total):
        return total if k == 0 else down(k - 1, total * 2)
    step = 1
    out[0], out[1] = down(n, 1), down(n, 0.25)


@sample
def without_a_result(x, n, out):
    def fill(i):
        if i < n:
            out[i] = x[i % 3]
            skip(i + 1)

    def skip(i):
        fill(i + 1)
    fill(0)


@sample
def through_generators(x, n, out):
    def a(k):
        return sum([b(i) for i in range(k)]) + 1 if k < 3 else 2

    def b(k):
        return sum(a(i) for i in range(k)) + n
    out[0], out[1] = a(2), b(3)


@sample
def as_arguments_of_builtins(x, n, out):
    total = 0

    def f(v):
        nonlocal total
        total += v
        return g(v) if v > 2 else v

    def g(v):
        return f(v - 2) * 2
    out[0], out[1] = sum(map(f, (1, 5, n))), total
    out[2] = sorted((3, -1, n, 4), key=lambda v: f(abs(v)), reverse=True)[1]
    out[3] = total


# --- defaults and keywords -------------------------------------------------------------------------------------------

@sample
def defaults_left_out(x, n, out):
    def down(k, step=1, *, gain=2):
        return 0 if k <= 0 else gain + down(k - step)

    def fraction(k, by=0.5):
        return k if k < 1 else fraction(k * by) + 1
    out[0], out[1], out[2], out[3] = down(n), down(n, 2), down(n, gain=5), fraction(n)


@sample
def keywords_in_calls_of_itself(x, n, out):
    def down(k, step=1, gain=1.5):
        return 0 if k <= 0 else gain + down(gain=gain * 2, k=k - step)
    out[0], out[1] = down(n), down(n, step=2)


@sample
def defaults_that_are_not_constant(x, n, out):
    def down(k, step=n % 2 + 1, *, gain=x[0]):
        return 0 if k <= 0 else gain + down(k - step)
    out[0], out[1] = down(n), down(n, gain=1)


@sample
def defaults_of_functions_that_call_each_other(x, n, out):
    def a(k, s=1, *, t=2):
        return t if k <= 0 else b(k - s)

    def b(k, s=2):
        return s if k <= 0 else a(k - s) + a(k - s, t=7)
    out[0], out[1], out[2] = a(n), b(n), b(n, s=1)


# --- shared variables ------------------------------------------------------------------------------------------------

@sample
def counting_in_both(x, n, out):
    count = 0

    def a(k):
        nonlocal count
        count += 1
        return 0 if k <= 0 else b(k - 1)

    def b(k):
        nonlocal count
        count += 0.25
        return 0 if k <= 0 else a(k - 1)
    a(n)
    out[0] = count


@sample
def shared_tuples_and_none(x, n, out):
    pair, last = (0, 0.0), None

    def a(k):
        nonlocal pair, last
        pair = (pair[0] + k, pair[1] + 0.5)
        if k:
            b(k - 1)
        else:
            last = pair[1]

    def b(k):
        nonlocal pair
        pair = (pair[0] * 2, pair[1] + k)
        if k:
            a(k - 1)
    a(n)
    out[0], out[1] = pair
    out[2] = -1 if last is None else last


@sample
def shared_arrays(x, n, out):
    current = x

    def get(i):
        return current[i]
    out[0] = get(n % 3)
    current = x[::-1]
    out[1] = get(n % 3)
    current = out
    out[2] = get(0) + get(1)

    def use(k):
        nonlocal current
        current = x[k:]
    use(1)
    out[3] = get(0) + len(current)


@sample
def writing_through_a_shared_array(x, n, out):
    target = x

    def put(i, v):
        target[i] = v
    target = out
    put(0, n)
    target = out[3:6]
    put(1, 7.5)
    out[1] = len(target)


# --- functions that outlive the one that made them -------------------------------------------------------------------

def make_counter(start):
    def step(by=1):
        nonlocal start
        start += by
        return start

    def get():
        return start
    return step, get


def make_adder(k):
    def add(v):
        return v + k
    k = k + 5
    return add


def make_even_and_odd():
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)
    return even, odd


def make_curried(a):
    def second(b):
        def third(c):
            return a * 100 + b * 10 + c
        b += 1
        return third
    a += 1
    return second


def make_sum(a, b):
    f, g = make_adder(a), make_adder(b)

    def both(v):
        return f(v) + g(v)
    return both


@sample
def returned_with_what_they_share(x, n, out):
    step, get = make_counter(n)
    other_step, other_get = make_counter(100)
    step()
    step(2)
    other_step(7)
    out[0], out[1], out[2], out[3] = get(), other_get(), step(), other_step(0)


@sample
def returned_by_calls_in_calls(x, n, out):
    out[0] = make_curried(1)(2)(n)
    first, second = make_sum(1, n), make_sum(n, 50)
    out[1], out[2] = first(1), second(2)
    both = make_adder(0), make_adder(n)
    out[3] = both[0](1) * 10 + both[1](1)
    even, odd = make_even_and_odd()
    out[4], out[5] = even(n), odd(n)


@sample
def returned_in_loops_and_branches(x, n, out):
    f = make_adder(1) if n > 3 else make_adder(2)
    out[0] = f(1)
    for i in range(n):
        g = make_adder(i)
        out[1] = out[1] * 3 + g(1)


# --- in generators ---------------------------------------------------------------------------------------------------

def running_total(k):
    total = 0

    def add(v):
        nonlocal total
        total += v
    for i in range(k):
        add(i)
        yield total
        add(1)
        yield total * 2


def generator_of_generators(k):
    for i in range(k):
        for v in running_total(i):
            yield v + i


def parities(k):
    def even(j):
        return 1 if j == 0 else odd(j - 1)

    def odd(j):
        return 0 if j == 0 else even(j - 1)
    for i in range(k):
        yield even(i)


def last_item_in_all(k):
    for i in range(k):
        yield lambda: i  # noqa: B023


def made_generator(k):
    return running_total(k)


@sample
def shared_variables_of_generators(x, n, out):
    out[0], out[1] = sum(running_total(n)), sum(v * 2 for v in running_total(n))
    out[2] = sum(generator_of_generators(n))
    for v in parities(n):
        out[3] = out[3] * 2 + v
    for f in last_item_in_all(n):
        out[4] = out[4] * 7 + f()
    out[5] = sum(made_generator(n)) + sum(made_generator(2 * n))
    items = running_total(3)
    out[6] = next(items) * 100 + next(items) * 10
    out[7] = sum(items)


@sample
def lists_of_functions(x, n, out):
    late, early = [lambda: i for i in (1, 2, n)], [lambda i=i: i for i in (1, 2, n)]  # noqa: B023
    for k in range(3):
        out[k] = late[k]() * 10 + early[k]()
    each = [make_counter(i)[0] for i in range(3)]
    out[3] = each[0]() + each[2]() * 10 + each[0]() * 100
    mixed = [f(n) for f in (lambda v: v, lambda v: (v, 0.5), make_adder(2))]
    out[4] = mixed[0] + mixed[1][1] + mixed[2]


@sample
def a_function_or_none(x, n, out):
    previous = None
    for i in range(n):
        if previous is not None:
            out[0] = out[0] * 7 + previous()
        previous = lambda: i + 1  # noqa: E731, B023


# --- in loops --------------------------------------------------------------------------------------------------------

@sample
def made_in_a_loop_and_kept(x, n, out):
    for i in range(n):
        m = i * 2
        if i == 0:
            def first():
                return m
        latest = lambda: m + i  # noqa: E731, B023
        out[0] = out[0] * 7 + first() + latest()
    for i in range(n):
        f = lambda v: v + i  # noqa: E731, B023
        if i <= 1:
            kept = f
        out[1] = out[1] * 7 + kept(1)


@sample
def made_in_a_loop_and_used_there(x, n, out):
    for i in range(n):
        m = x[i % 3]

        def even(k):
            return m + i if k == 0 else odd(k - 1)

        def odd(k):
            return -i if k == 0 else even(k - 1)
        out[i] = even(i) + (lambda v: v * m)(2)


@sample
def the_variable_of_a_while_loop(x, n, out):
    i = 0
    while i < n:
        if i == 0:
            def f():
                return i
        out[0] = out[0] * 7 + f()
        i += 1


@sample
def kept_by_a_loop_over_several_types(x, n, out):
    first = None
    for v in (1, 2.5, n):
        if first is None:
            first = lambda: v  # noqa: E731, B023
        out[0] = out[0] * 10 + first()
    for w in (1, 2.5, (n, 4)):
        f = lambda: w  # noqa: E731, B023
        out[1] += f()[1] if isinstance(w, tuple) else f()


@pytest.mark.parametrize("options", [{}, {"exceptions": True}], ids=["plain", "exceptions"])
@pytest.mark.parametrize("function", SAMPLES)
def test_a_kernel_does_what_python_does(function, options):
    for n in 0, 3, 6:
        x = np.array([10.0, 20.5, 31.0])
        expected, alone, inside = np.zeros(8), np.zeros(8), np.zeros(8)
        function(x, n, expected)
        cuda.jit(function, **options)[1, 1](x, n, alone)

        @cuda.jit(**options)
        def kernel(x, n, out):
            function(x, n, out)
        kernel[1, 1](x, n, inside)
        np.testing.assert_array_equal(alone, expected)
        np.testing.assert_array_equal(inside, expected)


# --- functions of factories outside of kernels -----------------------------------------------------------------------

def make(scale):
    def even(k, bias=2):
        return scale + bias if k == 0 else odd(k - 1)

    def odd(k):
        return -scale if k == 0 else even(k - 1)
    return even, odd


even_3, odd_3 = make(3)
even_half = make(0.5)[0]


def test_functions_of_a_factory():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i, 0] = even_3(i)
        out[i, 1] = odd_3(i)
        out[i, 2] = even_half(i, bias=i)

    out = np.zeros((8, 3))
    kernel[2, 4](out)
    expected = [(even_3(i), odd_3(i), even_half(i, bias=i)) for i in range(8)]
    np.testing.assert_array_equal(out, expected)


# --- beside the rest of the language ---------------------------------------------------------------------------------

def test_every_thread_has_its_own():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        calls = 0

        def even(k):
            nonlocal calls
            calls += 1
            return 1 if k == 0 else odd(k - 1)

        def odd(k):
            return 0 if k == 0 else even(k - 1)
        out[i, 0] = even(i)
        out[i, 1] = calls

    out = np.zeros((200, 2))
    kernel[4, 50](out)
    i = np.arange(200)
    np.testing.assert_array_equal(out[:, 0], i % 2 == 0)
    np.testing.assert_array_equal(out[:, 1], i // 2 + 1)


def test_barriers_inside_of_them():
    @cuda.jit
    def kernel(out):
        ours = cuda.shared.array(64, float64)
        i = cuda.threadIdx.x
        total = 0.0

        def step(k):
            nonlocal total
            ours[i] = k * i
            cuda.syncthreads()
            total += ours[63 - i]
            cuda.syncthreads()
            if k > 0:
                go_on(k - 1)

        def go_on(k):
            step(k)
        step(3)
        out[i] = total

    out = np.zeros(64)
    kernel[1, 64](out)
    np.testing.assert_array_equal(out, 6 * (63 - np.arange(64)))


def test_shared_and_local_arrays_as_variables():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        mine, ours = cuda.local.array(4, float64), cuda.shared.array(32, float64)
        current = mine

        def put(k, v):
            current[k] = v
        put(0, i)
        current = ours
        put(i, i * 10)
        cuda.syncthreads()
        out[i] = mine[0] + ours[31 - i]

    out = np.zeros(32)
    kernel[1, 32](out)
    i = np.arange(32)
    np.testing.assert_array_equal(out, i + (31 - i) * 10)


def test_what_a_shared_array_may_write_is_copied_back():
    @cuda.jit
    def kernel(x, y, which):
        def put(v):
            target[0] = v
        if which:
            target = x
        else:
            target = y
        put(5)

    x, y = np.zeros(2), np.zeros(2)
    kernel[1, 1](x, y, 1)
    kernel[1, 1](x, y, 0)
    assert x.tolist() == y.tolist() == [5, 0]


def test_a_function_that_is_not_assigned_yet():
    def kernel(out, n):
        def even(k):
            return out[0] if k == 0 else odd(k - 1) + odd(k - 2)
        if n > 5:
            def odd(k):
                return out[1] if k <= 0 else even(k - 1) + 1
        out[2] = even(n)

    out = np.zeros(3)
    with pytest.raises(NameError, match=r"line \d+, .*variable 'odd' is not associated with a value"):
        cuda.jit(kernel, exceptions=True)[1, 1](out, 3)
    cuda.jit(kernel)[1, 1](out, 0)


# --- what is refused -------------------------------------------------------------------------------------------------

def refuse(exception, kernel, *arguments, match, line):
    with pytest.raises(exception, match=match) as caught:
        cuda.jit(kernel)[1, 1](*arguments)
    first = kernel.__code__.co_firstlineno
    assert f"{__file__}:{first + line} in " in str(caught.value)


def test_a_function_that_no_one_returns_from():
    def kernel(out):
        def ping(k):
            return pong(k)

        def pong(k):
            return ping(k)
        out[0] = ping(1)

    refuse(errors.TypingError, kernel, np.zeros(1), match="ping|pong", line=5)


def test_arguments_that_do_not_fit():
    def kernel(out):
        def first(k):
            return second(k, 1, 2)

        def second(k, step=1):
            return k if k <= 0 else first(k - step)
        out[0] = first(3)

    refuse(errors.TypingError, kernel, np.zeros(1), match="takes 1 to 2 arguments, 3 given", line=2)


def test_a_variable_that_is_two_functions():
    def kernel(out, n):
        def call():
            return f()

        def f():
            return 1
        out[0] = call()
        f = lambda: 2  # noqa: E731, F811
        out[0] += call()

    refuse(errors.TypingError, kernel, np.zeros(1), 1, match="'f', which a nested function shares", line=7)


def test_a_shared_generator():
    def kernel(out, n):
        def total():
            return sum(items)
        items = (i for i in range(n))
        out[0] = total()

    refuse(errors.UnsupportedError, kernel, np.zeros(1), 3, match="generator that nested functions share", line=3)


def test_a_function_that_would_live_too_long():
    def kernel(out):
        keep = lambda: 0.0  # noqa: E731

        def set_up():
            nonlocal keep
            k = 1

            def count():
                nonlocal k
                k += 1
                return k
            keep = count
        set_up()
        out[0] = keep()

    refuse(errors.UnsupportedError, kernel, np.zeros(1), match="'keep' belongs to a function around this one", line=11)


def test_each_trip_would_need_its_own():
    def kernel(out, n):
        f = make_adder(1)
        for i in range(n):
            f = make_adder(i)
        out[0] = f(1)

    refuse(errors.UnsupportedError, kernel, np.zeros(1), 3, match="cannot outlive the loop's trip", line=2)


def test_a_shared_variable_is_nothing_for_the_host():
    with pytest.raises(errors.UnsupportedError, match="cannot be returned to the host"):
        cuda.compile_ptx(make_adder, (float64,), device=True)
