"""Kernels and device arrays under Dask, with processes of the real distributed."""
import os
import subprocess
import sys

import pytest

pytest.importorskip("dask.array")
pytest.importorskip("distributed")

# A program as users write them: the workers cannot import it, so its kernels travel by value.
PROGRAM = '''
import os
import signal
import sys
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from dask.sizeof import sizeof

import cujit.dask
from cujit import cuda, vectorize

OFFSET = 3.0


@cuda.jit
def polynomial(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * x[i] + OFFSET


@vectorize(["float64(float64, float64)"])
def weighted(x, weight):
    return x * weight


def on_block(block):
    out = np.empty_like(block)
    polynomial[-(-block.size // 64), 64](block, out)
    return out


class Total:
    """An actor that keeps an array on its device."""

    def __init__(self, n):
        self.sums = cuda.to_device(np.zeros(n))

    def add(self, x):
        self.sums += x
        return self.sums.copy_to_host()


def killed_once(path, x):
    if not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return on_block(x)



if __name__ == "__main__":
    expected = np.arange(1000.0) ** 2 + OFFSET
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                      preload=["cujit.dask"]) as cluster, Client(cluster) as client:
        x = da.arange(1000.0, chunks=100)
        np.testing.assert_array_equal(x.map_blocks(on_block, dtype=float).compute(), expected)
        parts = [dask.delayed(on_block)(part) for part in np.split(np.arange(1000.0), 4)]
        np.testing.assert_array_equal(np.concatenate(dask.compute(*parts)), expected)
        np.testing.assert_array_equal(client.submit(weighted, np.arange(5.0), 2.0).result(), 2 * np.arange(5.0))

        total = client.submit(Total, 4, actor=True).result()
        total.add(np.ones(4)).result()
        np.testing.assert_array_equal(total.add(np.arange(4.0)).result(), 1 + np.arange(4.0))

        kept = client.submit(cuda.to_device, np.zeros(1000))
        assert client.submit(sizeof, kept).result() == 8000
        assert sizeof(kept.result()) == 8000
        del kept

        lost = client.submit(killed_once, sys.argv[1], np.arange(1000.0), retries=2)
        np.testing.assert_array_equal(lost.result(timeout=60), expected)
    print("done")
'''


def run(folder, text, *arguments, **environment):
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
    done = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, timeout=150,
                          env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")


def test_a_program_on_workers(tmp_path):
    run(tmp_path, PROGRAM, tmp_path / "killed")


# The same task with a kernel that travels by value, and one that workers import; without a disk cache.
COUNTED = '''
import logging

import numpy as np
from distributed import Client, LocalCluster

import of_all_workers
from cujit import cuda


@cuda.jit
def of_main(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def task(kernel, k):
    x = np.full(100, k)
    kernel[4, 32](x)
    return int(x.sum())


def start_to_count(dask_worker):
    dask_worker.compiled = []
    logger = logging.getLogger("cujit")
    logger.setLevel(logging.INFO)
    logger.addFilter(lambda record: dask_worker.compiled.append((record.kernel.__name__, "codegen" in record.steps)))


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.run(start_to_count)
        workers = list(client.scheduler_info()["workers"])
        for kernel in (of_main, of_all_workers.twice):
            futures = [client.submit(task, kernel, k, workers=[workers[k % 2]], pure=False) for k in range(20)]
            assert client.gather(futures) == [100 * (k + 1) if kernel is of_main else 200 * k for k in range(20)]
        mapped = client.gather(client.map(lambda k: task(of_main, k), range(20)))     # a global of what is mapped
        assert mapped == [100 * (k + 1) for k in range(20)]
        for compiled in client.run(lambda dask_worker: dask_worker.compiled).values():
            assert sorted(compiled) == [("of_main", True), ("twice", True)], compiled
    print("done")
'''


def test_a_worker_compiles_a_kernel_once(tmp_path):
    (tmp_path / "of_all_workers.py").write_text("""
from cujit import cuda

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2
""")
    run(tmp_path, COUNTED, PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, sys.path)]), CUJIT_CACHE="0")
