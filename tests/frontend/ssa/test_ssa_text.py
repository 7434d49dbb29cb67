"""CUJIT_DUMP=ssa: the values of a function before they have types."""
import numpy as np

from cujit import cuda, types


@cuda.jit
def kernel(x, start=2):
    t = start
    for k in range(2):
        if k:
            t += abs(x[k])
    x[0] = max(t, 3, key=None) if t > 1 else -t


def text_of(function, *signature):
    text = function.inspect("ssa", signature)
    return [line.partition(" ;")[0] for line in text.split("ssa of ")[1].splitlines()[1:]]


def test_blocks_values_and_ways():
    lines = text_of(kernel, types.int64[::1], types.int64)
    number = {line.split(" = ")[1]: line.split(" = ")[0].strip() for line in lines if " = " in line}
    phi = next(line for line in lines if " = phi t " in line)
    total = next(line for line in lines if "binary +=" in line).split(" = ")[0].strip()
    assert number["parameter 0 x"] == "%0" and "constant range <range>" in number
    assert f"block 0: {number['parameter 1 start']}" in phi and f": {total}" in phi
    has_item = next(line for line in lines if "iter_has" in line).split(" = ")[0].strip()
    assert any(line.startswith(f"  branch {has_item}, block ") for line in lines)
    assert any("call" in line and "key=" in line for line in lines)
    negative = number["negative " + phi.split()[0]]
    stores = [line for line in lines if line.startswith("  store_subscript ")]  # one in each branch or behind both
    stored = {line.split()[1].strip(",") for line in stores}
    joined = [line for line in lines if line.split(" = phi ")[0].strip() in stored]
    assert all(", %0, " in line for line in stores)
    assert negative in stored or any(f": {negative}" in line for line in joined)


def test_every_function_is_printed(monkeypatch, capfd):
    @cuda.jit
    def doubled(x):
        x[0] = twice(x[0])

    def twice(x):
        return x * 2

    monkeypatch.setenv("CUJIT_DUMP", "ssa")
    doubled[1, 1](np.ones(1))
    printed = capfd.readouterr().err
    assert "--- ssa of" in printed and "ssa of " + doubled.__qualname__ in printed
    assert "ssa of " + twice.__qualname__ in printed and "binary * %0, " in printed
