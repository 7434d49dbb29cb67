"""Random kernels whose arguments are arrays in one memory: the same array twice, slices that overlap, columns, what
runs backwards, numbers of another width, pairs as complex numbers or records.

A program is a kernel and the views that it gets. Its reference is the same text in CPython (reference.py), with NumPy's
views of one buffer. The kernel is launched several times, with other views in one memory each time: in some launches no
two of them are.

Programs have no races. Each thread has cells of its own, that it reads and writes through every view, and some cells
are only read, by all threads. Where a program has barriers, between two of them all threads of a block write their own
cells, or all read what any of them has.
"""
import functools
import itertools
import math
import random
import types
from dataclasses import dataclass

import numpy as np
import reference
import typed_values as tv
from differential import compile_kernel, number, same

from cujit import cuda
from cujit.cuda.devicearray import view_of

FAMILIES = {        # numbers in the buffer: types of views, and what the program computes with
    "int64": (["int64", "int32", "uint32", "int16", "uint8", "uint64"], "int64"),
    "int32": (["int32", "uint32", "int16", "uint8", "int8"], "int64"),
    "uint8": (["uint8", "int8"], "int64"),
    "float64": (["float64", "complex128"], "float64"),
    "float32": (["float32", "complex64"], "float64"),
}
TOTALS, LOCALS, STEPS = 8, 3, 10_000_000


@dataclass
class View:
    """Some cells of the buffer as an argument. c is a cell's number in it, axes where its thread is."""
    name: str
    kind: str                                   # of its numbers
    has_fields: bool                            # they are fields a and b of records
    cut: slice | int                            # of the cells
    turned: tuple                               # axes of threads that run backwards
    swapped: bool                               # transposed
    flat: object                                # None, or numbers left out at the plain buffer's start; -1: reversed
    first: int                                  # cells that a thread owns: from first
    own: int                                    # to here
    end: int                                    # and up to here, cells that are only read
    is_read: bool = False                       # and so are all others, by this name


@dataclass
class Program:
    text: str
    base: str
    extents: tuple                              # of the threads that work
    cells: int                                  # of a thread
    cells_first: bool
    blocks: tuple
    block: tuple
    views: dict
    parameters: list
    number: int                                 # argument n
    in_one: list                                # for each launch: {name: which memory it lies in}
    seed: int = 0

    @property
    def threads(self):
        return math.prod(self.blocks) * math.prod(self.block)


class Generator:
    """Makes one program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.lines, self.level, self.names = [], 1, 0
        self.loops = []                         # (name, least, most)
        self.used = set()
        self.mode = "own"

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *items):
        return self.random.choice(items)

    def line(self, text):
        self.lines.append("    " * self.level + text)

    def new_name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    # --- threads and memory ---

    def make(self):
        self.base = self.pick(*FAMILIES)
        kinds, self.kind = FAMILIES[self.base]
        self.kinds = kinds
        self.is_float = self.kind == "float64"
        self.uses_old = self.chance(0.5)                # of atomics on a thread's own cells
        self.has_barriers, self.has_local = self.chance(0.35), self.chance(0.25)
        self.choose_threads()
        self.constant = self.pick(0, 0, 1, 2)   # cells that nobody writes, behind the others
        self.written = self.pick(1, 2, 2, 3, 4, 4, 6, 8, 10)
        self.is_plain = self.chance(0.4)        # all arrays are in C or Fortran order
        self.cells = self.written + self.constant
        self.cells_first = self.chance(0.5)
        self.views = {view.name: view for view in (self.view(f"v{i}") for i in range(self.pick(2, 2, 3, 4)))}
        for view in [*self.views.values()][1:]:
            view.is_read = self.chance(0.4)
        self.n = self.written
        self.budget = self.random.randrange(3, 12)
        self.write()
        parameters = [*(name for name in self.views if name in self.used), "w", "m", "n", "x"]
        text = "\n".join([*self.helpers, f"def kernel({', '.join(parameters)}):", *self.head, *self.lines]) + "\n"
        return Program(text, self.base, self.extents, self.cells, self.cells_first, self.blocks, self.block,
                       {name: self.views[name] for name in parameters if name in self.views}, parameters, self.n,
                       self.arrangements(), self.seed)

    def choose_threads(self):
        if self.chance(0.3):                    # rows and columns; block and grid name the axis of columns, x, first
            self.block = self.pick((8, 2), (16, 1), (4, 4))
            self.blocks = self.pick((1, 2), (2, 1))
            self.threads_axes = self.pick(("t", "i"), ("i", "t"))      # of x and y
        else:
            self.block, self.blocks = (self.pick(7, 16, 32),), (self.pick(1, 1, 2),)
            self.threads_axes = ("t",)
        launched = [b * g for b, g in zip(self.block, self.blocks, strict=True)]
        roll = 1 if self.has_barriers else self.random.random()
        self.has_guard, self.strides = roll < 0.4, roll > 0.8 and roll < 1 and len(launched) == 1
        sizes = [size - self.pick(0, 1, 3) if self.has_guard else size for size in launched]
        sizes = [self.random.randrange(1, 2 * size) for size in launched] if self.strides else sizes
        self.axes = tuple(sorted(self.threads_axes))                    # i is the slower one, where there are two
        self.extents = tuple(max(sizes[self.threads_axes.index(axis)], 1) for axis in self.axes)

    def view(self, name):
        kind = self.pick(self.base, self.base, *self.kinds)
        ratio = np.dtype(self.base).itemsize / np.dtype(kind).itemsize
        if kind != self.base and (self.cells_first or self.written * ratio % 1 or self.cells * ratio % 1):
            kind, ratio = self.base, 1
        written, cells = int(self.written * ratio), int(self.cells * ratio)
        in_pairs = not self.cells_first and kind not in tv.PARTS and written % 2 == cells % 2 == 0
        has_fields = in_pairs and self.chance(0.15)
        if has_fields:
            written, cells = written // 2, cells // 2
        turned = tuple(axis for axis in self.axes if self.chance(0.15))
        plain = View(name, kind, has_fields, slice(None), (), False, None, 0, written, cells)
        roll = self.random.random()
        if roll < 0.2 or (self.is_plain and (has_fields or not self.cells_first or roll < 0.3)):
            plain.swapped = self.chance(0.2)
            return self.flat_view(plain) if self.is_plain and not has_fields and roll > 0.6 else plain
        if roll < 0.4 and not has_fields:
            return self.flat_view(plain)
        if self.is_plain:
            first = self.random.randrange(written)
            cut = first if self.chance(0.3) else slice(first, self.random.randrange(first, written) + 1)
            size = 1 if cut == first else cut.stop - first
            return View(name, kind, has_fields, cut, (), self.chance(0.2), None, 0, size, size)
        if roll < 0.5:
            cut = self.random.randrange(written)
            return View(name, kind, has_fields, cut, turned, self.chance(0.3), None, 0, 1, 1)
        swapped = self.chance(0.3)
        if roll < 0.6 and cells > written:
            return View(name, kind, has_fields, slice(written, None), (), swapped, None, 0, 0, cells - written)
        whole = range(written)
        cut = self.pick(slice(0, written), slice(written - 1, None, -1) if cells == written else slice(0, written),
                        slice(1, written), slice(0, written - 1), slice(0, written, 2), slice(1, written, 2),
                        slice(0, written // 2 + 1), slice(written // 2, written), slice(-cells + written - 1, None, -1))
        size = len(range(cells)[cut])
        if not size or any(cell not in whole for cell in range(cells)[cut]):
            cut, size = slice(0, written), written
        return View(name, kind, has_fields, cut, turned, swapped, None, 0, size, size)

    def flat_view(self, plain):
        """One axis over all of the memory, from a place on, or reversed."""
        step = math.prod(self.extents) if self.cells_first else 1
        flat = self.pick(0, 0, 0 if self.is_plain else -1, 1, step, 3)
        plain.swapped = False
        plain.flat = flat
        plain.first = 0 if flat == -1 else -(-flat // step)
        if plain.first >= plain.own:
            plain.flat = plain.first = 0
        return plain

    # --- the text of an element ---

    def place(self, view, cell, where=None):
        """An element's indices. where: {axis: text} of another thread's."""
        where = where or {}
        axes = [where.get(axis, axis) for axis in self.axes]
        cell = f"({cell})" if view.flat is not None and not cell.isalnum() else cell
        if view.flat is not None:
            thread = axes[0] if len(axes) == 1 else f"({axes[0]} * {self.extents[1]} + {axes[1]})"
            size = math.prod(self.extents)
            index = f"{cell} * {size} + {thread}" if self.cells_first else f"{thread} * {view.end} + {cell}"
            return f"{size * view.end - 1} - ({index})" if view.flat == -1 else f"{index} - {view.flat}"
        axes = [f"{extent - 1} - {text}" if axis in view.turned else text
                for axis, text, extent in zip(self.axes, axes, self.extents, strict=True)]
        index = axes if isinstance(view.cut, int) else [cell, *axes] if self.cells_first else [*axes, cell]
        return ", ".join(index[::-1] if view.swapped else index)

    def element(self, view, cell, where=None):
        self.used.add(view.name)
        text = f"{view.name}[{self.place(view, cell, where)}]"
        return f"{text}.{self.pick('a', 'b')}" if view.has_fields else text

    def cell(self, first, end):
        """The number of a cell: a constant, a loop's variable, something of both, or what the data say."""
        roll = self.random.random()
        fitting = [(name, low, high) for name, low, high in self.loops if high - low <= end - first - 1]
        if fitting and roll < 0.65:
            name, low, high = self.random.choice(fitting)
            if self.chance(0.2):
                return f"{self.random.randrange(first + high, end + low)} - {name}"
            by = self.random.randrange(first - low, end - high)
            return name if not by else f"{name} {'+' if by > 0 else '-'} {abs(by)}"
        if self.loops and roll < 0.75:
            name, low, high = self.random.choice(self.loops)
            text = f"({name} * {self.pick(1, 2, 3)} + {self.random.randrange(4) - min(low * 3, 0)}) % {end - first}"
            return f"({text} + {first})" if first else f"({text})"
        if roll > 0.95 and not self.is_float:
            text = f"({self.expression(1)}) % {end - first}"
            return f"({text} + {first})" if first else f"({text})"
        return str(self.random.randrange(first, end))

    def load(self):
        """A number from memory that the thread may read."""
        views = [view for view in self.views.values() if view.end > view.first]
        view = self.random.choice(views)
        where, first, end, guard = None, view.first, view.own, ""
        if self.has_local and self.chance(0.2):
            return f"loc[{self.cell(0, LOCALS)}]"
        if view.end > view.own and (first == end or self.chance(0.3)):       # what is only read
            text, guard = self.neighbour(view)
        else:
            if self.mode == "all" and self.chance(0.7):
                where = {"t" if self.threads_axes[0] == "t" else "i": self.pick("mate", "other")}
            text = self.element(view, self.cell(first, end), where)
        text = f"{text}.{self.pick('real', 'imag')}" if view.kind in tv.PARTS else text
        text = f"{self.kind}({text})" if view.kind != self.kind else text
        return f"({text} if {guard} else {self.kind}(0))" if guard else text

    def neighbour(self, view):
        """A cell that nobody writes, of this or another thread, and what must hold for it to be there."""
        cell = str(self.random.randrange(view.own, view.end))
        axis = self.random.choice(self.axes)
        extent = self.extents[self.axes.index(axis)]
        by = self.random.randrange(1, 4)
        roll = self.random.random()
        if roll < 0.2:
            return self.element(view, cell), ""
        if roll < 0.6:
            place = self.pick(f"(({axis} + {by}) % {extent})", f"max({axis} - {by}, 0)",
                              f"min({axis} + {by}, {extent - 1})")
            return self.element(view, cell, {axis: place}), ""
        if roll < 0.8:
            return self.element(view, cell, {axis: f"({axis} - {by})"}), f"{axis} >= {by}"
        return self.element(view, cell, {axis: f"({axis} + {by})"}), f"{axis} < {extent - by}"

    # --- expressions of the program's type ---

    def leaf(self):
        names = ["a", "b", "a", "b", "x"] + [f"{self.kind}({name})" for name, _, _ in self.loops] + \
                [f"{self.kind}({axis})" for axis in self.axes] + [f"{self.kind}({self.random.randrange(-5, 20)})"]
        return self.random.choice(names)

    def expression(self, depth):
        if depth == 0 or self.chance(0.1):
            return self.leaf()
        if self.chance(0.5):
            return self.load()
        x, y = self.expression(depth - 1), self.expression(depth - 1)
        if self.is_float:
            return f"({x} {self.pick('+', '-', '*')} {y})"
        roll = self.random.random()
        if roll < 0.15:
            return f"{self.pick('min', 'max')}({x}, {y})"
        if roll < 0.3:
            return f"({x} {self.pick('//', '%')} {self.pick(3, 5, 7, 16)})"
        return f"({x} {self.pick('+', '-', '*', '&', '^', '|')} {y})"

    def condition(self):
        return f"{self.expression(1)} {self.pick('<', '>', '==', '>=')} {self.expression(1)}"

    # --- statements ---

    def statement(self, depth, uniform):
        """uniform: all threads of a block run it as often."""
        self.budget -= 1
        makers = [self.assign] * 3
        if self.mode == "own":
            makers += [self.store] * 6 + [self.update] * 3 + [self.move] + [self.atomic] + [self.slice_store] + \
                      [self.swap] + [self.row]
        makers += [self.accumulate]
        if depth:
            makers += [self.loop] * 4 + [self.branch] * 2
        if uniform and self.has_barriers:
            makers += [self.barrier] * 4
        self.random.choice(makers)(depth, uniform)

    def block_of(self, depth, uniform, size):
        self.level += 1
        start = len(self.lines)
        for _ in range(size):
            if self.budget > 0:
                self.statement(depth, uniform)
        if len(self.lines) == start:
            self.line("pass")
        self.level -= 1

    def target(self, kinds=None):
        views = [v for v in self.views.values()
                 if v.own > v.first and not v.is_read and (kinds is None or v.kind in kinds)]
        return self.random.choice(views) if views else None

    def assign(self, depth, uniform):
        name = self.pick("a", "b")
        self.line(f"{name} {self.pick('=', '+=')} {self.kind}({self.expression(2)})")

    def store(self, depth, uniform):
        if self.has_local and self.chance(0.2):
            return self.line(f"loc[{self.cell(0, LOCALS)}] {self.pick('=', '+=')} {self.expression(2)}")
        view = self.target()
        if view is None:
            return self.assign(depth, uniform)
        text = self.expression(2)
        if view.kind in tv.PARTS:
            text = f"complex({text}, {self.expression(1)})"
        self.line(f"{self.element(view, self.cell(view.first, view.own))} = {text}")

    def update(self, depth, uniform):
        view = self.target()
        if view is None:
            return self.assign(depth, uniform)
        text = self.expression(1)
        self.line(f"{self.element(view, self.cell(view.first, view.own))} {self.pick('+', '-')}= {text}")

    def swap(self, depth, uniform):
        """Two elements, in two views, change places."""
        one = self.target()
        other = one and self.target([one.kind])
        if other:
            first = self.element(one, self.cell(one.first, one.own))
            second = self.element(other, self.cell(other.first, other.own))
            self.line(f"{first}, {second} = {second}, {first}")

    def move(self, depth, uniform):
        """Through a device function."""
        to = self.target([self.base])
        source = to and self.random.choice([v for v in self.views.values() if v.own > v.first and v.kind == self.base])
        if to is None or to.has_fields or source.has_fields:
            return self.store(depth, uniform)
        name = self.new_name("move")
        self.used |= {to.name, source.name}
        self.helpers.append(f"def {name}(to, source, p, q, y):\n    to[p] = source[q] + y\n    z = source[q]\n"
                            f"    to[p] {self.pick('+', '-', '*')}= 3\n    return z - source[q] + to[p]")
        p, q = (self.place(v, self.cell(v.first, v.own)) for v in (to, source))
        p, q = (f"({text})" if "," in text else text for text in (p, q))
        self.line(f"{self.pick('a', 'b')} = {self.kind}({name}({to.name}, {source.name}, {p}, {q}, {self.leaf()}))")

    def atomic(self, depth, uniform):
        """On a cell of the thread's own. GPUs flush small float32 to 0 there."""
        view = self.target({"int32", "int64", "uint32", "uint64", "float64"})
        if view is None or view.has_fields:
            return self.update(depth, uniform)
        self.used.add(view.name)
        place = self.place(view, self.cell(view.first, view.own))
        place = f"({place})" if "," in place else place
        name = "add" if self.is_float else self.pick("add", "sub", "max", "min", "xor")
        value = f"{view.kind}({self.expression(1)})"
        call = f"cuda.atomic.{name}({view.name}, {place}, {value})"
        self.line(f"{self.pick('a', 'b')} = {self.kind}({call})" if self.uses_old else call)

    def slice_store(self, depth, uniform):
        """Some of a thread's cells to others: what a copy would give, where both are the same memory."""
        views = [v for v in self.views.values() if v.own > v.first + 1 and v.flat is None and not v.has_fields
                 and not isinstance(v.cut, int)]
        if not views:
            return self.store(depth, uniform)
        to = self.random.choice([v for v in views if not v.is_read] or [None])
        if to is None:
            return self.store(depth, uniform)
        source = self.random.choice([v for v in views if v.kind == to.kind])
        size = self.random.randrange(1, min(to.own, source.own) + 1)
        parts = []
        for view in (to, source):
            start = self.random.randrange(view.own - size + 1)
            backwards = self.chance(0.25)
            end = start - 1 if backwards else start + size
            text = f"{start + size - 1}:{'' if end < 0 else end}:-1" if backwards else f"{start}:{end}"
            parts.append(f"{view.name}[{self.place(view, text)}]")
            self.used.add(view.name)
        self.line(f"{parts[0]} {self.pick('=', '=', '+=')} {parts[1]}")

    def row(self, depth, uniform):
        """A thread's cells of two views as arrays of one axis, in a loop."""
        views = [v for v in self.views.values() if v.own > 1 and v.flat is None and not v.has_fields
                 and not isinstance(v.cut, int) and v.kind not in tv.PARTS]
        targets = [v for v in views if not v.is_read]
        if not targets:
            return self.store(depth, uniform)
        rows = []
        for view in (self.random.choice(targets), self.random.choice(views)):
            self.used.add(view.name)
            rows.append((self.new_name("r"), view))
            self.line(f"{rows[-1][0]} = {view.name}[{self.place(view, f':{view.own}')}]")
        (to, one), (source, other) = rows
        by, size = self.pick(0, 1, 2), min(one.own, other.own)
        if by < size:
            name = self.new_name("k")
            self.line(f"for {name} in range({size - by}):")
            ends = (f"{to}[{name}]", f"{source}[{name} + {by}]")
            ends = ends if self.chance(0.5) else (f"{to}[{name} + {by}]", f"{source}[{name}]")
            self.line(f"    {ends[0]} {self.pick('=', '+=')} {ends[1]} + {self.leaf()}")

    def accumulate(self, depth, uniform):
        """Sums of all threads, through two names. The order of threads makes no difference."""
        name, place = self.pick("w", "m"), self.random.randrange(TOTALS - 2)
        index = f"(int64({self.leaf()})) % {TOTALS - 2}" if not self.is_float and self.chance(0.5) else place
        value = "int64(t)" if self.is_float else self.expression(1)
        self.line(f"cuda.atomic.{self.pick('add', 'sub')}({name}, {index}, {value})")

    def loop(self, depth, uniform):
        name, most = self.new_name("k"), max(view.end for view in self.views.values())
        roll = self.random.random()
        if roll < 0.35 and self.n > 1:
            low, cut = self.pick(0, 0, 1), self.pick(0, 0, 1)
            if low >= self.n - cut:
                low = cut = 0
            text, bounds = f"range({low}, n{f' - {cut}' if cut else ''})", (low, self.n - cut - 1)
        elif roll < 0.5 and self.n > 1:
            text, bounds = "range(n - 1, -1, -1)", (0, self.n - 1)
        else:
            low = self.random.randrange(most)
            high = self.random.randrange(low + 1, most + 1)
            step = self.pick(1, 1, 1, 2)
            backwards = self.chance(0.2)
            text = f"range({high - 1}, {low - 1}, -{step})" if backwards else f"range({low}, {high}, {step})"
            bounds = (low, high - 1)
        mode = self.mode
        self.line(f"for {name} in {text}:")
        self.loops.append((name, *bounds))
        if uniform and self.has_barriers and self.chance(0.5):
            self.level += 1
            self.barrier(depth, uniform)
            self.level -= 1
            self.block_of(depth - 1, True, self.random.randrange(1, 4))
            self.loops.pop()
            self.barrier(depth, uniform)
            return
        self.block_of(depth - 1, False, self.random.randrange(1, 4))
        self.loops.pop()
        assert self.mode == mode

    def branch(self, depth, uniform):
        self.line(f"if {self.condition()}:")
        self.block_of(depth - 1, False, self.random.randrange(1, 3))
        if self.chance(0.4):
            self.line("else:")
            self.block_of(depth - 1, False, self.random.randrange(1, 3))

    def barrier(self, depth, uniform):
        self.line("cuda.syncthreads()")
        self.mode = self.pick("own", "own", "all")

    # --- the whole ---

    def write(self):
        self.helpers = []
        names = ", ".join(self.threads_axes)
        self.head = [f"    {names} = cuda.grid({len(self.threads_axes)})"]
        if self.has_guard:
            tests = " or ".join(f"{axis} >= {extent}" for axis, extent in zip(self.axes, self.extents, strict=True))
            self.head += [f"    if {tests}:", "        return"]
        if self.has_barriers:
            x = self.threads_axes[0]
            by = self.random.randrange(1, self.block[0])
            self.head += [f"    mate = {x} - cuda.threadIdx.x + (cuda.threadIdx.x + {by}) % {self.block[0]}",
                          f"    other = {x} - cuda.threadIdx.x + {self.block[0] - 1} - cuda.threadIdx.x"]
        if self.strides:
            self.head[0] = f"    for t in range(cuda.grid(1), {self.extents[0]}, cuda.gridsize(1)):"
            self.level += 1
        if self.has_local:
            self.line(f"loc = cuda.local.array({LOCALS}, {self.kind})")
            for i in range(LOCALS):
                self.line(f"loc[{i}] = x")
        self.line(f"a = b = {self.kind}(x)")
        self.line(f"a = {self.kind}({self.load()})")
        while self.budget > 0:
            self.statement(3, True)
        if self.mode == "all":
            self.line("cuda.syncthreads()")
            self.mode = "own"
        self.store(0, True)

    def arrangements(self):
        """Which views lie in one memory: all in one launch, none or some in the other."""
        names = [*self.views, "w", "m"]
        none, some = {name: i for i, name in enumerate(names)}, {name: self.random.randrange(2) for name in names}
        launches = [dict.fromkeys(names, 0), self.pick(none, some)]
        self.random.shuffle(launches)
        return launches


def generate(seed):
    """The program of this seed."""
    return Generator(seed).make()


# --- running ----------------------------------------------------------------------------------------------------------

def viewed(program, view, buffer):
    """The view of a buffer: a NumPy array, or one on the device."""
    if view.flat is not None:
        array = buffer.view(np.dtype(view.kind)) if view.kind != program.base else buffer
        return array[::-1] if view.flat == -1 else array[view.flat:]
    shape = (program.cells, *program.extents) if program.cells_first else (*program.extents, program.cells)
    array = buffer.reshape(shape)
    kind = np.dtype([("a", view.kind), ("b", view.kind)]) if view.has_fields else np.dtype(view.kind)
    if kind != program.base:
        array = array.view(kind)
    axes = "it"[-len(program.extents):]
    cuts = [slice(None, None, -1) if axis in view.turned else slice(None) for axis in axes]
    array = array[tuple([view.cut, *cuts] if program.cells_first else [*cuts, view.cut])]
    return transposed(array) if view.swapped else array


def transposed(array):
    """What .T is of NumPy's arrays; a device array's is a copy."""
    if isinstance(array, np.ndarray):
        return array.T
    return view_of(array, array.shape[::-1], array.strides[::-1])


def buffers(program, launch):
    """A buffer and sums for each memory that the launch has."""
    rng = random.Random(program.seed + 17)
    size = math.prod(program.extents) * program.cells
    memories = range(max(launch.values()) + 1)
    return ([np.array([small(rng, program.base) for _ in range(size)], program.base) for _ in memories],
            [np.arange(TOTALS, dtype=np.int64) for _ in memories], number(rng, FAMILIES[program.base][1]))


def small(rng, kind):
    return number(rng, kind) if rng.random() < 0.3 else rng.randrange(0, 20)


def arguments(program, launch, memories, totals, x):
    given = []
    for name in program.parameters:
        if name in program.views:
            given.append(viewed(program, program.views[name], memories[launch[name]]))
        elif name in ("w", "m"):
            total = totals[launch[name]]
            given.append(total[:TOTALS - 2] if name == "w" else total[2:])
        else:
            given.append(program.number if name == "n" else x)
    return given


@functools.lru_cache(4)
def reference_code(text):
    return compile(reference.reference_text(text), "<reference>", "exec")


def names_of_thread(program, thread, blocks):
    """cuda for one thread, by its place on the axes x and y."""
    def number32(value):
        return tv.Value("int32", value)

    inside = [t % b for t, b in zip(thread, program.block, strict=True)]
    places = tuple(tv.Value("int64", t) for t in thread)
    made = reference.cuda_names(0, 1, blocks)
    made.gridsize = lambda n: tv.Value("int64", program.blocks[0] * program.block[0])
    made.grid = lambda n: places if len(places) > 1 else places[0]
    made.threadIdx = types.SimpleNamespace(**{axis: number32(t) for axis, t in zip("xy", inside, strict=False)})
    return made


def modelled(program, launch, backwards=False):
    """What the launch leaves in memory. backwards: threads run in the other order."""
    memories, totals, x = buffers(program, launch)
    x = tv.Value(FAMILIES[program.base][1], np.float64(x) if isinstance(x, float) else x)
    given = [reference.Array(a) if isinstance(a, np.ndarray) else reference.lift(a)
             for a in arguments(program, launch, memories, totals, x)]
    code = reference_code(program.text)
    in_block = [*itertools.product(*map(range, reversed(program.block)))]
    blocks = [*itertools.product(*map(range, reversed(program.blocks)))]
    tv.Value.steps_left = STEPS
    for block in reversed(blocks) if backwards else blocks:
        running = []
        for inside in reversed(in_block) if backwards else in_block:
            thread = [b * size + i for b, i, size in zip(block[::-1], inside[::-1], program.block, strict=True)]
            namespace = reference.names() | {"cuda": names_of_thread(program, thread, reference.Block())}
            exec(code, namespace)
            running.append(namespace["kernel"](*given))
        if running[0] is not None:
            reference.run_block(running)
    return memories, totals


def check(program):
    """None, or what is wrong."""
    kernel = compile_kernel(program.text)
    for launch in program.in_one:
        memories, totals, x = buffers(program, launch)
        there = [cuda.to_device(memory) for memory in memories], [cuda.to_device(total) for total in totals]
        x = np.dtype(FAMILIES[program.base][1]).type(x)
        kernel[program.blocks, program.block](*arguments(program, launch, *there, x))
        expected = modelled(program, launch)
        for what, ours, theirs in zip(["memory", "sums"], there, expected, strict=True):
            for place, (array, right) in enumerate(zip(ours, theirs, strict=True)):
                equal = same(array.copy_to_host(), right)
                if not equal.all():
                    at = int(np.argmin(equal))
                    return (f"{what} {place} [{at}]: kernel {array.copy_to_host()[at]!r}, CPython {right[at]!r}, "
                            f"launch with {launch}\n{program}")
    return None


def has_races(program):
    """Whether the order of threads makes a difference: of programs that were made smaller."""
    for launch in program.in_one:
        one, other = modelled(program, launch), modelled(program, launch, backwards=True)
        if any(not same(a, b).all() for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True)):
            return True
    return False
