"""Nested lists and records as kernel arguments: a library's class, declared with cujit.extending, whose elements a
kernel reaches as in Python. The layouts are those of Awkward Array; a view is a part of one of them."""
import operator
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from cujit import cuda, types
from cujit.extending import as_type, overload


class Flat(NamedTuple):
    """Numbers."""

    data: Any


class Lists(NamedTuple):
    """Lists one after another: the i-th lies in `content` from offsets[i] to offsets[i + 1]."""

    offsets: Any
    content: Any


class Records(NamedTuple):
    """Records, field by field: `fields` is a named tuple of layouts."""

    fields: Any


class View:
    """The elements from start to stop of a layout."""

    def __init__(self, layout, start, stop):
        self.layout, self.start, self.stop = layout, start, stop


ViewType = as_type(View, layout=None, start=int, stop=int, constructor=True)


def layout_of(view):
    """The class of a view's layout, of the view's type."""
    return view.types[view.fields.index("layout")].name.partition("(")[0]


@overload(len)
def view_length(view):
    if isinstance(view, ViewType):
        return lambda view: view.stop - view.start
    return None


@overload(operator.getitem)
def view_item(view, where):
    if not isinstance(view, ViewType):
        return None
    layout = layout_of(view)
    if isinstance(where, types.StringLiteral) and layout == "Records":
        name = where.literal_value
        return lambda view, where: View(getattr(view.layout.fields, name), view.start, view.stop)
    if not isinstance(where, types.Integer):
        return None
    if layout == "Flat":
        return lambda view, where: view.layout.data[view.start + where]
    if layout == "Lists":
        def sublist(view, where):
            i = view.start + where
            return View(view.layout.content, view.layout.offsets[i], view.layout.offsets[i + 1])
        return sublist
    return lambda view, where: View(view.layout, view.start + where, view.start + where + 1)


@cuda.jit
def sums(events, out):
    """For each event the sum of what its particles weigh times their charge."""
    i = cuda.grid(1)
    if i < len(events):
        particles = events[i]
        weights, charges = particles["weight"], particles["charge"]
        total = 0.0
        for k in range(len(particles)):
            total += weights[k] * charges[k]
        out[i] = total


def main(n=1000):
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 5, n))])
    weight, charge = rng.random(offsets[-1]), rng.integers(-1, 2, offsets[-1])
    Fields = namedtuple("Fields", ["weight", "charge"])
    particles = Records(Fields(Flat(weight), Flat(charge)))

    out = np.zeros(n)
    sums[-(-n // 128), 128](View(Lists(offsets, particles), 0, n), out)
    products = np.concatenate([[0], np.cumsum(weight * charge)])
    np.testing.assert_allclose(out, products[offsets[1:]] - products[offsets[:-1]], atol=1e-9)
    return f"{n} events, {offsets[-1]} particles"


if __name__ == "__main__":
    print(main())
