"""One-line constructs of the kernel language: the table behind docs/constructs.md.

A row is an expression, or statements that leave their result in r. test_constructs.py runs each in a kernel and in
CPython. The names that rows use are the parameters of ARGUMENTS and what is defined here.
"""
import functools  # noqa: F401
import math  # noqa: F401
import operator  # noqa: F401
import types

import numpy as np

from cujit import literal_unroll  # noqa: F401

ARGUMENTS = {
    "n": (3, 5), "m": (-7, 4), "u": (2.5, 0.3), "v": (-0.75, 7.0), "c": (1 + 2j, -0.5j),
    "t": ((3, 1, 2), (0, -4, 9)), "p": ((2, 0.5, True), (-1, 8.25, False)),
    "a": (np.array([4, -2, 9, 0, 5]), np.array([1, 1, 2, 3, 5])),
    "x": (np.array([0.5, -1.25, 3.0]), np.array([2.0, 0.0, -8.5, 0.125])),
    "g": (np.arange(12).reshape(3, 4), np.arange(6).reshape(2, 3) - 2),
}

# --- definitions ---
SCALE = 4
WEIGHTS = (1, -2, 3)
TABLE = np.array([2.0, 4.0, 8.0])


def square(v):
    return v * v


def line(v, slope=2, *, offset=1):
    return v * slope + offset


def only_by_position(v, w, /):
    return v - w


def total(first, *rest):
    for v in rest:
        first += v
    return first


def fibonacci(k):
    return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)


def is_even(k):
    return True if k == 0 else is_odd(k - 1)


def is_odd(k):
    return False if k == 0 else is_even(k - 1)


def apply(function, *arguments):
    return function(*arguments)


def make_adder(by):
    def add(v):
        return v + by
    return add


def digits(k):
    while k > 0:
        yield k % 10
        k //= 10


def pairs(k):
    for i in range(k):
        for j in range(i):
            yield i, j


def chained(k):
    yield -1
    yield from range(k)
    yield from digits(k * 37)


def odd_ones(numbers):
    for number in numbers:
        if number % 2 == 0:
            continue
        if number > 100:
            return
        yield number


SHAPES = types.SimpleNamespace(rows=3, columns=4)


class Config:
    SCALE = 0.5
    LEVELS = (1, 10, 100)

    @staticmethod
    def scaled(v):
        return v * Config.SCALE

    @classmethod
    def leveled(cls, v):
        return v * cls.LEVELS[1]


class Outer:
    class Inner:
        VALUE = 5


SETTINGS = {"width": 3, "shape": square, 7: 0.5}
from_three = functools.partial(line, 3, offset=7)
ends, shape_and_depth = operator.itemgetter(0, -1), operator.attrgetter("shape", "T.ndim")
find_two, conjugated = operator.methodcaller("index", 2), operator.methodcaller("conjugate")


def keywords(v, **others):
    return v + len(others) + others["by"]


def swapped(v, w):
    return w, v


def ackermann(k, j):
    if k == 0:
        return j + 1
    if j == 0:
        return ackermann(k - 1, 1)
    return ackermann(k - 1, ackermann(k, j - 1))


# --- end of definitions ---

SECTIONS = {
    "Numbers": r"""
        n + m
        n - m * 2
        n / 4
        m // 2
        m % 3
        divmod(m, 3)
        n ** 2
        2 ** -1
        u ** 0.5
        -n, +n, ~n
        n & 6, n | 8, n ^ 5
        m << 2, m >> 1
        n + u
        c * c
        c.real, c.imag
        c.conjugate()
        abs(m), abs(v), abs(c)
        min(n, m), max(n, m, 1)
        round(u), round(v)
        pow(n, 3)
        int(u), int(v)
        float(n), complex(n, u), bool(n)
        float("inf"), float(" -1.5e3 "), int("-42")
        n.bit_length(), n.bit_count()
        np.float32(u).view(np.int32), np.int64(n).view(np.uint64), np.uint8(200).view(np.int8)
        True + n
        pow(n, 5, 7)
        round(u * 1.2345, 2), round(1234, -2)
        operator.add(n, m), operator.mul(n, u), operator.neg(n)
        operator.iadd(n, m), operator.floordiv(m, n), operator.lt(n, m)
        operator.itemgetter(1)(t), operator.itemgetter(0, 2)(t)
        operator.methodcaller('conjugate')(c), operator.methodcaller('bit_count')(n)
        ends(t), ends(a), shape_and_depth(g)[0][1], shape_and_depth(g)[1]
        find_two((n, m, 2)), conjugated(c), max(t, (n, m, 0), key=ends)[1]
        operator.attrgetter('real')(c), operator.attrgetter('shape', 'T.ndim')(a)[1]
        1_000 * n
        u.is_integer(), (u * 2).is_integer()
        n.numerator, n.denominator
        type(n)(u), type(n) is int, type(u) is int
        isinstance(a, np.ndarray), isinstance(u, (int, float)), isinstance(t, tuple)
        getattr(c, "real"), getattr(Config, "SCALE"), getattr(Config, "NONE", 5)
        hasattr(a, "size"), hasattr(a, "weight")
        0x1F & n
        1e-3 * u
    """,
    "Comparisons and truth": r"""
        n < m, n <= m, n == m, n != m, n >= m, n > m
        0 < n < 10
        m < 0 < n != 4
        n and m
        n or m
        not n
        n if m > 0 else -n
        n if m > 0 else u
        n in (1, 3, 5)
        m not in (1, 3, 5)
        2 in range(0, n, 2)
        n is None
        n is not None
        (n, m) < (3, 0)
        (n, m) == (3, -7)
        "a" < "b"
    """,
    "Names and assignment": r"""
        r = n
        r = k = n
        k, r = n, m
        k, (i, r) = n, (m, 7)
        k, r = n, m; k, r = r, k
        r = 1; r += n
        r = 2; r *= m
        r = m; r //= 2
        r = n; r **= 2
        r = n; r <<= 3
        r = n; r = r / 2
        r = (k := n + 1) * k
        r: int = n
        r = SCALE * n
        i = n; del i; r = m
    """,
    "Conditions and loops": r"""
        r = 0\nfor i in range(n): r += i
        r = 0\nfor i in range(2, n): r += i
        r = 0\nfor i in range(10, n, -2): r += i
        r = 0\nfor e in a: r = r * 3 + e
        r = 0\nfor e in t: r = r * 3 + e
        r = 0\nfor row in g: r += row[-1]
        r = 0\nfor i, e in enumerate(a): r += i * e
        r = 0\nfor i, e in enumerate(a, 10): r += i * e
        r = 0\nfor e, f in zip(a, t): r += e * f
        r = 0\nfor e, f, i in zip(a, x, range(n)): r += e * f * i
        r = 0\nfor e in reversed(t): r = r * 3 + e
        r = 0\nfor i in reversed(range(n)): r = r * 3 + i
        r = 0\nfor e in p: r += e * 3 if isinstance(e, float) else e // 2
        r = 0\nfor e in literal_unroll((n, a, u)): r += e[1] if isinstance(e, np.ndarray) else e
        r = 0\nfor f, e in zip((square, math.sqrt, abs), (n, u, m)): r += f(e)
        r = n\nwhile r > 0: r -= 2
        r = 0\nwhile True:\n    r += 1\n    if r > n: break
        r = 0\nfor i in range(n):\n    if i == 1: continue\n    r += i
        r = 0\nfor i in range(n): r += i\nelse: r += 100
        r = 0\nwhile r < n: r += 1\nelse: r = -r
        r = 0\nfor i in range(n):\n    for j in range(i): r += i * j
        r = 1 if n > m else 2
        r = 0\nif n > 4: r = 1\nelif n > 2: r = 2\nelse: r = 3
        pass; r = n
        r = 0\nmatch n:\n    case 3: r = 1\n    case 4 | 5: r = 2
        r = 0\nmatch n:\n    case k if k > 4: r = k\n    case _: r = -1
        match t:\n    case (0, k, j): r = k - j\n    case (3, k, j): r = k + j\n    case _: r = 0
        match t:\n    case (k, *j): r = k + len(j)
        match n, m:\n    case (3, k): r = k\n    case (k, _): r = -k
        match n:\n    case int(k): r = k
        match u:\n    case int(): r = 5\n    case float(): r = 6
        r = 0\nfor i in range(2):\n    for j in range(2): r += i\n    else: r += 10\nelse: r += 100
        r = 0\nfor i in range(n):\n    for j in range(n):\n        if j == 2: break\n    else: r += 100\n    r += j
    """,
    "Generators and comprehensions": r"""
        sum(e * e for e in a)
        sum(e for e in a if e > 0)
        sum(i * j for i in range(n) for j in range(i))
        sum(sum(i * j for j in range(i)) for i in range(n))
        any(e < 0 for e in a)
        all(e > -10 for e in a)
        min(e * n for e in t)
        max(abs(e) for e in x)
        min((e for e in a if e > 100), default=-1)
        r = 0\nfor e in (e * n for e in a if e): r = r * 3 + e
        r = 0\nfor d in digits(n * 1234): r = r * 100 + d
        r = 0\nfor i, j in pairs(n): r = r * 7 + i - j
        r = 0\nfor e in chained(n): r = r * 3 + e
        sum(odd_ones(digits(n * 12345)))
        sum(i * d for i, d in enumerate(digits(9876)))
        sum(d * e for d, e in zip(digits(n * 111), a))
        r, k = (e * 2 for e in (n, m))
        tuple(e * n for e in t)
        len([e for e in a if e > 1])
        [e * n for e in t][1]
        sum([e * n for e in a])
        max([abs(e) for e in a if e < 5])
        r = [e + 1 for e in t]; r = r[0] * r[2]
        sum([sum([i * j for j in range(3)]) for i in range(4)])
        total(*[e * e for e in t])
        r = any((k := e) > 2 for e in a); r = k
        r = sum([(k := e * 2) for e in a]) + k
        r = sum([sum([(k := i * j) for j in range(3)]) for i in range(n)]) + k
        r = 0\n[(r := r * 3 + e) for e in a if e > 0]
        r = 0\nany([(r := r + e) > 0 for e in a])
        r = 0\ndef one(v): return 1\none([(r := r + e) for e in a])
        for i in range(n): q = [(r := i * e) for e in a]
        r = 0\nenumerate([(r := r + e) for e in a])
        r = 0\ndef one(v): return 1\none(zip(t, [(r := r + e) for e in a]))
        r = 0\nmap(square, [(r := r + e) for e in a])
        r = 0\ns = sum(map(operator.add, [(r := r + e) for e in a], p))\nr = r * 100 + s
        k = 2\nf = (k * e for e in t)\nk = 3\nr = sum(f)
        n in (d for d in digits(1234))
        it = iter(a)\nr = next(it) * 10 + next(it)
        it = iter(range(n))\nr = sum(it) * 10 + next(it, -1)
        d = digits(n * 1234)\nr = next(d) * 1000 + sum(d)
        next((e for e in a if e > 100), -1)
        g = (e * n for e in a)\nr = sum(g) + sum(g)
        sum(map(square, t))
        sum(map(operator.add, t, (4, 5, 6)))
        tuple(map(square, t))
        sum(filter(lambda e: e > 0, a))
        r = 0\nfor e in map(abs, a): r = r * 3 + e
        functools.reduce(lambda i, j: i * 2 + j, a)
        functools.reduce(operator.mul, range(1, n), 1)
        math.prod(t), math.prod(a, start=2)
        sum(e for e in reversed(a))
    """,
    "Tuples": r"""
        t[0] + t[-1]
        t[n % 3]
        p[1]
        t[1:]
        t[::-1]
        t + (n,)
        t * 2
        len(t)
        sum(t), min(t), max(t)
        sum(t, n)
        sum((0.5, 1.5), n)
        (n, (m, u))[1][0]
        tuple(t)
        tuple(range(SCALE))[n % SCALE]
        tuple(range(5, -5, -3))
        tuple(zip(t, reversed(p)))[1]
        list(enumerate(t, 4))[n % 3]
        (*range(3), *t)[n % 6]
        max(*range(SCALE), n)
        first, second, third = range(3)\nr = first + 10 * second + 100 * third
        t.count(1), t.count(9)
        (4, n, m).index(m)
        (*t, n)
        n, *t
        i, *r = t; r = i + r[0] * 10
        *k, r = t; r += k[1]
        i, *k, j = t; r = i, k[0], j
        sorted(t)
        sorted(t, reverse=True), sorted(t, key=lambda e: -e)
        min(t, key=lambda e: -e)
        max(n, m, key=abs)
        [1, 2, 3][n % 3]
        r = 0\nfor k in (1, 2.5, n): r += k
        bool(())
    """,
    "Arrays": r"""
        a[0] + a[-1]
        g[1, 2], g[1][2], g[-1, -1]
        len(a), a.size, a.ndim, a.shape[0]
        g.shape
        g.T[2, 1]
        a[1:3][0]
        a[::2].size
        a[::-1][0]
        g[1:, 1:3][0, 1]
        g[:, 1][1]
        g[..., 0][1]
        sum(a), sum(x)
        min(a), max(x)
        sum(a[1:]), sum(g[0])
        TABLE[n % 3]
        any(a), all(a)
        a.item(2)
        g.ravel()[5]
        g.reshape(g.size)[4]
        g.reshape(-1)[4], g.reshape(n - n - 1)[5]
        g.flags.c_contiguous, g.T.flags.c_contiguous
        a[1:].ctypes.data - a.ctypes.data
        r = a[0]; a[0] = n; r = a[0] - r
        a[1] += n; r = a[1]
        a[1:3] = n; r = a[0] + a[1] * a[2]
        a[:2] = a[3:5]; r = a[0] * 100 + a[1]
        a[::2] = 7; r = sum(a)
        a[1:] += 1; r = sum(a)
        g[0, :2] = (n, 4.5); r = g[0, 1]
        a[n % 2] *= 3; r = sum(a)
        x *= 2; r = sum(x)
        x[:2] += x[1:3]; r = x[0] * 10 + x[1]
        g[1:] -= g[0]; r = g[1, 0] * 10 + g[1, 1]
        a[1:4:2] = t[0]; r = sum(a)
        g[0] = g[1]; r = sum(g[0])
        g[:, 1] = 5; r = sum(g[:, 1])
        4 in a, 100 in a, 100 not in a
    """,
    "Functions": r"""
        square(n), square(u)
        line(n)
        line(n, 3)
        line(n, offset=5)
        line(slope=n, v=m)
        only_by_position(n, 2)
        total(n), total(n, m, 5)
        total(*t)
        total(*t, n)
        fibonacci(n)
        is_even(n)
        apply(square, n)
        apply(lambda i, j: i - j, n, m)
        apply(max, n, m)
        (lambda i: i * 2)(n)
        make_adder(5)(n)
        f = square if SCALE > 3 else line; r = f(n)
        k = n\ndef f(i): return i + k\nr = f(2)
        k = 1\ndef f(i): return i + k\nk = 2\nr = f(n)
        k = 1\ndef f(i):\n    nonlocal k\n    k += i\n    return k\nr = f(n) + f(n)
        r = 0\ndef f(i):\n    nonlocal r\n    r += i\nfor e in a: f(e)
        def f():\n    nonlocal n\n    n += 1\n    return n\nr = f() * 10 + f()
        def f(i): return k(i) + 1\ndef k(i): return i * 2\nr = f(n)
        def f(i): return True if i == 0 else k(i - 1)\ndef k(i): return False if i == 0 else f(i - 1)\nr = f(n), k(n)
        f, k = (lambda i: i if i < 1 else k(i // 2) + 1), (lambda i: i if i < 1 else f(i - 1) * 2); r = f(n), k(n)
        def f(i, j=1, *, k=2): return 0 if i <= 0 else k + f(i - j)\nr = f(n), f(n, 2), f(n, k=7)
        k = x\ndef f(i): return k[i]\nr = f(1)\nk = x[1:]\nr += f(0)
        k = (n, 0.5)\ndef f(): return k[0] * k[1]\nr = f()\nk = (m, 2.5)\nr += f()
        def f(i):\n    def h(j): return i * j + k\n    return h(2)\nk = 1\nr = f(n)\nk = 5\nr += f(n)
        (lambda i, j=2, *, k=5: i + j + k)(n)
        def f(i, *, k=5): return i + k\nr = f(n) + f(n, k=1)
        (lambda *i: sum(i))(n, m, 2)
        r = [e for e in (n, p, 'ab')][1]
        r = [len(e) for e in (t, p, 'ab')], tuple((i, e) for i, e in enumerate((n, t)))[1][1]
        i, *k = (e for e in (n, t, u)); r = i, k[0], k[1]
        f = [lambda i, k=k: i * k for k in (1, 2, 3)]; r = f[1](n)
        f = lambda i: i + 1; k = lambda i: f(i) * 2; r = k(n)
        def f(i):\n    for j in range(i):\n        if j == 2: return j\n    return -1\nr = f(n)
        swapped(*swapped(n, m))
        keywords(n, by=2, at=0)
        line(n, **{"slope": 5})
        ackermann(2, 2)
        is_odd(n + 4)
        functools.partial(line, n)(4)
        functools.partial(line, offset=n)(4)
        from_three(), from_three(5)
        Config.leveled(n)
        Outer.Inner.VALUE
        SHAPES.rows * SHAPES.columns
        SETTINGS["width"], SETTINGS["shape"](n), SETTINGS[7]
        "width" in SETTINGS, "depth" in SETTINGS, len(SETTINGS)
        r = {"a": n, "b": u}; r = r["a"] * r["b"]
        Config.scaled(n)
        Config.SCALE * Config.LEVELS[1]
        math.sqrt(n) + math.pi
        np.float32(u), np.int8(n)
        isinstance(n, int), isinstance(u, int)
    """,
}


def rows():
    """(section, source) of every construct."""
    for section, text in SECTIONS.items():
        for row in text.strip().split("\n"):
            yield section, row.strip().replace(r"\n", "\n")
