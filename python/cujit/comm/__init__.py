"""Arrays between devices, processes and machines: a communicator for each rank, on the engine that a program has.

A program is a function of its communicator, and the same on one device, several, and many machines:

    from cujit import comm

    def program(comm, n): ...

    comm.on_devices(program, n)                    # a thread for each device of this process
    comm.on_dask(client, program, n)               # a rank on each of Dask's workers
    comm.on_ray(program, n, size=4)                # four Ray tasks
    program(comm.from_mpi(), n)                    # mpiexec -n 4 python program.py
    program(comm.from_torchrun(), n)               # torchrun --nproc-per-node 4 program.py
    program(comm.connect(rank, 4, address), n)     # processes that know one address

Arrays on GPUs move by NCCL, through nccl4py or CuPy; those of the CPU device by sockets, with the same calls.
"""
from cujit.comm.communicator import Communicator
from cujit.comm.engines import connect, from_mpi, from_torchrun, on_dask, on_devices, on_ray
from cujit.comm.mpi import mpi_buffer

__all__ = ["Communicator", "connect", "from_mpi", "from_torchrun", "mpi_buffer", "on_dask", "on_devices", "on_ray"]
