"""Kernels and ufuncs in another process: pickled by pickle or cloudpickle here, loaded and called there."""
import os
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

from cujit import cuda, guvectorize, vectorize
from cujit.cuda._dispatch import arrivals

# A program whose kernels are of __main__. What it has under other names than the kernels' must stay at home.
PROGRAM = """
import math, sys, threading, pickle, cloudpickle
import numpy as np
from cujit import cuda, vectorize, guvectorize, float64, types
from cujit.cuda import grid
from dataclasses import dataclass

shape = threading.Lock()    # the name of an attribute in the kernels, and nothing that can be pickled
SCALE, TABLE = 3, np.arange(4.0)

def plain(v):
    return v * SCALE

@cuda.jit(device=True)
def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)

def even(n):
    return True if n == 0 else odd(n - 1)

def odd(n):
    return False if n == 0 else even(n - 1)

@cuda.jit
def kernel(x):
    i = grid(1)
    if i < x.shape[0]:
        x[i] = plain(x[i]) + TABLE[i] + math.sqrt(4.0) + factorial(3)

@cuda.jit("void(float64[:])")
def signed(x):
    x[grid(1)] += 1

@cuda.jit
def parity(x):
    i = cuda.grid(1)
    x[i] = even(i)

def make(k):
    @cuda.jit(device=True)
    def power(v, n):
        return v if n == 0 else power(v * k, n - 1)

    @cuda.jit
    def closure(x):
        x[cuda.grid(1)] = power(float64(1), k)
    return closure

@vectorize
def add(a, b):
    return a + b * SCALE

@vectorize(["float64(float64, float64)"])
def typed(a, b):
    return plain(a) + b

@guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def total(x, out):
    out[0] = 0
    for v in x:
        out[0] += v * SCALE

class Holder:
    @cuda.jit
    def method(x):
        x[cuda.grid(1)] = SCALE

@cuda.reduce
def largest(a, b):
    return max(a, b)

def of_arrays(k):
    return (cuda.elementwise(lambda x, y: plain(x) + k * y, dtype=np.float32),
            cuda.elementwise("(x[i] + x[i + 1]) / 2", raw="x", index="i", name="smooth"),
            cuda.fuse(lambda x: np.sqrt(x) * k, kernel_name="roots"), cuda.reduction("x * x", "a + b", "a + 1", 0.0),
            cuda.reduction(lambda i, x: (x, i), lambda a, b: b if b[0] > a[0] else a, lambda a: a[1], index="i"),
            tripled, largest)

@cuda.elementwise(fastmath=True)
def tripled(x):
    return x * SCALE
"""

SAVE = "\nopen(sys.argv[1], 'wb').write({pickler}.dumps({what}))\n"

LOAD = """
import pickle, sys
import numpy as np
loaded = pickle.loads(open(sys.argv[1], "rb").read())
x = np.arange(4.0)
{use}
print(np.asarray(x).tolist())
"""

CASES = {
    "kernel": ("kernel", "loaded[1, 4](x)", [8, 12, 16, 20]),
    "signed": ("signed", "loaded[1, 4](x); assert loaded.specialized and len(loaded.signatures) == 1", [1, 2, 3, 4]),
    "recursion": ("parity", "loaded[1, 4](x)", [1, 0, 1, 0]),
    "closure": ("make(2)", "loaded[1, 4](x)", [4, 4, 4, 4]),
    "configured": ("kernel[1, 4]", "loaded(x)", [8, 12, 16, 20]),
    "forall": ("kernel.forall(4)", "loaded(x)", [8, 12, 16, 20]),
    "device function": ("factorial", """
from cujit import cuda
@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    x[i] = loaded(i)
kernel[1, 4](x)""", [1, 1, 2, 6]),
    "vectorize": ("add", "x = loaded(x, x)", [0, 4, 8, 12]),
    "vectorize with types": ("typed", "x = loaded(x, x)", [0, 4, 8, 12]),
    "guvectorize": ("total", "x = loaded(x.reshape(2, 2))", [3, 15]),
    "made for arrays": ("of_arrays(2)", """
first, smooth, roots, sums, place, tripled, largest = loaded
assert first(x, x).dtype == np.float32 and "smooth" in repr(smooth) and "roots" in repr(roots)
x = [first(x, x)[3], smooth(x, size=3)[0], roots(x * x)[3], sums(x), place(x), tripled(x)[3], largest(x)]""",
                        [15, 0.5, 6, 15, 3, 9, 3]),
    "method": ("Holder.method", "loaded[1, 4](x)", [3, 3, 3, 3]),
    "several": ("[kernel, kernel, add]",
                "assert loaded[0] is loaded[1]; loaded[0][1, 4](x); x = loaded[2](x, 0.0)", [8, 12, 16, 20]),
}


def run(folder, name, program, *arguments, check=True):
    """Standard output of a program in a process of its own, which finds no module of the first one's folder."""
    script = folder / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(program)
    path = [p for p in sys.path if p]
    done = subprocess.run([sys.executable, "-W", "ignore", str(script), *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, env={**os.environ, "PYTHONPATH": ":".join(path)})
    if check:
        assert done.returncode == 0, done.stderr
    return done.stdout if check else done.stderr


def there_and_back(folder, what, use, pickler="cloudpickle", program=PROGRAM):
    run(folder, "first/program.py", program + SAVE.format(pickler=pickler, what=what), folder / "pickle")
    return eval(run(folder, "second/load.py", LOAD.format(use=use), folder / "pickle"))


@pytest.mark.parametrize("pickler", ["cloudpickle", "pickle"])
@pytest.mark.parametrize("case", CASES)
def test_of_main(tmp_path, pickler, case):
    what, use, expected = CASES[case]
    assert there_and_back(tmp_path, what, use, pickler) == expected


def test_a_module_names_what_is_made_of_a_function():
    """Decorated, it is found by its name, and is the same object; a copy is the object."""
    import copy
    name = "of_this_module"
    made = cuda.elementwise(lambda x: x + 1)
    made.__module__, made.__qualname__ = __name__, name
    globals()[name] = made
    try:
        assert pickle.loads(pickle.dumps(made)) is made and copy.deepcopy([made])[0] is made
    finally:
        del globals()[name]


def test_functions_that_use_kernels(tmp_path):
    """What a pool of workers gets: cloudpickle writes the function, and comes upon the kernels among its globals."""
    program = PROGRAM + """
def task(x):
    kernel[1, 4](x)
    return add(x, x)

@dataclass
class Job:
    x: object
    def run(self):
        return largest(task(self.x))
"""
    assert there_and_back(tmp_path, "task", "x = loaded(x)", program=program) == [32, 48, 64, 80]
    assert there_and_back(tmp_path, "Job(np.arange(4.0))", "x = loaded.run()", program=program) == 80
    assert there_and_back(tmp_path, "largest", "x = loaded(x)", program=program) == 3


def test_by_name(tmp_path):
    """A module that both processes import holds the object: nothing but the name is written."""
    module = "shared_by_both"
    (tmp_path / f"{module}.py").write_text(PROGRAM)
    for pickler in "pickle", "cloudpickle":
        first = f"import sys, pickle, cloudpickle; sys.path.insert(0, {str(tmp_path)!r}); import {module} as m"
        use = f"sys.path.insert(0, {str(tmp_path)!r})\n" + LOAD
        data = tmp_path / pickler
        run(tmp_path, "first/program.py", first + SAVE.format(pickler=pickler, what="[m.kernel, m.add, m.total]"), data)
        assert data.stat().st_size < 300
        there = f"import {module}; assert loaded == [{module}.kernel, {module}.add, {module}.total]"
        run(tmp_path, "second/load.py", "import sys\n" + use.format(use=there), data)


def test_a_name_that_is_missing_there(tmp_path):
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "mine.py").write_text(PROGRAM)
    for what, name in ("mine.kernel", "kernel"), ("mine.typed", "typed"), ("mine.Holder.method", "Holder.method"):
        run(tmp_path, "first/program.py", "import sys, pickle, mine" + SAVE.format(pickler="pickle", what=what),
            tmp_path / "pickle")
        error = run(tmp_path, "second/load.py", LOAD.format(use=""), tmp_path / "pickle", check=False)
        assert f"UnpicklingError: '{name}' was pickled by its name in the module 'mine', which cannot be imp" in error
        (tmp_path / "second" / "mine.py").write_text("")
        error = run(tmp_path, "second/load.py", LOAD.format(use=""), tmp_path / "pickle", check=False)
        assert f"UnpicklingError: '{name}' was pickled by its name in the module 'mine', which has no such n" in error
        assert str(tmp_path / "second" / "mine.py") in error
        (tmp_path / "second" / "mine.py").unlink()


@pytest.mark.parametrize("case", CASES)
def test_modules_that_cloudpickle_has_registered(tmp_path, case):
    (tmp_path / "first" / "package").mkdir(parents=True)
    (tmp_path / "first" / "package" / "__init__.py").write_text("")
    (tmp_path / "first" / "package" / "mine.py").write_text(PROGRAM)
    what, use, expected = CASES[case]
    what = what.replace("[kernel, kernel, add]", "[m.kernel, m.kernel, m.add]")
    program = f"""
import sys, cloudpickle, package, package.mine as m
cloudpickle.register_pickle_by_value(package)
{SAVE.format(pickler="cloudpickle", what=what if what.startswith("[") else f"m.{what}")}"""
    run(tmp_path, "first/program.py", program, tmp_path / "pickle")
    assert eval(run(tmp_path, "second/load.py", LOAD.format(use=use), tmp_path / "pickle")) == expected


def test_on_to_a_third_process(tmp_path):
    run(tmp_path, "first/program.py", PROGRAM + SAVE.format(pickler="cloudpickle", what="[kernel, total]"),
        tmp_path / "a")
    run(tmp_path, "second/load.py", LOAD.format(use="open(sys.argv[2], 'wb').write(pickle.dumps(loaded))"),
        tmp_path / "a", tmp_path / "b")
    use = "loaded[0][1, 4](x); x = loaded[1](x)"
    assert eval(run(tmp_path, "third/load.py", LOAD.format(use=use), tmp_path / "b")) == 3 * (8 + 12 + 16 + 20)


def test_a_pool_of_processes(tmp_path):
    program = PROGRAM + """
import multiprocessing

def work(job):
    kernel, x = job
    kernel[1, 4](x)
    return kernel, x

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        again, x = pool.map(work, [(kernel, np.arange(4.0))])[0]
    again[1, 4](x)
    print(x.tolist())
"""
    assert eval(run(tmp_path, "first/program.py", program)) == [32, 45, 58, 71]


def test_another_pythons_code_is_not_read():
    @cuda.jit
    def kernel(x):
        x[0] = 1

    data = pickle.dumps(kernel)
    from importlib.util import MAGIC_NUMBER
    assert data.count(MAGIC_NUMBER) == 1
    with pytest.raises(pickle.UnpicklingError, match="kernel' was pickled by another version of Python"):
        pickle.loads(data.replace(MAGIC_NUMBER, bytes(4)))


def test_signatures_and_options_come_back():
    @cuda.jit(["void(float32[:])", "void(int64[:])"], fastmath=True, max_registers=32)
    def kernel(x):
        x[cuda.grid(1)] += 1

    again = cloudpickle.loads(cloudpickle.dumps(kernel))
    assert again.signatures == kernel.signatures and again.options == kernel.options and not again.specialized
    with pytest.raises(TypeError):
        again[1, 1](np.ones(1, np.complex64))


@pytest.mark.parametrize("make, name", [(cuda.stream, "Stream"), (cuda.default_stream, "Stream"), (cuda.event, "Event"),
                                        (cuda.Graph, "Graph"), (cuda.get_current_device, "Device"),
                                        (cuda.current_context, "Device")])
@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_what_belongs_to_a_process_says_so(make, name, pickler):
    with pytest.raises(TypeError, match=f"{name} objects are of this process and its devices: they cannot be pickled"):
        pickler.dumps([make()])


def of_closure(value, **options):
    @cuda.jit(**options)
    def kernel(x):
        x[cuda.grid(1)] = value
    return kernel


def again(value):
    return pickle.loads(pickle.dumps(value))


def test_what_arrives_again_is_what_came_first():
    """So it is compiled once, however often an engine sends it."""
    kernel = again(of_closure(2))
    x = np.zeros(1)
    kernel[1, 1](x)
    assert again(of_closure(2)) is kernel and x == 2
    others = [of_closure(3), of_closure(2.0), of_closure(True), of_closure(np.int64(2)), of_closure((2,)),
              of_closure(0.0), of_closure(-0.0), of_closure(2, fastmath=True)]
    arrived = [again(other) for other in others]
    assert len({*arrived, kernel}) == 9 and [again(other) for other in others] == arrived
    assert not {*arrived, kernel} & {*others}


def test_what_is_limited_to_types_is_another_kernel():
    limited = of_closure(2)
    limited.compile("void(float32[:])")
    limited.freeze()
    assert again(of_closure(2)) is not again(limited)
    assert again(limited) is again(limited) and again(limited).is_frozen and not again(of_closure(2)).is_frozen


def test_what_refers_to_more_than_constants():
    """To functions and kernels that arrive again, too; to itself, or an array, it is another one each time."""
    def scaled(v):
        return v * 3

    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    device = cuda.jit(device=True)(scaled)

    @cuda.jit(device=True)
    def factorial(n):
        return 1 if n <= 1 else n * factorial(n - 1)

    def use(function):
        @cuda.jit
        def kernel(x):
            x[cuda.grid(1)] = function(2)
        return kernel

    for function in scaled, device, even, of_closure(5):
        assert again(use(function)) is again(use(function))
    assert again(use(factorial)) is not again(use(factorial))
    assert again(of_closure(np.zeros(3))) is not again(of_closure(np.zeros(3)))


def test_functions_over_arrays_arrive_again():
    scale = 3.0
    made = [vectorize(lambda a: a * scale), vectorize(["float32(float32)"])(lambda a: a * scale),
            guvectorize(["void(float64[:], float64[:])"], "(n)->()")(lambda x, out: None),
            cuda.elementwise(lambda x: x * scale), cuda.fuse(lambda x: x * scale), cuda.reduction("x", "a + b", "a", 0),
            cuda.reduce(lambda a, b: a + b * scale)]
    for each in made:
        assert again(each) is again(each) is not each
    made[0].max_blocksize = 32
    first = again(made[0])
    assert first.max_blocksize == 32
    made[0].max_blocksize = 64
    assert again(made[0]) is not first and first.max_blocksize == 32


def test_not_all_are_kept(monkeypatch):
    monkeypatch.setattr(arrivals, "KEPT", 2)
    first, second = again(of_closure(10)), again(of_closure(11))
    assert again(of_closure(10)) is first   # the last one now
    again(of_closure(12))
    assert again(of_closure(10)) is first and again(of_closure(11)) is not second
    assert arrivals._kept_ids == {id(made) for _, made in arrivals._kept.values()}


def test_values_are_not_compared_with_all_that_is_kept(monkeypatch):
    """Each value that a kernel refers to is looked up: 64 kernels are kept, and an engine sends many."""
    compared = []

    class Kept(dict):
        def values(self):
            compared.append(self)
            return super().values()

    monkeypatch.setattr(arrivals, "_kept", Kept())
    monkeypatch.setattr(arrivals, "_kept_ids", set())
    assert again(of_closure(7)) is again(of_closure(7)) and not compared
