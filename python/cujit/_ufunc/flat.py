"""Operands of generated kernels as what lies in memory: one axis without gaps, and a step for each axis of the loop.

Indices are unsigned, so that no access asks whether its index counts from the end: steps are positive, and axes that
run backwards are subtracted from the place of the first element.
"""
import numpy as np

from cujit.cuda._array.array_views import view_of

WIDE_BYTES = 16   # of one access of a thread
FAR_BYTES = 32    # what memory is read in at least
_SHARED_BYTES = 224 * 1024      # of a multiprocessor, for all its blocks
_THREADS = 2048, 1024           # of a multiprocessor: all that there can be; with 64 registers
SAME, UNIT, UP, DOWN = "same", "unit", "up", "down"   # a step along an axis: of 0 elements, of one, forwards, backwards


class Flat:
    """An operand's memory, and where elements are in it: the place of the first and the steps, in elements."""

    def __init__(self, array):
        itemsize = array.dtype.itemsize
        self.steps = tuple(stride // itemsize for stride in array.strides)
        spans = [(n - 1) * step for n, step in zip(array.shape, self.steps, strict=True)]
        self.start = -sum(span for span in spans if span < 0)
        self.memory = view_of(array, (sum(map(abs, spans)) + 1,), (itemsize,), offset=-self.start * itemsize)
        self.dtype, self.itemsize = array.dtype, itemsize
        self.kinds = tuple(SAME if step == 0 else DOWN if step < 0 else UNIT if step == 1 else UP
                           for step in self.steps)

    def is_wide(self, count):
        """Whether `count` elements along the last axis, from each multiple of that on, are one access of a kernel."""
        alignment = min(count * self.itemsize, WIDE_BYTES)
        return self.kinds[-1] == UNIT and DOWN not in self.kinds and self.memory.pointer % alignment == 0 and all(
            step * self.itemsize % alignment == 0 for step in self.steps[:-1])

    def is_far(self):
        """Whether neighbours along the last axis are not read from memory together."""
        return abs(self.steps[-1]) * self.itemsize >= FAR_BYTES

    def arguments(self):
        """For the parameters that names() lists."""
        start = [np.uint64(self.start)] if DOWN in self.kinds else []
        return [self.memory, *start, *(np.uint64(abs(step)) for step in self.steps if step not in (0, 1))]


def arguments_of(operands):
    """Of a kernel with these operands: Flat ones, numbers; those that are None are not there."""
    return [argument for x in operands if x is not None for argument in (x.arguments() if isinstance(x, Flat) else [x])]


def can_be_flat(array):
    """Whether all steps are whole elements, and elements lie where a kernel may access them."""
    itemsize = array.dtype.itemsize
    return itemsize > 0 and array.pointer % (itemsize & -itemsize) == 0 and all(
        stride % itemsize == 0 for stride in array.strides)


def names(x, kinds):
    """The parameters of an operand."""
    return [x, *([f"{x}_start"] if DOWN in kinds else []),
            *(f"{x}_step{k}" for k, kind in enumerate(kinds) if kind in (UP, DOWN))]


def place(x, kinds, indices):
    """Where an element is, as an expression: by expressions of type uint64, None for axes that are left out."""
    text = f"{x}_start" if DOWN in kinds else ""
    for axis, index in enumerate(indices):
        text = moved(text, x, kinds, axis, index)
    return text or "uint64(0)"


def moved(text, x, kinds, axis, index):
    """The expression of a place, moved along an axis."""
    kind = kinds[axis]
    if kind == SAME or index is None:
        return text
    step = index if kind == UNIT else f"{index} * {x}_step{axis}"
    return f"{text} {'-' if kind == DOWN else '+'} {step}" if text else step


def result_lines(plan, values, mask, stores):
    """Lines that store the function of the values to the places, `stores`; where the mask is true, if there is one."""
    items = stored_items(plan, "value", len(stores))
    lines = [f"value = {called(values)}", *(f"{at} = {item}" for at, item in zip(stores, items, strict=True))]
    return lines if plan.mask is None else [f"if {mask}:", *("    " + line for line in lines)]


def called(values):
    """The function of expressions for its arguments."""
    return f"function({', '.join(f'type{k}({value})' for k, value in enumerate(values))})"


def stored_items(plan, value, count):
    """Expressions for the results: what the function gave, or the items of the tuple, converted where the plan says."""
    if count == 1:
        return [value]
    return [f"{value}[{k}]" if plan.results is None else f"result{k}({value}[{k}])" for k in range(count)]


def row_indices(axes, row):
    """(lines, indices of the axes but the last) of a row, the variable of that name; n1, n2, ...: lengths of axes."""
    if axes < 3:
        return [], [row] * (axes - 1)
    lines, rest = [], f"uint32({row})"
    for k in range(axes - 2, 0, -1):
        lines += [f"{row}_{k} = uint64({rest} % uint32(n{k}))", f"{row}_rest{k} = {rest} // uint32(n{k})"]
        rest = f"uint32({row}_rest{k})"
    return lines, [f"uint64({rest})", *(f"{row}_{k}" for k in range(1, axes - 1))]


def power_of_two_from(n):
    """The least power of two that is not less."""
    return 1 << max(n - 1, 0).bit_length()


def launch_bounds(threads, shared):
    """(threads, blocks of a multiprocessor) of kernels whose blocks have so many bytes of shared memory; None where
    that leaves room for all threads. ptxas keeps to 32 registers else, and loads wait for one another."""
    blocks = _SHARED_BYTES // max(shared, 1)
    return None if blocks * threads >= _THREADS[0] else (threads, max(1, min(blocks, _THREADS[1] // threads)))
