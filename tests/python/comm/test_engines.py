"""The two examples of several devices, the same source on all engines, and what engines do when a rank dies or fails.

Dask, Ray and MPI are the real ones, with processes of their own, where they are installed.
"""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cujit import cuda

EXAMPLES = Path(__file__).parents[3] / "examples"
SMALL = {"jacobi.py": ["--rows", "61", "--columns", "97", "--steps", "30"],
         "monte_carlo.py": ["--parts", "130", "--paths", "3"]}
ENVIRONMENT = {"CUJIT_CACHE": "0", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}

# What both engines do alike; `run(program, *arguments, size=, retries=, timeout=)` is theirs.
COMMON = '''
import os, signal, sys, time
import jacobi, monte_carlo
import numpy as np
from cujit import comm, cuda, errors

def killed_once(c, path):
    if c.rank == 1 and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return int(c.all_reduce(cuda.to_device(np.array([c.rank + 1]))).copy_to_host()[0])

def of_other_shapes(c):
    c.all_reduce(cuda.to_device(np.zeros(3 + c.rank)))

def too_much(c):
    if c.rank == 1:
        cuda.device_array(1 << 50, np.int8)
    c.barrier()

def check(run):
    for program, arguments in [(jacobi.solve, (61, 97, 30)), (monte_carlo.price, (130, 3))]:
        [(_, expected)] = comm.on_devices(program, *arguments, using=[cuda.gpus[0]])
        assert [found for _, found in run(program, *arguments, size=4)] == [expected] * 4
    for program, error in [(of_other_shapes, errors.RanksDisagreeError), (too_much, errors.DeviceMemoryError)]:
        started = time.monotonic()
        try:
            run(program, size=2, timeout=30)
        except error as found:
            assert time.monotonic() - started < 25, found
        else:
            raise AssertionError("no " + error.__name__)
    assert run(killed_once, sys.argv[1], size=2, retries=2, timeout=30) == [3, 3]
'''

DASK = COMMON + '''
if __name__ == "__main__":
    from functools import partial
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        is_shared = cuda.get_current_device().kind == "cuda" and len(cuda.gpus) < 4   # NCCL takes a GPU for each rank
        check(partial(comm.on_dask, client, backend="sockets" if is_shared else "auto"))
        used = comm.on_dask(client, lambda c: (c.device.id, cuda.get_current_device().id), size=4, backend="sockets")
        assert used == [(rank if rank < len(cuda.gpus) else 0,) * 2 for rank in range(4)], used
    print("done")
'''

RAY = COMMON + '''
import ray
from cujit import vectorize

@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

@vectorize(["float64(float64)"])
def twice(x):
    return 2 * x

def added(x, path=None):
    if path is not None and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    own = cuda.to_device(x)
    add_one.forall(own.size)(own)
    return twice(own)

class Total:
    def __init__(self, n):
        self.sums = cuda.to_device(np.zeros(n))

    def add(self, x):
        self.sums += x
        return self.sums

if __name__ == "__main__":
    from functools import partial

    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    share, backend = {}, "auto"
    if cuda.get_current_device().kind == "cuda":
        share = {"num_gpus": 1 / -(-4 // len(cuda.gpus))}
        backend = "auto" if share["num_gpus"] == 1 else "sockets"   # NCCL takes a GPU for each rank
    x = ray.put(cuda.to_device(np.arange(1000.0)))
    task = ray.remote(max_retries=2, **share)(added)
    for path in (None, sys.argv[1] + "-task"):       # the second one's worker dies once, and Ray runs it again
        np.testing.assert_array_equal(ray.get(task.remote(x, path)).copy_to_host(), 2 * (np.arange(1000.0) + 1))
    total = ray.remote(num_cpus=1, **share)(Total).remote(1000)
    for _ in range(2):
        sums = ray.get(total.add.remote(x))
    np.testing.assert_array_equal(sums.copy_to_host(), 2 * np.arange(1000.0))
    ray.kill(total)
    resources = {"CPU": 1, "GPU": share["num_gpus"]} if share else None
    check(partial(comm.on_ray, resources=resources, backend=backend))
    print("done")
'''

MPI = '''
import numpy as np
from mpi4py import MPI
from cujit import comm, cuda, errors

mpi = MPI.COMM_WORLD
x, total = cuda.to_device(np.arange(6.0).reshape(2, 3) + mpi.rank), cuda.device_array((2, 3))
with comm.mpi_buffer(x, write=False) as sent, comm.mpi_buffer(total, read=False) as received:
    mpi.Allreduce(sent, received, op=MPI.SUM)
np.testing.assert_array_equal(total.copy_to_host(), 2 * np.arange(6.0).reshape(2, 3) + 1)
try:
    with comm.mpi_buffer(x[:, :2]):
        raise AssertionError("gaps")
except ValueError as error:
    assert "gaps" in str(error)
is_shared = cuda.get_current_device().kind == "cuda" and len(cuda.gpus) < mpi.size   # NCCL takes a GPU for each rank
with comm.from_mpi(timeout=20, backend="sockets" if is_shared else "auto") as c:
    assert (c.rank, c.size, c.device.id) == (mpi.rank, 2, mpi.rank % len(cuda.gpus))
    assert c.all_reduce(cuda.to_device(np.ones(3))).copy_to_host().tolist() == [2, 2, 2]   # on the rank's device
    try:
        c.broadcast(cuda.device_array(3 + c.rank))
    except errors.RanksDisagreeError as error:
        open(f"heard-{c.rank}", "w").close()   # mpiexec mixes what its processes print
'''


def run(command, tmp_path, **environment):
    path = os.pathsep.join([str(EXAMPLES), *(each for each in sys.path if each)])
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=200, cwd=tmp_path,
                          env={**os.environ, **ENVIRONMENT, "PYTHONPATH": path, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def is_same_to_the_bit(output, devices, engine):
    assert f"\n| {devices} | {engine} | " in output
    return output.rstrip().endswith("the same to the bit as on one device")


@pytest.mark.parametrize("example", SMALL)
def test_on_four_devices(example, tmp_path):
    output = run([sys.executable, EXAMPLES / example, *SMALL[example]], tmp_path, CUJIT_DEVICE="cpu",
                 CUJIT_CPU_DEVICES="4")
    assert is_same_to_the_bit(output, 4, "devices")


def test_more_devices_than_rows(tmp_path):
    output = run([sys.executable, EXAMPLES / "jacobi.py", "--rows", "2", "--columns", "33", "--steps", "5"], tmp_path,
                 CUJIT_DEVICE="cpu", CUJIT_CPU_DEVICES="5")
    assert is_same_to_the_bit(output, 5, "devices")


@pytest.mark.parametrize("name, program", [("distributed", DASK), ("ray", RAY)])
def test_on_dask_and_ray(name, program, tmp_path):
    pytest.importorskip(name)
    (tmp_path / "program.py").write_text(program)
    assert run([sys.executable, "program.py", tmp_path / "killed"], tmp_path,
               CUJIT_CPU_DEVICES="3").endswith("done\n")


def mpiexec(count):
    if not importlib.util.find_spec("mpi4py"):
        pytest.skip("needs mpi4py")
    command = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return [command, *(["--oversubscribe"] if "Open MPI" in run([command, "--version"], None) else []), "-n", count,
            sys.executable]


@pytest.mark.parametrize("example", SMALL)
def test_on_mpi(example, tmp_path):
    if cuda.get_current_device().kind == "cuda" and len(cuda.gpus) < 4:
        pytest.skip("NCCL takes a GPU for each rank")
    output = run([*mpiexec(4), EXAMPLES / example, "--engine", "mpi", *SMALL[example]], tmp_path)
    assert is_same_to_the_bit(output, 4, "mpi")


@pytest.mark.parametrize("devices", [1, 2])
def test_arrays_in_mpis_calls(devices, tmp_path):
    (tmp_path / "program.py").write_text(MPI)
    run([*mpiexec(2), "program.py"], tmp_path, CUJIT_CPU_DEVICES=str(devices))
    assert sorted(path.name for path in tmp_path.glob("heard-*")) == ["heard-0", "heard-1"]
