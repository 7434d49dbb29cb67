"""Ranks that torchrun starts, or whatever sets the same variables: by PyTorch's store where it is installed, else by
rank 0's own port."""
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cujit import comm, cuda
from cujit.errors import CommunicationError, CommunicationTimeoutError

EXAMPLES = Path(__file__).parents[3] / "examples"
WITHOUT_TORCH = "import sys; sys.modules['torch'] = None\n"

PROGRAM = '''
import os
import numpy as np
from cujit import comm, cuda

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
for _ in range(3):     # one after another, at the same address
    with comm.from_torchrun(timeout=30, backend="sockets") as c:
        assert (c.rank, c.size, c.device.id) == (rank, size, int(os.environ["LOCAL_RANK"]) % len(cuda.gpus))
        assert cuda.get_current_device().id == c.device.id
        total = c.all_reduce(cuda.to_device(np.full(5, rank + 1)))
        assert total.copy_to_host().tolist() == [size * (size + 1) // 2] * 5
print("fine")
'''

# The store is the same one, whichever of the two asks first. A second group of torch's in one process may read in it
# where the first one's ranks were.
BESIDE_TORCH = '''
import torch
from torch import distributed

if IS_FIRST:
    distributed.init_process_group("gloo")
with comm.from_torchrun(timeout=30, backend="sockets") as c:
    if not IS_FIRST:
        distributed.init_process_group("gloo")
    tensor, array = torch.ones(4), cuda.to_device(np.ones(4))
    distributed.all_reduce(tensor)
    c.all_reduce(array)
    assert tensor.tolist() == array.copy_to_host().tolist() == [size] * 4
distributed.destroy_process_group()
'''


# What is left of PyTorch where it is built without torch.distributed, as its documentation says: a stand-in, since its
# wheels are built with it.
WITHOUT_DISTRIBUTED = "def is_available():\n    return False\n"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def variables(rank, size, port):
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port)}


def run(commands):
    """What each printed; all of them succeed. commands: (command, variables)."""
    path = os.pathsep.join([str(EXAMPLES), *(each for each in sys.path if each)])
    processes = [subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env={**os.environ, "PYTHONPATH": path, "CUJIT_CACHE": "0", **more})
                 for command, more in commands]
    ended = [(*process.communicate(timeout=100), process.returncode) for process in processes]
    assert [status for _, _, status in ended] == [0] * len(ended), "\n".join(f"{out}{err}" for out, err, _ in ended)
    return [out for out, _, _ in ended]


@pytest.mark.parametrize("before", [WITHOUT_TORCH, ""], ids=["without torch", "as installed"])
def test_variables_of_something_else(before, tmp_path):
    program, port = tmp_path / "program.py", free_port()
    program.write_text(before + PROGRAM)
    assert run([([program], variables(rank, 3, port)) for rank in range(3)]) == ["fine\n"] * 3


def torch_without_distributed(folder):
    (folder / "torch" / "distributed").mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text("")
    (folder / "torch" / "distributed" / "__init__.py").write_text(WITHOUT_DISTRIBUTED)


def test_a_torch_that_is_built_without_distributed(tmp_path):
    """Is none: rank 0 listens itself, and torchrun's store cannot be asked."""
    torch_without_distributed(tmp_path)   # beside the program, so that it is found first
    program, port = tmp_path / "program.py", free_port()
    program.write_text("import torch.distributed\nassert not torch.distributed.is_available()\n" + PROGRAM)
    assert run([([program], variables(rank, 2, port)) for rank in range(2)]) == ["fine\n"] * 2
    program.write_text("""
from cujit import comm, errors

try:
    comm.from_torchrun()
except errors.CommunicationError as error:
    print(error)
""")
    [told] = run([([program], {**variables(0, 1, port), "TORCHELASTIC_USE_AGENT_STORE": "True"})])
    assert "knows how to ask it, cannot be imported here: it was built without torch.distributed" in told


@pytest.mark.parametrize("example, size", [("jacobi.py", ["--rows", "61", "--columns", "97", "--steps", "30"]),
                                           ("monte_carlo.py", ["--parts", "130", "--paths", "3"])])
def test_examples(example, size):
    if cuda.get_current_device().kind == "cuda" and len(cuda.gpus) < 2:
        pytest.skip("NCCL takes a GPU for each rank")
    port, command = free_port(), [EXAMPLES / example, "--engine", "torchrun", *size]
    output, silent = run([(command, variables(rank, 2, port)) for rank in range(2)])
    assert "\n| 2 | torchrun | " in output and output.endswith("the same to the bit as on one device\n") and not silent


@pytest.mark.parametrize("program", [PROGRAM, PROGRAM + "IS_FIRST = True" + BESIDE_TORCH,
                                     PROGRAM + "IS_FIRST = False" + BESIDE_TORCH],
                         ids=["alone", "behind torch's group", "in front of torch's group"])
def test_torchrun(program, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(program)
    command = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--nnodes", "1", "--rdzv-backend", "static",
               "--master-addr", "127.0.0.1", "--master-port", free_port(), tmp_path / "program.py"]
    [output] = run([(command, {"OMP_NUM_THREADS": "1"})])
    assert output.count("fine") == 2   # a line's end is written by itself, and may come behind the other rank's word


@pytest.mark.parametrize("rank, expected", [(0, "rank 0 waited 0.3 s at 127.0.0.1:.* for rank 1"),
                                            (1, "rank 1 waited 0.3 s at 127.0.0.1:.* for all of 2 ranks")])
def test_others_that_do_not_come(rank, expected, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name, value in variables(rank, 2, free_port()).items():
        monkeypatch.setenv(name, value)
    with cuda.get_current_device(), pytest.raises(CommunicationTimeoutError, match=expected):
        comm.from_torchrun(timeout=0.3)


def test_others_that_do_not_come_by_torch(monkeypatch):
    pytest.importorskip("torch")
    for name, value in variables(1, 2, free_port()).items():
        monkeypatch.setenv(name, value)
    with cuda.get_current_device(), pytest.raises(CommunicationTimeoutError, match="rank 1 of 2 asked the store"):
        comm.from_torchrun(timeout=1)


def test_variables_that_are_missing(monkeypatch):
    for name in variables(0, 1, 0):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CommunicationError, match="RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT not set: torchrun does"):
        comm.from_torchrun()


def test_torchruns_store_needs_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    for name, value in variables(0, 1, free_port()).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CommunicationError, match=r"torchrun's store is at 127\.0\.0\.1, and PyTorch"):
        comm.from_torchrun()
