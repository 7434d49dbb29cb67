"""Awkward Array's arrays as kernel arguments, by a declaration of their class."""
import runpy
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from cujit import cuda
from cujit.extending import as_type

ak = pytest.importorskip("awkward")
views = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "array_view.py"))


def layout_of(layout):
    if layout.is_numpy:
        return views["Flat"](np.asarray(layout.data))
    if layout.is_list:
        lists = layout.to_ListOffsetArray64()
        return views["Lists"](np.asarray(lists.offsets.data), layout_of(lists.content))
    fields = namedtuple("Fields", layout.fields)
    return views["Records"](fields(*map(layout_of, layout.contents)))


as_type(ak.Array, layout=None, start=int, stop=int, unpack=lambda array: (layout_of(array.layout), 0, len(array)))
View = views["View"]


def test_nested_lists_of_records():
    events = ak.Array([[{"weight": 1.0, "charge": 1}, {"weight": 2.0, "charge": -1}], [],
                       [{"weight": 5.0, "charge": 2}]])

    @cuda.jit
    def kernel(events, out):
        i = cuda.grid(1)
        if i < out.size:
            event = View(events.layout, events.start, events.stop)[i]
            for k in range(len(event)):
                out[i] += event["weight"][k] * event["charge"][k]

    out = np.zeros(3)
    kernel[1, 32](events, out)
    assert list(out) == [-1, 0, 10]
