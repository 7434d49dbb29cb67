"""Reads of memory that nothing has written."""

ROWS = [
    ("global", "part that a kernel has written", """
@cuda.jit(check="init")
def fill(a):
    a[2:7] = 1.0

def arguments():
    a = cuda.device_array(10)
    fill[1, 1](a)
    return np.zeros(4), a

def kernel(x, out):
    for k in range(2, 8):
        x[0] += out[k]  # fault
"""),
    ("global", "atomic", """
def arguments():
    return np.zeros(4), cuda.device_array((3, 4), np.int64)

def kernel(x, out):
    cuda.atomic.add(out, (2, 1), 1)  # fault
"""),
    ("global", "field of a record", """
def arguments():
    return np.zeros(4), cuda.device_array(3, np.dtype([("a", np.float64), ("b", np.int64)]))

def kernel(x, out):
    out[1].a = 3
    x[0] = out[1].a
    x[0] = out[1].b  # fault
"""),
    ("shared", "part that is not filled", """
def kernel(x, out):
    s = cuda.shared.array(64, float64)
    i = cuda.threadIdx.x
    if i != 20:
        s[i] = x[i]
    cuda.syncthreads()
    out[i] = s[63 - i]  # fault
"""),
    ("shared", "accumulator", """
def kernel(x, out):
    n = cuda.shared.array(1, int64)
    cuda.atomic.add(n, 0, 1)  # fault
    out[0] = 1
"""),
    ("shared", "border of a tile", """
def kernel(x, out):
    s = cuda.shared.array(66, float64)
    i = cuda.threadIdx.x
    s[i + 1] = x[i]
    cuda.syncthreads()
    out[i] = s[i] + s[i + 1] + s[i + 2]  # fault
"""),
    ("shared", "dynamic", """
def kernel(x, out):
    s = cuda.shared.array(0, float64)
    out[cuda.threadIdx.x] = s[cuda.threadIdx.x]  # fault
"""),
    ("shared", "two axes", """
def kernel(x, out):
    s = cuda.shared.array((8, 9), float64)
    i = cuda.threadIdx.x
    s[i // 8, i % 8] = x[i]
    cuda.syncthreads()
    out[i] = s[i % 8, 8]  # fault
"""),
    ("local", "element", """
def kernel(x, out):
    a = cuda.local.array(4, float64)
    a[0] = 1
    out[cuda.threadIdx.x] = a[cuda.threadIdx.x % 4]  # fault
"""),
    ("local", "element that nobody uses", """
def kernel(x, out):
    a = cuda.local.array(4, float64)
    a[0] = 1
    b = a[cuda.threadIdx.x % 4]  # fault
    b = a[0]
    out[cuda.threadIdx.x] = b
"""),
    ("local", "accumulator in a loop", """
def kernel(x, out):
    total = cuda.local.array(1, float64)
    for k in range(4):
        total[0] += x[k]  # fault
    out[0] = total[0]
"""),
    ("local", "sum over one too many", """
def kernel(x, out):
    a = cuda.local.array(8, float64)
    for k in range(7):
        a[k] = k
    total = 0.0
    for k in range(8):
        total += a[k]  # fault
    out[0] = total
"""),
    ("local", "slice", """
def kernel(x, out):
    a = cuda.local.array(8, float64)
    a[:4] = 1.0
    out[0] = a[2:][3]  # fault
"""),
    ("local", "made anew in each round", """
def kernel(x, out):
    for k in range(2):
        a = cuda.local.array(2, float64)
        if k == 0:
            a[0] = 1
        out[k] = a[0]  # fault
"""),
    ("local", "in a device function", """
@cuda.jit(device=True)
def pick(i):
    a = cuda.local.array(3, float64)
    a[1] = 2
    return a[i]  # fault

def kernel(x, out):
    out[cuda.threadIdx.x] = pick(cuda.threadIdx.x % 3)
"""),
    ("local", "in a nested function", """
def kernel(x, out):
    a = cuda.local.array(3, float64)

    def get(i):
        return a[i]  # fault

    a[0] = a[1] = 1
    out[0] = get(2)
"""),
    ("local", "by a device function", """
def total(a):
    s = 0.0
    for k in range(a.size):
        s += a[k]  # fault
    return s

def kernel(x, out):
    a = cuda.local.array(5, float64)
    for k in range(4):
        a[k] = k
    out[0] = total(a)
"""),
    ("local", "generator", """
def items(a):
    for k in range(a.size):
        yield a[k]  # fault

def kernel(x, out):
    a = cuda.local.array(5, float64)
    a[0] = 1
    for v in items(a):
        out[0] += v
"""),
    ("global", "device array", """
def arguments():
    return np.zeros(4), cuda.device_array(10)

def kernel(x, out):
    x[0] = out[3]  # fault
"""),
    ("local", "ufunc", """
def launch(check):
    @cuda.jit(device=True)
    def unwritten(v):
        a = cuda.local.array(2, np.float64)
        a[0] = v
        return a[1]  # fault

    g = cujit.vectorize(["float64(float64)"], target="cuda", check=check)(lambda v: unwritten(v))
    g(np.arange(5.0))
"""),
    ("local", "gufunc", """
def launch(check):
    @cujit.guvectorize(["(float64[:], float64[:])"], "(n)->(n)", target="cuda", check=check)
    def differences(x, out):
        a = cuda.local.array(2, np.float64)
        a[1] = x[0]
        out[0] = a[0]  # fault

    differences(np.ones((4, 3)))
"""),
    ("local", "reduction", """
def launch(check):
    @cuda.Reduce
    def add(a, b):
        scratch = cuda.local.array(1, np.float64)
        return a + b + scratch[0]  # fault

    add(np.arange(100.0))
"""),
]
