"""Communicators from what engines know: a program's own processes, threads, MPI, torchrun, Dask and Ray.

`on_devices`, `on_dask` and `on_ray` run program(comm, *arguments) once for each rank and return the results by rank. A
rank whose process dies takes the others' communicators with it; the latter two then run all ranks again where they are
told to.
"""
from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cujit.comm.communicator import Communicator
from cujit.comm.links import Links
from cujit.comm.local import links_in_process
from cujit.comm.meeting import Gather, address_towards, connect_all, gather_at
from cujit.cuda import devices
from cujit.errors import CommunicationError, CommunicationTimeoutError, RankDiedError

if TYPE_CHECKING:
    from cujit.cuda.devices import Device

TIMEOUT = 300.0
_LOST = (RankDiedError, CommunicationTimeoutError)


def connect(rank: int, size: int, address: str, *, device: Device | None = None, backend: str = "auto",
            timeout: float = TIMEOUT, host: str | None = None) -> Communicator:
    """A communicator of processes that know one address.

    Parameters
    ----------
    rank, size : int
        This process's number, from 0, and how many there are.
    address : str
        "host:port", where rank 0 listens until all are there.
    device : Device, optional
        This rank's; the current one unless it is given.
    backend : str
        "nccl", "sockets", or "auto": NCCL on GPUs, sockets on the CPU device.
    timeout : float
        Seconds that each call waits for other ranks, this one included.
    host : str, optional
        The address by which the others reach this machine; found out unless it is given.

    Returns
    -------
    Communicator

    Raises
    ------
    CommunicationTimeoutError
        Not all ranks came in time.
    CommunicationError
        Two processes have the same rank, or they differ in `size`; or no package with NCCL is installed.
    """
    own = host or address_towards(address.rpartition(":")[0] or address)
    return _made(rank, size, own, gather_at(address, rank, size, timeout), device, backend, timeout)


def _made(rank: int, size: int, host: str, gather: Gather, device: Device | None, backend: str,
          timeout: float) -> Communicator:
    return Communicator(_linked(rank, size, host, gather, timeout), device, backend)


def _linked(rank: int, size: int, host: str, gather: Gather, timeout: float) -> Links:
    if not 0 <= rank < size:
        raise ValueError(f"there is no rank {rank} among {size}")
    return connect_all(rank, size, host, gather, timeout)


def _one_for_each(rank: int) -> Device:
    """A device for one of the ranks on a machine, which all see the same devices: this thread's from now on."""
    device = devices.gpus[rank % len(devices.gpus)]
    devices.select_device(device.id)
    return device


def _not_of_others(links: Links) -> Device:
    """Of the devices that this process sees, the first one that no rank before has; the current one where all are
    taken. Processes may see all of a machine's devices, each another one, or the same ones in another order."""
    own = devices.need_device()
    seen = [own, *(device for device in devices.gpus if device.id != own.id)]
    uuids = [device.uuid for device in seen]
    told = {links.rank: uuids} | links.agree({rank: uuids for rank in range(links.size) if rank != links.rank},
                                             "the start")
    taken: set[str] = set()
    for rank in range(links.rank):
        taken.add(next((uuid for uuid in told[rank] if uuid not in taken), told[rank][0]))
    return next((device for device in seen if device.uuid not in taken), own)


# --- threads ---------------------------------------------------------------------------------------------------------

def on_devices(program: Callable[..., Any], *arguments: Any, using: Sequence[Device] | None = None,
               backend: str = "auto", timeout: float = TIMEOUT) -> list[Any]:
    """Runs program(comm, *arguments) in a thread for each device of this process.

    Parameters
    ----------
    program : callable
        What each rank does; its device is current there.
    *arguments
        Of the program, the same for all ranks.
    using : sequence of Device, optional
        A rank for each, in this order; all of `cuda.gpus` unless it is given.
    backend : str
        "nccl", "sockets", or "auto".
    timeout : float
        Seconds that a rank waits for others.

    Returns
    -------
    list
        What each rank returned.

    Raises
    ------
    Exception
        What a rank raised; of several, one that is not the consequence of another rank's.

    Examples
    --------
    >>> on_devices(lambda comm: comm.rank, using=[cuda.gpus[0]] * 3)
    [0, 1, 2]
    """
    chosen = list(using) if using is not None else list(devices.gpus)
    for each in chosen:
        if not isinstance(each, devices.Device):
            raise TypeError(f"using is devices, such as cuda.gpus[0], not {each!r}")
    results: list[Any] = [None] * len(chosen)
    errors: list[BaseException] = []

    def run(rank: int, links: Any) -> None:
        try:
            with chosen[rank], Communicator(links, chosen[rank], backend) as comm:
                results[rank] = program(comm, *arguments)
        except BaseException as error:
            links.close(f"{type(error).__name__}: {error}")
            errors.append(error)
        finally:
            done[rank].set()

    made = links_in_process(len(chosen), timeout)
    done = [threading.Event() for _ in made]   # a join() that Ctrl-C ends would take its thread for ended
    running: list[threading.Event] = []
    try:
        for rank, links in enumerate(made):
            running.append(done[rank])
            try:
                threading.Thread(target=run, args=(rank, links), name=f"rank {rank}").start()
            except RuntimeError:   # no more threads
                running.pop()
                raise
        _wait_for(running)
    except BaseException:   # Ctrl-C, which the main thread alone hears
        for links in made:
            links.interrupt()
        _wait_for(running)
        raise
    if errors:
        raise min(errors, key=lambda error: isinstance(error, _LOST))
    return results


def _wait_for(events: list[threading.Event]) -> None:
    for event in events:
        while not event.wait(0.5):   # a signal that comes just before it waits is heard behind it
            pass


# --- MPI and torchrun ------------------------------------------------------------------------------------------------

def from_mpi(communicator: Any = None, *, device: Device | None = None, backend: str = "auto",
             timeout: float = TIMEOUT) -> Communicator:
    """A communicator of the processes of an mpi4py communicator, COMM_WORLD unless it is given.

    MPI tells the ranks of each other; what they exchange then goes by NCCL or sockets. Each rank on a machine has one
    of the devices that it sees there, in turn, which is its thread's current one from then on, unless `device` names
    another. Other parameters and errors: `connect`.
    """
    if communicator is None:
        from mpi4py import MPI

        communicator = MPI.COMM_WORLD
    rank, names = communicator.Get_rank(), communicator.allgather(socket.gethostname())
    host = "127.0.0.1" if len(set(names)) == 1 else socket.gethostbyname(names[rank])
    device = device or _one_for_each(names[:rank].count(names[rank]))
    return _made(rank, len(names), host, communicator.allgather, device, backend, timeout)


def from_torchrun(*, device: Device | None = None, backend: str = "auto", timeout: float = TIMEOUT) -> Communicator:
    """A communicator of the processes that torchrun started, by its variables and its store.

    torch.distributed needs not be initialized, and may be. Each process has the device of its LOCAL_RANK among those it
    sees, which is its thread's current one from then on, unless `device` names another. Where RANK, WORLD_SIZE,
    MASTER_ADDR and MASTER_PORT are set by something else than torchrun, PyTorch needs not be installed: then rank 0
    listens there itself. Other parameters and errors: `connect`.
    """
    missing = [name for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise CommunicationError(f"{', '.join(missing)} not set: torchrun does, when it starts this program")
    rank, size, address = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["MASTER_ADDR"]
    try:
        from torch import distributed

        if not distributed.is_available():
            raise ImportError("it was built without torch.distributed")
    except ImportError as error:
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
            raise CommunicationError(f"torchrun's store is at {address}, and PyTorch, which knows how to ask it, "
                                     f"cannot be imported here: {error}") from error
        gather = gather_at(f"{address}:{os.environ['MASTER_PORT']}", rank, size, timeout)
    else:
        gather = _gather_by_torch(distributed, rank, size, timeout)
    device = device or _one_for_each(int(os.environ.get("LOCAL_RANK", rank)))
    return _made(rank, size, address_towards(address), gather, device, backend, timeout)


def _gather_by_torch(distributed: Any, rank: int, size: int, timeout: float) -> Gather:
    """A gather by the store at MASTER_ADDR: that of torchrun, of an initialized torch.distributed, or a new one."""
    calls = _calls_of_torchrun.setdefault("count", 0)
    _calls_of_torchrun["count"] += 1   # every process makes the same communicators, one after another

    def gather(text: str) -> list[str]:
        deadline, texts = time.monotonic() + timeout, []
        try:
            store, _, _ = next(distributed.rendezvous("env://", timeout=timedelta(seconds=timeout)))
            stores.append(store)
            store.set(f"cujit-{calls}-{rank}", text)
            for other in range(size):
                store.set_timeout(timedelta(seconds=max(deadline - time.monotonic(), 0.01)))
                texts.append(store.get(f"cujit-{calls}-{other}").decode())
        except RuntimeError as error:
            waited = CommunicationTimeoutError if time.monotonic() >= deadline else CommunicationError
            raise waited(f"rank {rank} of {size} asked the store at {os.environ['MASTER_ADDR']}:"
                         f"{os.environ['MASTER_PORT']} for rank {len(texts)} (timeout {timeout:g} s): "
                         f"{str(error).splitlines()[0]}") from error
        return texts

    stores: list[Any] = []   # rank 0's may be what the others still ask, until all are connected
    return gather


_calls_of_torchrun: dict[str, int] = {}


# --- Dask ------------------------------------------------------------------------------------------------------------

def on_dask(client: Any, program: Callable[..., Any], *arguments: Any, size: int | None = None, retries: int = 0,
            backend: str = "auto", timeout: float = TIMEOUT) -> list[Any]:
    """Runs program(comm, *arguments) on Dask's workers, a rank on each.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    program : callable
        What each rank does. A device is current there that no rank before has, where its worker sees one: first the
        worker's current one.
    *arguments
        Of the program, the same for all ranks.
    size : int, optional
        How many ranks; as many as there are workers unless it is given.
    retries : int
        How often all ranks start again, from the beginning, when a worker died or did not come.
    backend : str
        "nccl", "sockets", or "auto".
    timeout : float
        Seconds that a rank waits for others, and this call for workers.

    Returns
    -------
    list
        What each rank returned.

    Raises
    ------
    RankDiedError, CommunicationTimeoutError
        A worker died or did not come, more than `retries` times.
    Exception
        What a rank raised.
    """
    wanted = size or len(client.scheduler_info(n_workers=-1)["workers"])
    return _again(retries, lambda: _once_on_dask(client, program, arguments, wanted, backend, timeout))


def _again(retries: int, run: Callable[[], list[Any]]) -> list[Any]:
    for left in range(retries, -1, -1):
        try:
            return run()
        except _LOST:
            if not left:
                raise
    raise ValueError("retries is 0 or more")


def _once_on_dask(client: Any, program: Callable[..., Any], arguments: tuple[Any, ...], size: int, backend: str,
                  timeout: float) -> list[Any]:
    from distributed import Variable

    try:
        client.wait_for_workers(size, timeout=timeout)
    except TimeoutError:
        raise CommunicationTimeoutError(f"Dask has fewer than {size} workers after {timeout:g} s") from None
    workers = list(client.scheduler_info(n_workers=-1)["workers"])[:size]
    key = f"cujit-{uuid.uuid4().hex}"
    futures = [client.submit(_rank_on_dask, program, arguments, key, rank, size, backend, timeout, workers=[worker],
                             pure=False, retries=0) for rank, worker in enumerate(workers)]
    try:
        while pending := [future for future in futures if not future.done()]:
            lost = set(workers) - set(client.scheduler_info(n_workers=-1)["workers"])
            if lost:
                raise RankDiedError(f"Dask has lost {', '.join(sorted(lost))}")
            if any(future.status == "error" for future in futures):
                time.sleep(0.5)   # the others hear of it, and say more of what happened
                break
            _wait_for_some(pending)
        return _results_of_dask(futures)
    finally:
        client.cancel(futures)
        for rank in range(size):
            Variable(f"{key}-{rank}", client=client).delete()


def _wait_for_some(futures: list[Any]) -> None:
    from distributed import wait

    with contextlib.suppress(TimeoutError):
        wait(futures, timeout=0.5, return_when="FIRST_COMPLETED")


def _results_of_dask(futures: list[Any]) -> list[Any]:
    errors = [future.exception() for future in futures if future.status == "error"]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, _LOST))
    return [future.result() for future in futures]


def _rank_on_dask(program: Callable[..., Any], arguments: tuple[Any, ...], key: str, rank: int, size: int, backend: str,
                  timeout: float) -> Any:
    from distributed import Variable, get_worker

    def gather(text: str) -> list[str]:
        deadline = time.monotonic() + timeout
        Variable(f"{key}-{rank}").set(text)
        try:
            return [Variable(f"{key}-{other}").get(timeout=max(deadline - time.monotonic(), 0.01))
                    for other in range(size)]
        except TimeoutError:
            raise CommunicationTimeoutError(
                f"rank {rank} waited {timeout:g} s for all of {size} Dask workers") from None

    host = get_worker().address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    links = _linked(rank, size, host, gather, timeout)
    device = _not_of_others(links)
    with device, Communicator(links, device, backend) as comm:
        return program(comm, *arguments)


# --- Ray -------------------------------------------------------------------------------------------------------------

class _Board:
    """A Ray actor: what ranks say of themselves."""

    def __init__(self, size: int) -> None:
        self.texts: list[str | None] = [None] * size

    def put(self, rank: int, text: str) -> None:
        self.texts[rank] = text

    def get(self) -> list[str | None]:
        return self.texts


def on_ray(program: Callable[..., Any], *arguments: Any, size: int, retries: int = 0,
           resources: dict[str, float] | None = None, backend: str = "auto", timeout: float = TIMEOUT) -> list[Any]:
    """Runs program(comm, *arguments) in Ray's workers, a task for each rank.

    Parameters
    ----------
    program : callable
        What each rank does, on the first device that its worker sees.
    *arguments
        Of the program, the same for all ranks.
    size : int
        How many ranks.
    retries : int
        How often all ranks start again, from the beginning, when a worker died or did not come.
    resources : dict, optional
        What Ray reserves for each rank: {"CPU": 1}, and {"GPU": 1} besides where this process sees a GPU, unless it is
        given.
    backend : str
        "nccl", "sockets", or "auto".
    timeout : float
        Seconds that a rank waits for others, and this call for room.

    Returns
    -------
    list
        What each rank returned.

    Raises
    ------
    RankDiedError, CommunicationTimeoutError
        A worker died, or Ray had no room, more than `retries` times.
    Exception
        What a rank raised.
    """
    bundle: dict[str, float] = dict(resources or {"CPU": 1})
    if resources is None and devices.need_device().kind == "cuda":
        bundle["GPU"] = 1
    return _again(retries, lambda: _once_on_ray(program, arguments, size, bundle, backend, timeout))


def _once_on_ray(program: Callable[..., Any], arguments: tuple[Any, ...], size: int, bundle: dict[str, float],
                 backend: str, timeout: float) -> list[Any]:
    import ray
    from ray.util import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    places = placement_group([bundle] * size)
    try:
        if not places.wait(timeout):
            raise CommunicationTimeoutError(f"Ray had no room for {size} ranks with {bundle} each within {timeout:g} s")
        board = ray.remote(num_cpus=0)(_Board).remote(size)
        more = {name: amount for name, amount in bundle.items() if name not in ("CPU", "GPU")}
        task = ray.remote(max_retries=0, num_cpus=bundle.get("CPU", 0), num_gpus=bundle.get("GPU", 0),
                          resources=more)(_rank_on_ray)
        return _results_of_ray([
            task.options(scheduling_strategy=PlacementGroupSchedulingStrategy(places, rank)).remote(
                program, arguments, board, rank, size, backend, timeout) for rank in range(size)])
    finally:
        remove_placement_group(places)


def _results_of_ray(references: list[Any]) -> list[Any]:
    import ray

    errors: list[BaseException] = []
    for reference in references:
        try:
            ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            errors.append(error.cause if isinstance(error.cause, BaseException) else error)
        except ray.exceptions.RayError as error:
            errors.append(RankDiedError(f"Ray lost a rank: {error}"))
    if errors:
        raise min(errors, key=lambda error: isinstance(error, _LOST))
    return [ray.get(reference) for reference in references]


def _rank_on_ray(program: Callable[..., Any], arguments: tuple[Any, ...], board: Any, rank: int, size: int,
                 backend: str, timeout: float) -> Any:
    import ray

    def gather(text: str) -> list[str]:
        deadline = time.monotonic() + timeout
        ray.get(board.put.remote(rank, text))
        while True:
            texts = ray.get(board.get.remote())
            if None not in texts:
                return list(texts)
            if time.monotonic() > deadline:
                raise CommunicationTimeoutError(f"rank {rank} waited {timeout:g} s for all of {size} Ray tasks")
            time.sleep(0.02)

    with _made(rank, size, ray.util.get_node_ip_address(), gather, None, backend, timeout) as comm:
        return program(comm, *arguments)
