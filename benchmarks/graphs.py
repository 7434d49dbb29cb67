"""What launches of graphs cost the host, and a Runge-Kutta step of 80 kernels, launched one by one and as a graph.

    python benchmarks/graphs.py            # on the device in use
"""
import statistics
import time
import warnings

import numpy as np

from cujit import cuda, errors

warnings.simplefilter("ignore", errors.PerformanceWarning)
COUNT, EQUATIONS = 4096, 10   # elements of each; 8 kernels for each equation


@cuda.jit
def nothing(x):
    pass


@cuda.jit
def slope(y, k):
    i = cuda.grid(1)
    if i < y.size:
        k[i] = -y[i]


@cuda.jit
def stage(y, k, h, out):
    i = cuda.grid(1)
    if i < y.size:
        out[i] = y[i] + h * k[i]


@cuda.jit
def combine(y, k1, k2, k3, k4, h):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i])


def microseconds(work, repeats):
    """Of a call, on the host: the median of nine."""
    times = []
    for _ in range(9):
        cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        times.append((time.perf_counter() - start) / repeats * 1e6)
    cuda.synchronize()
    return statistics.median(times)


def graph_of(count, x):
    with cuda.graph() as g:
        for _ in range(count):
            nothing[1, 32](x)
    return g


def step(equations, h):
    blocks = -(-COUNT // 256)
    for y, k, between in equations:
        slope[blocks, 256](y, k[0])
        for n, part in enumerate((0.5, 0.5, 1.0), 1):
            stage[blocks, 256](y, k[n - 1], part * h, between)
            slope[blocks, 256](between, k[n])
        combine[blocks, 256](y, *k, h)


def step_time(work, repeats=20):
    """Microseconds until the device has done it."""
    def timed():
        for _ in range(repeats):
            work()
        cuda.synchronize()

    timed()
    return min(microseconds(timed, 1) for _ in range(5)) / repeats


def main():
    x = cuda.to_device(np.zeros(32))
    print(f"on {cuda.get_current_device().name}")
    single = microseconds(lambda: nothing[1, 32](x), 200)
    print(f"a kernel                     {single:8.2f} us on the host")
    costs = {}
    for count in (1, 2, 5, 10, 20, 50, 100):
        costs[count] = microseconds(graph_of(count, x).launch, 50)
        print(f"a graph of {count:3} kernels       {costs[count]:8.2f} us on the host")
    print(f"each further node            {(costs[100] - costs[1]) / 99:8.2f} us")
    equations = [(cuda.to_device(np.ones(COUNT)), [cuda.device_array(COUNT) for _ in range(4)],
                  cuda.device_array(COUNT)) for _ in range(EQUATIONS)]
    step(equations, 0.01)
    with cuda.graph() as g:
        step(equations, 0.01)
    apart, whole = step_time(lambda: step(equations, 0.01)), step_time(g.launch)
    print(f"a Runge-Kutta step of {len(g)} kernels: {apart:.1f} us one by one, {whole:.1f} us as a graph, "
          f"{apart / whole:.1f} times as fast")


if __name__ == "__main__":
    main()
