"""What the threads of a block or warp do together with values in registers: cuda.block and cuda.warp.

Several items of a thread are a tuple. In blocked order thread t has items t * k to t * k + k - 1 of all, in striped
order items t, t + threads, ... . All threads of the block, or of the warp, must call; blocks are of any number of
threads. The operations must be associative; the order of items is kept.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import cuda
from cujit._kernel_functions import warp_reduce
from cujit._kernel_functions.cooperative_groups import bits_below, rank_in_block, threads_of_block
from cujit._kernel_functions.items import (
    change_numbers,
    combined,
    copied,
    in_memory,
    item_at,
    items_in,
    memory_for,
    of_both,
    of_each,
    of_lane,
    of_lane_below,
    put,
    refuse_arrays,
    row_of_warps,
    start_of,
)
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.warp_reduce import sum_of
from cujit.types import boolean, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import Integer

MOST_THREADS = 1024
MOST_ITEMS = 64  # of a thread


def lanes_of_warp(rank, size):
    """A mask of the lanes that the warp of this thread has."""
    return bits_below(min(32, size - rank // 32 * 32))


# --- several items of a thread ---------------------------------------------------------------------------------------

def each_with_all_before(items, op):
    found = memory_for(len(items), items[0])
    put(found, 0, items[0])
    for k in range(1, len(items)):
        put(found, k, combined(op, items[0], item_at(found, k - 1, items[0]), items[k]))
    return items_in(found, len(items), items[0])


def behind(before, items, op):
    if cuda._is_one(before):
        return tuple(combined(op, before, before, item) for item in items)
    found = memory_for(len(items), before)
    for k in range(len(items)):
        put(found, k, combined(op, before, before, items[k]))
    return items_in(found, len(items), before)


def behind_the_start(before, items, op):
    if cuda._is_one(before):
        return tuple(before if k == 0 else combined(op, before, before, items[k - 1]) for k in range(len(items)))
    found = memory_for(len(items), before)
    put(found, 0, before)
    for k in range(1, len(items)):
        put(found, k, combined(op, before, before, items[k - 1]))
    return items_in(found, len(items), before)


# --- warps -----------------------------------------------------------------------------------------------------------

def scan_lanes(mask, lane, value, op):
    for distance in (1, 2, 4, 8, 16):
        below = of_lane_below(mask, value, distance)
        if lane >= distance:
            value = combined(op, value, below, value)
    return value


@stands_for("cuda.warp.inclusive_scan", doc="op over the values of the lanes of the warp up to this one.")
def warp_inclusive_scan(value: Any, op: Callable[[Any, Any], Any] = sum_of) -> Any:
    rank = rank_in_block()
    mask, lane = lanes_of_warp(rank, threads_of_block()), rank & 31
    if cuda._is_plain_tuple(value):
        items = each_with_all_before(value, op)
        up_to = scan_lanes(mask, lane, items[-1], op)
        before = of_lane_below(mask, up_to, 1)
        return behind(before, items, op) if lane > 0 else items
    return scan_lanes(mask, lane, value, op)


@stands_for("cuda.warp.exclusive_scan",
            doc="op over the start and the values of the lanes of the warp before this one; the start in the first.")
def warp_exclusive_scan(value: Any, op: Callable[[Any, Any], Any] = sum_of, init: Any = None) -> Any:
    rank = rank_in_block()
    mask, lane = lanes_of_warp(rank, threads_of_block()), rank & 31
    if cuda._is_plain_tuple(value):
        start, items = start_of(value[0], init), each_with_all_before(value, op)
        below = of_lane_below(mask, scan_lanes(mask, lane, items[-1], op), 1)
        before = combined(op, start, start, below) if lane > 0 else start
        return behind_the_start(before, items, op)
    start = start_of(value, init)
    below = of_lane_below(mask, scan_lanes(mask, lane, value, op), 1)
    return combined(op, value, start, below) if lane > 0 else start


@stands_for("cuda.warp.reduce", doc="op over the values of all lanes of the warp, in every lane.")
def warp_reduce_values(value: Any, op: Callable[[Any, Any], Any] = sum_of) -> Any:
    rank, size = rank_in_block(), threads_of_block()
    mask = lanes_of_warp(rank, size)
    own = each_with_all_before(value, op)[-1] if cuda._is_plain_tuple(value) else value
    if op is sum_of and cuda._is_one(own):
        return warp_reduce.reduce_add(mask, own)
    return of_lane(mask, scan_lanes(mask, rank & 31, own, op), min(31, size - rank // 32 * 32 - 1))


# --- blocks ----------------------------------------------------------------------------------------------------------

def before_the_thread(value, op):
    """(what the threads before this one have, of which there may be none; whether there are some; what all have)."""
    rank, size = rank_in_block(), threads_of_block()
    mask, lane, warp, warps = lanes_of_warp(rank, size), rank & 31, rank // 32, (size + 31) // 32
    of_warps = row_of_warps(value, ())
    up_to = scan_lanes(mask, lane, value, op)
    below = of_lane_below(mask, up_to, 1)
    cuda.syncthreads()   # an earlier call may still be read
    if lane == 31 or rank == size - 1:
        put(of_warps, warp, up_to)
    cuda.syncthreads()
    total = copied(item_at(of_warps, 0, value))
    before = copied(total)
    for w in range(1, warps):
        if w == warp:
            before = copied(total)
        total = combined(op, value, total, item_at(of_warps, w, value))
    if warp == 0:
        before = below
    elif lane > 0:
        before = combined(op, value, before, below)
    return before, rank > 0, total


@stands_for("cuda.block.inclusive_scan",
            doc="op over the values of the threads of the block up to this one; also of tuples of items.")
def block_inclusive_scan(value: Any, op: Callable[[Any, Any], Any] = sum_of) -> Any:
    if cuda._is_plain_tuple(value):
        items = each_with_all_before(value, op)
        before, has_before, _ = before_the_thread(items[-1], op)
        return behind(before, items, op) if has_before else items
    before, has_before, _ = before_the_thread(value, op)
    return combined(op, value, before, value) if has_before else copied(value)


@stands_for("cuda.block.exclusive_scan",
            doc="op over the start and the values of the threads of the block before this one; also of tuples of "
                "items.")
def block_exclusive_scan(value: Any, op: Callable[[Any, Any], Any] = sum_of, init: Any = None) -> Any:
    if cuda._is_plain_tuple(value):
        start, items = start_of(value[0], init), each_with_all_before(value, op)
        own, has_before, _ = before_the_thread(items[-1], op)
        before = combined(op, start, start, own) if has_before else start
        return behind_the_start(before, items, op)
    start = start_of(value, init)
    own, has_before, _ = before_the_thread(value, op)
    return combined(op, value, start, own) if has_before else start


@stands_for("cuda.block.reduce", doc="op over the values of all threads of the block, in every thread of it.")
def block_reduce(value: Any, op: Callable[[Any, Any], Any] = sum_of) -> Any:
    own = each_with_all_before(value, op)[-1] if cuda._is_plain_tuple(value) else value
    _, _, total = before_the_thread(own, op)
    return total


# --- exchange --------------------------------------------------------------------------------------------------------

def row_of(item):
    """Where the block exchanges such numbers: one array for all functions, each of which waits before it writes."""
    return cuda.shared.array(MOST_THREADS, type(item))


def numbers_to_blocked(items):
    count, rank, size = len(items), rank_in_block(), threads_of_block()
    row, found = row_of(items[0]), cuda.local.array(len(items), type(items[0]))
    for r in range(count):
        cuda.syncthreads()
        row[rank] = items[r]
        cuda.syncthreads()
        for k in range(count):
            place = rank * count + k - r * size
            if 0 <= place < size:
                found[k] = row[place]
    return tuple(found[k] for k in range(count))


def numbers_to_striped(items):
    count, rank, size = len(items), rank_in_block(), threads_of_block()
    row, found = row_of(items[0]), cuda.local.array(len(items), type(items[0]))
    for r in range(count):
        cuda.syncthreads()
        for k in range(count):
            place = rank * count + k - r * size
            if 0 <= place < size:
                row[place] = items[k]
        cuda.syncthreads()
        found[r] = row[rank]
    return tuple(found[k] for k in range(count))


def exchanged(items, exchange):
    """exchange(numbers) of a tuple is done to all numbers that items have."""
    if cuda._is_one(items[0]):
        return exchange(items)
    memory = in_memory(items)
    change_numbers(memory, len(items), numbers_of(exchange), None)
    return items_in(memory, len(items), items[0])


def numbers_of(exchange):
    def change(array, count, places):
        found = exchange(tuple(array[k] for k in range(count)))
        for k in range(count):
            array[k] = found[k]
    return change


@stands_for("cuda.block.to_blocked", doc="The items of the block in blocked order, from those in striped order.")
def to_blocked(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return exchanged(items, numbers_to_blocked)


@stands_for("cuda.block.to_striped", doc="The items of the block in striped order, from those in blocked order.")
def to_striped(items: tuple[Any, ...]) -> tuple[Any, ...]:
    return exchanged(items, numbers_to_striped)


@stands_for("cuda.block.load",
            doc="A tuple of `count` items of each thread, in blocked order, from array[first] on; neighbouring threads "
                "read neighbouring elements. Behind the end of the array items are `default`. A tuple or an instance "
                "of arrays has items of that kind.")
def block_load(array: Any, first: Integer, count: int, default: Any = None) -> tuple[Any, ...]:
    return to_blocked(load_striped(array, first, count, default))


@stands_for("cuda.block.load_striped",
            doc="A tuple of `count` items of each thread, in striped order, from array[first] on. Behind the end of "
                "the array items are `default`.")
def load_striped(array: Any, first: Integer, count: int, default: Any = None) -> tuple[Any, ...]:
    like = element_of(array, 0)
    refuse_arrays(like)
    if count < 1 or count > MOST_ITEMS:
        cuda._refuse("a thread has 1 to 64 items")
    start, size = first + rank_in_block(), threads_of_block()
    if cuda._is_one(like):
        return tuple(element_or(array, start + k * size, default, like) for k in range(count))
    items = memory_for(count, like)
    for k in range(count):
        put(items, k, element_or(array, start + k * size, default, like))
    return items_in(items, count, like)


def element_of(array, i):
    """An element of an array; of a tuple or an instance of arrays one of each."""
    if len(cuda._fields(array)) > 0:
        return cuda._with_fields(array, of_each(lambda own: element_of(own, i), cuda._fields(array)))
    return array[i]


def length_of(array):
    return length_of(cuda._fields(array)[0]) if len(cuda._fields(array)) > 0 else array.size


def element_or(array, i, default, like):
    return element_of(array, i) if i < length_of(array) else start_of(like, default)


def store_element(array, i, item):
    if len(cuda._fields(array)) > 0:
        of_both(lambda own, field: store_element(own, i, field), cuda._fields(array), cuda._fields(item))
    else:
        array[i] = item


@stands_for("cuda.block.store",
            doc="Stores the items of each thread, in blocked order, from array[first] on; neighbouring threads write "
                "neighbouring elements. What is behind the end of the array is left out.")
def block_store(array: Any, first: Integer, items: Any) -> None:
    store_striped(array, first, to_striped(items) if cuda._is_plain_tuple(items) else (items,))


@stands_for("cuda.block.store_striped",
            doc="Stores the items of each thread, in striped order, from array[first] on. What is behind the end of "
                "the array is left out.")
def store_striped(array: Any, first: Integer, items: Any) -> None:
    start, size = first + rank_in_block(), threads_of_block()
    own = items if cuda._is_plain_tuple(items) else (items,)
    for k in range(len(own)):
        if start + k * size < length_of(array):
            store_element(array, start + k * size, own[k])


# --- histogram and sort ----------------------------------------------------------------------------------------------

@stands_for("cuda.block.histogram",
            doc="A shared array of `bins` counts, known while compiling: how many items of the block each bin has; "
                "items outside of the bins are not counted.")
def block_histogram(items: Any, bins: int) -> Any:
    counts, rank, size = cuda.shared.array(bins, int32), rank_in_block(), threads_of_block()
    cuda.syncthreads()
    for k in range(rank, bins, size):
        counts[k] = 0
    cuda.syncthreads()
    if isinstance(items, tuple):
        for k in range(len(items)):
            if 0 <= items[k] < bins:
                cuda.atomic.add(counts, items[k], 1)
    elif 0 <= items < bins:
        cuda.atomic.add(counts, items, 1)
    cuda.syncthreads()
    return counts


def in_order(value):
    """Bits that are ordered as the numbers are: -0.0 is 0.0, and NaN comes last. Narrow numbers have narrow words."""
    if isinstance(value, (boolean, uint8, uint16, uint32)):
        return uint32(value)
    if isinstance(value, uint64):
        return value
    if isinstance(value, (int8, int16)):
        return uint32(value + 128 if isinstance(value, int8) else value + 32768)
    if isinstance(value, int32):
        return uint32(uint32(value) ^ uint32(1 << 31))
    if isinstance(value, int64):
        return uint64(value) ^ uint64(1 << 63)
    if isinstance(value, (float16, float32)):
        return of_float(float32(value), uint32, uint32(1 << 31))   # every float16 is a float32 of the same order
    if not isinstance(value, float64):
        cuda._refuse("radix_sort takes integers and floats as keys")
    return of_float(value, uint64, uint64(1 << 63))


def of_float(value, number, sign):
    word = cuda.local.array(1, type(value))
    word[0] = value
    bits, ones = word.view(number)[0], number(sign | (sign - number(1)))
    if value != value:
        return ones
    if value == type(value)(0):
        return sign
    return number(bits ^ ones) if bits & sign else number(bits ^ sign)


def lowest_bit(value):
    """From which bit on the order of such numbers differs."""
    return 13 if isinstance(value, float16) else 0


def bits_in_use(value):
    if isinstance(value, (boolean, int8, uint8)):
        return 8
    if isinstance(value, (int16, uint16)):
        return 16
    return 64 if isinstance(value, (int64, uint64, float64)) else 32


def in_descending_order(value):
    """The same the other way round, NaN last here too."""
    order = in_order(value)
    ones = ~type(order)(0)
    return order if value != value else type(order)(order ^ ones)


def digit_of(order, shift, mask):
    return int32((order >> type(order)(shift)) & type(order)(mask))


def bits_from(value, begin_bit):
    """The first bit of the keys' order that counts."""
    if begin_bit is None:
        return lowest_bit(value)
    if isinstance(value, float16):
        cuda._refuse("radix_sort takes begin_bit and end_bit with integers, float32 and float64")
    return begin_bit


def bits_to(value, end_bit):
    """The one behind the last."""
    if end_bit is None:
        return bits_in_use(value)
    if isinstance(value, float16):
        cuda._refuse("radix_sort takes begin_bit and end_bit with integers, float32 and float64")
    return min(end_bit, bits_in_use(value))


def scatter(items, count, places):
    """Item k of each thread gets to its place in the blocked order."""
    rank, size = rank_in_block(), threads_of_block()
    row, found = row_of(items[0]), cuda.local.array(count, type(items[0]))
    for r in range(count):
        cuda.syncthreads()
        for k in range(count):
            place = places[k] - r * size
            if 0 <= place < size:
                row[place] = items[k]
        cuda.syncthreads()
        for k in range(count):
            place = rank * count + k - r * size
            if 0 <= place < size:
                found[k] = row[place]
    for k in range(count):
        items[k] = found[k]


def places_by_digit(order, shift, mask, count, places):
    """Where each item goes: behind all items of lower digits of 4 bits, and those of its own before it. mask: 15, or
    less where fewer bits count. 16 counts of 16 bits are 4 words, each of which is scanned at once."""
    words, before, starts = cuda.local.array(4, uint64), cuda.local.array(4, uint64), cuda.local.array(16, int32)
    for w in range(4):
        words[w] = uint64(0)
    for k in range(count):
        d = digit_of(order[k], shift, mask)
        part = uint64((d & 3) * 16)
        places[k] = int32((words[d >> 2] >> part) & uint64(0xFFFF))
        words[d >> 2] = words[d >> 2] + (uint64(1) << part)
    lower = 0
    for w in range(4):
        own, has_before, total = before_the_thread(words[w], sum_of)
        before[w] = own if has_before else uint64(0)
        for j in range(4):
            part = uint64(16 * j)
            starts[4 * w + j] = lower + int32((before[w] >> part) & uint64(0xFFFF))
            lower += int32((total >> part) & uint64(0xFFFF))
    for k in range(count):
        places[k] += starts[digit_of(order[k], shift, mask)]


def sorted_by_fields(keys, items, descending):
    """The items in the order of their keys' fields. Sorting is stable: by the last field first."""
    fields = tuple(cuda._fields(key) for key in keys)
    last = tuple(own[-1] for own in fields)
    if len(fields[0]) == 1:
        return radix_sort(last, items, descending)[1]
    moved = radix_sort(last, tuple((own[:-1], item) for own, item in zip(fields, items)), descending)[1]
    return sorted_by_fields(tuple(each[0] for each in moved), tuple(each[1] for each in moved), descending)


@stands_for("cuda.block.radix_sort",
            doc="The items of the block in order, NaN last, stable, in blocked order; with values (keys, values), each "
                "value where its key is. Keys are numbers, or tuples and instances of them, which are sorted by their "
                "first field, then by the next; values are of any kind. descending: the largest come first. begin_bit, "
                "end_bit: only those bits of the keys count, of signed numbers and floats as CUB has them: of words in "
                "the keys' order.")
def radix_sort(keys: Any, values: Any = None, descending: bool = False, begin_bit: Integer | None = None,
               end_bit: Integer | None = None) -> Any:
    if not cuda._is_plain_tuple(keys):
        if values is None:
            return radix_sort((keys,), None, descending, begin_bit, end_bit)[0]
        own, moved = radix_sort((keys,), (values,), descending, begin_bit, end_bit)
        return own[0], moved[0]
    count = len(keys)
    if count > MOST_ITEMS - 1:
        cuda._refuse("radix_sort takes at most 63 items of a thread")
    if values is not None and len(values) != count:
        cuda._refuse("radix_sort takes as many values as keys")
    if len(cuda._fields(keys[0])) > 0:
        if begin_bit is not None or end_bit is not None:
            cuda._refuse("radix_sort takes begin_bit and end_bit with numbers")
        if values is None:
            return sorted_by_fields(keys, keys, descending)
        pairs = sorted_by_fields(keys, tuple((key, value) for key, value in zip(keys, values)), descending)
        return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)
    if hasattr(keys[0], "shape"):
        cuda._refuse("radix_sort takes records as values; keys are numbers, or tuples and instances of them")
    own, places = cuda.local.array(count, type(keys[0])), cuda.local.array(count, int32)
    order = cuda.local.array(count, type(in_order(keys[0])))
    if values is not None:
        moved = in_memory(values)
    for k in range(count):
        own[k] = keys[k]
    end = bits_to(keys[0], end_bit)
    for shift in range(bits_from(keys[0], begin_bit), end, 4):
        for k in range(count):
            order[k] = in_descending_order(own[k]) if descending else in_order(own[k])
        mask = 15 if end_bit is None else (1 << min(4, end - shift)) - 1
        places_by_digit(order, shift, mask, count, places)
        scatter(own, count, places)
        if values is not None:
            change_numbers(moved, count, scatter, places)
    if values is None:
        return tuple(own[k] for k in range(count))
    return tuple(own[k] for k in range(count)), items_in(moved, count, values[0])
