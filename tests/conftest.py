"""For all tests: what they compile stays out of the user's disk cache (test_disk_cache.py has folders of its own), and
those marked `gpu` run only on a GPU."""
import os

import pytest

os.environ["CUJIT_CACHE"] = "0"


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked or _runs_on_gpu():
        return
    for item in marked:
        item.add_marker(pytest.mark.skip(reason="needs a GPU"))


def _runs_on_gpu():
    from cujit import cuda

    return cuda.is_available() and cuda.get_current_device().kind == "cuda"
