"""Runs a program of the fuzzer in CPython, on Values: the names that kernels know, arrays, threads, barriers.

A program's text has markers `_join("float64", x)`: x has that type for a kernel because another path gives another one.
kernel_text() leaves them out; reference_text() keeps them, makes Values of literals, and waits at barriers by `yield`.
"""
import ast
import dis
import functools
import types

import numpy as np
import typed_values as tv
from typed_values import Unspecified, Value, convert, lift

STEPS = 20_000      # operations of one thread


class Markers(ast.NodeTransformer):
    """Leaves the markers out."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "_join"):
            return node
        if not isinstance(node.args[1], ast.IfExp | ast.BoolOp | ast.Name):
            raise SyntaxError("no paths join here")    # a program that was made smaller
        return node.args[1]

    def visit_Assign(self, node):
        self.generic_visit(node)
        is_marker = len(node.targets) == 1 and ast.unparse(node.targets[0]) == ast.unparse(node.value)
        return ast.Pass() if is_marker else node


def is_folded(node):
    """Whether CPython's compiler makes one number of the expression."""
    parts = ast.BinOp | ast.UnaryOp | ast.Constant | ast.operator | ast.unaryop
    if not all(isinstance(part, parts) for part in ast.walk(node)):
        return False
    try:
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval")
    except (SyntaxError, ValueError):
        return False
    return not {step.opname for step in dis.get_instructions(code)} - {"RESUME", "LOAD_CONST", "RETURN_VALUE",
                                                                       "RETURN_CONST"}


class Literals(ast.NodeTransformer):
    """Literals become Values, `not x` a Value, and a barrier of the kernel itself a yield."""

    def visit_Constant(self, node):
        is_number = isinstance(node.value, (int, float, complex))
        return call("_lift", node) if is_number else node

    def visit_BinOp(self, node):
        if is_folded(node):
            return call("_lift", node)    # 2**64 - 1 + 0 is one constant of the bytecode, a uint64
        self.generic_visit(node)
        return node

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return call("_lift", node)    # the compiler folds it too: -9223372036854775808 is an int64
        self.generic_visit(node)
        return call("_not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        return call("_lift", node)

    def visit_match_case(self, node):
        node.guard = self.visit(node.guard) if node.guard else None
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Expr(self, node):
        self.generic_visit(node)
        if ast.unparse(node) == "cuda.syncthreads()":
            return ast.Expr(ast.Yield())
        return node

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "_join":
            node.args[1] = self.visit(node.args[1])
            return node
        self.generic_visit(node)
        return node


def call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def kernel_text(program):
    return ast.unparse(ast.fix_missing_locations(Markers().visit(ast.parse(program)))) + "\n"


def reference_text(program):
    return ast.unparse(ast.fix_missing_locations(Literals().visit(ast.parse(program)))) + "\n"


# --- what programs name ----------------------------------------------------------------------------------------------

class Array:
    """A NumPy array whose items are Values. written: which items have a value, of arrays that a kernel makes."""

    def __init__(self, data, written=None):
        self.data, self.written = data, written
        self.kind = data.dtype.name

    def __getitem__(self, index):
        index = plain_index(index)
        item, written = self.data[index], None if self.written is None else self.written[index]
        if isinstance(item, np.ndarray):
            return Array(item, written)
        if written is not None and not written:
            raise Unspecified
        return self.value(item)

    def value(self, item):
        if isinstance(item, np.void):
            return Record(item)
        if self.kind in tv.PARTS:
            return Value(self.kind, (item.real, item.imag))
        return Value(self.kind, item if self.kind in tv.FLOATS else item.item())

    def __setitem__(self, index, value):
        if isinstance(value, Array):
            items = [element(convert(value.value(x), self.kind)) for x in value.data.ravel()]
            self.data[plain_index(index)] = np.array(items, self.data.dtype).reshape(value.data.shape)
        else:
            self.data[plain_index(index)] = element(convert(value, self.kind))
        if self.written is not None:
            self.written[plain_index(index)] = True

    def __iadd__(self, other):
        added = other.data.copy()      # it may be the same memory
        for index in np.ndindex(self.data.shape):
            self[index] = self[index] + other.value(added[index])
        return self

    def __iter__(self):
        return (self[i] for i in range(len(self.data)))

    def __len__(self):
        return len(self.data)

    def __reversed__(self):
        return (self[i] for i in reversed(range(len(self.data))))    # a view: later stores are seen

    @property
    def size(self):
        return lift(self.data.size)

    @property
    def ndim(self):
        return lift(self.data.ndim)

    @property
    def shape(self):
        return tuple(lift(n) for n in self.data.shape)

    @property
    def T(self):
        return Array(self.data.T)


class Record:
    """A record of an array: its fields are Values."""

    def __init__(self, data):
        object.__setattr__(self, "data", data)

    def __getattr__(self, name):
        return Array(self.data[name][None])[0]

    def __setattr__(self, name, value):
        self.data[name] = element(convert(value, self.data.dtype[name].name))


def element(value):
    return complex(*value.number) if value.kind in tv.PARTS else value.number


def plain_index(index):
    if isinstance(index, tuple):
        return tuple(plain_index(i) for i in index)
    if isinstance(index, slice):
        return slice(*(None if part is None else part.__index__() for part in (index.start, index.stop, index.step)))
    return index.__index__() if isinstance(index, Value) else index


def join(kind, value):
    """The value with the type that it has where paths meet: a name, or a tuple of them."""
    if isinstance(kind, tuple):
        return tuple(join(k, v) for k, v in zip(kind, value, strict=True))
    return convert(value, kind)


class Range:
    """range() whose numbers are Values."""

    def __init__(self, *bounds):
        bounds = [lift(b) for b in bounds]
        unsigned = all(b.kind == "uint64" or b.number >= 0 for b in bounds) and any(b.kind == "uint64" for b in bounds)
        self.kind = "uint64" if unsigned else "int64"
        self.range = range(*(convert(b, self.kind).number for b in bounds))

    def __iter__(self):
        return (Value(self.kind, i) for i in self.range)

    def __reversed__(self):
        return (Value(self.kind, i) for i in reversed(self.range))

    def __len__(self):
        return len(self.range)

    def __contains__(self, x):
        return x.number in self.range


def enumerate_values(items, start=0):
    return ((lift(i), item) for i, item in enumerate(items, lift(start).__index__()))


def extreme_of(name):
    def choose(*numbers):
        numbers = numbers[0] if len(numbers) == 1 else numbers
        best = numbers[0]
        for number in numbers[1:]:
            best = tv.extreme(name, best, number)
        return lift(best)
    return choose


def total(items, start=0):
    result = lift(start)
    for item in items:
        result = result + item
    return result


def math1(name, rule):
    def function(x):
        kind = tv.UNARY[rule][lift(x).kind]
        return Value(kind, tv.libm1(name, kind, convert(x, kind).number))
    return function


def math2(name, rule):
    def function(x, y):
        kind = tv.BINARY[rule][lift(x).kind, lift(y).kind]
        if name == "copysign" and np.isnan(convert(y, kind).number):
            raise Unspecified    # the sign of a NaN
        return Value(kind, tv.libm2(name, kind, convert(x, kind).number, convert(y, kind).number))
    return function


def math_test(function):
    return lambda x: Value("bool", bool(function(convert(x, "float64").number)))


MATH1 = {name: "MATH" for name in ("sin", "cos", "exp", "sqrt", "floor", "ceil", "trunc", "fabs")} | \
        {name: "MATH_WIDE" for name in ("tan", "atan", "sinh", "expm1")}
MATH2 = {"atan2": "ATAN2", "hypot": "ATAN2", "copysign": "COPYSIGN", "fmod": "COPYSIGN", "remainder": "COPYSIGN"}
MATH = types.SimpleNamespace(
    **{name: math1(name, rule) for name, rule in MATH1.items()},
    **{name: math2(name, rule) for name, rule in MATH2.items()},
    isnan=math_test(np.isnan), isinf=math_test(np.isinf), isfinite=math_test(np.isfinite))


class Atomic:
    """Threads of the reference run one after the other: nothing is special."""

    def __init__(self, *names):
        operations = {"add": "+", "sub": "-", "and_": "&", "or_": "|", "xor": "^"}
        for name in names:
            if name in operations:
                function = functools.partial(tv.binary, operations[name])
            else:
                function = functools.partial(tv.extreme, name)
            setattr(self, name, functools.partial(self.update, function))

    @staticmethod
    def update(function, array, index, value):
        old = array[index]
        array[index] = function(old, convert(value, array.kind))
        return old


class Block:
    """The shared arrays of a block: every thread that asks for the k-th gets the same."""

    def __init__(self):
        self.arrays = []


def cuda_names(thread, block_size, block):
    """The namespace cuda for one thread."""
    asked = iter(range(1 << 30))

    def shared(shape, dtype):
        k = next(asked)
        if k == len(block.arrays):
            block.arrays.append(new_array(shape, dtype))
        return block.arrays[k]

    def int32(x):
        return Value("int32", x)

    x = types.SimpleNamespace
    return x(grid=lambda n: Value("int64", thread), threadIdx=x(x=int32(thread % block_size)),
             blockIdx=x(x=int32(thread // block_size)), blockDim=x(x=int32(block_size)), shared=x(array=shared),
             local=x(array=new_array), atomic=Atomic("add", "sub", "and_", "or_", "xor", "min", "max"))


def new_array(shape, dtype):
    shape = tuple(s.__index__() for s in shape) if isinstance(shape, tuple) else shape.__index__()
    return Array(np.zeros(shape, dtype.__name__), np.zeros(shape, bool))


def cast(kind):
    def function(*arguments):
        if len(arguments) == 2:
            return Value(kind, tuple(convert(x, tv.PARTS[kind]).number for x in arguments))
        return convert(arguments[0], kind)
    function.__name__ = kind
    return function


def names():
    casts = {kind: cast(kind) for kind in tv.SCALARS if kind not in ("bool", "float16")}
    return casts | {
        "_lift": lift, "_join": join, "_not": lambda x: Value("bool", not x), "math": MATH, "range": Range,
        "enumerate": enumerate_values, "len": lambda x: lift(len(x)), "min": extreme_of("min"),
        "max": extreme_of("max"),
        "abs": lambda x: abs(lift(x)), "round": tv.round_value, "divmod": tv.divmod_value,
        "pow": lambda a, b: tv.power(lift(a), lift(b)), "bool": cast("bool"), "sum": total,
        "any": lambda items: Value("bool", any(items)), "all": lambda items: Value("bool", all(items)),
        "int": tv.number_function("INT", "int64"), "float": tv.number_function("FLOAT", "float64"),
        "complex": tv.number_function("COMPLEX", "complex128"),
    }


# --- running ---------------------------------------------------------------------------------------------------------

def make_threads(program, arguments, threads, block_size):
    """The kernel as a function of no arguments for each thread, with names of its own."""
    code = compile(reference_text(program), "<reference>", "exec")
    blocks = [Block() for _ in range(-(-threads // block_size))]
    made = []
    for thread in range(threads):
        namespace = names() | {"cuda": cuda_names(thread, block_size, blocks[thread // block_size])}
        exec(code, namespace)
        made.append((namespace["kernel"], arguments))
    return made


def run_thread(kernel, arguments):
    """One thread from start to end; whether its result is specified."""
    Value.steps_left = STEPS
    try:
        kernel(*arguments)
    except Unspecified:
        return False
    return True


def run(program, arguments, threads, block_size, has_barriers):
    """Runs all threads on the arrays among the arguments. A list: is the result of this thread specified?"""
    prepared = [Array(a) if isinstance(a, np.ndarray) else lift_argument(a) for a in arguments]
    made = make_threads(program, prepared, threads, block_size)
    if not has_barriers:
        return [run_thread(kernel, given) for kernel, given in made]
    for first in range(0, threads, block_size):
        try:
            Value.steps_left = STEPS * block_size
            run_block([kernel(*given) for kernel, given in made[first:first + block_size]])
        except Unspecified:
            return [False] * threads
    return [True] * threads


def run_block(running):
    """Threads as generators that stop at every barrier."""
    while running:
        stopped = [next(thread, "done") != "done" for thread in running]
        if any(stopped) and not all(stopped):
            raise AssertionError("the program's barriers differ between threads")
        if not any(stopped):
            return


def lift_argument(argument):
    if isinstance(argument, tuple):
        return tuple(lift_argument(a) for a in argument)
    if isinstance(argument, np.generic):
        return Array(np.array([argument]))[0]
    return lift(argument)
