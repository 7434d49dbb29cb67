"""NCCL by the packages that have it: cujit.comm with one rank on one GPU, and torch.distributed on device arrays.
Several ranks need several GPUs: then examples/jacobi.py and examples/monte_carlo.py go by NCCL, too."""
import socket

import numpy as np
import pytest

from cujit import comm, cuda
from cujit.comm import nccl
from cujit.errors import CommunicationError

pytestmark = pytest.mark.gpu


@pytest.fixture(params=nccl.PACKAGES)
def package(request, monkeypatch):
    """One of the packages, as the only one."""
    pytest.importorskip({"nccl4py": "nccl.core", "cupy": "cupy.cuda.nccl"}[request.param])
    monkeypatch.setattr(nccl, "PACKAGES", {request.param: nccl.PACKAGES[request.param]})


def collectives(c):
    assert c.backend == "nccl"
    x = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
    stream = cuda.stream()
    results = [c.all_reduce(x, cuda.device_array_like(x), stream=stream),
               c.all_reduce(x, cuda.device_array_like(x), "max", stream=stream),
               c.all_gather(x, cuda.device_array((c.size, 2, 3), np.float32), stream=stream),
               c.broadcast(x, stream=stream),
               c.reduce_scatter(x, cuda.device_array((2, 3), np.float32), stream=stream)]
    c.synchronize(stream)
    c.barrier()
    return [each.copy_to_host() for each in results]


def test_one_rank(package):
    [results] = comm.on_devices(collectives, using=[cuda.gpus[0]], backend="nccl", timeout=60)
    for result in results:
        np.testing.assert_array_equal(result.reshape(2, 3), np.arange(6).reshape(2, 3))


@pytest.mark.several_devices
def test_halos(package):
    def program(c):
        left, right = (c.rank - 1) % c.size, (c.rank + 1) % c.size
        own, got = cuda.to_device(np.full(1000, c.rank)), cuda.device_array(1000, np.int64)
        with c.group():
            c.send(own, right)
            c.recv(got, left)
        c.synchronize()
        return got.copy_to_host()[0]

    n = len(cuda.gpus)
    assert comm.on_devices(program, timeout=60) == [(rank - 1) % n for rank in range(n)]


def test_two_ranks_on_a_gpu_are_refused(package):
    with pytest.raises(CommunicationError, match="are on the same GPU"):
        comm.on_devices(collectives, using=[cuda.gpus[0]] * 2, backend="nccl", timeout=60)


def test_torch_distributed():
    torch = pytest.importorskip("torch")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    torch.distributed.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    try:
        x = cuda.to_device(np.arange(5.0))
        torch.distributed.all_reduce(torch.from_dlpack(x))
        torch.cuda.synchronize()
        np.testing.assert_array_equal(x.copy_to_host(), np.arange(5.0))
    finally:
        torch.distributed.destroy_process_group()
