"""The loop of guvectorize through shared memory, on a GPU: small arrays that lie one behind the other.

Where each thread reads an array of its own, neighbours access what is far apart. Here a block copies the arrays of its
threads into shared memory, neighbours reading what lies beside; each thread then runs the function on its arrays there;
and what it has written is copied back alike. Arrays in shared memory are an odd number of words apart, so that threads
which read the same element of theirs use all banks. Short axes are constants of the kernel: loops over them are
unrolled, and elements of inputs stay in registers.
"""
import math
from typing import NamedTuple

import numpy as np

from cujit._ufunc.flat import Flat, can_be_flat, launch_bounds, names, place, power_of_two_from
from cujit._ufunc.tile_loop import line_bytes
from cujit.cuda._array.array_views import view_of
from cujit.cuda.devicearray import DeviceNDArray

_ITEMS = 256, 128, 64, 32, 16, 8   # arrays of an operand in a block
_SHARED_BYTES = 44 * 1024          # of a block at most: several are on a multiprocessor
_LEAST_BYTES = 16                  # smaller arrays than this are read at once, or by neighbours soon after
_LEAST_THREADS = 128               # of a block: those without an array of their own copy, too
_AT_ONCE = 8                       # elements of each operand that a thread reads before it stores the first
_ALIGNMENT = 16
_LONGEST_KNOWN = 8                 # axes of arrays whose shape is known to the compiler, which unrolls loops over them


class Staged(NamedTuple):
    """What the source of such a kernel depends on."""

    operands: tuple   # an Operand each; None: a number
    items: int        # of a block
    threads: int      # of a block
    axes: int         # in front of the functions' own
    bounds: tuple | None   # of the launch (flat.launch_bounds())


class Operand(NamedTuple):
    """An array operand."""

    kinds: tuple        # of the steps (flat.py); (): it is not staged
    element: object     # its type in shared memory
    core: int           # axes that the function gets; 0: an element, by value
    lanes: int          # threads that copy an array together
    group: int          # operands of one number have arrays of one length, and are copied together
    is_read: bool       # whether it is copied in
    is_written: bool    # and back
    known: tuple = ()   # where the compiler knows them: lengths of its own axes, and the pitch
    is_dense: bool = False   # whether it also knows that the arrays lie one behind the other


def planned(operands, nin, core_axes, shape, keeps, threads, type_of):
    """(Staged, blocks, bytes of shared memory, arguments), or None where there is nothing to gain.

    operands: device arrays of `shape` and their own axes, or numbers, nin inputs first; core_axes: how many own axes
    each has; keeps: of each output, whether elements that the function does not write stay; threads: of a block at
    most; type_of: of a dtype, in kernels.
    """
    count = math.prod(shape)
    lead = len(shape)
    staged = [isinstance(x, DeviceNDArray) and _wants_shared(x, lead, core) for x, core in
              zip(operands, core_axes, strict=True)]
    if not any(staged) or count >= 1 << 31 or max(_bytes(x, lead) for x, own in zip(operands, staged, strict=True)
                                                  if own) <= _LEAST_BYTES:
        return None
    pitches = [line_bytes(math.prod(x.shape[lead:]), x.dtype.itemsize) if own else 0
               for x, own in zip(operands, staged, strict=True)]
    threads = 1 << (threads.bit_length() - 1)
    items = next((items for items in _ITEMS if items <= threads and items * sum(pitches) <= _SHARED_BYTES), None)
    if items is None:
        return None
    lengths = sorted({math.prod(x.shape[lead:]) for x, own in zip(operands, staged, strict=True) if own})
    known = all(n <= _LONGEST_KNOWN for x, own in zip(operands, staged, strict=True) if own for n in x.shape[lead:])
    described, arguments, offset = [], [np.uint64(count), *map(np.uint32, shape[1:])], 0
    for k, (x, own, core, pitch) in enumerate(zip(operands, staged, core_axes, pitches, strict=True)):
        if not own:
            described.append(Operand((), None, core, 0, 0, k < nin, k >= nin) if isinstance(x, DeviceNDArray) else None)
            arguments.append(x)
            continue
        length = math.prod(x.shape[lead:])
        flat = Flat(_without_core(x, lead))
        is_dense = known and flat.steps == (length, 1)
        described.append(Operand(flat.kinds[:-1], type_of(x.dtype), core, min(32, power_of_two_from(length)),
                                 lengths.index(length), k < nin or keeps[k - nin], k >= nin,
                                 (*x.shape[lead:], pitch // x.dtype.itemsize) if known else (), is_dense))
        arguments += [flat.memory] if is_dense else flat.arguments()
        if not known:
            arguments += [*map(np.uint32, x.shape[lead:]), np.uint64(pitch // x.dtype.itemsize), np.int64(offset)]
        offset += -(-items * pitch // _ALIGNMENT) * _ALIGNMENT
    threads = max(items, min(threads, _LEAST_THREADS))
    plan = Staged(tuple(described), items, threads, lead, launch_bounds(threads, offset))
    return plan, -(-count // items), 0 if known else offset, arguments


def _wants_shared(array, lead, core):
    """Whether the arrays of the operand have no gaps, and neighbouring threads have different ones."""
    own, itemsize = array.shape[lead:], array.dtype.itemsize
    stride = itemsize
    for n, given in zip(reversed(own), reversed(array.strides[lead:]), strict=True):
        if n != 1 and given != stride:
            return False
        stride *= n
    return (core > 0 and math.prod(own) > 1 and array.strides[lead - 1] != 0 and array.dtype.kind in "biufc"
            and can_be_flat(_without_core(array, lead)))


def _without_core(array, lead):
    """The array with its own axes as one."""
    return view_of(array, (*array.shape[:lead], math.prod(array.shape[lead:])),
                   (*array.strides[:lead], array.dtype.itemsize))


def _bytes(array, lead):
    return math.prod(array.shape[lead:]) * array.dtype.itemsize


# --- the source ------------------------------------------------------------------------------------------------------

def source(name, plan):
    """A kernel (how many calls, lengths of the axes in front but the first, operands...)."""
    parameters = ["count", *(f"n{k}" for k in range(1, plan.axes))]
    body = ["thread = uint64(cuda.threadIdx.x)", f"first = uint64(cuda.blockIdx.x) * uint64({plan.items})",
            f"here = min(count - first, uint64({plan.items}))"]
    for x, operand in _operands(plan):
        parameters += _parameters(x, operand)
        if operand is not None and operand.kinds:
            body += [f"{x}_length = uint64({' * '.join(_lengths(x, operand))})", *_shared_lines(plan, x, operand)]
    read = [(x, operand) for x, operand in _staged(plan) if operand.is_read]
    body += _copies(plan, read, _read)
    body += ["cuda.syncthreads()", "if thread < here:", *_indented(_call(plan))]
    written = [(x, operand) for x, operand in _staged(plan) if operand.is_written]
    if written:
        body += ["cuda.syncthreads()", *_copies(plan, written, _write)]
    return "\n".join([f"def {name}({', '.join(parameters)}):", *_indented(body)])


def names_for(plan):
    """What the source calls by a name beside the function and its types."""
    return {f"{x}_type": operand.element for x, operand in _staged(plan)}


def _shared_lines(plan, x, operand):
    """The operand's array in shared memory, and what is known of its step in global memory."""
    if not operand.known:
        return [f"{x}_items = cuda.shared.dynamic(uint64({plan.items}) * {x}_pitch, {x}_type, {x}_offset)"]
    return [f"{x}_items = cuda.shared.array(({plan.items}, {operand.known[-1]}), {x}_type)",
            *([f"{x}_step0 = {x}_length"] if operand.is_dense else [])]


def _operands(plan):
    return [(f"x{k}", operand) for k, operand in enumerate(plan.operands)]


def _staged(plan):
    return [(x, operand) for x, operand in _operands(plan) if operand is not None and operand.kinds]


def _parameters(x, operand):
    if operand is None or not operand.kinds:
        return [x]
    own = [] if operand.known else [*_lengths(x, operand), f"{x}_pitch", f"{x}_offset"]
    return [*([x] if operand.is_dense else names(x, operand.kinds)), *own]


def _lengths(x, operand):
    """Expressions for the lengths of the axes that the function gets."""
    return [*map(str, operand.known[:-1])] if operand.known else [f"{x}_n{k}" for k in range(operand.core)]


def _indented(lines):
    return ["    " + line for line in lines]


def _indices(plan, item, name):
    """(lines, expressions) of the indices of an item along the axes in front."""
    if plan.axes == 1:
        return [], [item]
    lines, rest = [f"{name}_rest = uint32({item})"], f"{name}_rest"
    for k in range(plan.axes - 1, 0, -1):
        lines += [f"{name}_{k} = uint64({rest} % n{k})", f"{rest} = uint32({rest} // n{k})"]
    return lines, [f"uint64({rest})", *(f"{name}_{k}" for k in range(1, plan.axes))]


def _copies(plan, operands, line):
    """The arrays of the operands between global and shared memory, those of one length together."""
    lines = []
    for group in sorted({operand.group for _, operand in operands}):
        own = [(x, operand) for x, operand in operands if operand.group == group]
        lines += _copies_of_one_length(plan, own, plan.threads // own[0][1].lanes, line)
    return lines


def _copies_of_one_length(plan, operands, lines_at_once, line):
    """A whole block has several arrays of a thread on their way at once, the last one copies one after another."""
    x, first = operands[0]
    at_once = min(_AT_ONCE, max(plan.items // lines_at_once, 1))
    lines = [f"lane = thread % uint64({first.lanes})", f"line = thread // uint64({first.lanes})"]
    items, body = [f"(line + uint64(k + {r * lines_at_once}))" for r in range(at_once)], []
    for r, item in enumerate(items):
        own, indices = _indices(plan, f"(first + {item})", f"i{r}")
        body += [*own, *(f"{x}_base{r} = {place(x, operand.kinds, indices)}" for x, operand in operands)]
    inner = [part(x, r, _in_shared(x, operand, item)) for part in line for r, item in enumerate(items)
             for x, operand in operands]
    body += [f"for j in range(lane, {x}_length, uint64({first.lanes})):", *_indented(inner)]
    whole = [f"for k in range(0, {plan.items}, {lines_at_once * at_once}):", *_indented(body)]
    own, indices = _indices(plan, "(first + item)", "i")
    edge = [f"for item in range(line, here, uint64({lines_at_once})):", *_indented([
        *own, *(f"{x}_base0 = {place(x, operand.kinds, indices)}" for x, operand in operands),
        f"for j in range(lane, {x}_length, uint64({first.lanes})):",
        *_indented([part(x, 0, _in_shared(x, operand, "item")) for part in line for x, operand in operands])])]
    if plan.items < lines_at_once:   # more threads than arrays
        return [*lines, *edge]
    return [*lines, f"if here == uint64({plan.items}):", *_indented(whole), "else:", *_indented(edge)]


def _in_shared(x, operand, item):
    """Element j of an item."""
    return f"{x}_items[{item}, j]" if operand.known else f"{x}_items[{item} * {x}_pitch + j]"


# The two steps of a copy of an element: what is read of all operands and items, then what is stored.
_read = (lambda x, r, shared: f"{x}_value{r} = {x}[{x}_base{r} + j]",
         lambda x, r, shared: f"{shared} = {x}_value{r}")
_write = (lambda x, r, shared: f"{x}_value{r} = {shared}",
          lambda x, r, shared: f"{x}[{x}_base{r} + j] = {x}_value{r}")


def _call(plan):
    """The thread's call of the function."""
    lines, indices = _indices(plan, "(first + thread)", "i")
    arguments = []
    for k, (x, operand) in enumerate(_operands(plan)):
        if operand is None:
            arguments.append(f"type{k}({x})")
        elif operand.kinds:
            items = f"{x}_items[thread, :{x}_length]" if operand.known else (
                f"{x}_items[thread * {x}_pitch:thread * {x}_pitch + {x}_length]")
            shape = ", ".join(_lengths(x, operand))
            arguments.append(items if operand.core == 1 else f"{items}.reshape(({shape}))")
        else:
            item = f"{x}[{', '.join(indices)}]"
            arguments.append(item if operand.core else f"type{k}({item})")
    return [*lines, f"function({', '.join(arguments)})"]
