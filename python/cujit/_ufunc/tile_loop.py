"""The loop over elements where operands lie along another axis than the result: transposed ones, on a GPU.

A block does a square of elements along these two axes. Operands that lie along the other axis are read along it into
shared memory, and from there along the result's: in both ways threads that are neighbours access neighbours in memory.
Lines in shared memory are an odd number of words apart, so that a line and a column of it are in all banks.
"""
import math
from typing import NamedTuple

import numpy as np

from cujit import _core
from cujit._ufunc.flat import FAR_BYTES, arguments_of, launch_bounds, moved, names, place, result_lines

_SIDES = 64, 32, 16          # of a square, in elements
_SHARED_BYTES = 34 * 1024    # of a block at most: several are on a multiprocessor
_THREADS = 256
_LEAST_LENGTH = 16           # of the two axes: of shorter ones a square would be mostly empty
_AT_ONCE = {1: 16, 2: 8}     # elements of a thread that are read before the first result is computed, by their bytes;
_AT_ONCE_WIDE = 4            # of wider ones
_NARROW_BOUNDS = (_THREADS, 6)   # of the launch, where registers are wanted for so many


class Tiles(NamedTuple):
    """What the source of such a kernel depends on. The last axis is the result's, `other` the operands'."""

    inputs: tuple   # the kinds of steps of each (flat.py); None: a number
    mask: tuple | None
    outs: tuple
    staged: tuple   # for each input and then the mask: (type in shared memory, bytes of an item), or None
    other: int
    side: int
    results: tuple | None
    at_once: int    # elements of a thread whose operands are read before the first result is computed
    bounds: tuple | None   # of the launch (flat.launch_bounds())


def planned(inputs, mask, outs, shape, results, threads):
    """(Tiles, blocks, threads, arguments), or None where no operand wants it; arguments as row_loop's."""
    operands = [*inputs, mask]
    far = [_far_axis(x, shape) if hasattr(x, "kinds") else None for x in operands]
    if not any(axis is not None for axis in far):
        return None
    weights = {axis: sum(x.itemsize for x, own in zip(operands, far, strict=True) if own == axis) for axis in far
               if axis is not None}
    other = max(weights, key=weights.get)
    staged = [x.itemsize if axis == other else 0 for x, axis in zip(operands, far, strict=True)]
    shared, side = next(((needed, side) for side in _SIDES if (needed := sum(
        side * line_bytes(side, size) for size in staged if size)) <= _SHARED_BYTES), (0, None))
    if side is None or shape[-1] < _LEAST_LENGTH or threads < _THREADS:
        return None
    tiles = [-(-shape[axis] // side) for axis in (len(shape) - 1, other)]
    rest = [n for axis, n in enumerate(shape[:-1]) if axis != other]
    if math.prod(tiles) * math.prod(rest) >= 1 << 31:
        return None
    at_once = _AT_ONCE.get(max(x.itemsize for x in (*operands, *outs) if hasattr(x, "kinds")), _AT_ONCE_WIDE)
    bounds = launch_bounds(_THREADS, shared) or (_NARROW_BOUNDS if at_once > _AT_ONCE_WIDE else None)
    plan = Tiles(tuple(getattr(x, "kinds", None) for x in inputs), None if mask is None else mask.kinds,
                 tuple(out.kinds for out in outs),
                 tuple((_core.type_from_dtype(x.dtype), size) if size else None
                       for x, size in zip(operands, staged, strict=True)),
                 other, side, results, at_once, bounds)
    arguments = [np.uint64(shape[-1]), np.uint64(shape[other]), *map(np.uint32, tiles), *map(np.uint32, rest[1:]),
                 *arguments_of((*inputs, mask, *outs))]
    return plan, math.prod(tiles) * math.prod(rest), _THREADS, arguments


def _far_axis(operand, shape):
    """The axis along which an operand lies, if elements are far apart along the last one; else None."""
    reach = [abs(step) * operand.itemsize for step in operand.steps]
    if not operand.is_far() or operand.dtype.kind not in "biufc":
        return None
    near = [(own, axis) for axis, own in enumerate(reach[:-1]) if 0 < own < FAR_BYTES and shape[axis] >= _LEAST_LENGTH]
    return min(near)[1] if near else None


def line_bytes(count, itemsize):
    """Bytes of a line of items in shared memory such that a column of lines is in all banks."""
    word = max(4, itemsize)
    words = -(-count * itemsize // word)
    return (words | 1) * word


# --- the source ------------------------------------------------------------------------------------------------------

def source(name, plan, axes):
    """A kernel (lengths of the last and of the other axis, squares along each, lengths of the axes left but the first,
    operands...)."""
    operands, rest = _operands(plan), [k for k in range(axes - 1) if k != plan.other]
    lengths = ["n", "other_n", "tiles", "other_tiles", *(f"n{k}" for k in rest[1:])]
    parameters = [p for x, kinds in operands for p in ([x] if kinds is None else names(x, kinds))]
    indices = [f"i{k}" if k in rest else None for k in range(axes - 1)]
    lanes = min(plan.side, 32)
    body = [f"{x}_tile = cuda.shared.array(({plan.side}, {line_bytes(plan.side, size) // size}), {x}_type)"
            for x, size in _staged(plan)]
    body += _block_lines(plan, rest)
    body += [f"{x}_base = {place(x, kinds, [*indices, None])}" for x, kinds in operands if kinds is not None]
    body += [f"lane = uint64(cuda.threadIdx.x % {lanes})", f"line = uint64(cuda.threadIdx.x // {lanes})",
             f"count = min(n - first, uint64({plan.side}))",
             f"other_count = min(other_n - other_first, uint64({plan.side}))",
             f"is_whole = count == uint64({plan.side}) and other_count == uint64({plan.side})"]
    lines = _THREADS // lanes
    body += ["if is_whole:", *_indented(_fill(plan, lanes, lines)), "else:", *_indented(_fill_edge(plan, lanes, lines)),
             "cuda.syncthreads()",
             "if is_whole:", *_indented(_compute(plan, lanes, lines)),
             "else:", *_indented(_compute_edge(plan, lanes, lines))]
    return "\n".join([f"def {name}({', '.join([*lengths, *parameters])}):", *_indented(body)])


def _operands(plan):
    """(name, kinds) of each parameter, in order."""
    inputs = [(f"x{k}", kinds) for k, kinds in enumerate(plan.inputs)]
    mask = [("where", plan.mask)] if plan.mask is not None else []
    return [*inputs, *mask, *((f"out{k}", kinds) for k, kinds in enumerate(plan.outs))]


def _staged(plan):
    """(name, bytes of an item) of the operands that go through shared memory."""
    names_of = [*(f"x{k}" for k in range(len(plan.inputs))), "where"]
    return [(x, staged[1]) for x, staged in zip(names_of, plan.staged, strict=True) if staged]


def names_for(plan):
    """What the source calls by a name beside the function and its types."""
    names_of = [*(f"x{k}" for k in range(len(plan.inputs))), "where"]
    return {f"{x}_type": staged[0] for x, staged in zip(names_of, plan.staged, strict=True) if staged}


def _indented(lines):
    return ["    " + line for line in lines]


def _block_lines(plan, rest):
    """The first element of the block's square, and the indices of the axes that it does not lie along."""
    lines = ["square = uint32(cuda.blockIdx.x)", f"first = uint64(square % tiles) * uint64({plan.side})",
             "left = uint32(square // tiles)", f"other_first = uint64(left % other_tiles) * uint64({plan.side})",
             "left = uint32(left // other_tiles)"]
    for k in reversed(rest[1:]):
        lines += [f"i{k} = uint64(left % n{k})", f"left = uint32(left // n{k})"]
    return lines + [f"i{k} = uint64(left)" for k in rest[:1]]


def _element(plan, x, kinds, column, other):
    """An operand's element in global memory, by how far it is from the square's first."""
    at = moved(f"{x}_base", x, kinds, plan.other, f"(other_first + {other})")
    return f"{x}[{moved(at, x, kinds, len(kinds) - 1, f'(first + {column})')}]"


def _fill(plan, lanes, lines):
    """A whole square of each staged operand: all that a thread reads of one, then all that it stores."""
    places = [(f"(line + uint64({c}))", f"(lane + uint64({o}))")
              for c in range(0, plan.side, lines) for o in range(0, plan.side, lanes)]
    text, kinds_of = [], dict(_operands(plan))
    for x, _ in _staged(plan):
        text += [f"{x}_{k} = {_element(plan, x, kinds_of[x], c, o)}" for k, (c, o) in enumerate(places)]
        text += [f"{x}_tile[{c}, {o}] = {x}_{k}" for k, (c, o) in enumerate(places)]
    return text


def _fill_edge(plan, lanes, lines):
    kinds_of = dict(_operands(plan))
    return [f"for c in range(line, count, uint64({lines})):",
            f"    for o in range(lane, other_count, uint64({lanes})):",
            *(f"        {x}_tile[c, o] = {_element(plan, x, kinds_of[x], 'c', 'o')}" for x, _ in _staged(plan))]


def _compute(plan, lanes, lines):
    """A whole square of results, a few of each thread at once."""
    across = range(0, plan.side, lanes)
    at_once = min(max(plan.at_once // len(across), 1) * lines, plan.side)
    places = [(f"(lane + uint64({c}))", f"(line + uint64(k + {o}))") for o in range(0, at_once, lines) for c in across]
    body, inputs = [], [(x, kinds) for x, kinds in _operands(plan) if kinds is not None and not x.startswith("out")]
    staged = dict(_staged(plan))
    for k, (c, o) in enumerate(places):
        body += [f"{x}_{k} = {f'{x}_tile[{c}, {o}]' if x in staged else _element(plan, x, kinds, c, o)}"
                 for x, kinds in inputs]
    for k, (c, o) in enumerate(places):
        body += result_lines(plan, [f"x{place_}" if kinds is None else f"x{place_}_{k}"
                                    for place_, kinds in enumerate(plan.inputs)], f"where_{k}",
                             [_element(plan, f"out{i}", kinds, c, o) for i, kinds in enumerate(plan.outs)])
    return [f"for k in range(0, {plan.side}, {at_once}):", *_indented(body)]


def _compute_edge(plan, lanes, lines):
    staged = dict(_staged(plan))

    def value(x, kinds):
        return x if kinds is None else f"{x}_tile[c, o]" if x in staged else _element(plan, x, kinds, "c", "o")

    body = result_lines(plan, [value(f"x{k}", kinds) for k, kinds in enumerate(plan.inputs)],
                        None if plan.mask is None else value("where", plan.mask),
                        [_element(plan, f"out{k}", kinds, "c", "o") for k, kinds in enumerate(plan.outs)])
    return [f"for o in range(line, other_count, uint64({lines})):",
            f"    for c in range(lane, count, uint64({lanes})):", *_indented(_indented(body))]
