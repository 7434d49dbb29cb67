"""Runs a program of cujit.comm on the engine that the command line names, first on one device, and prints a table."""
import argparse
import os

from cujit import comm, cuda

ENGINES = ("devices", "dask", "ray", "mpi", "torchrun")


def on_engine(engine, ranks, program, *arguments):
    """What program(comm, *arguments) returns on each rank; of mpiexec's or torchrun's, rank 0 alone knows."""
    backend = "sockets" if ranks > len(cuda.gpus) else "auto"   # several ranks of a GPU: not by NCCL
    if engine == "devices":
        using = [cuda.gpus[rank % len(cuda.gpus)] for rank in range(ranks)] if ranks else None
        return comm.on_devices(program, *arguments, using=using, backend=backend)
    if engine == "dask":
        from dask.distributed import Client, LocalCluster

        with LocalCluster(n_workers=ranks, threads_per_worker=1, dashboard_address=None) as cluster, \
                Client(cluster) as client:
            return comm.on_dask(client, program, *arguments, size=ranks, backend=backend)
    if engine == "ray":
        import ray

        ray.init(num_cpus=ranks, include_dashboard=False, log_to_driver=False)
        resources = {"CPU": 1}
        if cuda.get_current_device().kind == "cuda":
            resources["GPU"] = 1 / -(-ranks // len(cuda.gpus))
        try:
            return comm.on_ray(program, *arguments, size=ranks, resources=resources, backend=backend)
        finally:
            ray.shutdown()
    with (comm.from_mpi if engine == "mpi" else comm.from_torchrun)() as c:
        result = program(c, *arguments)
        return [result] * c.size if c.rank == 0 else []


def main(description, program, options, work):
    """Measures program(comm, *work(ranks, arguments)), which returns (seconds, what has to be the same everywhere).

    options: {name: (default, help)} of whole numbers; work: the program's arguments, for so many devices' share.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--engine", choices=ENGINES, default="devices")
    parser.add_argument("--ranks", type=int, default=0, help="how many; all devices, or what mpiexec or torchrun says")
    parser.add_argument("--weak", action="store_true", help="so much work for each rank, not for all of them")
    for name, (default, text) in options.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=text)
    arguments = parser.parse_args()
    if arguments.engine in ("dask", "ray") and not arguments.ranks:
        parser.error(f"--engine {arguments.engine} wants --ranks")

    place = os.environ.get("LOCAL_RANK", os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0"))   # among a machine's ranks
    own = cuda.gpus[int(place) % len(cuda.gpus)]
    [(alone, expected)] = comm.on_devices(program, *work(1, arguments), using=[own])
    ranks = arguments.ranks or _ranks_of(arguments.engine)
    scale = ranks if arguments.weak else 1
    results = on_engine(arguments.engine, ranks, program, *work(scale, arguments))
    if not results:
        return
    seconds = max(each for each, _ in results)
    hardware = len(results) if cuda.get_current_device().kind == "cuda" else 1   # ranks of one machine share its cores
    ideal = alone * scale / hardware
    print(f"| devices | engine | seconds | efficiency |\n|---|---|---|---|\n| 1 | | {alone:.4f} | 1.00 |\n"
          f"| {len(results)} | {arguments.engine} | {seconds:.4f} | {ideal / seconds:.2f} |")
    print("\n".join(sorted({f"result: {found}" for _, found in results})))
    if not arguments.weak:
        assert {found for _, found in results} == {expected}, f"one device: {expected}"
        print("the same to the bit as on one device")


def _ranks_of(engine):
    if engine == "devices":
        return len(cuda.gpus)
    if engine == "mpi":
        from mpi4py import MPI

        return MPI.COMM_WORLD.size
    return int(os.environ["WORLD_SIZE"])
