"""Accesses out of bounds, and shapes that do not broadcast."""

ROWS = [
    ("global", "load", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i + 1]  # fault

    kernel[2, 8](on_device(16), on_device(16))
"""),
    ("global", "store", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out):
        i = cuda.grid(1)
        out[i] = 1.0  # fault

    kernel[2, 8](on_device(15))
"""),
    ("global", "negative index", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        t = cuda.threadIdx.x
        x[-t - 1] = 1.0  # fault

    kernel[1, 9](on_device(8))
"""),
    ("global", "2-D", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        i, j = cuda.grid(2)
        x[i, j] = 1.0  # fault

    kernel[(1, 1), (4, 5)](on_device(4, 4))
"""),
    ("global", "3-D", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        i, j, k = cuda.grid(3)
        if i < x.shape[2] and j < x.shape[1] and k < x.shape[0]:
            x[i, j, k] += 1.0  # fault

    kernel[1, (4, 4, 4)](on_device(2, 3, 4))
"""),
    ("global", "F order", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        i, j = cuda.grid(2)
        x[j, i] = 1.0  # fault

    kernel[1, (4, 3)](on_device(4, 3, order="F"))
"""),
    ("global", "strided", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x] = 1.0  # fault

    kernel[1, 6](on_device(10)[::2])
"""),
    ("global", "element of a slice", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        part = x[2:6]
        part[cuda.threadIdx.x] = 1.0  # fault

    kernel[1, 5](on_device(10))
"""),
    ("global", "assignment to a slice", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, y):
        x[cuda.threadIdx.x, 1:] = y[:4]  # fault: ValueError

    kernel[1, 3](on_device(3, 4), on_device(5))
"""),
    ("global", "out= of a function of NumPy", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, y):
        np.hypot(x, 1.0, out=y[cuda.threadIdx.x])  # fault: ValueError

    kernel[1, 2](on_device(5), on_device(2, 4))
"""),
    ("local", "augmented assignment to a slice", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        mine = cuda.local.array((2, 4), float64)
        mine[:] = 1.0
        mine[:, :] += x  # fault: ValueError
        x[0] = mine[1, 3]

    kernel[1, 3](on_device(3))
"""),
    ("shared", "assignment of a tuple", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, n):
        tile = cuda.shared.array((4, 4), float64)
        tile[cuda.threadIdx.x, :n] = (1.0, 2.0, 3.0)  # fault: ValueError
        x[0] = tile[0, 0]

    kernel[1, 4](on_device(3), 2)
"""),
    ("global", "view by an integer", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        row = x[cuda.threadIdx.x, :]  # fault
        row[0] = 1.0

    kernel[1, 4](on_device(3, 5))
"""),
    ("global", "gather", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, places, out):
        t = cuda.threadIdx.x
        out[t] = x[places[t]]  # fault

    kernel[1, 4](on_device(3), cuda.to_device(np.arange(4)), on_device(4))
"""),
    ("global", "unsigned index", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, places):
        x[places[0]] = 1.0  # fault

    kernel[1, 1](on_device(3), cuda.to_device(np.array([2**63 + 1], np.uint64)))
"""),
    ("global", "augmented assignment", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x * 2] += 1.0  # fault

    kernel[1, 6](on_device(10))
"""),
    ("global", "cache hint", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = cuda.ldg(x, t + 1)  # fault

    kernel[1, 4](on_device(4), on_device(4))
"""),
    ("global", "wide load", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        a, b, c, d = cuda.wide.load(x, cuda.threadIdx.x * 4, 4)  # fault
        out[cuda.threadIdx.x] = a + b + c + d

    kernel[1, 3](on_device(10, dtype=np.float32), on_device(3, dtype=np.float32))
"""),
    ("global", "wide store", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        cuda.wide.store(x, cuda.threadIdx.x * 2, (1.0, 2.0))  # fault

    kernel[1, 3](on_device(5))
"""),
    ("global", "complex numbers", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x + 1] = 1j  # fault

    kernel[1, 4](on_device(4, dtype=np.complex64))
"""),
    ("global", "atomic", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        cuda.atomic.add(x, cuda.threadIdx.x % 5, 1.0)  # fault

    kernel[1, 8](on_device(4))
"""),
    ("shared", "plain", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out):
        tile = cuda.shared.array(8, float64)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        out[t] = tile[t + 1]  # fault

    kernel[1, 8](on_device(8))
"""),
    ("shared", "2-D", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out):
        tile = cuda.shared.array((4, 4), float64)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, x + y] = 1.0  # fault
        cuda.syncthreads()
        out[y, x] = tile[x, y]

    kernel[1, (4, 4)](on_device(4, 4))
"""),
    ("shared", "atomic", """
def launch(check):
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
"""),
    ("dynamic shared", "plain", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out):
        tile = cuda.shared.array(0, float64)
        t = cuda.threadIdx.x
        tile[t] = t  # fault
        cuda.syncthreads()
        out[t] = tile[0]

    kernel[1, 8, 0, 7 * 8](on_device(8))
"""),
    ("local", "plain", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out, n):
        mine = cuda.local.array(4, float64)
        for k in range(n):
            mine[k] = k  # fault
        out[cuda.threadIdx.x] = mine[0]

    kernel[1, 4](on_device(4), 5)
"""),
    ("local", "2-D", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out, n):
        mine = cuda.local.array((2, 3), float64)
        mine[n - 4, -4 + n] = 1.0  # fault
        out[cuda.threadIdx.x] = mine[0, 0]

    kernel[1, 4](on_device(4), 1)
"""),
    ("constant", "captured array", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out):
        t = cuda.threadIdx.x
        out[t] = TABLE[t + 4]  # fault

    kernel[1, 8](on_device(8))
"""),
    ("constant", "const.array_like", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out):
        table = cuda.const.array_like(TABLE)
        t = cuda.threadIdx.x
        out[t] = table[2 * t]  # fault

    kernel[1, 8](on_device(8))
"""),
    ("record", "array of records", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x].a = 1.0  # fault

    kernel[1, 4](on_device(3, dtype=PAIR))
"""),
    ("record", "array in a record", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, n):
        x[cuda.threadIdx.x].v[n] = 1  # fault

    kernel[1, 3](on_device(3, dtype=PAIR), 4)
"""),
    ("record", "field by name", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        values = x["a"]
        values[cuda.threadIdx.x] = 1.0  # fault

    kernel[1, 4](on_device(3, dtype=PAIR))
"""),
    ("tuple", "picked at run time", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out, n):
        items = (1.0, 2.0, n * 3.0)
        t = cuda.threadIdx.x
        out[t] = items[t]  # fault

    kernel[1, 4](on_device(4), 1)
"""),
    ("global", "nested function", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        def neighbour(i):
            return x[i + 1]  # fault

        t = cuda.threadIdx.x
        out[t] = neighbour(t)

    kernel[1, 4](on_device(4), on_device(4))
"""),
    ("global", "closure", """
def launch(check):
    distance = 3

    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = x[t + distance]  # fault

    kernel[1, 4](on_device(6), on_device(4))
"""),
    ("global", "shared variable of a nested function", """
def launch(check):
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
"""),
    ("global", "lambda", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        take = lambda i: x[2 * i]  # fault
        out[cuda.threadIdx.x] = take(cuda.threadIdx.x)

    kernel[1, 4](on_device(6), on_device(4))
"""),
    ("global", "loop", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        total = 0.0
        for k in range(x.shape[0] + 1):
            total += x[k]  # fault
        out[cuda.threadIdx.x] = total

    kernel[1, 4](on_device(6), on_device(4))
"""),
    ("global", "while loop", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        k = x.size - 1
        while k > -9:
            x[k] = 1.0  # fault
            k -= 2

    kernel[1, 1](on_device(4))
"""),
    ("global", "grid-stride loop", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] = x[i]  # fault

    kernel[2, 4](on_device(29), on_device(30))
"""),
    ("shared", "reduction by halves", """
def launch(check):
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
"""),
    ("global", "generator", """
def launch(check):
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
"""),
    ("global", "generator expression", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out, n):
        out[cuda.threadIdx.x] = sum(x[k] for k in range(n))  # fault

    kernel[1, 2](on_device(4), on_device(2), 5)
"""),
    ("global", "device function", """
def launch(check):
    @cuda.jit(device=True)
    def second(values, i):
        return values[i + 1]  # fault

    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = second(x, t)

    kernel[1, 4](on_device(4), on_device(4))
"""),
    ("global", "device function of a device function", """
def launch(check):
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
"""),
    ("local", "recursive function", """
def launch(check):
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
"""),
    ("global", "load that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        w = x[t + 1]  # fault
        w = 1.0
        out[t] = w

    kernel[1, 4](on_device(4), on_device(4))
"""),
    ("global", "expression that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = t
        2 * x[t, -t] + 1 > 0  # fault

    kernel[1, 4](on_device(4, 2), on_device(4))
"""),
    ("global", "one of two that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        a, b = x[t], x[t + 1]  # fault
        out[t] = a

    kernel[1, 4](on_device(4), on_device(4))
"""),
    ("global", "view that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, out):
        t = cuda.threadIdx.x
        row = x[1, :, t]  # fault
        row = out
        row[t] = 1.0

    kernel[1, 4](on_device(2, 3, 3), on_device(4))
"""),
    ("global", "cache hint that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        cuda.ldcs(x, cuda.threadIdx.x + 1)  # fault

    kernel[1, 4](on_device(4))
"""),
    ("global", "function that nobody uses", """
def launch(check):
    @cuda.jit(device=True)
    def second(values, i):
        values[i + 1]  # fault
        return i

    @cuda.jit(check=check)
    def kernel(x):
        def both(i):
            return second(x, i) + second(x, i - 1)

        both(cuda.threadIdx.x)

    kernel[1, 4](on_device(4))
"""),
    ("global", "generator that nobody uses", """
def launch(check):
    def places(x, n):
        for k in range(n):
            x[k + 1]  # fault
            yield k

    @cuda.jit(check=check)
    def kernel(x, out):
        for k in places(x, x.size):
            out[k] = 1.0

    kernel[1, 1](on_device(4), on_device(4))
"""),
    ("global", "list that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x, n):
        items = [x[k] for k in range(n)]  # fault

    kernel[1, 2](on_device(4), 5)
"""),
    ("shared", "load that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out):
        tile = cuda.shared.array(8, float64)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        tile[t + 1]  # fault
        out[t] = tile[7 - t]

    kernel[1, 8](on_device(8))
"""),
    ("local", "load that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(n):
        mine = cuda.local.array(4, float64)
        for k in range(n):
            w = mine[k]  # fault

    kernel[1, 4](5)
"""),
    ("constant", "load that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel():
        TABLE[cuda.threadIdx.x + 4]  # fault
        TABLE[9]

    kernel[1, 8]()
"""),
    ("record", "field that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x].a  # fault

    kernel[1, 4](on_device(3, dtype=PAIR))
"""),
    ("record", "record that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(x):
        x[cuda.threadIdx.x]  # fault

    kernel[1, 4](on_device(3, dtype=PAIR))
"""),
    ("tuple", "item that nobody uses", """
def launch(check):
    @cuda.jit(check=check)
    def kernel(out, n):
        items = (1.0, 2.0, n * 3.0)
        items[cuda.threadIdx.x]  # fault
        out[0] = 1.0

    kernel[1, 4](on_device(4), 1)
"""),
    ("constant", "ufunc", """
def launch(check):
    @cujit.vectorize(["float64(int64)"], check=check)
    def look_up(i):
        return TABLE[i]  # fault

    look_up(np.arange(11))
"""),
    ("global", "gufunc", """
def launch(check):
    @cujit.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", check=check)
    def differences(x, out):
        for k in range(x.shape[0]):
            out[k] = x[k + 1] - x[k]  # fault

    differences(np.ones((3, 4)), np.zeros((3, 4)))
"""),
    ("constant", "reduction", """
def launch(check):
    places = cuda.reduce(lambda a, b: TABLE[int(a)] + b)  # fault
    places(np.arange(20.0))
"""),
]
