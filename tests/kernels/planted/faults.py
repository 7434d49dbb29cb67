"""Kernels with one planted fault each. A row is a function that launches its kernel with that check; the line at fault
has `# fault` at its end. Rows say which memory and which construct of the language the fault is in."""
from collections import namedtuple

import numpy as np

import cujit
from cujit import cuda, float64, int64

Row = namedtuple("Row", "launch check error memory construct")

ROWS = []
TABLE = np.arange(10.0)
PAIR = np.dtype([("a", np.float64), ("v", np.int32, 4)], align=True)


def planted(check, error, memory, construct):
    """Adds the function below to the rows."""

    def add(launch):
        ROWS.append(Row(launch, check, error, memory, construct))
        return launch

    return add


def bounds(memory, construct):
    return planted("bounds", "IndexError", memory, construct)


def on_device(*shape, dtype=np.float64, order="C"):
    return cuda.to_device(np.zeros(shape, dtype, order))


# --- bounds: memory ---------------------------------------------------------------------------------------------------


@bounds("global", "load")
def load(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i + 1]  # fault

    kernel[2, 8](on_device(16), on_device(16))


@bounds("global", "store")
def store(check):
    @cuda.jit(check=check)
    def kernel(out):
        i = cuda.grid(1)
        out[i] = 1.0  # fault

    kernel[2, 8](on_device(15))


@bounds("global", "negative index")
def negative(check):
    @cuda.jit(check=check)
    def kernel(x):
        t = cuda.threadIdx.x
        x[-t - 1] = 1.0  # fault

    kernel[1, 9](on_device(8))


@bounds("global", "2-D")
def two_axes(check):
    @cuda.jit(check=check)
    def kernel(x):
        i, j = cuda.grid(2)
        x[i, j] = 1.0  # fault

    kernel[(1, 1), (4, 5)](on_device(4, 4))


@bounds("global", "3-D")
def three_axes(check):
    @cuda.jit(check=check)
    def kernel(x):
        i, j, k = cuda.grid(3)
        if i < x.shape[2] and j < x.shape[1] and k < x.shape[0]:
            x[i, j, k] += 1.0  # fault

    kernel[1, (4, 4, 4)](on_device(2, 3, 4))


@bounds("global", "F order")
def fortran_order(check):
    @cuda.jit(check=check)
    def kernel(x):
        i, j = cuda.grid(2)
        x[j, i] = 1.0  # fault

    kernel[1, (4, 3)](on_device(4, 3, order="F"))


@bounds("global", "strided")
def strided(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x] = 1.0  # fault

    kernel[1, 6](on_device(10)[::2])


@bounds("global", "element of a slice")
def slice_element(check):
    @cuda.jit(check=check)
    def kernel(x):
        part = x[2:6]
        part[cuda.threadIdx.x] = 1.0  # fault

    kernel[1, 5](on_device(10))


@planted("bounds", "ValueError", "global", "assignment to a slice")
def slice_assignment(check):
    @cuda.jit(check=check)
    def kernel(x, y):
        x[cuda.threadIdx.x, 1:] = y[:4]  # fault

    kernel[1, 3](on_device(3, 4), on_device(5))


@planted("bounds", "ValueError", "local", "augmented assignment to a slice")
def slice_update(check):
    @cuda.jit(check=check)
    def kernel(x):
        mine = cuda.local.array((2, 4), float64)
        mine[:] = 1.0
        mine[:, :] += x  # fault
        x[0] = mine[1, 3]

    kernel[1, 3](on_device(3))


@planted("bounds", "ValueError", "shared", "assignment of a tuple")
def tuple_assignment(check):
    @cuda.jit(check=check)
    def kernel(x, n):
        tile = cuda.shared.array((4, 4), float64)
        tile[cuda.threadIdx.x, :n] = (1.0, 2.0, 3.0)  # fault
        x[0] = tile[0, 0]

    kernel[1, 4](on_device(3), 2)


@bounds("global", "view by an integer")
def view(check):
    @cuda.jit(check=check)
    def kernel(x):
        row = x[cuda.threadIdx.x, :]  # fault
        row[0] = 1.0

    kernel[1, 4](on_device(3, 5))


@bounds("global", "gather")
def gather(check):
    @cuda.jit(check=check)
    def kernel(x, places, out):
        t = cuda.threadIdx.x
        out[t] = x[places[t]]  # fault

    kernel[1, 4](on_device(3), cuda.to_device(np.arange(4)), on_device(4))


@bounds("global", "unsigned index")
def unsigned_index(check):
    @cuda.jit(check=check)
    def kernel(x, places):
        x[places[0]] = 1.0  # fault

    kernel[1, 1](on_device(3), cuda.to_device(np.array([2**63 + 1], np.uint64)))


@bounds("global", "augmented assignment")
def augmented(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x * 2] += 1.0  # fault

    kernel[1, 6](on_device(10))


@bounds("global", "cache hint")
def hinted(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = cuda.ldg(x, t + 1)  # fault

    kernel[1, 4](on_device(4), on_device(4))


@bounds("global", "wide load")
def wide_load(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        a, b, c, d = cuda.wide.load(x, cuda.threadIdx.x * 4, 4)  # fault
        out[cuda.threadIdx.x] = a + b + c + d

    kernel[1, 3](on_device(10, dtype=np.float32), on_device(3, dtype=np.float32))


@bounds("global", "wide store")
def wide_store(check):
    @cuda.jit(check=check)
    def kernel(x):
        cuda.wide.store(x, cuda.threadIdx.x * 2, (1.0, 2.0))  # fault

    kernel[1, 3](on_device(5))


@bounds("global", "complex numbers")
def complex_numbers(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x + 1] = 1j  # fault

    kernel[1, 4](on_device(4, dtype=np.complex64))


@bounds("global", "atomic")
def atomic(check):
    @cuda.jit(check=check)
    def kernel(x):
        cuda.atomic.add(x, cuda.threadIdx.x % 5, 1.0)  # fault

    kernel[1, 8](on_device(4))


@bounds("shared", "plain")
def shared(check):
    @cuda.jit(check=check)
    def kernel(out):
        tile = cuda.shared.array(8, float64)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        out[t] = tile[t + 1]  # fault

    kernel[1, 8](on_device(8))


@bounds("shared", "2-D")
def shared_two_axes(check):
    @cuda.jit(check=check)
    def kernel(out):
        tile = cuda.shared.array((4, 4), float64)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, x + y] = 1.0  # fault
        cuda.syncthreads()
        out[y, x] = tile[x, y]

    kernel[1, (4, 4)](on_device(4, 4))


@bounds("shared", "atomic")
def shared_atomic(check):
    @cuda.jit(check=check)
    def kernel(values, out):
        counts = cuda.shared.array(4, int64)
        t = cuda.threadIdx.x
        if t < 4:
            counts[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(counts, values[t], 1)  # fault
        cuda.syncthreads()
        if t < 4:
            out[t] = counts[t]

    kernel[1, 8](cuda.to_device(np.arange(8) % 5), on_device(4, dtype=np.int64))


@bounds("dynamic shared", "plain")
def dynamic_shared(check):
    @cuda.jit(check=check)
    def kernel(out):
        tile = cuda.shared.array(0, float64)
        t = cuda.threadIdx.x
        tile[t] = t  # fault
        cuda.syncthreads()
        out[t] = tile[0]

    kernel[1, 8, 0, 7 * 8](on_device(8))


@bounds("local", "plain")
def local(check):
    @cuda.jit(check=check)
    def kernel(out, n):
        mine = cuda.local.array(4, float64)
        for k in range(n):
            mine[k] = k  # fault
        out[cuda.threadIdx.x] = mine[0]

    kernel[1, 4](on_device(4), 5)


@bounds("local", "2-D")
def local_two_axes(check):
    @cuda.jit(check=check)
    def kernel(out, n):
        mine = cuda.local.array((2, 3), float64)
        mine[n - 4, -4 + n] = 1.0  # fault
        out[cuda.threadIdx.x] = mine[0, 0]

    kernel[1, 4](on_device(4), 1)


@bounds("constant", "captured array")
def captured(check):
    @cuda.jit(check=check)
    def kernel(out):
        t = cuda.threadIdx.x
        out[t] = TABLE[t + 4]  # fault

    kernel[1, 8](on_device(8))


@bounds("constant", "const.array_like")
def constant(check):
    @cuda.jit(check=check)
    def kernel(out):
        table = cuda.const.array_like(TABLE)
        t = cuda.threadIdx.x
        out[t] = table[2 * t]  # fault

    kernel[1, 8](on_device(8))


@bounds("record", "array of records")
def record(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x].a = 1.0  # fault

    kernel[1, 4](on_device(3, dtype=PAIR))


@bounds("record", "array in a record")
def record_field(check):
    @cuda.jit(check=check)
    def kernel(x, n):
        x[cuda.threadIdx.x].v[n] = 1  # fault

    kernel[1, 3](on_device(3, dtype=PAIR), 4)


@bounds("record", "field by name")
def field_by_name(check):
    @cuda.jit(check=check)
    def kernel(x):
        values = x["a"]
        values[cuda.threadIdx.x] = 1.0  # fault

    kernel[1, 4](on_device(3, dtype=PAIR))


@bounds("tuple", "picked at run time")
def tuple_item(check):
    @cuda.jit(check=check)
    def kernel(out, n):
        items = (1.0, 2.0, n * 3.0)
        t = cuda.threadIdx.x
        out[t] = items[t]  # fault

    kernel[1, 4](on_device(4), 1)


# --- bounds: constructs -----------------------------------------------------------------------------------------------


@bounds("global", "nested function")
def nested_function(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        def neighbour(i):
            return x[i + 1]  # fault

        t = cuda.threadIdx.x
        out[t] = neighbour(t)

    kernel[1, 4](on_device(4), on_device(4))


@bounds("global", "closure")
def closure(check):
    distance = 3

    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = x[t + distance]  # fault

    kernel[1, 4](on_device(6), on_device(4))


@bounds("global", "shared variable of a nested function")
def shared_variable(check):
    @cuda.jit(check=check)
    def kernel(x):
        place = 0

        def advance():
            nonlocal place
            place += 2

        for _ in range(4):
            x[place] = 1.0  # fault
            advance()

    kernel[1, 1](on_device(6))


@bounds("global", "lambda")
def lambda_function(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        take = lambda i: x[2 * i]  # fault  # noqa: E731
        out[cuda.threadIdx.x] = take(cuda.threadIdx.x)

    kernel[1, 4](on_device(6), on_device(4))


@bounds("global", "loop")
def loop(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        total = 0.0
        for k in range(x.shape[0] + 1):
            total += x[k]  # fault
        out[cuda.threadIdx.x] = total

    kernel[1, 4](on_device(6), on_device(4))


@bounds("global", "while loop")
def while_loop(check):
    @cuda.jit(check=check)
    def kernel(x):
        k = x.size - 1
        while k > -9:
            x[k] = 1.0  # fault
            k -= 2

    kernel[1, 1](on_device(4))


@bounds("global", "grid-stride loop")
def grid_stride_loop(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] = x[i]  # fault

    kernel[2, 4](on_device(29), on_device(30))


@bounds("shared", "reduction by halves")
def halves(check):
    @cuda.jit(check=check)
    def kernel(out):
        part = cuda.shared.array(8, float64)
        t = cuda.threadIdx.x
        part[t] = t
        cuda.syncthreads()
        half = 8
        while half > 0:
            if t < half:
                part[t] += part[t + half]  # fault
            cuda.syncthreads()
            half //= 2
        out[t] = part[0]

    kernel[1, 8](on_device(8))


@bounds("global", "generator")
def generator(check):
    def pairs(x, n):
        for k in range(n):
            yield x[k] * x[k + 1]  # fault

    @cuda.jit(check=check)
    def kernel(x, out):
        total = 0.0
        for product in pairs(x, x.size):
            total += product
        out[cuda.threadIdx.x] = total

    kernel[1, 2](on_device(4), on_device(2))


@bounds("global", "generator expression")
def generator_expression(check):
    @cuda.jit(check=check)
    def kernel(x, out, n):
        out[cuda.threadIdx.x] = sum(x[k] for k in range(n))  # fault

    kernel[1, 2](on_device(4), on_device(2), 5)


@bounds("global", "device function")
def device_function(check):
    @cuda.jit(device=True)
    def second(values, i):
        return values[i + 1]  # fault

    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = second(x, t)

    kernel[1, 4](on_device(4), on_device(4))


@bounds("global", "device function of a device function")
def inner_device_function(check):
    @cuda.jit(device=True)
    def put(values, i, value):
        values[i] = value  # fault

    @cuda.jit(device=True)
    def put_twice(values, i, value):
        put(values, i, value)
        put(values, i + 4, value)

    @cuda.jit(check=check)
    def kernel(x):
        put_twice(x, cuda.threadIdx.x, 1.0)

    kernel[1, 4](on_device(7))


@bounds("local", "recursive function")
def recursive(check):
    @cuda.jit(device=True)
    def fill(values, i):
        values[i] = i  # fault
        if i < 8:
            fill(values, i + 1)

    @cuda.jit(check=check)
    def kernel(out):
        mine = cuda.local.array(8, float64)
        fill(mine, 0)
        out[cuda.threadIdx.x] = mine[0]

    kernel[1, 1](on_device(1))


@bounds("constant", "ufunc")
def ufunc(check):
    @cujit.vectorize(["float64(int64)"], check=check)
    def look_up(i):
        return TABLE[i]  # fault

    look_up(np.arange(11))


@bounds("global", "gufunc")
def gufunc(check):
    @cujit.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", check=check)
    def differences(x, out):
        for k in range(x.shape[0]):
            out[k] = x[k + 1] - x[k]  # fault

    differences(np.ones((3, 4)), np.zeros((3, 4)))


@bounds("constant", "reduction")
def reduction(check):
    places = cuda.reduce(lambda a, b: TABLE[int(a)] + b)  # fault
    places(np.arange(20.0))
