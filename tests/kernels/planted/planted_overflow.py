"""Arithmetic that goes wrong. A row of PLANTED is how often it does, what the report says of the first time, and a
program."""

LARGE = 2**63 - 1

# x: int64 [0, 1, ..., 61, LARGE, -LARGE - 1], f: float64, n: int32, u: uint64, o: uint8, out: int64, of 64 elements.
PLANTED = {
    "sum": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = x[i] + 1  # fault
"""),
    "difference": (1, f"{-LARGE - 1} - 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = x[i] - 1  # fault
"""),
    "product": (2, f"{LARGE} * 3 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = x[i] * 3  # fault
"""),
    "minus": (1, f"-({-LARGE - 1}) does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = -x[i]  # fault
"""),
    "minus of a narrow number": (1, "-(-128) does not fit int8", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = -int8(i * 4 - 128)  # fault
"""),
    "abs": (1, f"abs({-LARGE - 1}) does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = abs(x[i])  # fault
"""),
    "power": (2, f"{LARGE} ** 2 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = x[i] ** 2  # fault
"""),
    "power whose exponent is no constant": (24, "3 ** 40 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = 3 ** n[i]  # fault
"""),
    "division by zero": (1, "7 // 0 of int64: division by zero", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = 7 // x[i]  # fault
"""),
    "remainder by zero": (1, "7 % 0 of int64: division by zero", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = 7 % x[i]  # fault
"""),
    "remainder that nobody uses": (1, "7 % 0 of int64: division by zero", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    7 % x[i]  # fault
"""),
    "sum that nobody uses": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    y = x[i] + 1  # fault
    y = 2
    out[i] = y
"""),
    "quotient": (1, f"{-LARGE - 1} // -1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = x[i] // -n[1]  # fault
"""),
    "float division by zero": (1, "1.0 / 0.0 of float64: division by zero", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    f[i] = 1.0 / f[i]  # fault
"""),
    "divmod": (1, "5 // 0 of int64: division by zero", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    q, r = divmod(5, n[i])  # fault
    out[i] = q + r
"""),
    "shift by the width": (1, "1 << 64 of int64: the count is not from 0 to 63", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i == 62:
        out[i] = 1 << (n[i] + n[2])  # fault
"""),
    "shift by a negative count": (3, "9 >> -3 of int64: the count is not from 0 to 63", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = 9 >> (n[i] - 3)  # fault
"""),
    "shift that loses bits": (2, "2 << 62 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = n[2] << i  # fault
"""),
    "NaN to integer": (1, "float64 nan does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    f[i] = f[i] if i != 5 else np.nan
    out[i] = int(f[i])  # fault
"""),
    "float to narrow integer": (12, "float64 130.0 does not fit int8", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = int8(f[i] * 2.5)  # fault
"""),
    "round": (1, "float64 1e+20 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = round(f[i] if i != 9 else 1e20)  # fault
"""),
    "narrower type, written down": (2, f"int64 {LARGE} does not fit int32", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = int32(x[i])  # fault
"""),
    "stored in a narrower element": (12, "int64 260 does not fit uint8", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    o[i] = n[i] * 5  # fault
"""),
    "added to a narrower element": (1, "int64 256 does not fit uint8", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    o[i] += 193  # fault
"""),
    "all elements of a slice": (4, "int64 300 does not fit uint8", """
def kernel(x, f, n, u, o, out):
    if cuda.grid(1) == 0:
        o[:4] = n[3] * 100  # fault
"""),
    "unsigned difference": (1, "0 - 1 is below zero, uint64 has no such numbers", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    u[i] = u[i] - uint64(1)  # fault
"""),
    "atomic sum": (1, "2147483647 + 1 does not fit int32, in an atomic operation", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i == 0:
        n[0] = 2147483600
    cuda.syncthreads()
    cuda.atomic.add(n, 0, 1)  # fault
"""),
    "loop": (2, f"{2**62} * 2 does not fit int64", """
def kernel(x, f, n, u, o, out):
    if cuda.grid(1) < 2:
        product = n[1]
        for k in range(63):
            product *= 2  # fault
        out[0] = product
"""),
    "nested function": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    def next_one(v):
        return v + 1  # fault
    i = cuda.grid(1)
    out[i] = next_one(x[i])
"""),
    "closure": (1, f"{LARGE} + 5 does not fit int64", """
def outer(step):
    def inner(v):
        return v + step  # fault
    return inner

step5 = outer(5)

def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = step5(x[i])
"""),
    "device function": (1, f"{LARGE} + 1 does not fit int64", """
@cuda.jit(device=True)
def next_one(v):
    return v + 1  # fault

def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = next_one(x[i]) + next_one(0)
"""),
    "generator": (1, f"{LARGE} + 1 does not fit int64", """
def counted(v, times):
    for k in range(times):
        yield v + k  # fault

def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    for v in counted(x[i], 2):
        out[i] = v
"""),
    "sum of a list": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = sum([x[i], 1])  # fault
"""),
    "shared memory and barriers": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    s = cuda.shared.array(64, int64)
    i = cuda.grid(1)
    s[i] = x[i]
    cuda.syncthreads()
    out[i] = s[63 - i] + 1  # fault
"""),
    "warps that meet": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = cuda.shfl_xor_sync(0xffffffff, x[i], 1) + 1  # fault
"""),
    "branch": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = x[i] + 1  # fault
    else:
        out[i] = x[i] - 7 if i < 60 else 0
"""),
    "two axes": (1, f"{LARGE} + 1 does not fit int64", """
def kernel(x, f, n, u, o, out):
    i, j = cuda.grid(2)
    y = x.reshape(8, 8)
    if i < 64:
        out[i] = y[i // 8, i % 8] + 1  # fault
"""),
    "np.sum": (1, f"61 + {LARGE} does not fit int64, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = np.sum(x[i:i + 2])  # fault
"""),
    "method of a view with two axes": (1, f"180 + {LARGE} does not fit int64, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i == 0:
        out[i] = x[59:63].reshape(2, 2).sum()  # fault
"""),
    "np.prod": (1, f"61 * {LARGE} does not fit int64, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i < 62:
        out[i] = np.prod(x[i:i + 2])  # fault
"""),
    "np.dot in a device function": (2, f"{LARGE} * {LARGE} does not fit int64, inside of this call", """
@cuda.jit(device=True)
def square(part):
    return np.dot(part, part)  # fault

def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = square(x[i:i + 1])
"""),
    "np.power": (2, f"{LARGE} ** 2 does not fit int64, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = np.power(x[i], 2)  # fault
"""),
    "np.add of narrow numbers": (1, "int64 2147483648 does not fit int32, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = np.add(n[i], int32(2147483585))  # fault
"""),
    "np.subtract of unsigned numbers": (5, "0 - 5 is below zero, uint64 has no such numbers, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    o[i] = np.subtract(o[i], uint8(5))  # fault
"""),
    "results of a ufunc in narrower elements": (4, "int64 300 does not fit uint8, inside of this call", """
def kernel(x, f, n, u, o, out):
    if cuda.grid(1) == 0:
        np.multiply(x[3:4], 100, o[:4])  # fault
"""),
    "np.divide": (1, "7.0 / 0.0 of float64: division by zero, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    f[i] = np.divide(7.0, f[i])  # fault
"""),
    "np.mean of nothing": (1, "0.0 / 0.0 of float64: division by zero, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    f[i] = np.mean(x[:i])  # fault
"""),
    "math.factorial": (43, f"{2432902008176640000} * 21 does not fit int64, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = math.factorial(min(n[i], 21))  # fault
"""),
    "functools.reduce of an operator": (1, f"{LARGE} * 2 does not fit int64, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i < 63:
        out[i] = functools.reduce(operator.mul, (x[i], 2))  # fault
"""),
    "round to a power of ten": (1, f"{LARGE} + 3 does not fit int64, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    if i < 63:
        out[i] = round(x[i], -1)  # fault
"""),
    "cuda.block.inclusive_scan": (65, "int64 2147483648 does not fit int32, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    out[i] = cuda.block.inclusive_scan(int32(2147483647 if i == 3 else i == 63))  # fault
"""),
    "complex division": (1, "complex(3.0, 1.0) / 0 of complex128: division by zero", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    f[i] = ((3 + 1j) / (f[i] * 1j)).real  # fault
"""),
    "complex division that nobody uses": (1, "complex(0.0, 1.0) / 0 of complex64: division by zero", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    complex64(complex(f[i], 1)) / complex64(f[i] + 0j)  # fault
"""),
    "np.divide of complex": (1, "complex(1.0, 0.0) / 0 of complex128: division by zero, inside of this call", """
def kernel(x, f, n, u, o, out):
    i = cuda.grid(1)
    f[i] = np.divide(1 + 0j, complex(f[i], f[i])).real  # fault
"""),
}

MEMORY = {"stored in a narrower element": "global", "added to a narrower element": "global",
          "all elements of a slice": "global", "atomic sum": "global",
          "shared memory and barriers": "shared"}
LAUNCH = f"""
def launch(check):
    x = np.arange(64)
    x[62:] = {LARGE}, {-LARGE - 1}
    cuda.jit(check=check)(kernel)[1, 64](x, np.arange(64.0), np.arange(64, dtype=np.int32),
                                         np.arange(64, dtype=np.uint64), np.arange(64, dtype=np.uint8),
                                         np.zeros(64, np.int64))
"""
ROWS = [(MEMORY.get(name, "none"), name, source + LAUNCH) for name, (_, _, source) in PLANTED.items()]
ROWS.append(("none", "argument that a signature narrows", """
def launch(check):
    @cuda.jit("void(int32[:], int32)", check=check)  # fault
    def kernel(out, n):
        out[0] = n

    kernel[1, 1](np.zeros(1, np.int32), 2**40)
"""))
