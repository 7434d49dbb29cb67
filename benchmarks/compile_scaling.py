"""How compile time grows with the size of a kernel: python benchmarks/compile_scaling.py [--quick]

For each shape of source a table: size, milliseconds of CPU time in the frontend (snapshot to typed IR), in LLVM for a
GPU (to PTX) and for the CPU device, and how each grew: the exponent e of time ~ size^e between two sizes. 1 is
proportional. GPU code is made for sm_80 without a GPU. Exit status 1 when something of more than 100 ms grows faster
than size^1.5 from a size to the next, and to the one after that: where what LLVM works on outgrows the processor's last
cache, time makes one step of up to twice what the size does, which the next size does not repeat. Twice the last size
is measured where that one grew so.
"""
import argparse
import math
import os
import sys
import time

os.environ.setdefault("CUJIT_DEVICE", "cpu")


from cujit import cuda, errors, types

SM = 80
LARGEST_EXPONENT, SECONDS_THAT_MATTER, SECONDS_TO_REPEAT = 1.5, 0.1, 2


def straight_line(n):
    lines = [f"    v{i % 7} = v{(i + 3) % 7} * {i % 5 + 1} + v{(i + 1) % 7}" for i in range(n)]
    start = [f"    v{k} = x[i + {k}]" for k in range(7)]
    end = "    x[i] = v0 + v1 + v2 + v3 + v4 + v5 + v6"
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", *start, *lines, end])


def stores(n):
    lines = [f"    x[i + {k}] = x[i + {k}] * {k} + 1" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", *lines])


def chained_functions(n):
    functions = ["def f0(a, b):\n    return a + b"]
    functions += [f"def f{k}(a, b):\n    return f{k - 1}(a * 2, b) + {k}" for k in range(1, n)]
    return "\n".join([*functions, "def kernel(x):", "    i = cuda.grid(1)", f"    x[i] = f{n - 1}(x[i], i)"])


def functions_called_twice(n):
    """Each calls the next from two places: 2^n paths, n functions."""
    functions = ["def f0(a):\n    return a + 1"]
    functions += [f"def f{k}(a):\n    if a > {k}:\n        return f{k - 1}(a - 1)\n    return f{k - 1}(a) * 2"
                  for k in range(1, n)]
    return "\n".join([*functions, "def kernel(x):", "    i = cuda.grid(1)", f"    x[i] = f{n - 1}(x[i])"])


def nested_ifs(n):
    lines = [f"{'    ' * (k + 1)}if x[i + {k}] > {k}:\n{'    ' * (k + 2)}v += {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = 0.0", *lines, "    x[i] = v"])


def nested_loops(n):
    lines = [f"{'    ' * (k + 1)}for j{k} in range(i):\n{'    ' * (k + 2)}v += j{k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = 0.0", *lines, "    x[i] = v"])


def loops_in_a_row(n):
    lines = [f"    for j in range(i):\n        v = v * {k} + j" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = 0.0", *lines, "    x[i] = v"])


def loops_of_the_same_end(n):
    """Each is guarded by what guards those before it."""
    lines = ["    for j in range(m):\n        v += x[i + j] * 3"] * n
    return "\n".join(["def kernel(x, m):", "    i = cuda.grid(1)\n    v = 0.0", *lines, "    x[i] = v"])


def ifs_in_a_row(n):
    lines = [f"    if x[i + {k}] > {k}:\n        v += {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = 0.0", *lines, "    x[i] = v"])


def ifs_that_store(n):
    lines = [f"    if i == {k}:\n        x[i] = {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", *lines])


def ifs_of_constant_places(n):
    """x[k] is checked on the CPU device: no range says that x is as long."""
    lines = [f"    if i > {k}:\n        x[{k}] += {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", *lines])


def loop_with_breaks(n):
    lines = [f"        if v > x[j + {k}]:\n            break\n        v = v + {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = x[i]", "    for j in range(i):", *lines,
                      "    x[i] = v"])


def float_atomics(n):
    """Each at a place that is the same for all threads. For a CPU each becomes a loop."""
    lines = [f"    cuda.atomic.add(x, m + {k}, 1.0)" for k in range(n)]
    return "\n".join(["def kernel(x, m):", *lines])


def atomics_with_results(n):
    lines = [f"    s += cuda.atomic.add(counters, m + {k}, 1)" for k in range(n)]
    return "\n".join(["def kernel(counters, m):", "    s = 0", *lines, "    counters[0] = s"])


def loads_before_stores(n):
    loads = [f"    v{k} = x[i + {k}]" for k in range(n)]
    lines = [f"    x[i + {k}] = v{k} + v{(k + 1) % n}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", *loads, *lines])


def global_arrays(n):
    arrays = [f"array{k} = numpy.arange(4.0) + {k}" for k in range(n)]
    return "\n".join(["import numpy", *arrays, "def kernel(x):", "    i = cuda.grid(1)",
                      *(f"    x[i + {k}] = array{k}[i]" for k in range(n))])


def any_number_of_arguments(n):
    return "\n".join(["def f(*values):", "    s = 0.0", "    for v in values:", "        s += v", "    return s",
                      "def kernel(x):", "    i = cuda.grid(1)",
                      f"    x[i] = f({', '.join(f'x[i + {k}]' for k in range(n))})"])


def fields_of_a_dataclass(n):
    return "\n".join(["import dataclasses", "@dataclasses.dataclass", "class Fields:",
                      *(f"    f{k}: float" for k in range(n)), "def kernel(x):", "    i = cuda.grid(1)",
                      f"    p = Fields({', '.join(f'x[i + {k}]' for k in range(n))})",
                      *(f"    x[i + {k}] = p.f{k} * 2" for k in range(n))])


def indices_from_memory(n):
    """Each is checked on the CPU device."""
    lines = [f"    s += x[int(x[i + {k}])]" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    s = 0.0", *lines, "    x[i] = s"])


def chain(n):
    """Each operation needs the one before."""
    lines = [f"    v = (v << {k % 5}) ^ (v >> 3) + {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = i", *lines, "    x[i] = v"])


def ifs_in_a_loop(n):
    lines = [f"        if x[j + {k}] > {k}:\n            v += {k}" for k in range(n)]
    start = "    i = cuda.grid(1)\n    v = 0.0\n    for j in range(i):"
    return "\n".join(["def kernel(x):", start, *lines, "    x[i] = v"])


def elif_chain(n):
    lines = [f"    {'elif' if k else 'if'} i == {k * 3}:\n        v = v + {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = x[i]", *lines, "    x[i] = v"])


def match_cases(n):
    lines = [f"        case {k * 3}:\n            v = v * {k}" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)\n    v = x[i]\n    match i:", *lines, "    x[i] = v"])


def tuple_of(n):
    items = ["(" + "".join(f"x[i + {k}], " for k in range(first, first + 25)) + ")" for first in range(0, n, 25)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", f"    t = {' + '.join(items)}", "    s = 0.0",
                      "    for v in t:", "        s += v", f"    for k in range({n}):", "        s += t[k] * k",
                      f"    s += t[{n - 1}]", "    x[i] = s"])


def unpacked_tuple(n):
    names = ", ".join(f"v{k}" for k in range(n))
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", f"    t = ({', '.join(f'i + {k}' for k in range(n))})",
                      f"    {names} = t", f"    x[i] = v0 + v{n - 1}"])


def one_expression(n):
    terms = " + ".join(f"x[i + {k}]" for k in range(n))
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", f"    x[i] = {terms}"])


def variables_in_a_loop(n):
    """n variables that every iteration changes: as many phis."""
    names = [f"v{k}" for k in range(n)]
    lines = [f"        v{k} = v{(k + 1) % n} + j" for k in range(n)]
    return "\n".join(["def kernel(x):", "    i = cuda.grid(1)", *(f"    {v} = x[i]" for v in names),
                      "    for j in range(i):", *lines, *(f"    x[i] += {v}" for v in names)])


def variables_of_ifs(n, indent="    "):
    """n variables that one `if` assigns to and another one reads: unassigned they are never read."""
    lines = [f"{indent}if m > {k}:\n{indent}    v{k} = x[i + {k}]\n{indent}x[i] += m\n"
             f"{indent}if m > {k}:\n{indent}    x[i + {k}] *= v{k}" for k in range(n)]
    start = ["def kernel(x, m):", "    i = cuda.grid(1)"]
    return "\n".join([*start, *(["    for _ in range(m):"] if len(indent) > 4 else []), *lines])


def variables_of_ifs_in_a_loop(n):
    return variables_of_ifs(n, 8 * " ")


def variables_of_loops(n):
    """Likewise, in n loops."""
    lines = [f"    for k in range(4):\n        if k >= m + {j}:\n            v{j} = x[i + k]\n        x[i] += m\n"
             f"        if k >= m + {j}:\n            x[i + k] *= v{j}" for j in range(n)]
    return "\n".join(["def kernel(x, m):", "    i = cuda.grid(1)", *lines])


def captured_variables(n):
    """A nested function reads n variables."""
    return "\n".join(["def kernel(x, m):", "    i = cuda.grid(1)", *(f"    v{k} = x[i + {k}]" for k in range(n)),
                      "    def f(p):", "        s = p",
                      *(f"        if s > {k}:\n            s += v{k}" for k in range(n)),
                      "        return s", "    x[i] = f(m)"])


def shared_variables(n):
    """A nested function assigns to n variables."""
    names = ", ".join(f"v{k}" for k in range(n))
    return "\n".join(["def kernel(x, m):", "    i = cuda.grid(1)", *(f"    v{k} = x[i + {k}]" for k in range(n)),
                      "    def f(p):", f"        nonlocal {names}",
                      *(f"        if p > {k}:\n            v{k} += p" for k in range(n)),
                      "    f(m)", *(f"    x[i + {k}] = v{k}" for k in range(n))])


def generator_expressions(n):
    """Each over a variable of its own."""
    lines = [f"    v{k} = x[i + {k}]\n    if m > {k}:\n        v{k} += sum(e + v{k} for e in (m, v{k}))"
             for k in range(n)]
    return "\n".join(["def kernel(x, m):", "    i = cuda.grid(1)", *lines,
                      *(f"    x[i + {k}] = v{k}" for k in range(n))])


def arguments(n):
    names = ", ".join(f"a{k}" for k in range(n))
    return "\n".join([f"def kernel({names}):", "    i = cuda.grid(1)", *(f"    a{k}[i] += {k}" for k in range(n))])


def captured_tuple(n):
    return f"TUPLE = tuple(range({n}))\ndef kernel(x):\n    i = cuda.grid(1)\n    x[i] = TUPLE[i]"


def tuple_argument(n):
    """An empty kernel."""
    return "def kernel(t):\n    pass"


def indexed_argument(n):
    return "def kernel(t, x):\n    i = cuda.grid(1)\n    x[i] = t[i]"


def nested_tuples(n):
    """Functions that return pairs of what the next one returns: n values at the top."""
    levels = n.bit_length() - 1
    functions = ["def f0(a):\n    return (a, a + 1)"]
    functions += [f"def f{k}(a):\n    return (f{k - 1}(a), f{k - 1}(a * 2))" for k in range(1, levels)]
    first, last = "[0]" * levels, "[1]" * levels
    return "\n".join([*functions, "def kernel(x):", "    i = cuda.grid(1)", f"    t = f{levels - 1}(x[i])",
                      f"    x[i] = t{first} + t{last}"])


SHAPES = [
    (straight_line, [500, 2000, 8000, 32000]), (chain, [100, 400, 1600, 6400, 12800]),
    (stores, [250, 1000, 4000, 16000, 64000]),
    (chained_functions, [8, 64, 256]), (functions_called_twice, [32, 64, 128, 256]), (nested_ifs, [8, 16, 90]),
    (nested_loops, [4, 8, 18]), (loops_in_a_row, [25, 100, 400, 1600, 6400, 12800, 25600]),
    (loops_of_the_same_end, [100, 400, 800, 1600]),
    (elif_chain, [100, 400, 1600]), (match_cases, [100, 400, 1600]), (tuple_of, [25, 100, 400]),
    (unpacked_tuple, [250, 1000, 4000]),
    (one_expression, [250, 1000, 2500]), (variables_in_a_loop, [25, 100, 400, 1600, 6400]),
    (variables_of_ifs, [200, 800, 3200, 12800]), (variables_of_ifs_in_a_loop, [200, 800, 3200, 12800]),
    (variables_of_loops, [100, 400, 1600, 6400]),
    (captured_variables, [200, 800, 3200]), (shared_variables, [200, 800, 3200]),
    (generator_expressions, [100, 400, 1600]), (arguments, [8, 32, 128]),
    (ifs_in_a_row, [300, 1200, 4800, 19200, 76800]), (ifs_that_store, [300, 1200, 4800, 19200]),
    (ifs_of_constant_places, [300, 1200, 3000, 9000, 18000, 36000]), (indices_from_memory, [250, 500, 1000, 4000]),
    (loads_before_stores, [200, 800, 3200]), (global_arrays, [100, 400, 1600]),
    (fields_of_a_dataclass, [250, 1000, 4000]), (any_number_of_arguments, [100, 400, 1600, 6400]),
    (float_atomics, [400, 1600, 6400]), (atomics_with_results, [400, 1600, 6400]), (loop_with_breaks, [100, 400, 1600]),
    (ifs_in_a_loop, [75, 300, 1200]),
    (captured_tuple, [64, 500, 2000, 8000]), (tuple_argument, [60, 250, 1000, 4000]),
    (indexed_argument, [60, 250, 1000, 4000]), (nested_tuples, [64, 128, 256, 512, 1024, 2048, 4096]),
]
TUPLE_ARGUMENTS = {tuple_argument, indexed_argument}
NUMBER_ARGUMENTS = {loops_of_the_same_end, variables_of_ifs, variables_of_ifs_in_a_loop, variables_of_loops,
                    captured_variables, shared_variables, generator_expressions, float_atomics, atomics_with_results}


def signature_of(shape, size, kernel):
    arguments = [types.float64[::1]] * kernel.__code__.co_argcount
    if shape in TUPLE_ARGUMENTS:
        arguments[0] = types.UniTuple(types.int64, size)
    if shape in NUMBER_ARGUMENTS:
        arguments[1] = types.int64
    if shape is atomics_with_results:
        arguments[0] = types.int64[::1]
    return tuple(arguments)


def least_time(function, what, signature, sm):
    """Of three, where they are short: what else the machine does takes the caches from it."""
    least, repetitions = math.inf, 3
    while repetitions > 0:
        kernel = cuda.jit(function)
        start = time.process_time()
        kernel.inspect(what, signature, sm)
        least = min(least, time.process_time() - start)
        repetitions -= 1 if least < SECONDS_TO_REPEAT else 3
    return least


def compile_times(shape, size):
    """Seconds in the frontend, in LLVM for the GPU, in LLVM for the CPU device."""
    sys.setrecursionlimit(20000)    # CPython's compiler nests in long expressions
    namespace = {"cuda": cuda}
    exec(compile(shape(size), "<benchmark>", "exec"), namespace)
    signature = signature_of(shape, size, namespace["kernel"])
    times = [least_time(namespace["kernel"], what, signature, sm)
             for what, sm in (("ir", SM), ("asm", SM), ("asm", None))]
    return [times[0], max(times[1] - times[0], 0), max(times[2] - times[0], 0)]


def exponent(small, large, old, new):
    return math.log(max(new, 1e-4) / max(old, 1e-4)) / math.log(large / small)


def grows_too_fast(rows, k, what):
    """Whether times of kind `what` do so from row k - 1 to row k and, where there is one, to row k + 1."""
    (small, old), (_, new) = rows[k - 1], rows[k]
    return new[what] > SECONDS_THAT_MATTER and all(
        exponent(small, large, old[what], times[what]) > LARGEST_EXPONENT for large, times in rows[k:k + 2])


KINDS = "frontend", "LLVM PTX", "LLVM host"


def size_behind(shape, last):
    """A row for twice the last size or, where that is refused, a quarter more. None: both are refused."""
    for size in (2 * last, last + last // 4):
        try:
            return size, compile_times(shape, size)
        except (errors.CujitError, SyntaxError) as error:    # Python has limits, too
            print(f"{size:8d}  refused: {str(error).splitlines()[-1]}")
    return None


def show(rows):
    """Prints the last row."""
    size, times = rows[-1]
    text = f"{size:8d}  " + "  ".join(f"{1000 * t:10.1f}" for t in times)
    if len(rows) > 1:
        before, old = rows[-2]
        text += "   " + "  ".join(f"{exponent(before, size, a, b):5.2f}" for a, b in zip(old, times, strict=True))
    print(text, flush=True)


def measure(shape, sizes):
    """Prints the rows of a shape; those that grow too fast."""
    rows = []
    print(f"\n{shape.__name__}")
    for size in sizes:
        rows.append((size, compile_times(shape, size)))
        show(rows)
    if any(grows_too_fast(rows, len(sizes) - 1, what) for what in range(len(KINDS))):
        further = size_behind(shape, sizes[-1])
        if further:
            rows.append(further)
            show(rows)
    return [f"{shape.__name__} {rows[k][0]}: {name}" for k in range(1, len(sizes))
            for what, name in enumerate(KINDS) if grows_too_fast(rows, k, what)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="without the largest size of each shape")
    parser.add_argument("shapes", nargs="*", help="names of shapes; all where none is given")
    options = parser.parse_args()
    compile_times(straight_line, 10)    # what is done once in a process
    print(f"{'size':>8s}  {'frontend':>10s}  {'LLVM PTX':>10s}  {'LLVM host':>10s}   exponents     (ms)")
    bad = []
    for shape, sizes in SHAPES:
        if not options.shapes or shape.__name__ in options.shapes:
            bad += measure(shape, sizes[:-1] if options.quick else sizes)
    for line in bad:
        print("grows too fast:", line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
