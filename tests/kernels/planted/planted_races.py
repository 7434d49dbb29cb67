"""Races: a report names two lines, either of which is at fault."""

ROWS = [
    ("shared", "no barrier before the read", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]  # fault
    out[i] = s[63 - i]  # fault
"""),
    ("shared", "no barrier behind the read", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    a = s[63 - i]  # fault
    s[i] = a + 1  # fault
    out[i] = a
"""),
    ("shared", "tree reduction without its barrier", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            s[i] += s[i + step]  # fault
        step //= 2
    out[i] = 1
"""),
    ("shared", "stencil with one array", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    for _ in range(3):
        left = s[i - 1] if i > 0 else 0.0  # fault
        s[i] = (left + s[i]) / 2  # fault
        cuda.syncthreads()
    out[i] = s[i]
"""),
    ("shared", "dynamic", """
def kernel(x, out):
    s = cuda.shared.array(0, float64)
    i = cuda.threadIdx.x
    s[i // 2] = x[i]  # fault
    out[i] = 1
"""),
    ("shared", "two axes", """
def kernel(x, out):
    s = cuda.shared.array((8, 8), float64)
    i = cuda.threadIdx.x
    s[i // 8, i % 8] = x[i]  # fault
    out[i] = s[i % 8, i // 8]  # fault
"""),
    ("shared", "a counter of plain additions", """
def kernel(x, out):
    n = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        n[0] = 0
    cuda.syncthreads()
    n[0] += 1  # fault
    out[0] = 1
"""),
    ("shared", "read beside atomics", """
def kernel(x, out):
    n = cuda.shared.array(2, int64)
    i = cuda.threadIdx.x
    if i < 2:
        n[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(n, i % 2, 1)  # fault
    if i == 5:
        out[0] = n[0]  # fault
"""),
    ("shared", "set to zero beside atomics", """
def kernel(x, out):
    n = cuda.shared.array(2, int64)
    i = cuda.threadIdx.x
    if i < 2:
        n[i] = 0  # fault
    cuda.atomic.add(n, i % 2, 1)  # fault
    out[i] = 1
"""),
    ("shared", "syncwarp where syncthreads was meant", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]  # fault
    cuda.syncwarp()
    out[i] = s[63 - i]  # fault
"""),
    ("shared", "a mask that leaves lanes out", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]  # fault
    if i % 32 < 16:
        cuda.syncwarp(0xFFFF)
    out[i] = s[i ^ 16]  # fault
"""),
    ("shared", "between threads of a loop's rounds", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    for k in range(2):
        s[i] = x[i] + k  # fault
        cuda.syncthreads()
        out[i] = s[63 - i]  # fault
"""),
    ("shared", "read that nobody uses", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    s[i] = x[i]  # fault
    s[63 - i]  # fault
"""),
    ("global", "same block", """
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i]  # fault
    if i > 0:
        out[i - 1] = 5.5  # fault
"""),
    ("global", "other blocks", """
def kernel(x, out):
    out[cuda.threadIdx.x] += x[cuda.grid(1)]  # fault
"""),
    ("global", "barrier does not reach other blocks", """
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i]  # fault
    cuda.syncthreads()
    x[i] = out[(i + 64) % 128]  # fault
"""),
    ("global", "sum of all", """
def kernel(x, out):
    out[0] += x[cuda.grid(1)]  # fault
"""),
    ("global", "flag without a fence", """
def kernel(x, out):
    i = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if i == 0:
            x[5] = 3.25  # fault
            cuda.atomic.exch(out, 0, 1.0)
        else:
            while cuda.atomic.max(out, 0, 0.0) != 1.0:
                pass
            out[1] = x[5]  # fault
"""),
    ("global", "histogram without atomics", """
def kernel(x, out):
    out[int(x[cuda.grid(1)]) % 4] += 1  # fault
"""),
    ("global", "in place transposition", """
def arguments():
    return np.arange(128.0), np.arange(128.0)   # writing what is there already is no race on a GPU


def kernel(x, out):
    i, j = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    out[i * 8 + j] = out[j * 8 + i]  # fault
"""),
    ("global", "view", """
def kernel(x, out):
    i = cuda.grid(1)
    part = out[10:]
    part[i // 2] = x[i]  # fault
"""),
    ("global", "slice assignment", """
def kernel(x, out):
    i = cuda.threadIdx.x
    out[i:i + 2] = x[i]  # fault
"""),
    ("global", "complex numbers", """
def kernel(x, out):
    z = out.view(np.complex128)
    i = cuda.threadIdx.x
    z[i // 4] = x[i] + 1j  # fault
"""),
    ("global", "bytes of one number", """
def kernel(x, out):
    i = cuda.threadIdx.x
    small = out.view(np.int8)
    if i == 0:
        out[2] = 1.5  # fault
    elif i == 1:
        small[19] = 3  # fault
"""),
    ("global", "device function", """
@cuda.jit(device=True)
def put(a, i, v):
    a[i // 2] = v  # fault

def kernel(x, out):
    i = cuda.grid(1)
    put(out, i, x[i])
"""),
    ("global", "plain function", """
def put(a, i, v):
    a[i // 3] = v  # fault

def kernel(x, out):
    i = cuda.grid(1)
    put(out, i, x[i])
"""),
    ("global", "nested function", """
def kernel(x, out):
    i = cuda.grid(1)

    def put(v):
        out[i // 2] = v  # fault

    put(x[i])
"""),
    ("shared", "closure over a factory's array size", """
def make(n):
    def inner(x, out):
        s = cuda.shared.array(n, float64)
        i = cuda.threadIdx.x
        s[i] = x[i]  # fault
        out[i] = s[n - 1 - i]  # fault
    return inner

kernel = make(64)
"""),
    ("global", "generator", """
def places(i, n):
    for k in range(n):
        yield (i + k) % 64

def kernel(x, out):
    i = cuda.threadIdx.x
    for p in places(i, 2):
        out[p] = x[i]  # fault
"""),
    ("global", "tuple of arrays", """
def kernel(x, out):
    both = (x, out)
    i = cuda.threadIdx.x
    both[1][i // 2] = both[0][i]  # fault
"""),
    ("global", "lambda", """
def kernel(x, out):
    i = cuda.grid(1)
    f = lambda k: out[k]  # fault
    out[i] = x[i]  # fault
    x[i] = f(127 - i)
"""),
]
