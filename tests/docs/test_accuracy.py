"""The page about accuracy is what was measured, and results are still like that."""
import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pytest

from cujit import cuda

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("measure_accuracy", ROOT / "scripts" / "measure_accuracy.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
MEASURED = json.loads((ROOT / "docs" / "accuracy.json").read_text())


def test_the_page_shows_what_was_measured():
    assert (ROOT / "docs" / "accuracy.md").read_text() == script.page_of(MEASURED)


def test_every_function_of_the_table_was_measured():
    results = MEASURED["CPU device"]
    for name, function in script.table().items():
        assert function.device_name in results["libdevice"], name
        assert not function.math_name or set(results["math"][name]) == set(script.DTYPES), name
    assert all(math.isfinite(error) for part in results.values() for row in part.values() for error in row.values())


@pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "atan"])
def test_errors_are_as_the_page_says(name):
    """Against float64 as the exact result: enough for float32."""
    dtype, rng = np.float32, np.random.default_rng(5)
    x = rng.uniform(0.01, 8, 4000).astype(dtype)
    exact = np.array([getattr(math, name)(v) for v in x.tolist()])
    limit = 1.5 * max(part[name]["float32"] for parts in MEASURED.values() for part in parts.values())
    for call in (f"math.{name}", f"cuda.libdevice.{name}f"):
        got = script.run(cuda, call, [x], dtype)
        assert 0 < script.largest_error(got, exact, np.zeros(x.size), dtype) <= limit
