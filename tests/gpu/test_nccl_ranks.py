"""NCCL with a rank for each GPU, in processes of their own: nccl4py, CuPy and torch.distributed take device arrays and
streams as they are, in order with the kernels of a stream, and cujit.comm meets at torchrun's address."""
import os
import socket
import subprocess
import sys
import time

import pytest

from cujit import cuda

pytestmark = pytest.mark.gpu

# What all ranks do: `x` is rank, rank + 1, ... when what is before in the stream is done; then come a package's calls,
# and add_one behind them, without a wait in between.
COMMON = '''
import os, time
import numpy as np
from cujit import cuda

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
left, right = (rank - 1) % size, (rank + 1) % size
cuda.select_device(int(os.environ["LOCAL_RANK"]))
N = 1 << 20

@cuda.jit
def fill(x, first):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = first + i

@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

stream = cuda.stream()
x, total, got = (cuda.device_array(N, np.float32) for _ in range(3))
gathered = cuda.device_array((size, N), np.float32)
fill[N // 256, 256, stream](x, rank)

def id_of_rank_0(make):
    if rank == 0:
        with open("id-new", "wb") as file:
            file.write(make())
        os.rename("id-new", "id")
    deadline = time.monotonic() + 30
    while not os.path.exists("id"):
        assert time.monotonic() < deadline, "rank 0 has no id"
        time.sleep(0.01)
    with open("id", "rb") as file:
        return file.read()

def check(**arrays):
    """The arrays after add_one, which follows here."""
    for array in arrays.values():
        add_one[-(-array.size // 256), 256, stream](array.reshape(-1))
    i = np.arange(N, dtype=np.float32)
    expected = {"total": size * i + size * (size - 1) / 2, "largest": i + size - 1, "got": i + left, "sent": i,
                "gathered": np.add.outer(np.arange(size), i)}
    for name, array in arrays.items():
        np.testing.assert_array_equal(array.copy_to_host(stream=stream), expected[name] + 1, name)
'''

NCCL4PY = '''
import nccl.core as nccl
c = nccl.Communicator.init(size, rank, nccl.UniqueId.from_bytes(id_of_rank_0(lambda: bytes(nccl.get_unique_id()))))
c.allreduce(x, total, nccl.SUM, stream=stream)
c.allgather(x, gathered, stream=stream)
with nccl.group():
    c.send(x, right, stream=stream)
    c.recv(got, left, stream=stream)
c.broadcast(x, x, 0, stream=stream)
check(total=total, gathered=gathered, got=got, sent=x)
c.destroy()
'''

CUPY = '''
from cupy.cuda import nccl
key = id_of_rank_0(lambda: bytes(value & 0xFF for value in nccl.get_unique_id()))
try:
    c = nccl.NcclCommunicator(size, key, rank)
except TypeError:   # older ones take a tuple of numbers with a sign
    c = nccl.NcclCommunicator(size, tuple(value - 256 * (value > 127) for value in key), rank)
of, handle = (lambda array: array.__cuda_array_interface__["data"][0]), int(stream)
c.allReduce(of(x), of(total), x.size, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, handle)
c.allGather(of(x), of(gathered), x.size, nccl.NCCL_FLOAT32, handle)
nccl.groupStart()
c.send(of(x), x.size, nccl.NCCL_FLOAT32, right, handle)
c.recv(of(got), got.size, nccl.NCCL_FLOAT32, left, handle)
nccl.groupEnd()
c.bcast(of(x), x.size, nccl.NCCL_FLOAT32, 0, handle)
check(total=total, gathered=gathered, got=got, sent=x)
c.destroy()
'''

# CuPy's process groups take its own arrays: of the same memory.
CUPYX = '''
import cupy
from cupy.cuda import nccl
from cupyx import distributed
c = distributed.init_process_group(size, rank, host="127.0.0.1", port=int(os.environ["MASTER_PORT"]))
theirs, own = cupy.cuda.ExternalStream(int(stream)), [cupy.asarray(array) for array in (x, total, gathered, got)]
assert [array.data.ptr for array in own] == [array.pointer for array in (x, total, gathered, got)]
c.all_reduce(own[0], own[1], stream=theirs)
c.all_gather(own[0], own[2], N, stream=theirs)
nccl.groupStart()
c.send(own[0], right, stream=theirs)
c.recv(own[3], left, stream=theirs)
nccl.groupEnd()
check(total=total, gathered=gathered, got=got)
c.stop()
'''

TORCH = '''
import torch
import torch.distributed as dist
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
with torch.cuda.stream(torch.cuda.ExternalStream(int(stream))):
    own = [torch.as_tensor(array, device="cuda") for array in (x, total, gathered, got)]
    assert [tensor.data_ptr() for tensor in own] == [array.pointer for array in (x, total, gathered, got)]
    dist.all_gather_into_tensor(own[2].reshape(-1), own[0])
    if size > 1:
        halos = [dist.P2POp(dist.isend, own[0], right), dist.P2POp(dist.irecv, own[3], left)]
        for work in dist.batch_isend_irecv(halos):
            work.wait()
    else:
        own[3].copy_(own[0])
    own[1].copy_(own[0])
    dist.all_reduce(own[1])
    dist.broadcast(own[0], 0)
    check(total=total, gathered=gathered, got=got, sent=x)
dist.destroy_process_group()
'''

COMM = '''
from cujit import comm
from cujit.comm import nccl
nccl.PACKAGES = {os.environ["PACKAGE"]: nccl.PACKAGES[os.environ["PACKAGE"]]}
with comm.from_torchrun(timeout=30) as c:
    assert (c.rank, c.size, c.device.id) == (rank, size, int(os.environ["LOCAL_RANK"]))
    assert c.backend == ("nccl" if size > 1 else "sockets")
    c.all_reduce(x, total, stream=stream)
    c.all_gather(x, gathered, stream=stream)
    largest = c.all_reduce(x, cuda.device_array_like(x), "max", stream=stream)
    if size > 1:
        with c.group(stream=stream):
            c.send(x, right)
            c.recv(got, left)
    else:
        got.copy_to_device(x, stream=stream)
    c.broadcast(x, stream=stream)
    check(total=total, gathered=gathered, largest=largest, got=got, sent=x)
    c.barrier()
'''

IN_A_GROUP = '''
import torch
import torch.distributed as dist
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
tensor = torch.ones(4, device="cuda")
dist.all_reduce(tensor)
assert tensor.tolist() == [size] * 4
''' + COMM + '''
dist.all_reduce(tensor)
assert tensor.tolist() == [size * size] * 4
dist.destroy_process_group()
'''


@pytest.fixture
def start(tmp_path):
    """Runs a program once for each GPU; the ranks learn of themselves from torchrun's variables."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "CUJIT_CACHE": "0", "OMP_NUM_THREADS": "1"}
    ranks = len(cuda.gpus)
    (tmp_path / "log").mkdir()

    def run(program, torchrun=False, **more):
        script = tmp_path / "program.py"
        script.write_text(COMMON + program)
        if torchrun:
            commands = [[sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks), "--nnodes", "1",
                         "--master-addr", "127.0.0.1", "--master-port", str(port), str(script)]]
        else:
            commands = [[sys.executable, str(script)]] * ranks
        logs, processes = [tmp_path / "log" / str(i) for i in range(len(commands))], []
        try:
            for i, command in enumerate(commands):
                own = {} if torchrun else {"RANK": str(i), "LOCAL_RANK": str(i), "WORLD_SIZE": str(ranks),
                                           "MASTER_PORT": str(port)}
                with open(logs[i], "w") as log:
                    processes.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=tmp_path,
                                                      env=environment | own | more))
            wait_for(processes)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        assert [process.returncode for process in processes] == [0] * len(processes), \
            "\n".join(log.read_text()[-4000:] for log in logs)

    return run


def wait_for(processes):
    """Until all are done, or one failed; 100 s at most."""
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        ended = [process.poll() for process in processes]
        if None not in ended or any(ended):
            return
        time.sleep(0.05)


@pytest.mark.parametrize("module, program", [("nccl.core", NCCL4PY), ("cupy.cuda.nccl", CUPY), ("cupyx", CUPYX)],
                         ids=["nccl4py", "cupy", "cupyx"])
def test_a_process_for_each(module, program, start):
    pytest.importorskip(module)
    start(program)


def test_torch_distributed(start):
    pytest.importorskip("torch")
    start(TORCH, torchrun=True)


@pytest.mark.parametrize("program", [COMM, IN_A_GROUP], ids=["alone", "beside torch's group"])
@pytest.mark.parametrize("package, module", [("nccl4py", "nccl.core"), ("cupy", "cupy.cuda.nccl")])
def test_communicator_of_torchrun(package, module, program, start):
    pytest.importorskip("torch")
    pytest.importorskip(module)
    start(program, torchrun=True, PACKAGE=package)
