"""What kernels of algorithms do with values of one type, as device functions: convert, keep, hand to lanes."""
from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cujit import cuda
from cujit._algorithms import functions

if TYPE_CHECKING:
    from cujit._algorithms.values import Element


def conversion(element: Element, function: Any) -> Any:
    """convert(value): as this type. What goes wrong there is said of the function whose value it is."""
    namespace = _leaf_types(element)
    value = element.made_of(element.parts("value"), namespace, True)
    return functions.written(function, f"def convert(value):\n    return {value}", "convert", namespace)


@functools.lru_cache(512)
def of_element(element: Element) -> Any:
    """A namespace of functions for these values.

    put(arrays, k, value), get(arrays, k): an element of a tuple of arrays, one for each leaf. shared(count),
    local(count): such arrays. get_from_l2(arrays, k): one that another block has written. leaves(value): a tuple.
    from_leaves(leaves): the value, of leaves of any type.
    of_lane(value, lane), of_lane_below(value, distance), of_neighbour(value, mask): the value that another lane has.
    """
    count = len(element.leaves)
    namespace = _leaf_types(element)
    parts = element.parts("value")

    def made(leaves: list[str], convert: bool = False) -> str:
        return element.made_of(leaves, namespace, convert)

    def moved(how: str) -> str:
        return made([_moved(leaf.dtype.kind, part, how, f"leaf{k}")
                     for k, (leaf, part) in enumerate(zip(element.leaves, parts, strict=True))])

    sources = {
        "put": "def put(arrays, k, value):\n" + "\n".join(f"    arrays[{j}][k] = {part}"
                                                          for j, part in enumerate(parts)),
        "get": f"def get(arrays, k):\n    return {made([f'arrays[{j}][k]' for j in range(count)])}",
        "leaves": f"def leaves(value):\n    return ({', '.join(parts)},)",
        "from_leaves": f"def from_leaves(leaves):\n    return {made([f'leaves[{j}]' for j in range(count)], True)}",
        "shared": "def shared(count):\n    return ("
                  + "".join(f"cuda.shared.array(count, leaf{j}), " for j in range(count)) + ")",
    }
    sources["local"] = sources["shared"].replace("shared", "local")
    if element.can_shuffle:
        sources |= {
            "get_from_l2": "def get_from_l2(arrays, k):\n    return "
                           + made([f"cuda.ldcg(arrays[{j}], k)" for j in range(count)]),
            "of_lane": f"def of_lane(value, k):\n    return {moved('shfl_sync')}",
            "of_lane_below": f"def of_lane_below(value, k):\n    return {moved('shfl_up_sync')}",
            "of_neighbour": f"def of_neighbour(value, k):\n    return {moved('shfl_xor_sync')}",
        }
    made_functions = {label: functions.written(None, source, label, namespace) for label, source in sources.items()}
    return SimpleNamespace(**made_functions)


def _leaf_types(element: Element) -> dict[str, Any]:
    return {"cuda": cuda, **{f"leaf{k}": leaf for k, leaf in enumerate(element.leaves)}}


def _moved(kind: str, part: str, how: str, leaf: str) -> str:
    if kind == "c":
        real, imag = (f"cuda.{how}(0xFFFFFFFF, {part}.{field}, k)" for field in ("real", "imag"))
        return f"{leaf}(complex({real}, {imag}))"
    return f"{leaf}(cuda.{how}(0xFFFFFFFF, {part}, k))"
