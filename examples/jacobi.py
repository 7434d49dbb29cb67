"""A 2-D Jacobi solver on any number of devices: each has some of the rows, and a row of each neighbour beside them.

    python examples/jacobi.py                                        all devices of this process (CUJIT_CPU_DEVICES=4)
    python examples/jacobi.py --engine dask --ranks 4                or ray
    mpiexec -n 4 python examples/jacobi.py --engine mpi
    torchrun --nproc-per-node 4 examples/jacobi.py --engine torchrun

A step computes the outer rows first. They go to the neighbours while the rows between them are computed in another
stream.
"""
import time
import warnings

import numpy as np
import ranks

from cujit import cuda, errors


@cuda.jit
def fill(u, first):
    """Something else at each place; what is at the borders stays."""
    j, i = cuda.grid(2)
    if i < u.shape[0] and j < u.shape[1]:
        u[i, j] = ((first + i) * 37 + j * 17) % 101 / 101


@cuda.jit
def sweep(u, new, start, step, stop):
    """The rows start, start + step, ... before stop of the next approximation."""
    j, i = cuda.grid(2)
    row = start + i * step
    if row < stop and 0 < j < u.shape[1] - 1:
        new[row, j] = 0.25 * (u[row - 1, j] + u[row + 1, j] + u[row, j - 1] + u[row, j + 1])


@cuda.jit
def checksum(bits, first, out):
    """A sum of all bits of the rows but the halos, each with the number of its place: whoever adds it."""
    row = cuda.grid(1) + 1
    if row < bits.shape[0] - 1:
        total = 0
        for j in range(bits.shape[1]):
            total += bits[row, j] * (2 * ((first + row) * bits.shape[1] + j) + 1)
        cuda.atomic.add(out, 0, total)


def blocks_for(rows, columns):
    return (-(-columns // 64), -(-rows // 4)), (64, 4)


class Slab:
    """The rows of a rank, with a halo above and below, twice: this approximation and the next."""

    def __init__(self, comm, rows, columns):
        self.comm = comm
        places = [rows * rank // comm.size for rank in range(comm.size + 1)]
        self.first, self.rows = places[comm.rank], places[comm.rank + 1] - places[comm.rank]
        sharing = [rank for rank in range(comm.size) if places[rank] < places[rank + 1]]   # fewer where rows are few
        self.above = max((rank for rank in sharing if rank < comm.rank), default=None)
        self.below = min((rank for rank in sharing if rank > comm.rank), default=None)
        self.u, self.new = (cuda.device_array((self.rows + 2, columns)) for _ in range(2))
        for array in (self.u, self.new):
            fill[blocks_for(*array.shape)](array, self.first)
        self.inner, self.outer = cuda.stream(), cuda.stream()
        self.inner_done, self.outer_done = cuda.event(timing=False), cuda.event(timing=False)
        cuda.synchronize()

    def step(self):
        u, new, n = self.u, self.new, self.rows
        self.outer.wait_event(self.inner_done)           # the last step's rows
        self.inner.wait_event(self.outer_done)
        sweep[*blocks_for(2, u.shape[1]), self.outer](u, new, 1, max(n - 1, 1), n + 1)
        self.outer_done.record(self.outer)
        if n > 2:
            sweep[*blocks_for(n - 2, u.shape[1]), self.inner](u, new, 2, 1, n)
        self.inner_done.record(self.inner)
        self.exchange(new)
        self.u, self.new = new, u

    def exchange(self, new):
        """Halos, behind the outer rows and beside the inner ones."""
        comm, n = self.comm, self.rows
        with comm.group(stream=self.outer):
            if n and self.above is not None:
                comm.send(new[1], self.above)
                comm.recv(new[0], self.above)
            if n and self.below is not None:
                comm.send(new[n], self.below)
                comm.recv(new[n + 1], self.below)

    def wait(self):
        for stream in (self.inner, self.outer):
            self.comm.synchronize(stream)


def solve(comm, rows, columns, steps):
    """(seconds, checksum) of so many steps of the whole grid."""
    slab = Slab(comm, rows, columns)
    for _ in range(2):                                  # compiled and loaded
        slab.step()
    slab.wait()
    comm.barrier()
    start = time.perf_counter()
    for _ in range(steps):
        slab.step()
    slab.wait()
    comm.barrier()
    seconds = time.perf_counter() - start

    total = cuda.to_device(np.zeros(1, np.int64))
    checksum.forall(slab.rows)(slab.u.view(np.int64), slab.first, total)
    comm.all_reduce(total)
    comm.synchronize()
    return seconds, f"{int(total.copy_to_host()[0]) & (2**64 - 1):016x}"


if __name__ == "__main__":
    warnings.simplefilter("ignore", errors.PerformanceWarning)   # the outer rows are two, and few blocks
    ranks.main(__doc__.splitlines()[0], solve, {
        "rows": (2048, "of the grid, or, with --weak, of each rank"), "columns": (2048, "of the grid"),
        "steps": (50, "how often all points are computed")},
        lambda share, arguments: (arguments.rows * share, arguments.columns, arguments.steps))
