"""numba's names of its extension interface: the same objects, or an error that says what to write instead."""
import importlib
from collections import namedtuple
from enum import Enum, IntEnum

import numpy as np
import pytest

import cujit
from cujit import cuda, extending
from cujit._numba.extending import COUNTERPARTS


def test_the_module_has_two_places():
    assert importlib.import_module("cujit.cuda.extending") is extending is cujit.extending is cuda.extending


@pytest.mark.parametrize("name", sorted(COUNTERPARTS))
def test_what_has_another_form_says_which(name):
    absent = getattr(extending, name)
    with pytest.raises(NotImplementedError, match=f"numba's {name}: .*docs/extending.md"):
        absent(lambda typingctx, x: None)
    with pytest.raises(NotImplementedError, match=f"numba's {name}"):
        absent.StructModel


def test_what_numba_has_not_either():
    with pytest.raises(AttributeError, match="no attribute 'overlaod'"):
        extending.overlaod


class Choice(Enum):
    A = 1.5


class Number(IntEnum):
    ONE = 1


Mixed = namedtuple("Mixed", "a b")
Even = namedtuple("Even", "a b")
MIXED, EVEN = Mixed(1, 2.0), Even(1, 2)
TEXTS = np.dtype([("s", "S4"), ("u", "U4")], align=True)

FAMILIES = {
    "GridGroup": lambda x: name_of(cuda.cg.this_grid()), "NamedTuple": lambda x: name_of(MIXED),
    "NamedUniTuple": lambda x: name_of(EVEN), "CharSeq": lambda x: name_of(x[0].s),
    "UnicodeCharSeq": lambda x: name_of(x[0].u), "IntEnumMember": lambda x: name_of(Number.ONE),
    "EnumerateType": lambda x: name_of(enumerate((1, 2))), "Tuple": lambda x: name_of((1, 2.0)),
    "Array": lambda x: name_of(x), "EnumMember": lambda x: name_of(Choice.A),
}
EVERY = ("GridGroup", "Dim3", "NamedTuple", "NamedUniTuple", "CharSeq", "UnicodeCharSeq", "IntEnumMember",
         "EnumerateType", "EnumMember", "List", "ListType", "Set", "DictType", "Buffer", "Tuple", "Array", "Generator",
         "BaseFunction")


def name_of(x):
    raise NotImplementedError


@extending.overload(name_of)
def overload_name_of(x):
    found.append({name for name in EVERY if isinstance(x, getattr(cuda.types, name))})
    return lambda x: None


found = []
ALSO = {"GridGroup": {"NamedTuple", "Tuple"}, "NamedTuple": {"Tuple"}, "CharSeq": {"Array", "Buffer"},
        "UnicodeCharSeq": {"Array", "Buffer"}, "Array": {"Buffer"}, "IntEnumMember": {"EnumMember"}}



@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_types_are_those_of_numba(family):
    found.clear()
    cuda.compile_ptx(FAMILIES[family], (cujit.types.from_dtype(TEXTS)[::1],), device=True)
    assert found[0] == {family} | ALSO.get(family, set())
