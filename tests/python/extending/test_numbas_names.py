"""numba's names of its extension interface: the same objects, or an error that says what to write instead."""
import importlib

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
