"""Barriers that threads miss, and masks that name lanes that are not there."""

ROWS = [
    ("none", "some return", """
def kernel(x, out):
    if cuda.threadIdx.x < 10:
        cuda.syncthreads()  # fault
"""),
    ("none", "early return", """
def kernel(x, out):
    if cuda.threadIdx.x >= 40:
        return
    out[cuda.threadIdx.x] = 1
    cuda.syncthreads()  # fault
"""),
    ("none", "other rounds of a loop", """
def kernel(x, out):
    for _ in range(cuda.threadIdx.x):
        cuda.syncthreads()  # fault
"""),
    ("none", "two branches", """
def kernel(x, out):
    if cuda.threadIdx.x % 2:
        cuda.syncthreads()  # fault
    else:
        cuda.syncthreads()  # fault
"""),
    ("none", "votes in two branches", """
def kernel(x, out):
    if cuda.threadIdx.x % 2:
        out[0] = cuda.syncthreads_or(1)  # fault
    else:
        out[1] = cuda.syncthreads_or(0)  # fault
"""),
    ("none", "in a device function", """
@cuda.jit(device=True)
def meet():
    cuda.syncthreads()  # fault

def kernel(x, out):
    if cuda.threadIdx.x < 33:
        meet()
"""),
    ("none", "in a nested function", """
def kernel(x, out):
    def meet():
        cuda.syncthreads()  # fault

    if cuda.threadIdx.x > 3:
        meet()
"""),
    ("none", "break in front of it", """
def kernel(x, out):
    for k in range(4):
        if k == 2 and cuda.threadIdx.x == 7:
            break
        cuda.syncthreads()  # fault
"""),
    ("none", "lanes of a shuffle", """
def kernel(x, out):
    if cuda.threadIdx.x < 40:
        out[cuda.threadIdx.x] = cuda.shfl_down_sync(0xFFFFFFFF, x[0], 1)  # fault
"""),
    ("none", "lanes of a vote", """
def kernel(x, out):
    if cuda.threadIdx.x % 32 < 5:
        out[0] = cuda.any_sync(0xFF, True)  # fault
"""),
    ("none", "lane that its mask lacks", """
def kernel(x, out):
    out[0] = cuda.ballot_sync(0xFFFF, True)  # fault
"""),
    ("none", "syncwarp and a barrier", """
def kernel(x, out):
    if cuda.threadIdx.x == 3:
        cuda.syncthreads()  # fault
    else:
        cuda.syncwarp()  # fault
"""),
]
