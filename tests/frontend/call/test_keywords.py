"""Parameters of intrinsics by name: those that docs/intrinsics.md shows are those that a kernel can use."""
import re

import numpy as np
import pytest

from cujit import _core, cuda, float16, float32, typeof, types

TABLE = np.arange(4)
SAMPLES = {"x": "3", "condition": "True", "a": "1", "b": "2", "c": "3", "ndim": "1", "array": "out",
           "ndarray": "TABLE", "i": "0", "index": "0", "value": "1", "limit": "1", "old": "1", "shape": "4",
           "dtype": "float32", "alignment": "16", "count": "2", "values": "(1, 2)", "row": "0", "column": "0",
           "items": "(1, 2)", "to": "tile", "to_index": "0", "from_": "out", "from_index": "0", "n": "0",
           "swizzle": "0", "map": "box", "barriers": "tile", "barrier": "0", "multicast": "1"}
OF_TILES = {"to": "halves", "from_": "halves", "index": "(0, 0)"}


def documented():
    """(path, names, names behind the star) of what has its parameters in its documentation."""
    for row in _core.intrinsic_table:
        path = next((path for path in row["paths"] if path.startswith("cuda.") and "._" not in path), None)
        names = re.match(r"\((\w[^)]*)\)", row["doc"])
        if path and names and row["kind"] != "libdevice" and "mma" not in path:
            before, _, behind = names[1].partition("*")
            yield path, names_in(before), names_in(behind)


def names_in(parameters):
    return [each.split("=")[0] for each in parameters.strip(", ").split(", ") if each]


@pytest.mark.parametrize("path, names, options", list(documented()), ids=lambda x: x if isinstance(x, str) else "")
def test_all_by_name_and_backwards(path, names, options):
    samples = SAMPLES | ({"array": "halves"} if "ldmatrix" in path else {}) | {"scope": "'block'", "order": "'relaxed'"}
    samples |= OF_TILES if "cuda.tma." in path else {}
    given = ", ".join(f"{name}={samples[name]}" for name in reversed(names + options))
    scope = {"cuda": cuda, "float32": float32, "float16": float16, "TABLE": TABLE}
    exec("def kernel(out, box):\n    tile = cuda.shared.array(4, out.dtype)\n"
         "    halves = cuda.shared.array((8, 8), float16)\n    tile[0] = halves[0, 0] = 0\n"
         f"    {path}({given})\n", scope)
    box = cuda.tensor_map(cuda.device_array((8, 8), np.float16), (8, 8))
    cuda.jit(types.void(types.uint64[::1], typeof(box)))(scope["kernel"])


def test_values_go_where_they_belong():
    @cuda.jit
    def kernel(cells, out):
        cuda.atomic.cas(cells, value=9, old=1, index=1)
        cuda.stcg(value=cuda.ldca(i=1, array=cells) + 1, i=0, array=cells)
        out[0] = cuda.selp(b=5.5, a=4.5, condition=cells[0] == 10)
        out[1] = cuda.fma(2.0, c=1.0, b=3.0)
        out[2] = cuda.local.array(dtype=np.float32, shape=(2, 3)).size
        out[3] = cuda.grid(ndim=2)[1]
        t = cuda.wide.load(cells, count=2, index=0)
        out[4] = t[1]

    cells, out = np.array([0, 1], np.int32), np.zeros(5)
    kernel[1, 1](cells, out)
    assert cells.tolist() == [10, 9] and out.tolist() == [4.5, 7, 6, 0, 9]


@pytest.mark.parametrize("call, message", [
    ("cuda.shared.array(4, out.dtype, size=3)", "cuda.shared.array has no parameter named 'size'"),
    ("cuda.local.array(4, out.dtype, shape=3)", "cuda.local.array got two values for parameter 'shape'"),
    ("cuda.atomic.add(out, 0, 1, array=out)", "cuda.atomic.add got two values for parameter 'array'"),
    ("cuda.atomic.add(out, value=1)", "its parameter index is missing"),
    ("cuda.atomic.add(out, 0, scope='block')", "cuda.atomic.add takes 3 arguments, 2 given"),
    ("cuda.popc(number=3)", "cuda.popc has no parameter named 'number'"),
    ("cuda.ldg(i=0)", "its parameter array is missing"),
    ("cuda.shared.array(4, 'int33')", "'int33' is no dtype"),
    ("cuda.threadIdx()", "cuda.threadIdx is not callable in a kernel"),
    ("cuda.reduce_min_sync(out[0], x, 1)", "cuda.reduce_min_sync takes 2 arguments, 3 given"),
    ("cuda.cg.tiled_partition(cuda.cg.this_thread_block(), x, size=4)",
     "cuda.cg.tiled_partition got two values for parameter 'size'"),
    ("cuda.cg.tiled_partition(cuda.cg.this_thread_block(), out[0])",
     "'size' of cuda.cg.tiled_partition must be a compile-time constant"),
])
def test_what_is_refused(refused, call, message):
    refused(call, message)
