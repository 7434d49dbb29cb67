"""What code is kept under: the structs that it depends on are declared by the rows that the key is written by."""

import re

import pytest
from source_tree import code_of

STRUCTS = {
    "SourceFunction": "core/diagnostic/diag.h",
    "SourcePos": "core/diagnostic/diag.h",
    "Target": "core/target.h",
    "TypeField": "core/type/type.h",
    "Type": "core/type/type.h",
    "LinkItem": "core/foreign.h",
    "ForeignFunction": "core/foreign.h",
    "ConstantArray": "core/snapshot.h",
    "Constant": "core/snapshot.h",
    "CodeSnapshot": "core/snapshot.h",
    "Snapshot": "core/snapshot.h",
}


def rows_of(struct):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", struct).upper() + "_FIELDS"


@pytest.mark.parametrize("struct", STRUCTS)
def test_a_field_is_a_row(struct):
    body = re.search(rf"struct {struct} \{{(.*?)\}}", code_of(STRUCTS[struct]), re.DOTALL)[1]
    assert body.split() == [f"{rows_of(struct)}(DECLARE_FIELD)"]
    assert f"{rows_of(struct)}(WRITE_FIELD)" in code_of("jit/cache/cache_key.c")


def test_options_are_rows():
    body = re.search(r"struct CompileOptions \{(.*?)\}", code_of("core/target.h"), re.DOTALL)[1]
    assert [line.split()[0] for line in body.strip().splitlines()] == ["#define", "#include"]
