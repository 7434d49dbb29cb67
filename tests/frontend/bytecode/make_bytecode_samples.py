"""Writes bytecode_samples.def for this interpreter's version: bytes, constants and names of the functions below.

Run it once with each supported CPython:  pythonX.Y make_bytecode_samples.py > bytecode_samples_pyXY.def
The same function must decode to the same canonical bytecode on all of them (test_decode.c).
"""
import json
import sys


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = a * x[i] + y[i]


def grid_stride(x, out):
    start = cuda.grid(1)
    for i in range(start, x.shape[0], cuda.gridsize(1)):
        out[i] = x[i] ** 2


def conditions(a, b, n):
    t = 0
    while t < n:
        if a[t] and b[t] or not n:
            t += 1
        elif a is None:
            t -= 1
            continue
        else:
            break
    while True:
        t //= 2
        if t in b:
            return t


def none_loop(a):
    while a is not None:
        a = step(a)
    while a is None:
        a = step(a)


def chained(a, b, c):
    if a < b <= c:
        x = a and b or c
    else:
        x = a == b != c
    return x


def slices(x, n, out):
    out[1:n] = x[:n]
    out[::2, n] = x[1:2, ...]
    a, (b, c) = x[0], x[1:]
    a, b = b, a
    del c
    return -a, +b, ~a, not b


def calls(x, f):
    f(x, 1)
    cuda.shared.array((4, 4), dtype=float32)
    cuda.shared.array(shape=8, dtype=x.dtype)
    x.sum(axis=0)
    f(*x, **x)
    max(x, key=f)
    return f()


def closure(x):
    def inner(a, b=2, *, c: int = 3):
        return a + b + c + x
    return inner(x)


def nested_for(x, out):
    for i in range(3):
        for j, v in enumerate(x):
            if v > 2.5:
                break
            out[i, j] += v
        else:
            out[i, 0] = 1
    return 7


def statements(x):
    assert x > 0
    assert x > 1, 'large'
    x.field = x.other
    if x:
        raise ValueError('bad')
    [1, 2, 3]
    {1: x, 2: x}
    f'{x!r} {x:>3} {x}'


def long_jump():
    """A loop whose jumps need EXTENDED_ARG."""
    lines = ['def long_jump(x, o):', '    for i in range(x):']
    lines += [f'        o[{n}] = x[i + {n}] * {n}.5' for n in range(300, 340)]
    namespace = {}
    exec('\n'.join(lines + ['    return o']), namespace)
    return namespace['long_jump']


SAMPLES = [saxpy, grid_stride, conditions, none_loop, chained, slices, calls, closure, nested_for, statements,
           long_jump()]


def shown(value):
    return f'<code {value.co_name}>' if hasattr(value, 'co_code') else repr(value)


def strings(values):
    return 'STRINGS(' + ', '.join([json.dumps(value) for value in values] + ['NULL']) + ')'


def main():
    minor = sys.version_info[1]
    print(f'/* Bytecode of CPython 3.{minor}, written by make_bytecode_samples.py: name, first line, code,')
    print(' * exception table, constants, names, locals. */')
    for function in SAMPLES:
        code = function.__code__
        cells = tuple(n for n in code.co_cellvars if n not in code.co_varnames)
        local_names = code.co_varnames + cells + code.co_freevars
        exceptions = code.co_exceptiontable.hex()
        print(f'SAMPLE("{code.co_name}", {code.co_firstlineno}, "{code.co_code.hex()}", "{exceptions}",')
        print(f'       {strings(map(shown, code.co_consts))}, {strings(code.co_names)}, {strings(local_names)})')


if __name__ == '__main__':
    main()
