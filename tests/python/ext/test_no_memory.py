"""Everything that asks for memory, while the n-th request fails, for each n until none is left: MemoryError or success,
nothing lost, and the same works once there is memory. LLVM's and Python's own requests go on."""
import pytest

from cujit import _core

pytestmark = pytest.mark.skipif(not hasattr(_core, "_fail_memory"), reason="not a build for tests")

# What is tried: programs of a function `work` that returns the same at each call, and `kept`: objects whose references
# are counted.
PROGRAM = """
import dataclasses, datetime, enum, functools, gc, math, operator, pickle, sys, types, typing
import numpy as np
from cujit import _core, cuda, errors, float32, float64, guvectorize, int64, vectorize, void
from cujit.cuda import grid

class Color(enum.Enum):
    RED = 1
    BLUE = 2

@dataclasses.dataclass
class Point:
    x: float
    y: int = 3

class Pair(typing.NamedTuple):
    first: int
    second: float = 2.0
    def total(self):
        return self.first + self.second
    @property
    def double(self):
        return 2 * self.first

namespace = types.SimpleNamespace(scale=3.0, inner=types.SimpleNamespace(offset=1))
table, names, point = np.arange(6.0).reshape(2, 3)[:, ::2], {"one": 1, "two": 2}, Point(1.5)
record = np.dtype([("a", "f4"), ("b", "i4", (2,))])
get = operator.itemgetter(1)

def plain(v, *, add=1.0):
    return v * namespace.scale + add

def recursive(n):
    return 1 if n <= 1 else n * recursive(n - 1)

def fresh(function):
    return cuda.jit(types.FunctionType(function.__code__, function.__globals__, function.__name__,
                                       function.__defaults__, function.__closure__))
"""

TRY = """
def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n

def attempt(n, for_good):
    _core._fail_memory(n, for_good)
    try:
        result = work()
    except MemoryError as error:
        result = error
    finally:
        failures = _core._fail_memory(0)
    assert failures or not isinstance(result, Exception), result
    return result, failures

def settle():
    # kernels and launchers refer to each other: what one pass frees may free more in the next
    while gc.collect():
        pass

expected, levels, count = work(), depth(), 0
settle()
counts = [sys.getrefcount(each) for each in kept]
for for_good in False, True:
    n = failures = 1
    while failures:
        result, failures = attempt(n, for_good)
        assert isinstance(result, MemoryError) or result == expected, (n, result)
        count += isinstance(result, MemoryError)
        n += 1 + n // STEP
        del result
        settle()   # CPython loses what the 17th MemoryError that is alive refers to
    assert work() == expected
settle()
assert depth() == levels
assert [sys.getrefcount(each) for each in kept] == counts, (counts, [sys.getrefcount(each) for each in kept])
print(count)
"""

CASES = {
    "a kernel": """
def body(x, pair, p, c):
    i = grid(1)
    if i < x.size:
        x[i] = (plain(x[i]) + table[1, 1] + names["two"] + point.x + Pair(i).total() + pair.second + p.y + c.value
                + Color.BLUE.value + recursive(3) + math.sqrt(4.0) + namespace.inner.offset + get((1, 2)) + len("text")
                + np.sum(x[:1]) * 0)
def work():
    x = np.ones(4)
    fresh(body)[1, 4](x, Pair(1), Point(2.0), Color.RED)
    return x.tolist()
kept = [plain, recursive, Color, Point, Pair, namespace, table, names, point, body, get, body.__code__]
""",
    "closures and partials": """
def outer(k):
    def helper(a, b=2):
        return a * k + b
    add = functools.partial(helper, 3)
    when = np.datetime64("2020-01-01", "D")
    def body(x):
        i = cuda.grid(1)
        x[i] = add() + sum(v for v in (1, 2.5)) + (when - when).astype(np.int64)
    return body
body = outer(2)
def body(x, k=float32(2), t=(1, 2)):
    x[cuda.grid(1)] = k + t[1]
def work():
    x = np.zeros(2)
    fresh(body)[1, 2](x)
    return x.tolist()
kept = [outer, body, body.__defaults__]
""",
    "records and strings": """
def body(r, s, out):
    i = cuda.grid(1)
    out[i] = r[i].a + r[i].b[1] + (2 if s[i] == "b" else 1)
def work():
    fields = np.dtype([("a", "f4"), ("b", "i4", (2,)), (f"c{next(number)}", "M8[s]")])   # a type that is new each time
    r, out = np.zeros(2, fields), np.zeros(2)
    r["a"] = 1
    fresh(body)[1, 2](r, np.array(["a", "b"]), out)
    return out.tolist()
import itertools
number = itertools.count()
kept = [body]
""",
    "signatures": """
def work():
    kernel = cuda.jit(["void(float32[:], int64)", "void(Tuple((int64, float64[:,::1])), UniTuple(f8, 2))"])(body)
    listed = [str(types) for types in kernel.signatures]
    try:
        kernel[1, 1]("text", 3)
    except TypeError as error:
        listed.append(str(error))
    try:
        kernel[1, 1](1, 2, 3)
    except TypeError as error:
        listed.append(str(error))
    try:
        kernel[1, 1](np.ones(1, complex), 3)
    except TypeError as error:
        listed.append(str(error))
    kernel[1, 1](np.ones(1, np.float32), 3)
    return listed
def body(x, n):
    pass
kept = [body]
""",
    "types": """
def work():
    made = [float32[:, ::1], _core.tuple_type((float64[:], int64)), void(float32, int64[:]), _core.type_of((1, 2.0)),
            _core.type_of(memoryview(b"ab")), _core.type_of(Pair(1)), _core.type_from_dtype(record)]
    again = pickle.loads(pickle.dumps(made))
    return [str(each) for each in [*made, *again, _core.type_of(Point(1.0)), _core.type_of(Color.RED)]]
kept = [Pair, Point, record]
""",
    "inspection": """
def body(x):
    x[cuda.grid(1)] = plain(1.0)
def work():
    kernel = fresh(body)
    types = (float64[::1],)
    texts = [kernel.inspect(what, types) for what in ("bytecode", "cfg", "ir", "types", "llvm", "asm", "ssa")]
    try:
        kernel.inspect("nothing", types)
    except ValueError as error:
        texts.append(str(error))
    return texts + [_core.ir_roundtrip(texts[2])]
kept = [body, plain]
""",
    "errors": """
def body(x):
    x[0] = plain(None)
def unknown(x):
    x[0] = nowhere
def work():
    texts = []
    for function in body, unknown:
        try:
            fresh(function)[1, 1](np.ones(1))
        except errors.TypingError as error:
            texts.append(str(error))
    return texts
kept = [body, unknown, plain]
""",
    "ufuncs": """
def work():
    x = np.arange(4.0)
    double = vectorize(["float64(float64)"])(lambda a: a * 2)
    total = guvectorize(["void(float64[:], float64[:])"], "(n)->()")(row)
    return double(x).tolist(), float(total(x)), float(cuda.reduce(lambda a, b: a + b)(x))
def row(x, out):
    out[0] = x[0] + x[1]
kept = [row]
""",
    "launches": """
@cuda.jit
def waits(x):
    shared = cuda.shared.array(64, float64)
    i = cuda.grid(1)
    shared[i] = x[i]
    cuda.syncthreads()
    x[i] = shared[63 - i]
@cuda.jit(debug=True, opt=False)
def raises(x):
    if x[0] == 63.0:
        raise ValueError("at", x[0])
def work():
    cuda.get_default_memory_pool().free_all_blocks()
    x = np.arange(64.0)
    waits[1, 64](x)
    stream, event = cuda.stream(), cuda.event()
    event.record(stream)
    try:
        raises[1, 1, stream](x)
    except ValueError as error:
        assert error.args[1] == 63.0
    array = cuda.to_device(x, stream)
    return array.copy_to_host().tolist()
kept = [waits, raises]
""",
}


@pytest.mark.parametrize("case", CASES)
def test_the_nth_request_fails(case, run_python):
    program = PROGRAM + CASES[case] + TRY.replace("STEP", "24")
    assert int(run_python(program, PYTHONWARNINGS="ignore", CUJIT_DEVICE="cpu", CUJIT_CACHE="0")) > 5


def test_with_the_disk_cache(run_python, tmp_path):
    program = PROGRAM + CASES["a kernel"] + TRY.replace("STEP", "24")
    output = run_python(program, PYTHONWARNINGS="ignore", CUJIT_DEVICE="cpu", CUJIT_CACHE="1",
                        CUJIT_CACHE_DIR=str(tmp_path / "cache"))
    assert int(output) > 5
