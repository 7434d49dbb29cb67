"""Items of any kind, which threads hand to each other: numbers, records, tuples, named tuples, dataclasses of them.

`like` is an item of the kind that is meant. A record is a reference to memory, which the next call at the same place
uses again: what is kept longer is copied. Memory for items is an array, or for what has fields a tuple of memory for
each.
"""
from cujit import cuda
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import uint8, uint16, uint32


def words_of(records):
    """An array of records as one of numbers, as large ones as there are in a record."""
    if records.itemsize % 4 == 0:
        return records.view(uint32)
    return records.view(uint16) if records.itemsize % 2 == 0 else records.view(uint8)


def refuse_arrays(item):
    if hasattr(item, "shape") and len(item.shape) > 0:
        cuda._refuse("arrays are no items that threads exchange; exchange their elements")


def of_each(function, fields):
    """A tuple of what the function gives for each field; they may be of different types."""
    if len(fields) == 0:
        return ()
    return (function(fields[0]), *of_each(function, fields[1:]))


def of_both(function, first, second):
    """Likewise of the fields of two, side by side."""
    if len(first) == 0:
        return ()
    return (function(first[0], second[0]), *of_both(function, first[1:], second[1:]))


# --- memory ----------------------------------------------------------------------------------------------------------

def memory_for(count, like):
    """The thread's own memory for so many items."""
    refuse_arrays(like)
    if hasattr(like, "shape"):
        return cuda.local.array(count, like.dtype)
    if cuda._is_one(like):
        return cuda.local.array(count, type(like))
    return memory_for_each(count, cuda._fields(like))


def memory_for_each(count, fields):
    if len(fields) == 0:
        return ()
    return (memory_for(count, fields[0]), *memory_for_each(count, fields[1:]))


def put(memory, k, item):
    if isinstance(memory, tuple):
        of_both(lambda own, field: put(own, k, field), memory, cuda._fields(item))
    else:
        memory[k] = item


def item_at(memory, k, like):
    if isinstance(memory, tuple):
        return cuda._with_fields(like, of_both(lambda own, field: item_at(own, k, field), memory, cuda._fields(like)))
    return memory[k]


def clear(memory):
    """Records have bytes between their fields, which move with them."""
    if isinstance(memory, tuple):
        of_each(clear, memory)
    elif hasattr(memory[0], "shape"):
        words = words_of(memory)
        for k in range(words.size):
            words[k] = 0


def in_memory(items):
    memory = memory_for(len(items), items[0])
    clear(memory)
    for k in range(len(items)):
        put(memory, k, items[k])
    return memory


def items_in(memory, count, like):
    return tuple(item_at(memory, k, like) for k in range(count))


def copied(item):
    """The item; where it is or has a record, this is another one."""
    if hasattr(item, "shape"):
        memory = memory_for(1, item)
        memory[0] = item
        return memory[0]
    if cuda._is_one(item):
        return item
    return cuda._with_fields(item, of_each(copied, cuda._fields(item)))


# --- functions of two items ------------------------------------------------------------------------------------------

def as_like(like, item):
    """The item with the types of the other one."""
    if cuda._is_one(like):
        return type(like)(item)
    if hasattr(like, "shape"):
        if not hasattr(item, "shape"):
            cuda._refuse("what stands for a record is a record of the same dtype: an argument of the function, or an "
                         "element of an array, such as a cuda.local.array")
        return item
    if len(cuda._fields(item)) != len(cuda._fields(like)):
        cuda._refuse("what stands for an item has as many fields as it")
    return cuda._with_fields(like, of_both(as_like, cuda._fields(like), cuda._fields(item)))


@tells_overflow
def combined(op, like, a, b):
    """Twice copied: fields that change places do not overwrite each other."""
    if cuda._is_one(like):
        return type(like)(op(a, b))
    return copied(copied(as_like(like, op(a, b))))


def zeros(record):
    memory = memory_for(1, record)
    clear(memory)
    return memory[0]


def start_of(like, init):
    """A start or a default; None: of zeros only."""
    if len(cuda._fields(like)) > 0 and (init is None or cuda._is_one(init)):
        return cuda._with_fields(like, of_each(lambda field: start_of(field, init), cuda._fields(like)))
    if init is None:
        return zeros(like) if hasattr(like, "shape") else type(like)(0)
    return as_like(like, init)


# --- lanes -----------------------------------------------------------------------------------------------------------

def shuffled_record(record, shuffle, mask, lane):
    own, found = memory_for(1, record), memory_for(1, record)
    clear(own)
    own[0] = record
    source, target = words_of(own), words_of(found)
    for k in range(source.size):
        target[k] = shuffle(mask, source[k], lane)
    return found[0]


def shuffled(item, shuffle, mask, lane):
    if hasattr(item, "shape"):
        return shuffled_record(item, shuffle, mask, lane)
    if cuda._is_one(item):
        return type(item)(shuffle(mask, item, lane))
    return cuda._with_fields(item, of_each(lambda field: shuffled(field, shuffle, mask, lane), cuda._fields(item)))


def of_lane_below(mask, item, distance):
    return shuffled(item, cuda.shfl_up_sync, mask, distance)


def of_lane(mask, item, lane):
    return shuffled(item, cuda.shfl_sync, mask, lane)


# --- shared memory ---------------------------------------------------------------------------------------------------

def rows_of_fields(fields, path):
    if len(fields) == 0:
        return ()
    return (row_of_warps(fields[0], (path, ())), *rows_of_fields(fields[1:], (path,)))


def row_of_warps(like, path):
    """Shared memory for an item of each warp. A function has one array for arguments of one type: the path, a tuple of
    tuples, is another type for each field."""
    refuse_arrays(like)
    if hasattr(like, "shape"):
        return cuda.shared.array(32, like.dtype)
    if cuda._is_one(like):
        return cuda.shared.array(32, type(like))
    return rows_of_fields(cuda._fields(like), path)


# --- numbers of items ------------------------------------------------------------------------------------------------

def change_column(words, j, count, exchange, places):
    """Words j of so many records."""
    size = words.size // count
    column = cuda.local.array(count, type(words[0]))
    for k in range(count):
        column[k] = words[k * size + j]
    exchange(column, count, places)
    for k in range(count):
        words[k * size + j] = column[k]


def change_numbers(memory, count, exchange, places):
    """exchange(array, count, places) changes an array of `count` numbers of each thread; this all numbers of items."""
    if isinstance(memory, tuple):
        if len(memory) > 0:
            change_numbers(memory[0], count, exchange, places)
            change_numbers(memory[1:], count, exchange, places)
    elif hasattr(memory[0], "shape"):
        words = words_of(memory)
        for j in range(words.size // count):
            change_column(words, j, count, exchange, places)
    else:
        exchange(memory, count, places)
