"""Kernels beyond the limits of size_limit.def: which passes they do without, and that they compute the same."""
import platform
import re
import shutil
import subprocess

import numpy as np
import pytest
from made_kernels import made

from cujit import _core, cuda, types

PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
SM = 80
VECTOR = types.float64[::1]


def make(source, name="kernel", **names):
    return made(source, name, cuda=cuda, **names)


def ifs(count):
    body = "\n".join(f"    if v > {k % 7}:\n        v = v * 0.5 + {k}\n        x[i + 1] += v" for k in range(count))
    return f"def kernel(x, i):\n    v = x[i]\n{body}\n    x[i] = v"


def lines(count):
    body = "\n".join(f"    v = v * 0.5 + x[i + {k % 3}]" for k in range(count))
    return f"def kernel(x, i):\n    v = x[i]\n{body}\n    x[i] = v"


def stores(count):
    body = "\n".join(f"    x[i + {k % 4}] = x[i] * 0.5 + {k}" for k in range(count))
    return f"def kernel(x, i):\n{body}"


def loops(count):
    body = "\n".join(f"    for j in range(i):\n        v = v * 0.5 + j * {k}" for k in range(count))
    return f"def kernel(x, i):\n    v = x[i]\n{body}\n    x[i] = v"


def choices(count):
    """Each of a constant of its own, which comes into a variable on one path."""
    pairs = [f"    if v > {k % 9} + w:\n        w = {k % 8}.25 + v\n    if v < w:\n        w = {k + 0.5}"
             for k in range(count)]
    body = "\n".join(pairs)
    return f"def kernel(x, i):\n    v = x[i]\n    w = v\n{body}\n    x[i] = w"


def variables(count):
    """Each trip of a loop changes all of them."""
    start = "\n".join(f"    v{k} = x[{k % 8}] + {k}" for k in range(count))
    body = "\n".join(f"        v{k} = v{(k + 1) % count} * 0.5 + j" for k in range(count))
    end = "\n".join(f"    x[{k % 8}] += v{k}" for k in range(count))
    return f"def kernel(x, i):\n{start}\n    for j in range(i):\n{body}\n{end}"


def shared_variables(count):
    """A nested function changes variables of the one around it, each of which lives through all that it does."""
    names = ", ".join(f"v{k}" for k in range(count))
    start = "\n".join(f"    v{k} = x[{k % 8}] + {k}" for k in range(count))
    body = "\n".join(f"        if p > {k % 5}:\n            v{k} += p * {k}" for k in range(count))
    end = "\n".join(f"    x[{k % 8}] += v{k}" for k in range(count))
    return f"def kernel(x, i):\n{start}\n    def f(p):\n        nonlocal {names}\n{body}\n    f(i)\n    f(x[0])\n{end}"


def sums(count):
    """Each of a variable that is used again at the end, over a loop of its own."""
    body = "\n".join(f"    v{k} = x[{k % 8}] + {k}\n    if v{k} > i + {k % 7}:\n"
                     f"        v{k} += sum(e + v{k} for e in (i, v{k}))" for k in range(count))
    end = "\n".join(f"    x[{k % 8}] += v{k}" for k in range(count))
    return f"def kernel(x, i):\n{body}\n{end}"


def is_short_of_passes(kernel, signature, sm):
    return "optnone" in cuda.jit(kernel).inspect("llvm", signature, sm)


@pytest.mark.parametrize("shape, ordinary, gpu, cpu", [(ifs, 100, 1100, 850), (lines, 300, 17000, 4000),
                                                       (stores, 300, 1000, 1500), (loops, 20, 350, 160)])
def test_only_what_is_very_large_lacks_passes(shape, ordinary, gpu, cpu):
    signature = (VECTOR, types.int64)
    on_cpu = [(None, cpu)] if cuda.get_current_device().kind == "cpu" else []
    for sm, count in [(SM, gpu), *on_cpu]:
        assert not is_short_of_passes(make(shape(ordinary)), signature, sm)
        assert is_short_of_passes(make(shape(count)), signature, sm)


@pytest.mark.parametrize("shape, count", [(ifs, 900), (ifs, 3000), (lines, 4000), (stores, 1500), (loops, 200),
                                          (choices, 2100), (variables, 2100), (shared_variables, 1100), (sums, 300),
                                          (sums, 500)])
def test_results_without_passes(shape, count):
    function = make(shape(count))
    start = np.arange(1.0, 9.0)
    got, expected = start.copy(), start.copy()
    cuda.jit(function)[1, 1](got, 2)
    function(expected, 2)
    np.testing.assert_allclose(got, expected, rtol=1e-13)


@pytest.mark.parametrize("number", [types.float64, types.float32])
def test_atomics_that_become_loops_are_branches(number):
    """On the CPU device, where the places of all atomics of a kernel lived through all those loops."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    for count, is_short in ((700, False), (900, True)):
        body = "\n".join(f"    cuda.atomic.add(x, i + {k}, 1)" for k in range(count))
        kernel = make(f"def kernel(x, i):\n{body}")
        assert is_short_of_passes(kernel, (number[::1], types.int64), None) == is_short
        assert not is_short_of_passes(kernel, (number[::1], types.int64), SM)


@pytest.mark.parametrize("leave", ["break", "return", "raise ValueError('large')",
                                   "w = 1\n            if v > 7:\n                break"])
def test_a_loop_with_many_ways_out(leave):
    """Each comparison in it was compared with all of them; a way on in the loop is none of them."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    for count, way, is_short in ((180, leave, False), (220, leave, True), (220, "continue", False)):
        body = "\n".join(f"        if v > x[j + {k}]:\n            {way}\n        v = v + {k}" for k in range(count))
        kernel = make(f"def kernel(x, i):\n    v = x[i]\n    for j in range(i):\n{body}\n    x[i] = v")
        assert is_short_of_passes(kernel, (VECTOR, types.int64), None) == is_short
        assert not is_short_of_passes(kernel, (VECTOR, types.int64), SM)


def test_exits_of_a_function_that_is_inlined():
    """The loop is counted where it is, whoever calls it; two loops are not one."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    for count, is_short in ((110, False), (220, True)):
        body = "\n".join(f"        if v > x[j + {k}]:\n            break\n        v = v + {k}" for k in range(count))
        source = (f"def f(x, i, v):\n    for j in range(i):\n{body}\n    return v\n"
                  "def kernel(x, i):\n    x[i] = f(x, i, 0.5) + f(x, i + 1, 0.25)")
        assert is_short_of_passes(make(source), (VECTOR, types.int64), None) == is_short


def test_a_loop_with_many_conditions_around_indices():
    """Of each index it was asked what all conditions above it say; where there are no indices nothing is."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    of_index, of_number = "x[j + {}] > v", "v > {}"
    for count, condition, is_short in ((150, of_index, False), (400, of_index, True), (400, of_number, False)):
        body = "\n".join(f"        if {condition.format(k)}:\n            v = v * 2 - {k}" for k in range(count))
        kernel = make(f"def kernel(x, i):\n    v = x[i]\n    for j in range(i):\n{body}\n    x[i] = v")
        assert is_short_of_passes(kernel, (VECTOR, types.int64), None) == is_short
        assert not is_short_of_passes(kernel, (VECTOR, types.int64), SM)


CHAIN = """
def step(v, k):
    return v * 3 + k

def kernel(x, i):
    v, w = x[i], x[i + 1]
{body}
    x[i] = v + w
"""


@pytest.mark.parametrize("line, is_short", [("    v = v * 3 + {}", True), ("    v = step(v, {})", True),
                                            ("    v = v * 3 + {0}\n    w = w * 5 + {0}", False)])
def test_a_long_chain_of_operations(line, is_short):
    """The vectorizer asked of each all that it is made of. Here are 1,600, or two chains of half as many."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    count = 800 // (1 + line.count("\n"))
    kernel = make(CHAIN.format(body="\n".join(line.format(k) for k in range(count))))
    assert is_short_of_passes(kernel, (VECTOR, types.int64), None) == is_short
    assert not is_short_of_passes(kernel, (VECTOR, types.int64), SM)


def test_results_of_a_loop_with_many_ways_out():
    body = "\n".join(f"        if v > x[j + {k}]:\n            break\n        v = v + {k}" for k in range(220))
    function = make(f"def kernel(x, i):\n    v = x[i]\n    for j in range(i):\n{body}\n    x[i] = v")
    got, expected = np.arange(300.0) ** 2, np.arange(300.0) ** 2
    cuda.jit(function)[1, 1](got, 60)
    function(expected, 60)
    np.testing.assert_array_equal(got, expected)


def test_results_of_atomics_without_passes():
    lines = "\n".join(f"    cuda.atomic.add(x, i + {k % 7}, {k})" for k in range(900))
    kernel, x = cuda.jit(make(f"def kernel(x, i):\n{lines}")), np.zeros(8)
    kernel[2, 3](x, 1)
    np.testing.assert_array_equal(x, [0.0, *(6 * sum(range(k, 900, 7)) for k in range(7))])


def test_many_addresses_are_not_made_from_each_other():
    """The code generator compares each with those above it, to make it by an addition: all pairs."""
    for count, by_additions in ((600, True), (900, False)):
        body = "\n".join(f"    v += x[i + w * {3 * k + 1}]" for k in range(count))
        kernel = cuda.jit(make(f"def kernel(x, i, w):\n    v = x[i]\n{body}\n    x[i] = v"))
        ptx = kernel.inspect("asm", (VECTOR, types.int64, types.int64), SM)
        assert (ptx.count("\tmad.lo") < 10) == by_additions
        assert not is_short_of_passes(kernel.py_func, (VECTOR, types.int64, types.int64), SM)


@pytest.mark.parametrize("count, joins_copies", [(2900, True), (3100, False)])
def test_copies_of_thousands_of_loops_are_left_to_ptxas(count, joins_copies):
    """For each block the coalescer goes through all copies that it could not join yet."""
    ptx = cuda.jit(make(loops(count))).inspect("asm", (VECTOR, types.int64), SM)
    copies = re.findall(r"\tmov\.b64 \t(%rd\d+), (%rd\d+);", ptx)
    assert (len(copies) < 2 * count) == joins_copies


@pytest.mark.parametrize("count, joins_copies", [(1900, True), (2100, False)])
def test_copies_of_thousands_of_variables_are_left_to_ptxas(count, joins_copies):
    """For each copy the coalescer asks for all users of its register."""
    ptx = cuda.jit(make(variables(count))).inspect("asm", (VECTOR, types.int64), SM)
    copies = re.findall(r"\tmov\.b64 \t(%r?d\d+), (%r?d\d+);", ptx)
    assert (len(copies) < count) == joins_copies


@pytest.mark.parametrize("count, live_long", [(120, False), (300, True)])
def test_values_of_thousands_of_blocks_are_in_memory(count, live_long):
    """The register allocator looks at each block for each of them."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    text = cuda.jit(make(sums(count))).inspect("llvm", (VECTOR, types.int64), None)
    in_memory = len(re.findall(r" = alloca double", text))
    assert in_memory >= count if live_long else not in_memory


@pytest.mark.parametrize("count, joins_copies", [(800, True), (1300, False)])
def test_copies_of_long_lives_are_left_to_ptxas(count, joins_copies):
    """To join them, the coalescer asks in which blocks each register lives."""
    ptx = cuda.jit(make(sums(count))).inspect("asm", (VECTOR, types.int64), SM)
    copies = re.findall(r"\tmov\.b64 \t(%rd\d+), (%rd\d+);", ptx)
    assert (len(copies) < 6 * count) == joins_copies


@pytest.mark.parametrize("count, has_coalescer", [(8000, True), (16000, False)])
def test_registers_of_tens_of_thousands_of_lines(count, has_coalescer):
    """For each part of their block the coalescer asks for all users of a register: without it, values that live from
    one part to the next are in memory."""
    if cuda.get_current_device().kind != "cpu" or platform.machine() != "x86_64":
        pytest.skip("code of the CPU device")
    body = "\n".join(f"    x[i + {k}] = x[i + {k}] * {k} + 1" for k in range(count))
    text = cuda.jit(make(f"def kernel(x, i):\n{body}")).inspect("asm", (VECTOR, types.int64), None)
    assert ("(%rsp)" not in text) == has_coalescer


def test_ifs_of_a_long_kernel_stay_branches():
    """The processor has no choice between floats: its code generator parts the block again, for each."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    text = cuda.jit(make(shared_variables(1100))).inspect("llvm", (VECTOR, types.int64), None)
    assert not re.search(r"select i1 .*double", text)
    assert " = alloca double" in text and "alloca [8 x i8]" not in text   # cells are values, long ones in memory again


def test_blocks_are_not_long_for_a_gpu():
    """Its code generator makes one graph of each."""
    text = cuda.jit(make(ifs(1100))).inspect("llvm", (VECTOR, types.int64), SM)
    lengths = [len(block.splitlines()) for block in re.split(r"\n\n(?=\d+:)", text)]
    assert len(lengths) > 1 and max(lengths) < 1100


@pytest.mark.parametrize("shape, count", [(lines, 4000), (variables, 2100)])
def test_blocks_of_a_large_kernel_are_not_long_for_a_cpu(shape, count):
    """Its code generator looks at all copies of a block for each instruction that changes flags."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    text = cuda.jit(make(shape(count))).inspect("llvm", (VECTOR, types.int64), None)
    lengths = [len(re.findall(r"\n  (?!.* = (?:phi|alloca) )", block)) for block in re.split(r"\n\n(?=\d+:)", text)]
    assert 900 < max(lengths) <= 1010    # with names and attributes of the function


@pytest.mark.parametrize("count, are_operands", [(230, True), (400, False)])
def test_long_blocks_are_parted_for_a_cpu(count, are_operands):
    """Its schedulers compare the accesses of a block with each other. What another one has loaded is in a register."""
    if cuda.get_current_device().kind != "cpu" or platform.machine() != "x86_64":
        pytest.skip("code of the CPU device")
    loads = "\n".join(f"    a{k} = x[i + {k}]" for k in range(count))
    adds = "\n".join(f"    s = s * 3 + a{k}" for k in range(count))
    kernel = make(f"def kernel(x, y):\n    i = cuda.grid(1)\n{loads}\n    s = 0.0\n{adds}\n    y[i] = s")
    assert not is_short_of_passes(kernel, (VECTOR, VECTOR), None)
    moves = re.findall(r"\tv?mov[sua]p?[sd]\S*\t.*\(%r", cuda.jit(kernel).inspect("asm", (VECTOR, VECTOR), None))
    assert (len(moves) < 20) == are_operands


def test_constants_come_from_a_table():
    """The code generator looks through all of them for each."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    text = cuda.jit(make(choices(2100))).inspect("llvm", (VECTOR, types.int64), None)
    table = re.search(r"@constants = private constant \[(\d+) x double\]", text)
    assert table and int(table[1]) > 2100
    assert not re.search(r"(fadd|fcmp|phi).* [1-9]\.\d+e\+", text)


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas")
def test_ptx_without_passes(tmp_path):
    ptx = cuda.jit(make(stores(1000))).inspect("asm", (VECTOR, types.int64), SM)
    path = tmp_path / "kernel.ptx"
    path.write_text(ptx)
    subprocess.run([PTXAS, f"-arch=sm_{SM}", "-O1", path, "-o", tmp_path / "out"], check=True)
    assert "ld.global" in ptx and "\tld.b64" not in ptx     # the address space is known, as in other kernels


def nested_tuples(levels):
    functions = ["def f0(a):\n    return (a, a + 1)"]
    functions += [f"def f{k}(a):\n    return (f{k - 1}(a), f{k - 1}(a * 2))" for k in range(1, levels)]
    first, last = "[0]" * levels, "[1]" * levels
    return "\n".join([*functions, f"def kernel(x, i):\n    t = f{levels - 1}(x[i])\n    x[i] = t{first} + t{last}"])


def test_functions_that_return_many_values():
    """1,024 values of nested tuples: more than a minute where constants are looked for across calls."""
    function = make(nested_tuples(10))
    got, expected = np.array([3.0]), np.array([3.0])
    cuda.jit(function)[1, 1](got, 0)
    function(expected, 0)
    np.testing.assert_array_equal(got, expected)
    assert not re.search(r"call .*@(?!llvm\.)", cuda.jit(function).inspect("llvm", (VECTOR, types.int64), SM))


def test_structs_of_many_values_are_no_large_function():
    """They are gone behind the calls: nine minutes where constants were looked for in all of them, and without passes
    each value that nobody reads is computed."""
    function = make(nested_tuples(11))
    assert not is_short_of_passes(function, (VECTOR, types.int64), SM)
    assert len(cuda.jit(function).inspect("asm", (VECTOR, types.int64), SM).splitlines()) < 100


def test_argument_of_many_values():
    @cuda.jit
    def kernel(x, t):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = t[0] + t[2999] + i
    out = np.zeros(100)
    kernel[2, 64](out, tuple(range(3000)))
    np.testing.assert_array_equal(out, 2999 + np.arange(100))
    signature = (VECTOR, types.UniTuple(types.int64, 3000))
    assert "optnone" not in kernel.inspect("llvm", signature, None)


def test_copies_are_counted():
    """A function of 100 branches that is inlined in 2 places, and in 11."""
    body = "\n".join(f"    if v > {k}:\n        v = v * 0.5 + {k}" for k in range(100))
    for calls, is_large in ((2, False), (11, True)):
        source = (f"@cuda.jit(device=True, forceinline=True)\ndef f(v):\n{body}\n    return v\n"
                  "def kernel(x, i):\n    v = x[i]\n" + "    v = f(v)\n" * calls + "    x[i] = v")
        assert is_short_of_passes(make(source), (VECTOR, types.int64), SM) == is_large


def checked(count):
    body = "\n".join(f"    s += x[int(x[i + {k}])]" for k in range(count))
    return f"def kernel(x, i):\n    s = 0.0\n{body}\n    x[i] = s"


@pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="code of the CPU device")
def test_raises_of_a_large_kernel_meet_in_groups():
    """Instruction selection looks through a block's phis for each block that leads to it."""
    count = 5000
    kernel = cuda.jit(make(checked(count)))
    text = kernel.inspect("llvm", (VECTOR, types.int64), None)
    assert count < text.count("[ %") and max(line.count("[ ") for line in text.split("\n") if " = phi " in line) < 1200
    for wrong in 0, 2500, count - 1:
        x = np.zeros(count)
        x[wrong] = count
        with pytest.raises(IndexError, match=f"line {wrong + 3}\\b"):
            kernel[1, 1](x, 0)


@pytest.mark.parametrize("count, is_vectorized", [(32, True), (150, False)])
def test_lines_that_are_alike_in_a_long_block(count, is_vectorized):
    """They are put together to vectors where the block has at most 300 instructions, or many stores."""
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("for the CPU device")
    products = " + ".join(f"x[{k}] * y[{k}]" for k in range(count))
    kernel = cuda.jit(make(f"def kernel(x, y, out):\n    out[0] = {products}"))
    whole = types.int64[::1]
    assert bool(re.search(r"mul .*<\d+ x i64>", kernel.inspect("llvm", (whole, whole, whole)))) == is_vectorized
    x, y, out = np.arange(count), np.arange(count) + 1, np.zeros(1, np.int64)
    kernel[1, 1](x, y, out)
    assert out[0] == x @ y


def test_many_stores_in_a_long_block_become_vectors():
    if cuda.get_current_device().kind != "cpu":
        pytest.skip("for the CPU device")
    reads = "\n".join(f"    v{k} = x[{k}] * 0.5 + 1.5" for k in range(100))
    writes = "\n".join(f"    y[{k}] = v{k}" for k in range(100))
    kernel = cuda.jit(make(f"def kernel(x, y):\n{reads}\n{writes}"))
    assert re.search(r"fmul .*<\d+ x double>", kernel.inspect("llvm", (VECTOR, VECTOR)))


@pytest.mark.skipif(_core.gpu_count() > 0, reason="about the CPU device's code")
def test_constants_of_long_functions_are_in_one_table():
    """Its code generator looks through all of them for each, and keeps each where it was found first."""
    lines = "\n".join(f"    x[i + {k}] = x[i + {k}] * {k}.25 + 1.5" for k in range(2000))
    kernel, x = cuda.jit(make(f"def kernel(x):\n    i = cuda.grid(1)\n{lines}")), np.ones(2000)
    kernel[1, 1](x)
    assert np.array_equal(x, np.arange(2000) + 1.75)
    table = re.search(r"constant \[(\d+) x double\]", kernel.inspect("llvm", kernel.signatures[0]))
    assert table and int(table[1]) >= 2000
