"""Variables that the path to their reader has not assigned. A row of PLANTED is the variable, an `n` with which that
happens (with 5 it does not), and a program."""

PLANTED = {
    "branch": ("y", 2, """
def kernel(x, n):
    if n > 3:
        y = 1.5
    x[0] = y  # fault: UnboundLocalError
"""),
    "same constant on the paths that assign": ("y", 1, """
def kernel(x, n):
    if n == 5:
        y = 7
    elif n == 4:
        y = 7
    x[0] = y  # fault: UnboundLocalError
"""),
    "loop without a trip": ("y", 0, """
def kernel(x, n):
    for i in range(n):
        y = x[i % 4]
    x[0] = y  # fault: UnboundLocalError
"""),
    "loop variable": ("i", 0, """
def kernel(x, n):
    for i in range(n):
        pass
    x[0] = i  # fault: UnboundLocalError
"""),
    "first trip": ("y", 1, """
def kernel(x, n):
    k = 0
    while k < n:
        if k > 0 or n > 4:
            y = 2
        x[0] = y  # fault: UnboundLocalError
        k += 1
"""),
    "del": ("y", 1, """
def kernel(x, n):
    y = 2
    if n == 1:
        del y
    x[0] = y  # fault: UnboundLocalError
"""),
    "del of what a branch assigns": ("y", 1, """
def kernel(x, n):
    if n > 1:
        y = 2
    x[0] = n
    del y  # fault: UnboundLocalError
"""),
    "del in each trip": ("y", 2, """
def kernel(x, n):
    y = 2
    for k in range(n):
        if n == 5:
            y = k
        del y  # fault: UnboundLocalError
"""),
    "del where it is of no one type": ("y", 1, """
def kernel(x, n):
    if n > 4:
        y = 2
    elif n > 3:
        y = x
    elif n > 2:
        y = (1, 2)
    del y  # fault: UnboundLocalError
"""),
    "conditional expression": ("y", 1, """
def kernel(x, n):
    if n > 1:
        y = 1.0
    x[0] = 2.0 if n == 2 else y  # fault: UnboundLocalError
"""),
    "one thread of the block": ("z", 2, """
def kernel(x, n):
    if cuda.threadIdx.x == 0 or n == 5:
        z = x[0]
    cuda.syncthreads()
    if cuda.threadIdx.x < n:
        x[1] = z  # fault: UnboundLocalError
"""),
    "nested function": ("y", 1, """
def kernel(x, n):
    def inner(m):
        if m > 1:
            y = m
        return y  # fault: UnboundLocalError
    x[0] = inner(n)
"""),
    "device function": ("y", 1, """
@cuda.jit(device=True)
def inner(m):
    for k in range(m):
        if k == 3:
            y = k
    return y * 2  # fault: UnboundLocalError

def kernel(x, n):
    x[0] = inner(n)
"""),
    "condition": ("y", 1, """
def kernel(x, n):
    if n > 1:
        y = n
    if y > 3:  # fault: UnboundLocalError
        x[0] = 1
"""),
    "array": ("s", 1, """
def kernel(x, n):
    if n > 1:
        s = cuda.local.array(4, float64)
    s[0] = n  # fault: UnboundLocalError
    x[0] = s[0]
"""),
    "generator": ("y", 2, """
def items(n):
    for k in range(n):
        if k > 2:
            y = k
        yield k
    yield y  # fault: UnboundLocalError

def kernel(x, n):
    for item in items(n):
        x[item % 4] = item
"""),
    "generator, of no one type at the yield": ("y", 2, """
def items(n):
    y = 0.5
    if n > 4:
        y = n
    elif n > 1:
        del y
    yield n
    for k in range(n):
        yield k
        yield y + k  # fault: UnboundLocalError
        y = k

def kernel(x, n):
    for item in items(n):
        x[0] += item
"""),
    "captured behind the branch": ("y", 2, """
def kernel(x, n):
    if n > 3:
        y = 1.5
    def inner():
        return y + 1  # fault: NameError
    x[0] = inner()
"""),
    "captured before the branch": ("y", 2, """
def kernel(x, n):
    def inner():
        return y + 1  # fault: NameError
    for k in range(n):
        if k > 2:
            y = k
    x[0] = inner()
"""),
    "changed by a nested function": ("y", 2, """
def kernel(x, n):
    def inner():
        nonlocal y
        y += 1  # fault: NameError
    if n > 3:
        y = 2
    inner()
    x[0] = y
"""),
    "assigned by a nested function": ("y", 2, """
def kernel(x, n):
    def inner(k):
        nonlocal y
        if k > 3:
            y = k
    inner(n)
    x[0] = y  # fault: UnboundLocalError
    y = 3
"""),
    "captured function": ("double", 2, """
def kernel(x, n):
    def inner(k):
        return double(k) + 1  # fault: NameError
    if n > 3:
        def double(k):
            return 2 * k + n
    x[0] = inner(n)
"""),
    "captured, assigned on two paths of three": ("y", 1, """
def kernel(x, n):
    if n > 3:
        y = 1.5
    elif n > 1:
        y = 2.5
    def inner():
        return y + 1  # fault: NameError
    x[0] = inner()
"""),
    "assigned on two paths of three, and again": ("y", 1, """
def kernel(x, n):
    def inner():
        return y + 1
    if n > 3:
        y = 1.5
    elif n > 1:
        y = 2.5
    x[1] = y  # fault: UnboundLocalError
    x[0] = inner()
    y = 2
    x[0] = inner()
"""),
    "del of what a function has captured": ("y", 1, """
def kernel(x, n):
    y = x[1]
    def inner():
        return y + 1  # fault: NameError
    x[0] = inner()
    if n == 1:
        del y
    x[0] = inner()
"""),
    "read behind the del of what a function has captured": ("y", 1, """
def kernel(x, n):
    y = x[1]
    def inner():
        return y + 1
    x[0] = inner()
    if n == 1:
        del y
    x[0] = y  # fault: UnboundLocalError
"""),
    "second del of what a function has captured": ("y", 1, """
def kernel(x, n):
    y = x[1]
    def inner():
        return y + 1
    x[0] = inner()
    if n == 1:
        del y
    del y  # fault: UnboundLocalError
"""),
    "del of a captured parameter": ("n", 1, """
def kernel(x, n):
    def inner():
        return n + 1  # fault: NameError
    x[0] = inner()
    if n == 1:
        del n
    x[0] = inner()
"""),
    "deleted by a nested function": ("y", 1, """
def kernel(x, n):
    def inner():
        nonlocal y
        if n == 1:
            del y
    y = n
    inner()
    x[0] = y  # fault: UnboundLocalError
"""),
    "deleted twice by a nested function": ("y", 1, """
def kernel(x, n):
    def inner():
        nonlocal y
        del y  # fault: NameError
    y = n
    inner()
    if n != 1:
        y = 2
    inner()
"""),
    "deleted in a generator": ("y", 1, """
def items(n):
    y = n
    def inner():
        return y + 1  # fault: NameError
    yield inner()
    if n == 1:
        del y
    yield n
    yield inner()

def kernel(x, n):
    for item in items(n):
        x[0] += item
"""),
    "deleted function": ("double", 1, """
def kernel(x, n):
    def inner(k):
        return double(k) + 1  # fault: NameError
    def double(k):
        return 2 * k + n
    x[0] = inner(n)
    if n == 1:
        del double
    x[0] = inner(n)
"""),
    "moved to another variable": ("y", 1, """
def kernel(x, n):
    if n > 1:
        y = n
    z = y
    x[0] = z + 1  # fault: UnboundLocalError
"""),
}

LAUNCH = """
def launch(check):
    run = cuda.jit(check=check)(kernel)
    run[1, 4](np.zeros(4), 5)
    run[1, 4](np.zeros(4), {})
"""
ROWS = [("none", name, source + LAUNCH.format(n)) for name, (_, n, source) in PLANTED.items()]
