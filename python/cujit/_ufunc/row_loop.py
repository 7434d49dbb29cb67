"""The loop over elements of which rows lie along the last axis: broadcasting, gaps, steps, what is not aligned.

A grid of columns and rows, so that no element's index is divided. A thread does neighbouring elements of several rows,
16 bytes at a time where all operands lie so, else elements that are a block's width apart, so that its neighbours
access what lies beside. What is the same for all rows is read once for them, what is the same along a row once for it.
"""
from typing import NamedTuple

import numpy as np

from cujit._ufunc.flat import (
    SAME,
    WIDE_BYTES,
    arguments_of,
    called,
    moved,
    names,
    place,
    power_of_two_from,
    result_lines,
    row_indices,
    stored_items,
)

_ELEMENTS = 8   # of a thread
_MOST_BLOCKS = 65535   # along the second axis of a grid


class Rows(NamedTuple):
    """What the source of such a kernel depends on."""

    inputs: tuple   # the kinds of steps of each (flat.py); None: a number
    mask: tuple | None
    outs: tuple
    columns: int   # of a thread
    rows: int      # of a thread
    is_wide: bool  # whether a thread's columns are neighbours, and one access
    rows_first: bool   # whether rows are the grid's first axis
    results: tuple | None
    bounds: tuple | None = None   # of the launch: none are wanted


def planned(inputs, mask, outs, shape, results, threads):
    """(Rows, blocks, threads, arguments), or None where indices are not known to fit.

    inputs, mask, outs: Flat operands, numbers among the inputs; shape: theirs, innermost axis last; threads: of a
    block at most.
    """
    arrays = [x for x in (*inputs, mask, *outs) if hasattr(x, "kinds")]
    n, rows = shape[-1], 1
    for length in shape[:-1]:
        rows *= length
    if rows >= 1 << 31:
        return None
    columns, is_wide = _columns(arrays, mask, n)
    of_rows = max(1, min(_ELEMENTS // columns, power_of_two_from(rows)))
    across = -(-n // columns)
    x = min(1 << (threads.bit_length() - 1), power_of_two_from(across))
    y = min((1 << (threads.bit_length() - 1)) // x, power_of_two_from(-(-rows // of_rows)))
    blocks = -(-across // x), -(-rows // (y * of_rows))
    rows_first = blocks[1] > _MOST_BLOCKS
    if min(blocks) > _MOST_BLOCKS:
        return None
    kinds = tuple(getattr(value, "kinds", None) for value in inputs)
    plan = Rows(kinds, None if mask is None else mask.kinds, tuple(out.kinds for out in outs), columns, of_rows,
                is_wide, rows_first, results)
    arguments = [*map(np.uint64, (*shape[1:], rows) if len(shape) > 1 else shape),
                 *arguments_of((*inputs, mask, *outs))]
    return plan, blocks[::-1] if rows_first else blocks, (x, y), arguments


def _columns(arrays, mask, n):
    """(columns of a thread, whether they are one access) for rows of n elements."""
    widest = max(a.itemsize for a in arrays)
    count = max(WIDE_BYTES // widest, 2) if widest <= WIDE_BYTES and not widest & (widest - 1) else 1
    along = [a for a in arrays if a.kinds[-1] != SAME]
    if mask is None and 2 <= count <= n and all(a.dtype.kind in "biufc" and a.is_wide(count) for a in along):
        return count, True
    is_alone = len(arrays[0].kinds) == 1
    return min(_ELEMENTS if widest <= 2 else 4 if is_alone else 2, power_of_two_from(n)), False


# --- the source ------------------------------------------------------------------------------------------------------

def source(name, plan, axes):
    """A kernel (lengths of the axes but the first, rows, operands...); of one axis (length, operands...)."""
    operands = _operands(plan)
    lengths = [f"n{k}" for k in range(1, axes)] + ["rows"] if axes > 1 else ["n0"]
    parameters = [p for x, kinds in operands for p in ([x] if kinds is None else names(x, kinds))]
    lines = [f"def {name}({', '.join([*lengths, *parameters])}):"]
    across, down = ("y", "x") if plan.rows_first else ("x", "y")
    n = f"n{axes - 1}"
    lines += _column_lines(plan, across)
    if axes > 1:
        lines += [f"    row = (uint64(cuda.blockIdx.{down}) * uint64(cuda.blockDim.y) + uint64(cuda.threadIdx.y)) * "
                  f"uint64({plan.rows})"]
    inside = f"last < {n}" + (f" and row + uint64({plan.rows}) <= rows" if axes > 1 else "")
    lines += [f"    if {inside}:", *_indented(2, _whole(plan, axes)), "    else:"]
    lines += _indented(2, _edge(plan, axes, n))
    return "\n".join(lines)


def names_for(plan):
    """What the source calls by a name beside the function and its types: nothing."""
    return {}


def _operands(plan):
    """(name, kinds) of each parameter, in order."""
    inputs = [(f"x{k}", kinds) for k, kinds in enumerate(plan.inputs)]
    mask = [("where", plan.mask)] if plan.mask is not None else []
    return [*inputs, *mask, *((f"out{k}", kinds) for k, kinds in enumerate(plan.outs))]


def _column_lines(plan, across):
    """`column`, the thread's first, `step` to the next, and `last`."""
    block = f"uint64(cuda.blockIdx.{across}) * uint64(cuda.blockDim.x)"
    if plan.is_wide:
        return [f"    column = ({block} + uint64(cuda.threadIdx.x)) * uint64({plan.columns})", "    step = uint64(1)",
                f"    last = column + uint64({plan.columns - 1})"]
    return [f"    column = {block} * uint64({plan.columns}) + uint64(cuda.threadIdx.x)",
            "    step = uint64(cuda.blockDim.x)", f"    last = column + uint64({plan.columns - 1}) * step"]


def _indented(levels, lines):
    return ["    " * levels + line for line in lines]


def _whole(plan, axes):
    """All elements of the thread: what it reads first, so that all of it is on its way at once."""
    lines, stores = [], []
    for r in range(plan.rows):
        row = f"row{r}"
        if axes > 1:
            lines.append(f"{row} = row + uint64({r})")
        own, indices = row_indices(axes, row)
        lines += own
        for x, kinds in _operands(plan):
            if kinds is not None and (r == 0 or not _is_same_for_rows(kinds)):
                lines.append(f"{x}_row{r} = {place(x, kinds, [*indices, None])}")
        lines += _reads(plan, r)
        stores += _writes(plan, r)
    return lines + stores


def _is_same_for_rows(kinds):
    return all(kind == SAME for kind in kinds[:-1])


def _columns_of(plan):
    """Expressions for the columns of a thread."""
    return ["column", *(f"(column + uint64({j}) * step)" for j in range(1, plan.columns))]


def _reads(plan, r):
    lines = []
    for x, kinds in _operands(plan):
        if kinds is None or x.startswith("out") or (r and _is_same_for_rows(kinds)):
            continue
        row = f"{x}_row{r}"
        if kinds[-1] == SAME:
            lines.append(f"{x}_{r} = {x}[{row}]")
        elif plan.is_wide:
            lines.append(f"{x}_{r} = cuda.wide.load({x}, {row} + column, {plan.columns})")
        else:
            lines += [f"{x}_{r}_{j} = {x}[{moved(row, x, kinds, len(kinds) - 1, column)}]"
                      for j, column in enumerate(_columns_of(plan))]
    return lines


def _read_name(plan, x, kinds, r, j):
    r = 0 if _is_same_for_rows(kinds) else r
    if kinds[-1] == SAME:
        return f"{x}_{r}"
    return f"{x}_{r}[{j}]" if plan.is_wide else f"{x}_{r}_{j}"


def _writes(plan, r):
    """What computes and stores the thread's elements of its row r."""
    lines, last = [], len(plan.outs[0]) - 1
    rows = [f"out{k}_row{0 if _is_same_for_rows(kinds) else r}" for k, kinds in enumerate(plan.outs)]
    for j, column in enumerate(_columns_of(plan)):
        values = [f"x{k}" if kinds is None else _read_name(plan, f"x{k}", kinds, r, j)
                  for k, kinds in enumerate(plan.inputs)]
        if plan.is_wide:
            lines.append(f"value{j} = {called(values)}")
            continue
        mask = None if plan.mask is None else _read_name(plan, "where", plan.mask, r, j)
        lines += result_lines(plan, values, mask, [f"out{k}[{moved(row, f'out{k}', kinds, last, column)}]"
                                                   for k, (row, kinds) in enumerate(zip(rows, plan.outs, strict=True))])
    if plan.is_wide:
        items = zip(*(stored_items(plan, f"value{j}", len(rows)) for j in range(plan.columns)), strict=True)
        lines += [f"cuda.wide.store(out{k}, {row} + column, ({', '.join(own)}))"
                  for k, (row, own) in enumerate(zip(rows, items, strict=True))]
    return lines


def _edge(plan, axes, n):
    """The thread's elements that there are, one after another."""
    lines, level, indices = [], 0, []
    if axes > 1:
        own, indices = row_indices(axes, "edge")
        lines += [f"for edge in range(row, min(row + uint64({plan.rows}), rows)):", *_indented(1, own)]
        level = 1
    lines += _indented(level, [f"for j in range({plan.columns}):", "    i = column + uint64(j) * step",
                               f"    if i < {n}:"])

    def element(x, kinds):
        return x if kinds is None else f"{x}[{place(x, kinds, [*indices, 'i'])}]"

    body = result_lines(plan, [element(f"x{k}", kinds) for k, kinds in enumerate(plan.inputs)],
                        None if plan.mask is None else element("where", plan.mask),
                        [element(f"out{k}", kinds) for k, kinds in enumerate(plan.outs)])
    return lines + _indented(level + 2, body)
