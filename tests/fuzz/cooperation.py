"""Random kernels whose threads wait for each other and share memory, and a model of these threads in Python.

A program is made from a seed as two texts: a kernel, and a generator function of one thread, which yields where the
kernel has a barrier, a shuffle or a vote. The model runs all threads of a block to their next yield, checks that they
are at the same one, and sends each what it gets there. Integers wrap by calls that the second text alone has.

Programs have no races: between two barriers, an array in shared memory is read at any index, or each thread reads and
writes its own item. Conditions and trip counts around a collective are the same for all threads of the block.
"""
import random

import numpy as np

from cujit import cuda, int32, int64, uint32

LOCALS, INPUTS, TOTALS = 4, 16, 8
ATOMICS = {"add": lambda a, b: wrap(a + b), "sub": lambda a, b: wrap(a - b), "min": min, "max": max,
           "and_": lambda a, b: a & b, "or_": lambda a, b: a | b, "xor": lambda a, b: a ^ b}
FULL = 0xffffffff


def wrap(value):
    """As int64."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def word(value):
    """As uint32."""
    return value & FULL


def low(value):
    """As int32."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def shift(value, by):
    return wrap(value << by)


class Cooperation:
    """One program: its texts and the shape of its launch."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.threads = self.random.choice([32, 48, 64, 96])
        self.blocks = self.random.choice([1, 1, 2])
        self.has_warps = self.threads % 32 == 0
        self.shared = [f"s{i}" for i in range(self.random.randrange(1, 4))]
        self.modes = dict.fromkeys(self.shared, "own")
        self.kernel, self.model, self.level = [], [], 1
        self.loops = 0
        self.budget = self.random.randrange(6, 22)
        self.make()

    # --- text ---

    def line(self, kernel, model=None):
        indent = "    " * self.level
        self.kernel.append(indent + kernel)
        self.model.append(indent + (kernel if model is None else model))

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *items):
        return self.random.choice(items)

    # --- expressions: (kernel's text, model's text) ---

    def leaf(self, uniform):
        names = ["n", "u", str(self.random.randrange(-6, 40)), *(f"i{k}" for k in range(self.loops))]
        if not uniform:
            names += ["a", "b", "t", "g", "t", "a", "b"]
        name = self.random.choice(names)
        return name, name

    def expression(self, depth, uniform=False):
        if depth == 0 or self.chance(0.15):
            return self.leaf(uniform)
        makers = [self.arithmetic] * 5 + [self.division] * 3 + [self.wide_word] * 2 + [self.choice]
        if not uniform:
            makers += [self.item] * 3
        return self.random.choice(makers)(depth - 1, uniform)

    def arithmetic(self, depth, uniform):
        (x, mx), (y, my) = self.expression(depth, uniform), self.expression(depth, uniform)
        operator = self.pick("+", "-", "*", "&", "|", "^", "-", "+", "<<")
        if operator == "<<":
            by = self.random.randrange(1, 12)
            return f"({x} << {by})", f"shift({mx}, {by})"
        return f"({x} {operator} {y})", f"wrap({mx} {operator} {my})"

    def division(self, depth, uniform):
        x, mx = self.expression(depth, uniform)
        by = self.pick(2, 3, 5, 7, 10, 16, 41, 100, 641)
        operator = self.pick("//", "%")
        text, model = f"({x} {operator} {by})", f"({mx} {operator} {by})"
        if self.chance(0.4):        # what becomes a high word of a product, and a difference
            return f"({text} - {x})", f"wrap({model} - {mx})"
        return text, model

    def wide_word(self, depth, uniform):
        """Differences of words in 64 bits."""
        x, mx = self.expression(depth, uniform)
        y, my = self.expression(depth, uniform)
        by = self.pick(3, 5, 641, 6700417)
        kind, make = self.pick(("uint32", "word"), ("int32", "low"))
        return (f"(int64({kind}({x}) // {kind}({by})) - int64({kind}({y})))",
                f"({make}({mx}) // {by} - {make}({my}))")

    def choice(self, depth, uniform):
        test, mtest = self.condition(depth, uniform)
        (x, mx), (y, my) = self.expression(depth, uniform), self.expression(depth, uniform)
        return f"({x} if {test} else {y})", f"({mx} if {mtest} else {my})"

    def item(self, depth, uniform):
        place, mplace = self.expression(depth, False)
        readable = [s for s in self.shared if self.modes[s] == "all"]
        own = [s for s in self.shared if self.modes[s] == "own"]
        roll = self.random.random()
        if readable and roll < 0.5:
            array = self.random.choice(readable)
            return f"{array}[({place}) % {self.threads}]", f"{array}[({mplace}) % {self.threads}]"
        if own and roll < 0.7:
            array = self.random.choice(own)
            return f"{array}[t]", f"{array}[t]"
        array, size = self.pick(("x", INPUTS), ("loc", LOCALS))
        return f"{array}[({place}) % {size}]", f"{array}[({mplace}) % {size}]"

    def condition(self, depth, uniform):
        (x, mx), (y, my) = self.expression(depth, uniform), self.expression(depth, uniform)
        operator = self.pick("<", "<=", "==", ">", ">=", "!=")
        return f"({x} {operator} {y})", f"({mx} {operator} {my})"

    # --- statements ---

    def statement(self, depth, uniform):
        """uniform: all threads of the block run it as often."""
        self.budget -= 1
        makers = [self.assign] * 5 + [self.store] * 5 + [self.accumulate] * 2
        if depth:
            makers += [self.branch] * 2 + [self.divergent_loop]
        if uniform:
            makers += [self.barrier] * 4 + [self.vote] * 2
            if self.has_warps:
                makers += [self.shuffle] * 3 + [self.warp_vote]
            if depth:
                makers += [self.shared_loop] * 3 + [self.shared_branch]
        self.random.choice(makers)(depth, uniform)

    def block(self, depth, uniform, size):
        self.level += 1
        start = len(self.kernel)
        for _ in range(size):
            if self.budget > 0:
                self.statement(depth, uniform)
        if len(self.kernel) == start:
            self.line("pass")
        self.level -= 1

    def assign(self, depth, uniform):
        text, model = self.expression(3)
        name, operator = self.pick("a", "b"), self.pick("", "+", "-", "^")
        if operator:
            self.line(f"{name} {operator}= {text}", f"{name} = wrap({name} {operator} {model})")
        else:
            self.line(f"{name} = {text}", f"{name} = {model}")

    def store(self, depth, uniform):
        text, model = self.expression(3)
        own = [s for s in self.shared if self.modes[s] == "own"]
        if own and self.chance(0.5):
            array = self.random.choice(own)
            self.line(f"{array}[t] = {text}", f"{array}[t] = {model}")
        elif self.chance(0.5):
            place, mplace = self.expression(1)
            self.line(f"loc[({place}) % {LOCALS}] = {text}", f"loc[({mplace}) % {LOCALS}] = {model}")
        else:
            self.line(f"out2[g] += {text}", f"out2[g] = wrap(out2[g] + {model})")

    def accumulate(self, depth, uniform):
        """Atomics whose results do not depend on the order of threads: each place has one kind."""
        place = self.random.randrange(len(ATOMICS))
        name = list(ATOMICS)[place]
        text, model = self.expression(2)
        self.line(f"cuda.atomic.{name}(tot, {place}, {text})",
                  f"tot[{place}] = ATOMICS['{name}'](tot[{place}], {model})")

    def branch(self, depth, uniform):
        test, model = self.condition(1, False)
        self.line(f"if {test}:", f"if {model}:")
        self.block(depth - 1, False, self.random.randrange(1, 4))
        if self.chance(0.4):
            self.line("else:")
            self.block(depth - 1, False, self.random.randrange(1, 4))

    def divergent_loop(self, depth, uniform):
        count, model = self.expression(1)
        self.enter_loop(f"range(({count}) % 5)", f"range(({model}) % 5)")
        self.block(depth - 1, False, self.random.randrange(1, 4))
        if self.chance(0.3):
            test, mtest = self.condition(1, False)
            self.level += 1
            self.line(f"if {test}: break", f"if {mtest}: break")
            self.level -= 1
        self.loops -= 1

    def enter_loop(self, kernel, model):
        self.line(f"for i{self.loops} in {kernel}:", f"for i{self.loops} in {model}:")
        self.loops += 1

    def barrier(self, depth, uniform):
        self.line("cuda.syncthreads()", "yield 'barrier', None")
        self.modes = {s: self.pick("own", "all") for s in self.shared}

    def vote(self, depth, uniform):
        (test, model), name = self.condition(1, False), self.pick("a", "b")
        kind = self.pick("count", "and", "or")
        self.line(f"{name} += cuda.syncthreads_{kind}({test})",
                  f"{name} = wrap({name} + (yield 'vote_{kind}', {model}))")
        self.modes = {s: self.pick("own", "all") for s in self.shared}

    def shuffle(self, depth, uniform):
        (text, model), name = self.expression(2), self.pick("a", "b")
        kind = self.pick("", "_up", "_down", "_xor")
        by, mby = (f"({self.leaf(False)[0]}) & 31",) * 2 if not kind else (str(self.random.randrange(1, 32)),) * 2
        self.line(f"{name} ^= cuda.shfl{kind}_sync({FULL}, {text}, {by})",
                  f"{name} ^= (yield 'shuffle{kind}', ({model}, {mby}))")

    def warp_vote(self, depth, uniform):
        (test, model), name = self.condition(1, False), self.pick("a", "b")
        kind = self.pick("ballot", "any", "all")
        self.line(f"{name} += cuda.{'ballot' if kind == 'ballot' else kind}_sync({FULL}, {test})",
                  f"{name} = wrap({name} + (yield 'warp_{kind}', {model}))")

    def shared_loop(self, depth, uniform):
        """As many rounds for all threads; a barrier where one begins, since it may use the arrays in another way."""
        count, model = self.pick(("n + 1", "n + 1"), ("3", "3"), ("n", "n"), (f"({self.leaf(True)[0]}) % 4",) * 2)
        self.enter_loop(f"range({count})", f"range({model})")
        self.level += 1
        self.barrier(depth, uniform)
        self.level -= 1
        self.block(depth - 1, True, self.random.randrange(1, 5))
        if self.chance(0.3):
            test, mtest = self.condition(1, True)
            leave = self.pick("break", "continue")
            self.level += 1
            self.line(f"if {test}: {leave}", f"if {mtest}: {leave}")
            self.barrier(depth, uniform)
            self.level -= 1
            self.block(depth - 1, True, 1)
        self.loops -= 1
        self.barrier(depth, uniform)

    def shared_branch(self, depth, uniform):
        test, model = self.condition(1, True)
        self.line(f"if {test}:", f"if {model}:")
        self.block(depth - 1, True, self.random.randrange(1, 4))
        self.barrier(depth, uniform)

    # --- the whole ---

    def make(self):
        for i, array in enumerate(self.shared):
            self.line(f"{array} = cuda.shared.array({self.threads}, int64)", f"{array} = shared[{i}]")
            self.line(f"{array}[t] = t * {i + 3} + u")
        for i in range(LOCALS):
            self.line(f"loc[{i}] = g * {i + 1}")
        self.line(f"a = x[g % {INPUTS}]")
        self.line("b = t")
        while self.budget > 0:
            self.statement(3, True)
        self.line("out[g] = a * 31 + b + loc[0] + 7 * loc[3]", "out[g] = wrap(a * 31 + b + loc[0] + 7 * loc[3])")
        head = ["    t = cuda.threadIdx.x", "    g = cuda.grid(1)", "    u = cuda.blockIdx.x + 1",
                f"    loc = cuda.local.array({LOCALS}, int64)"]
        self.text = "\n".join(["def kernel(x, out, out2, tot, n):", *head, *self.kernel]) + "\n"
        self.model_text = "\n".join(["def thread(t, g, u, shared, x, out, out2, tot, n):", f"    loc = [0] * {LOCALS}",
                                     *self.model, "    if False: yield"]) + "\n"


# --- the model --------------------------------------------------------------------------------------------------------

def exchange(kind, asked):
    """What each thread of a block gets for what it asked."""
    if kind == "barrier":
        return [None] * len(asked)
    if kind.startswith("vote_"):
        got = {"count": sum, "and": lambda votes: int(all(votes)), "or": lambda votes: int(any(votes))}[kind[5:]](asked)
        return [got] * len(asked)
    return [got for first in range(0, len(asked), 32) for got in exchange_in_warp(kind, asked[first:first + 32])]


def exchange_in_warp(kind, asked):
    if kind == "warp_ballot":
        return [low(sum(1 << lane for lane, vote in enumerate(asked) if vote))] * len(asked)
    if kind == "warp_any":
        return [int(any(asked))] * len(asked)
    if kind == "warp_all":
        return [int(all(asked))] * len(asked)
    lanes = {"shuffle": lambda lane, by: by, "shuffle_up": lambda lane, by: lane - by,
             "shuffle_down": lambda lane, by: lane + by, "shuffle_xor": lambda lane, by: lane ^ by}[kind]
    sources = [lanes(lane, by) for lane, (_, by) in enumerate(asked)]
    return [asked[source if 0 <= source < 32 else lane][0] for lane, source in enumerate(sources)]


def run_block(threads):
    """Runs generators, one for each thread, from one collective to the next."""
    answers = [None] * len(threads)
    while True:
        requests = []
        for thread, answer in zip(threads, answers, strict=True):
            try:
                requests.append(thread.send(answer))
            except StopIteration:
                requests.append(None)
        if all(request is None for request in requests):
            return
        kinds = {request and request[0] for request in requests}
        assert len(kinds) == 1, f"threads of a block are at {kinds}"
        answers = exchange(kinds.pop(), [request[1] for request in requests])


def arguments(program):
    numbers = random.Random(program.seed + 1)
    x = np.array([numbers.choice([numbers.randrange(-99, 100), 0, numbers.getrandbits(33)]) for _ in range(INPUTS)])
    size = program.threads * program.blocks
    return x, np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(TOTALS, np.int64), numbers.randrange(3)


def modelled(program):
    namespace = {"wrap": wrap, "word": word, "low": low, "shift": shift, "ATOMICS": ATOMICS}
    exec(compile(program.model_text, "<model>", "exec"), namespace)
    x, out, out2, tot, n = arguments(program)
    x, out, out2, tot = x.tolist(), out.tolist(), out2.tolist(), tot.tolist()
    for block in range(program.blocks):
        shared = [[0] * program.threads for _ in program.shared]
        run_block([namespace["thread"](t, block * program.threads + t, block + 1, shared, x, out, out2, tot, n)
                   for t in range(program.threads)])
    return out, out2, tot


def check(program):
    """None, or what is wrong."""
    namespace = {"cuda": cuda, "int64": int64, "int32": int32, "uint32": uint32}
    exec(compile(program.text, "<cooperation>", "exec"), namespace)
    x, *outputs, n = arguments(program)
    cuda.jit(namespace["kernel"])[program.blocks, program.threads](x, *outputs, n)
    for name, ours, theirs in zip(["out", "out2", "tot"], outputs, modelled(program), strict=True):
        wrong = [i for i, (a, b) in enumerate(zip(ours.tolist(), theirs, strict=True)) if a != b]
        if wrong:
            return f"{name}[{wrong[0]}]: kernel {ours[wrong[0]]}, model {theirs[wrong[0]]}"
    return None
