"""The typed IR of every sample, the same text on every CPython. CUJIT_REGENERATE=1 writes the files anew."""
import os
import re
from pathlib import Path

import pytest
from samples import SAMPLES

from cujit import _core, cuda

FOLDER = Path(__file__).parent / "ir"


def ir_of(name):
    function, signature = SAMPLES[name]
    text = cuda.jit(function).inspect("ir", _core.parse_signature(signature).args)
    return re.sub(r" ;.*", "", text)   # positions differ a little between versions of Python


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_ir(name):
    path = FOLDER / f"{name}.ir"
    text = ir_of(name)
    if os.environ.get("CUJIT_REGENERATE"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_ir_text_reads_back(name):
    text = (FOLDER / f"{name}.ir").read_text()
    assert _core.ir_roundtrip(text).split() == text.split()


def test_every_file_has_a_sample():
    assert {p.stem for p in FOLDER.glob("*.ir")} == set(SAMPLES)
