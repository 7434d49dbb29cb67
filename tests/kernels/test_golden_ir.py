"""The typed IR of every sample, and what each pass leaves: the same text on every CPython.

CUJIT_REGENERATE=1 writes the files anew."""
import os
import re
from pathlib import Path

import pytest
from samples import PASS_SAMPLES, SAMPLES

from cujit import _core, cuda

FOLDER = Path(__file__).parent / "ir"


def text_of(what, function, signature, options=None):
    text = cuda.jit(function, **(options or {})).inspect(what, _core.parse_signature(signature).args, 80)
    return re.sub(r" ;.*", "", text)   # positions differ a little between versions of Python


def check_golden(path, text):
    if os.environ.get("CUJIT_REGENERATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_ir(name):
    check_golden(FOLDER / f"{name}.ir", text_of("ir", *SAMPLES[name], {"check": False}))   # as on a GPU


@pytest.mark.parametrize("name", sorted(PASS_SAMPLES))
def test_pass(name):
    check_golden(FOLDER / "pass" / f"{name}.ir", text_of(name, *PASS_SAMPLES[name]))


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.ir")), ids=lambda path: path.stem)
def test_ir_text_reads_back(path):
    text = path.read_text()
    assert _core.ir_roundtrip(text).split() == text.split()


def test_every_file_has_a_sample():
    assert {p.stem for p in FOLDER.glob("*.ir")} == set(SAMPLES)


def test_every_pass_has_a_sample():
    with pytest.raises(ValueError, match="is not one of") as refusal:
        cuda.jit(SAMPLES["saxpy"][0]).inspect("nothing", ())
    stages = set(str(refusal.value).split(" is not one of ")[1].split(", "))
    others = {"bytecode", "cfg", "ssa", "ir", "types", "checks", "widenings", "warnings", "llvm", "asm", "nvvm",
              "object"}
    assert stages - others == set(PASS_SAMPLES)
    assert {p.stem for p in (FOLDER / "pass").glob("*.ir")} == set(PASS_SAMPLES)
