"""Ray's tasks and actors with num_gpus=1: each process sees one GPU, which is its own, and device arrays travel between
them; a communicator of tasks goes by NCCL."""
import os
import subprocess
import sys

import pytest

pytest.importorskip("ray")
pytestmark = pytest.mark.gpu

PROGRAM = '''
import numpy as np
import ray
from cujit import comm, cuda

@cuda.jit
def square(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * x[i]

def own_gpu():
    [device] = cuda.gpus
    assert len(ray.get_gpu_ids()) == 1 and device.kind == "cuda"
    return device.uuid

def squared(x):
    out = cuda.device_array_like(x)
    square.forall(x.size)(x, out)
    return own_gpu(), out

class Sums:
    def __init__(self, n):
        self.sums = cuda.to_device(np.zeros(n))

    def add(self, x):
        self.sums += x
        return own_gpu(), self.sums

def program(c):
    own = cuda.to_device(np.full(1000, c.rank + 1.0))
    c.all_reduce(own)
    square.forall(own.size)(own, own)
    return own_gpu(), c.backend, own.copy_to_host()

if __name__ == "__main__":
    n = len(cuda.gpus)
    ray.init(num_cpus=n + 1, include_dashboard=False, log_to_driver=False)
    host = np.arange(1000.0)
    x = ray.put(cuda.to_device(host))
    for uuid, out in ray.get([ray.remote(num_gpus=1)(squared).remote(x) for _ in range(2 * n)]):
        assert uuid in {device.uuid for device in cuda.gpus}
        np.testing.assert_array_equal(out.copy_to_host(), host * host)

    actors = [ray.remote(num_gpus=1)(Sums).remote(1000) for _ in range(n)]   # all there at a time: a GPU for each
    for times in (1, 2):
        answers = ray.get([actor.add.remote(x) for actor in actors])
        for _, sums in answers:
            np.testing.assert_array_equal(sums.copy_to_host(), times * host)
    assert sorted(uuid for uuid, _ in answers) == sorted(device.uuid for device in cuda.gpus)
    for actor in actors:
        ray.kill(actor)

    answers = comm.on_ray(program, size=n, timeout=60)
    assert sorted(uuid for uuid, _, _ in answers) == sorted(device.uuid for device in cuda.gpus)
    for _, backend, found in answers:
        assert backend == ("nccl" if n > 1 else "sockets")
        np.testing.assert_array_equal(found, np.full(1000, (n * (n + 1) / 2) ** 2))
    print("done")
'''


def test_a_gpu_for_each_process(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, timeout=150, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": path, "RAY_AUTH_MODE": "disabled",
                               "RAY_USAGE_STATS_ENABLED": "0"})
    assert done.returncode == 0 and done.stdout == "done\n", done.stdout + done.stderr
