"""Functions over anything that a for loop takes: map, filter, reduce, min and max with all their forms, ..."""
import importlib

from cujit._kernel_functions import operators
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow


def missing():
    """Stands for an argument that was not given."""


@stands_for("builtins.map", doc="The function of the items, one by one.")
def map(function, *iterables):
    return (function(*items) for items in zip(*iterables))


@stands_for("builtins.filter", doc="The items for which the function is true.")
def filter(function, iterable):
    for item in iterable:
        if function is None:
            if item:
                yield item
        elif function(item):
            yield item


@stands_for("functools.reduce", doc="The items combined by a function of two, from the left.")
def reduce(function, iterable, initial=missing):
    is_first = initial is missing
    if initial is not missing:
        result = initial
    for item in iterable:
        if is_first:
            result = item
            is_first = False
        else:
            result = function(result, item)
    if is_first:
        raise TypeError("reduce() of empty iterable with no initial value")
    return result


@stands_for("functools.partial", doc="A function with its first arguments given.")
def partial(function, /, *given, **keywords):
    def call(*others, **more):
        return function(*given, *others, **{**keywords, **more})
    return call


def captured_partial(function, given, keywords):
    """On the host: what a captured functools.partial or class method is to kernels."""
    return partial(function, *given, **keywords)


def captured_object(module, name, value):
    """On the host: what a captured operator.itemgetter or the like is to kernels, by the function for its class."""
    make, given = value.__reduce__()
    given = (*getattr(make, "args", ()), *given)   # of a functools.partial, where there are keywords
    function = getattr(importlib.import_module(f"cujit._kernel_functions.{module}"), name)
    return function(*given, **getattr(make, "keywords", {}))


@stands_for("math.prod", doc="The product of the items.")
@tells_overflow
def prod(iterable, *, start=1):
    result = start
    for item in iterable:
        result *= item
    return result


def first_by(choose, is_before, empty):
    def first(*items, key=None, default=missing):
        if len(items) == 1:
            iterable = items[0]
        else:
            iterable = items
        is_first = True
        for item in iterable:
            if is_first:
                best = item
                if key is not None:
                    best_key = key(item)
                is_first = False
            elif key is None:
                best = choose(best, item)
            else:
                its_key = key(item)
                if is_before(its_key, best_key):
                    best, best_key = item, its_key
        if is_first:
            if default is missing:
                raise ValueError(empty)
            best = default
        return best
    return first


smallest = stands_for("builtins.min")(first_by(min, operators.lt, "min() iterable argument is empty"))
largest = stands_for("builtins.max")(first_by(max, operators.gt, "max() iterable argument is empty"))


def place_of(keys, k, reverse):
    """Where the item with key number k belongs: behind all that come before it, and what is equal keeps its order."""
    place = 0
    for i in range(len(keys)):
        a, b = keys[i], keys[k]
        if reverse:
            a, b = b, a
        if a < b or (i < k and a == b):
            place += 1
    return place


def item_at(items, places, place):
    found = items[0]
    for k in range(len(items)):
        if places[k] == place:
            found = items[k]
    return found


@stands_for("builtins.sorted", doc="The items of a tuple in order, as a tuple.")
def sorted(iterable, *, key=None, reverse=False):
    items = tuple(iterable)
    if key is None:
        keys = items
    else:
        keys = tuple(key(item) for item in items)
    places = tuple(place_of(keys, k, reverse) for k in range(len(items)))
    return tuple(item_at(items, places, place) for place in range(len(items)))
