"""The logger "cujit": what is compiled, for which types, from where, and how long it took."""
import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from cujit import cuda, errors


def kernel():
    @cuda.jit
    def scale(x, by):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= by

    return scale


def test_each_specialization_is_told_once(caplog, monkeypatch):
    monkeypatch.setenv("CUJIT_CACHE", "0")
    scale, x = kernel(), np.ones(8, np.float32)
    with caplog.at_level(logging.INFO, "cujit"):
        scale[1, 32](x, 2)
        scale[1, 32](x, 3)
        scale[1, 32](x, 2.5)
    first, second = caplog.records
    assert first.name == "cujit" and first.levelno == logging.INFO
    assert first.getMessage().startswith("compiled ") and "scale(array(float32, 1d, C), int64)" in first.getMessage()
    assert second.getMessage().endswith("): by is float64, was int64")
    assert (first.why, second.why) == ("", "by is float64, was int64")
    assert first.kernel is scale and first.from_disk is False
    assert {"frontend", "codegen", "load"} <= set(first.steps) <= {"frontend", "codegen", "link", "load"}
    assert all(0 < seconds < 600 for seconds in first.steps.values())


def test_what_comes_from_disk_says_so(caplog, monkeypatch, tmp_path):
    monkeypatch.setenv("CUJIT_CACHE", "1")
    monkeypatch.setenv("CUJIT_CACHE_DIR", str(tmp_path))
    with caplog.at_level(logging.INFO, "cujit"):
        for _ in range(2):
            kernel()[1, 32](np.ones(8), 2)
    assert [record.from_disk for record in caplog.records] == [False, True]
    assert caplog.records[1].getMessage().startswith("loaded from disk ")
    assert set(caplog.records[1].steps) == {"load"}


def test_threads_that_wait_for_one_compilation_tell_once(caplog, monkeypatch):
    monkeypatch.setenv("CUJIT_CACHE", "0")
    scale = kernel()
    with caplog.at_level(logging.INFO, "cujit"):
        threads = [threading.Thread(target=lambda: scale[1, 32](np.ones(8), 2)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(caplog.records) == 1


def test_nothing_is_told_of_what_fails(caplog):
    bad = cuda.jit(lambda x: x.no_such_attribute)
    with caplog.at_level(logging.INFO, "cujit"):
        with pytest.raises(errors.CompileError):
            bad[1, 1](np.ones(1))
    assert not caplog.records


def test_the_logger_is_looked_for_once(caplog, monkeypatch):
    kernel()[1, 32](np.ones(8), 2)   # asks
    looked_for, get = [], logging.getLogger
    monkeypatch.setattr(logging, "getLogger", lambda *name: looked_for.append(name) or get(*name))
    kernel()[1, 32](np.ones(8), 2)
    assert not looked_for
    with caplog.at_level(logging.INFO, "cujit"):   # its level is asked for each time
        kernel()[1, 32](np.ones(8), 2)
    assert len(caplog.records) == 1


def test_a_program_without_logging_does_not_import_it():
    program = ("import sys; from cujit import cuda; import numpy as np; before = 'logging' in sys.modules\n"
               "cuda.jit(lambda x: None)[1, 1](np.ones(1)); assert before or 'cujit._log' not in sys.modules")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120, env=environment)
