"""The loop over elements for the CPU device, where operands are not all without gaps: a thread does some thousand
elements in a loop that LLVM can make one of vectors, row by row. No element's index is divided.

Where an operand lies along another axis than the result, rows are short, so that what one reads of it is still in the
caches for the next.
"""
import math
from typing import NamedTuple

import numpy as np

from cujit._ufunc.flat import arguments_of, moved, names, place, result_lines, row_indices

_ELEMENTS = 16384   # of a thread
_SHORT_BYTES = 32   # of a row, of at least eight elements: as many lines of memory, often of one set of the caches


class Serial(NamedTuple):
    """What the source of such a kernel depends on."""

    inputs: tuple   # the kinds of steps of each (flat.py); None: a number
    mask: tuple | None
    outs: tuple
    results: tuple | None
    bounds: tuple | None = None   # of the launch: none are wanted


def planned(inputs, mask, outs, shape, results, threads):
    """(Serial, blocks, threads, arguments), or None where indices are not known to fit; arguments as row_loop's."""
    rows = math.prod(shape[:-1])
    is_far = any(x.is_far() for x in (*inputs, mask, *outs) if hasattr(x, "kinds"))
    short = max(8, _SHORT_BYTES // max(out.itemsize for out in outs))
    columns = min(shape[-1], short if is_far and rows > 1 else _ELEMENTS)
    of_rows = max(1, min(_ELEMENTS // columns, rows))
    blocks = -(-rows // of_rows), -(-shape[-1] // columns)
    if rows >= 1 << 31 or blocks[1] > 65535:
        return None
    plan = Serial(tuple(getattr(value, "kinds", None) for value in inputs), None if mask is None else mask.kinds,
                  tuple(out.kinds for out in outs), results)
    lengths = map(np.uint64, (columns, of_rows, *shape[1:], rows) if len(shape) > 1 else (columns, *shape))
    return plan, blocks, 1, [*lengths, *arguments_of((*inputs, mask, *outs))]


def names_for(plan):
    """What the source calls by a name beside the function and its types: nothing."""
    return {}


def source(name, plan, axes):
    """A kernel (columns of a thread, its rows, lengths of the axes but the first, rows, operands...); of one axis
    (columns of a thread, length, operands...)."""
    inputs = [(f"x{k}", kinds) for k, kinds in enumerate(plan.inputs)]
    outs = [(f"out{k}", kinds) for k, kinds in enumerate(plan.outs)]
    operands = [*inputs, *([("where", plan.mask)] if plan.mask else []), *outs]
    lengths = ["columns", "n0"] if axes == 1 else ["columns", "of_rows", *(f"n{k}" for k in range(1, axes)), "rows"]
    parameters = [p for x, kinds in operands for p in ([x] if kinds is None else names(x, kinds))]
    lines, indices = row_indices(axes, "row")

    def element(x, kinds):
        return x if kinds is None else f"{x}[{moved(f'{x}_row', x, kinds, len(kinds) - 1, 'i')}]"

    lines += [f"{x}_row = {place(x, kinds, [*indices, None])}" for x, kinds in operands if kinds is not None]
    lines.append(f"for i in range(column, min(column + columns, n{axes - 1})):")
    lines += ["    " + line for line in result_lines(
        plan, [element(*each) for each in inputs], plan.mask and element("where", plan.mask),
        [element(*each) for each in outs])]
    body = ["column = uint64(cuda.blockIdx.y) * columns"]
    if axes > 1:
        body += ["first = uint64(cuda.blockIdx.x) * of_rows", "for row in range(first, min(first + of_rows, rows)):"]
        lines = ["    " + line for line in lines]
    return "\n".join([f"def {name}({', '.join([*lengths, *parameters])}):", *("    " + line for line in body + lines)])
