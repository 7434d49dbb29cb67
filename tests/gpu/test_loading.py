"""Loading kernels on a GPU beside what else goes on there."""
import logging
import math
import os
import threading
import time

import numpy as np
import pytest

from cujit import _core, cuda, float64

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(_core.gpu_count() == 0, reason="needs a GPU")]


def is_eager():
    """Modules are loaded then, as by drivers before CUDA 12.2, and launches wait for them."""
    return "EAGER" in (os.environ.get("CUDA_MODULE_LOADING"), os.environ.get("CUDA_MODULE_DATA_LOADING"))


@cuda.jit
def nothing(x):
    pass


@pytest.mark.skipif(is_eager() or cuda.runtime.get_version() < (12, 2), reason="the driver loads all code at once")
def test_launches_go_on_while_another_thread_loads(caplog, monkeypatch):
    """The driver compiles for a tenth of a second or more; with its modules a launch would wait for that long."""
    monkeypatch.setenv("CUJIT_CACHE", "0")
    x, number = cuda.to_device(np.zeros(8)), time.time_ns() % 2**31   # no cache knows it, the driver's neither

    @cuda.jit
    def long(x):
        i = cuda.grid(1)
        v = x[i] + number
        for _ in range(3):
            v += math.sin(v) * math.exp(v) + math.tan(v) + math.pow(v, 1.5) + math.erf(v) + math.lgamma(v)
        x[i] = v

    nothing[1, 1](x)
    cuda.synchronize()
    caplog.set_level(logging.INFO, "cujit")
    loading = threading.Thread(target=lambda: long.compile((float64[::1],)))
    loading.start()
    longest = count = 0
    while loading.is_alive():
        start = time.perf_counter()
        nothing[1, 1](x)
        longest = max(longest, time.perf_counter() - start)
        count += 1
        cuda.synchronize()
    loading.join()
    load = max(record.steps["load"] for record in caplog.records if "load" in getattr(record, "steps", {}))
    assert count > 10 and longest < load / 3, (count, longest, load)
