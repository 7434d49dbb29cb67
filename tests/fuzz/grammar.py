"""Random programs: helper functions and a kernel, as text with markers (see reference.py), made from a seed alone."""
import random
from dataclasses import dataclass, field

from expressions import INPUT_KINDS, Expressions, unify
from typed_values import FLOATS, INTEGERS, PARTS

OUTPUTS = 24      # results of each group that a thread can write
GROUPS = {"int64": "out_int", "uint64": "out_uint", "float64": "out_float", "complex128": "out_complex"}


@dataclass
class Helper:
    name: str
    parameters: list      # (name, kind, has a default)
    result: object


@dataclass
class Program:
    text: str
    kinds: list           # of the inputs
    scalars: list         # kinds of scalar arguments
    has_barriers: bool
    threads: int
    block_size: int
    seed: int = 0
    notes: dict = field(default_factory=dict)


def group_of(kind):
    """The type of the output array that takes a value of this type without a loss."""
    if kind in PARTS:
        return "complex128"
    if kind in FLOATS:
        return "float64"
    return "uint64" if kind == "uint64" else "int64"


class Body(Expressions):
    """Statements of one function."""

    def __init__(self, rng, helpers=(), used=None):
        self.random = rng
        self.helpers = list(helpers)
        self.used = set() if used is None else used
        self.variables, self.arrays = {}, {}
        self.fixed = set()          # variables that keep their type here: paths join later
        self.lines, self.level = [], 1
        self.count = 0
        self.loops = []             # "for" or "while" with the lines that must run before `continue`
        self.result = None          # of a helper
        self.in_helper = False
        self.budget = 0
        self.outputs = dict.fromkeys(GROUPS, 0)

    # --- text ---

    def line(self, text):
        self.lines.append("    " * self.level + text)

    def new_name(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def read_input(self, kind=None):
        if not self.in_helper:
            return super().read_input(kind)
        names = [(n, k) for n, k in self.variables.items() if k == kind or (kind is None and not isinstance(k, tuple))]
        if names:
            return self.random.choice(names)
        choices = [(n, self.variables[n]) for n in self.parameters if not isinstance(self.variables.get(n, ()), tuple)]
        return self.coerce(self.random.choice(choices or [("1", "int64")]), kind or "int64"), kind or "int64"

    def open_input(self, kind=None):
        if not self.in_helper:
            return super().open_input(kind)
        name, own = next(iter(self.parameters.items()))     # never assigned to: see make_helper
        return self.coerce((name, own), kind or own), kind or own

    # --- blocks ---

    def block(self, depth, size):
        """Statements one level deeper, what they make out of sight afterwards: types at the end, is it reached."""
        outside = dict(self.variables)
        arrays = dict(self.arrays)
        self.level += 1
        start = len(self.lines)
        ended = False
        for _ in range(size):
            if self.budget <= 0:
                break
            ended = self.statement(depth)
            if ended:
                break
        made = [name for name in self.variables if name not in outside and not isinstance(self.variables[name], tuple)]
        if made and not ended and not self.in_helper and self.chance(0.5):
            name = self.random.choice(made)
            self.emit_output(name, self.variables[name])
        if len(self.lines) == start:
            self.line("pass")
        self.level -= 1
        changed = {name: self.variables.get(name) for name in outside}
        self.variables, self.arrays = outside, arrays
        return changed, not ended

    def statement(self, depth):
        """One statement; True where nothing after it runs."""
        self.budget -= 1
        simple = [(self.assign, 8), (self.update, 4), (self.make_tuple, 2), (self.unpack, 2), (self.swap, 1),
                  (self.store_item, 3), (self.make_array, 1), (self.bind_and_use, 1), (self.store_output, 4),
                  (self.accumulate, 1), (self.nested_function, 1), (self.slice_store, 1), (self.in_place, 1)]
        deep = [(self.branch, 4), (self.for_range, 3), (self.for_items, 2), (self.while_loop, 2), (self.match, 1)]
        leave = [(self.leave_loop, 3)] if self.loops and self.level > 1 else []
        stop = [(self.early_return, 1)] if self.level > 1 and self.may_return else []
        table = simple + (deep if depth > 0 else []) + leave + stop
        maker = self.random.choices([m for m, _ in table], [w for _, w in table])[0]
        return bool(maker(depth))

    may_return = True

    # --- simple statements ---

    def bind(self, name, kind):
        self.variables[name] = kind

    def name_to_assign(self):
        names = [n for n in self.variables if n not in self.constant_names]
        return self.random.choice(names) if names and self.chance(0.6) else self.new_name()

    constant_names = ()

    def assign(self, depth):
        name = self.name_to_assign()
        wanted = self.variables.get(name) if name in self.fixed else None
        if wanted is not None:
            self.line(f"{name} = {self.value_of(wanted, 3)}")
        else:
            text, kind = self.expression(3)
            if self.chance(0.05):
                other = self.new_name()
                self.line(f"{name} = {other} = {text}")
                self.bind(other, kind)
            else:
                self.line(f"{name} = {text}")
            self.bind(name, kind)

    def update(self, depth):
        names = [n for n, k in self.variables.items() if not isinstance(k, tuple) and n not in self.constant_names]
        if not names:
            return
        name = self.random.choice(names)
        kind = self.variables[name]
        maker = self.pick(self.arithmetic, self.division, self.bits, self.shift, self.arithmetic)
        saved = self.expression
        self.expression = lambda d, first=[1]: (name, kind) if first and first.pop() else saved(d)
        text, result = maker(2)
        del self.expression
        operand = text[1:-1]
        for operator in ("//", "<<", ">>", "+", "-", "*", "/", "%", "&", "|", "^"):
            if operand.startswith(f"{name} {operator} "):
                if name in self.fixed and result != kind:
                    rhs = self.coerce((text, result), kind)
                    self.line(f"{name} = {rhs}")
                else:
                    self.line(f"{name} {operator}= {operand[len(name) + len(operator) + 2:]}")
                    self.bind(name, result)
                return

    def make_tuple(self, depth):
        name = self.new_name("p")
        kinds, items = [], []
        for _ in range(self.random.randrange(1, 5)):
            tuples = [n for n, k in self.variables.items() if isinstance(k, tuple)]
            if tuples and self.chance(0.15):
                item = self.random.choice(tuples)
                items.append(item)
                kinds.append(self.variables[item])
            else:
                text, kind = self.expression(2)
                if kinds and self.chance(0.4) and not isinstance(kinds[0], tuple):
                    text, kind = self.coerce((text, kind), kinds[0]), kinds[0]
                items.append(text)
                kinds.append(kind)
        text = f"({', '.join(items)},)"
        kind = tuple(kinds)
        if self.chance(0.15):
            start, stop, step = self.pick("", 0, 1, -2), self.pick("", 2, -1), self.pick("", 1, -1, 2)
            parts = (None if part == "" else part for part in (start, stop, step))
            text, kind = f"{text}[{start}:{stop}:{step}]", kind[slice(*parts)]
        if self.chance(0.15):
            number, more = self.expression(1)
            text, kind = f"({text} + ({number},))", (*kind, more)
        if self.chance(0.1):
            text, kind = f"{text} * 2", kind * 2
        self.line(f"{name} = {text}")
        self.bind(name, kind)

    def unpack(self, depth):
        tuples = [n for n, k in self.variables.items() if isinstance(k, tuple) and k]
        if not tuples:
            return
        source = self.random.choice(tuples)
        names = []
        for kind in self.variables[source]:
            old = [n for n, k in self.variables.items() if (n not in self.fixed or k == kind) and n != source and
                   n not in names and n not in self.constant_names]
            name = self.random.choice(old) if old and self.chance(0.5) else self.new_name()
            names.append(name)
        kinds = self.variables[source]
        self.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {source}")
        for name, kind in zip(names, kinds, strict=True):
            self.bind(name, kind)

    def swap(self, depth):
        names = [n for n in self.variables if n not in self.constant_names]
        if len(names) < 2:
            return
        a, b = self.random.sample(names, 2)
        x, y = self.variables[a], self.variables[b]
        if x != y and (a in self.fixed or b in self.fixed):
            return
        self.line(f"{a}, {b} = {b}, {a}")
        self.bind(a, y)
        self.bind(b, x)

    def bind_and_use(self, depth):
        walrus, name = self.new_name("w"), self.new_name()
        first, kind = self.expression(2)
        self.bind(walrus, kind)
        second, other = self.expression(2)
        if kind in PARTS or other in PARTS:
            self.line(f"{name} = ({walrus} := {first}) == {second}")
            self.bind(name, "bool")
        else:
            self.line(f"{name} = {self.pick('min', 'max')}(float({walrus} := {first}), float64({second}))"
                      if kind == "float64" else f"{name} = ({walrus} := {first}) < {second}")
            self.bind(name, "float64" if kind == "float64" else "bool")

    # --- arrays ---

    def store_item(self, depth):
        if not self.arrays:
            return self.make_array(depth)
        name = self.random.choice(list(self.arrays))
        kind, size = self.arrays[name]
        place = self.index_below(size)
        if self.chance(0.3) and kind not in PARTS:
            text, other = self.real(2)
            self.line(f"{name}[{place}] {self.pick('+', '-', '*')}= {text}")
        else:
            text, other = self.expression(2) if kind in PARTS else self.real(2)
            self.line(f"{name}[{place}] = {text}")

    def make_array(self, depth):
        if self.in_helper:
            return
        name, kind, size = self.new_name("a"), self.scalar_kind(), self.pick(2, 3, 4)
        if kind == "bool":
            kind = "int64"
        self.line(f"{name} = cuda.local.array({size}, {kind})")
        if self.chance(0.5):
            self.line(f"for i{name} in range({size}):")
            self.line(f"    {name}[i{name}] = {self.coerce(self.leaf(), kind)}")
        else:
            self.line(f"{name}[{self.pick(':', '::1', f':{size}')}] = {self.coerce(self.leaf(), kind)}")
        self.arrays[name] = (kind, size)

    def slice_store(self, depth):
        if not self.arrays:
            return
        name = self.random.choice(list(self.arrays))
        kind, size = self.arrays[name]
        low, high = self.pick("", "1", "-2", "0"), self.pick("", "-1", "2", str(size), "9")
        step = self.pick("", "", "1", "2", "-1")
        self.line(f"{name}[{low}:{high}:{step}] = {self.coerce(self.expression(2), kind)}")

    def in_place(self, depth):
        """A view of an array, written and read."""
        if not self.arrays:
            return
        name = self.random.choice(list(self.arrays))
        kind, size = self.arrays[name]
        view = self.new_name("s")
        cut = self.pick("1:", "::-1", ":-1", ":", f"-{size}:")
        length = len(range(size)[slice(*(int(p) if p else None for p in cut.split(":")))])
        if length:
            self.line(f"{view} = {name}[{cut}]")
            self.arrays[view] = (kind, length)

    def store_output(self, depth):
        """A result of the kernel; in loops the last one stays."""
        if self.in_helper:
            return
        text, kind = self.expression(3)
        self.emit_output(text, kind)

    def emit_output(self, text, kind):
        group = group_of(kind)
        if self.outputs[group] < OUTPUTS - 1:
            self.line(f"{GROUPS[group]}[t, {self.outputs[group]}] = {text}")
            self.outputs[group] += 1

    def accumulate(self, depth):
        """Atomics whose results do not depend on the order of threads."""
        if self.in_helper:
            return
        place, name = self.random.choice(list(enumerate(["add", "sub", "min", "max", "and_", "or_", "xor"])))
        place = 0 if name == "sub" else place
        self.line(f"cuda.atomic.{name}(total, {place}, {self.coerce(self.expression(2), 'int64')})")

    def nested_function(self, depth):
        if self.in_helper or len(self.helpers) > 4:
            return
        name, parameter = self.new_name("f"), self.new_name("q")
        kind = self.scalar_kind()
        captured = {n: k for n, k in self.variables.items() if n in self.constant_names}
        inner = Body(self.random, used=self.used)
        inner.in_helper, inner.count, inner.parameters = True, self.count + 100, {parameter: kind}
        inner.variables = captured | {parameter: kind}
        text, result = inner.unjoined(lambda: inner.expression(3))
        self.count = inner.count
        if self.chance(0.5):
            self.line(f"{name} = lambda {parameter}: {text}")
        else:
            self.line(f"def {name}({parameter}):")
            self.line(f"    return {text}")
        self.functions_here.append(Helper(name, [(parameter, kind, False)], result))
        if self.level == 1:
            self.helpers.append(self.functions_here[-1])

    # --- paths ---

    def branch(self, depth):
        retypes = self.chance(0.5)
        before, fixed = dict(self.variables), set(self.fixed)
        if not retypes:
            self.fixed = set(self.variables)
        ends = []
        conditions = 1 + (self.chance(0.3) and 1) + (self.chance(0.1) and 1)
        for i in range(conditions):
            condition = self.open_condition() if retypes else self.condition(2)
            self.line(f"{'elif' if i else 'if'} {condition}:")
            ends.append(self.block(depth - 1, self.random.randrange(1, 4)))
        if self.chance(0.6):
            self.line("else:")
            ends.append(self.block(depth - 1, self.random.randrange(1, 4)))
        else:
            ends.append((before, True))
        self.fixed = fixed
        return self.join_paths([kinds for kinds, reached in ends if reached])

    def join_paths(self, ends):
        if not ends:
            return True
        for name in list(self.variables):
            kinds = [end[name] for end in ends]
            kind = None if None in kinds else unify(*kinds) if len(set(kinds)) > 1 else kinds[0]
            if kind is None:
                del self.variables[name]      # has no type here: out of sight
                continue
            if len(set(kinds)) > 1:
                self.line(f"{name} = _join({kind!r}, {name})")
            self.variables[name] = kind
        return False

    def match(self, depth):
        text, kind = self.expression(2)
        if kind not in INTEGERS:
            text = f"int64({self.coerce((text, kind), 'int64')})"
        fixed, self.fixed = self.fixed, set(self.variables)
        self.line(f"match {text if self.chance(0.5) else f'({text}) % 5'}:")
        ended = []
        self.level += 1
        cases = self.random.sample(["0", "1", "2", "3 | 4", "-1", "255", "7 | 8 | 9"], self.random.randrange(1, 4))
        cases = [f"{c} if {self.condition(1)}" if self.chance(0.2) else c for c in cases] + ["_"]
        for case in cases:
            self.line(f"case {case}:")
            ended.append(self.block(depth - 1, 2)[1])
        self.level -= 1
        self.fixed = fixed
        return not any(ended)

    def loop(self, head, depth, inside, before_continue=None):
        """A loop: what is outside keeps its type. inside: variables of the body {name: kind}."""
        fixed, self.fixed = self.fixed, set(self.variables)
        functions = list(self.helpers)
        self.line(head)
        outside = dict(self.variables)
        self.variables |= inside
        self.fixed |= set(inside) - set(outside)
        self.loops.append(before_continue)
        saved, self.constant_names = self.constant_names, (*self.constant_names, *inside)
        if before_continue:
            self.level += 1
            self.line(before_continue)
            self.level -= 1
        self.block(depth - 1, self.random.randrange(1, 4))
        self.constant_names = saved
        self.loops.pop()
        self.variables = outside
        if self.chance(0.15):
            self.line("else:")
            may_return, self.may_return = self.may_return, False  # nothing behind a loop without break would be reached
            self.block(0, 2)
            self.may_return = may_return
        self.fixed, self.helpers = fixed, functions

    def for_range(self, depth):
        name = self.new_name("i")
        roll = self.random.random()
        if roll < 0.4:
            bounds = str(self.random.randrange(0, 5))
        elif roll < 0.7:
            bounds = f"({self.integer(1)[0]}) % {self.random.randrange(1, 5)}"
            bounds = f"int64({bounds})"
        elif roll < 0.85:
            bounds = self.pick("1, 4", "5, 0, -2", "3, -1, -1", "-3, 3, 2", "0, 10, 4", "2, 2")
        else:
            low = f"int64(({self.integer(1)[0]}) % 4)"
            bounds = f"{low}, {self.pick(3, 5)}, {self.pick(1, 2)}" if self.chance(0.5) else f"{low}, -2, -1"
        text = f"range({bounds})"
        if self.chance(0.15):
            text = f"reversed({text})"
        self.loop(f"for {name} in {text}:", depth, {name: "int64"})

    def items(self):
        """Something to iterate over and the type of its items."""
        roll = self.random.random()
        if roll < 0.4 and not self.in_helper:
            kind = self.scalar_kind()
            self.used.add(kind)
            return self.pick(f"row_{kind}", f"row_{kind}[1:]", f"row_{kind}[::-1]", f"in_{kind}[t]"), kind
        if roll < 0.6 and self.arrays:
            name = self.random.choice(list(self.arrays))
            return name, self.arrays[name][0]
        kind = self.scalar_kind()
        count = self.random.randrange(1, 4)
        return "(" + "".join(self.value_of(kind, 1) + ", " for _ in range(count)) + ")", kind

    def for_items(self, depth):
        name, (text, kind) = self.new_name("e"), self.items()
        roll = self.random.random()
        if roll < 0.4:
            self.loop(f"for {name} in {text}:", depth, {name: kind})
        elif roll < 0.55:
            self.loop(f"for {name} in reversed({text}):", depth, {name: kind})
        elif roll < 0.8:
            count = self.new_name("n")
            start = self.pick("", ", 3", ", -1")
            self.loop(f"for {count}, {name} in enumerate({text}{start}):", depth, {count: "int64", name: kind})
        else:
            second, (other, kind_of_other) = self.new_name("e"), self.items()
            self.loop(f"for {name}, {second} in zip({text}, {other}):", depth, {name: kind, second: kind_of_other})

    def while_loop(self, depth):
        name = self.new_name("c")
        self.line(f"{name} = {self.pick('0', '1', 'int64(' + self.integer(1)[0] + ') % 3')}")
        saved, self.constant_names = self.constant_names, (*self.constant_names, name)
        self.variables[name] = "int64"
        self.fixed.add(name)
        condition = f"{name} < {self.random.randrange(1, 6)}"
        if self.chance(0.4):
            condition = f"{condition} and {self.condition(1)}"
        self.loop(f"while {condition}:", depth, {}, before_continue=f"{name} += 1")
        self.constant_names = saved

    def leave_loop(self, depth):
        word = self.pick("break", "continue")
        if self.chance(0.8):
            self.line(f"if {self.condition(2)}:")
            self.line(f"    {word}")
            return False
        self.line(word)
        return True

    def early_return(self, depth):
        if self.in_helper:
            self.return_value()
        else:
            self.line(f"out_int[t, {OUTPUTS - 1}] = t * 5 + 1")
            self.line("return")
        return True

    def return_value(self):
        """CPython copies a short end of a function into each path to it: then types do not join before the end."""
        self.line(f"end1 = end2 = end3 = {next(iter(self.parameters))}")
        text, kind = self.unjoined(lambda: self.expression(3) if self.result is None else
                                   (self.value_of(self.result, 3), self.result))
        if self.result is None and self.chance(0.2):
            other, second = self.unjoined(lambda: self.expression(2))
            text, kind = f"({text}, {other})", (kind, second)
        self.result = kind
        self.line(f"return {text}")

    def unjoined(self, maker):
        made = maker()
        while "_join" in made[0]:
            made = maker()
        return made


def make_helper(rng, number, helpers):
    """A device function with parameters of known types."""
    body = Body(rng, helpers)
    name = f"helper{number}"
    kinds = [body.scalar_kind() for _ in range(rng.randrange(1, 4))]
    parameters = [(f"x{number}_{i}", kind, False) for i, kind in enumerate(kinds)]
    signature = [p[0] for p in parameters]
    if rng.random() < 0.4:
        text, kind = body.literal()
        parameters.append((f"d{number}", kind, True))
        signature.append(f"d{number}={text}")
    body.in_helper = True
    body.functions_here = []
    body.parameters = {p[0]: p[1] for p in parameters}
    body.variables = dict(body.parameters)
    body.constant_names = (parameters[0][0],)
    body.budget = rng.randrange(1, 8)
    recursive = rng.random() < 0.15
    if recursive:
        return make_recursive(rng, body, name, parameters, signature)
    ended = False
    while body.budget > 0 and not ended:
        ended = body.statement(2)
    if not ended:
        body.return_value()
    lines = [f"def {name}({', '.join(signature)}):", *body.lines]
    return Helper(name, parameters, body.result), "\n".join(lines)


def make_recursive(rng, body, name, parameters, signature):
    """Calls itself, a few levels deep, with a type that stays."""
    body.helpers = []
    result = body.scalar_kind()
    base = body.unjoined(lambda: (body.value_of(result, 2),))[0]
    needed = [kind for _, kind, has_default in parameters if not has_default]
    again = ", ".join(["depth - 1", *(body.value_of(kind, 1) for kind in needed)])
    body.variables["inner"] = result
    combined = body.unjoined(lambda: (body.value_of(result, 2),))[0]
    lines = [f"def {name}({', '.join(['depth', *signature])}):", "    if depth <= 0:", f"        return {base}",
             f"    inner = {name}({again})", "    end1 = end2 = end3 = depth", f"    return {combined}"]
    wrapper = Helper(f"{name}_start", parameters, result)
    names = ", ".join(p[0] for p in parameters)
    lines += [f"def {wrapper.name}({', '.join(signature)}):", f"    return {name}({rng.randrange(1, 5)}, {names})"]
    return wrapper, "\n".join(lines)


def exchange(body, threads):
    """Shared memory: every thread writes its place, all wait, and each reads another's."""
    name, kind = body.new_name("shared"), body.pick("int64", "int32", "float64", "uint8")
    place = "cuda.threadIdx.x"
    body.line(f"{name} = cuda.shared.array({threads}, {kind})")
    body.line(f"{name}[{place}] = {body.coerce(body.expression(2), kind)}")
    body.line("cuda.syncthreads()")
    for _ in range(body.pick(0, 0, 1, 2)):      # rounds of reading, waiting, writing, waiting
        read = body.new_name()
        body.line(f"{read} = {name}[({place} + {body.random.randrange(threads)}) % {threads}]")
        body.line("cuda.syncthreads()")
        body.bind(read, kind)
        body.line(f"{name}[{place}] = {body.coerce(body.expression(2), kind)}")
        body.line("cuda.syncthreads()")
    result = body.new_name()
    body.line(f"{result} = {name}[({place} * {body.pick(1, 3)} + {body.random.randrange(threads)}) % {threads}]")
    body.bind(result, kind)


def generate(seed):
    """The program of this seed."""
    rng = random.Random(seed)
    helpers, texts = [], []
    for number in range(rng.choice([0, 0, 1, 2, 3])):
        helper, text = make_helper(rng, number, helpers)
        helpers.append(helper)
        texts.append(text)
    body = Body(rng, helpers)
    body.functions_here = []
    body.budget = rng.randrange(3, 24)
    has_barriers = rng.random() < 0.15
    body.may_return = not has_barriers
    block_size = rng.choice([2, 3, 6])
    scalars = [body.scalar_kind() for _ in range(rng.randrange(3))]
    body.variables = {f"g{i}": kind for i, kind in enumerate(scalars)}
    body.constant_names = tuple(body.variables)
    ended = False
    while body.budget > 0 and not ended:
        if has_barriers and rng.random() < 0.3:
            exchange(body, block_size)
        ended = body.statement(rng.choice([1, 2, 2, 3]))
    if not ended:
        body.line(f"out_int[t, {OUTPUTS - 1}] = t * 3 + 1")
        for name, kind in body.variables.items():
            if isinstance(kind, tuple):
                continue
            body.emit_output(name, kind)
        for name, (kind, _) in body.arrays.items():
            body.emit_output(f"{name}[0]", kind)
    lines = "\n".join(body.lines)
    kinds = [kind for kind in INPUT_KINDS if f"in_{kind}[" in lines or f"row_{kind}" in lines]
    parameters = [f"in_{kind}" for kind in kinds] + [f"g{i}" for i in range(len(scalars))] + [*GROUPS.values(), "total"]
    head = [f"def kernel({', '.join(parameters)}):", "    t = cuda.grid(1)"]
    head += [f"    row_{kind} = in_{kind}[t]" for kind in kinds if f"row_{kind}" in lines]
    text = "\n".join([*texts, *head, *body.lines]) + "\n"
    return Program(text, kinds, scalars, "cuda.syncthreads" in text, 6, block_size, seed)

