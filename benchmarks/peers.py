"""The libraries that are compared, each behind the same few calls. One that is not installed says why."""

import importlib

import numpy as np


class Missing(Exception):
    """A library that cannot be used here."""


class PythonPeer:
    """cujit or numba-cuda: both have numba's API."""

    options = {}    # of jit

    def __init__(self, name, module):
        self.name = name
        prepare(name)
        try:
            self.cuda = importlib.import_module(module)
            self.vectorize = getattr(importlib.import_module(module.split(".")[0]), "vectorize", None)
        except Exception as error:  # a broken installation is a missing peer, too
            raise Missing(f"{name}: {type(error).__name__}: {error}") from error

    def kernel(self, case):
        return self.cuda.jit(**self.options)(case.function(self.cuda))

    def resources(self, kernel):
        """Registers and bytes of local memory of a thread, of a kernel that was launched."""
        compiled = next(iter(kernel.overloads.values()))
        return compiled.regs_per_thread, compiled.local_mem_per_thread

    def put(self, array):
        return self.cuda.to_device(array)

    def get(self, array):
        return array.copy_to_host()

    def adder(self):
        """Host arrays of float32 to the host array of their sums."""
        def add(a, b):
            return a + b

        return self.vectorize(["float32(float32, float32)"], target="cuda")(add)

    def call(self, kernel, case, inputs, output):
        launcher = kernel[case.grid, case.block]
        arguments = case.arguments(inputs, output)
        return lambda: launcher(*arguments)

    def synchronize(self):
        self.cuda.synchronize()

    def event(self):
        return self.cuda.event(timing=True)

    def record(self, event):
        event.record()

    def elapsed_ms(self, start, end):
        end.synchronize()
        return self.cuda.event_elapsed_time(start, end)


class CupyPeer:
    """CUDA C through NVRTC."""

    name = "CuPy RawKernel"

    def __init__(self):
        try:
            self.cupy = importlib.import_module("cupy")
            self.cupy.cuda.runtime.getDeviceCount()
        except Exception as error:
            raise Missing(f"CuPy: {type(error).__name__}: {error}") from error

    def kernel(self, case):
        return self.cupy.RawKernel(case.c_text, case.c_name)

    def resources(self, kernel):
        return kernel.num_regs, kernel.local_size_bytes

    def put(self, array):
        return self.cupy.asarray(array if array.dtype.kind != "V" else array.view(np.uint8))  # it has no records

    def get(self, array):
        return array.get()

    def adder(self):
        return lambda a, b: self.get(self.put(a) + self.put(b))

    def call(self, kernel, case, inputs, output):
        arguments = case.c_arguments(inputs, output)
        return lambda: kernel(case.grid, case.block, arguments)

    def synchronize(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def event(self):
        return self.cupy.cuda.Event()

    def record(self, event):
        event.record()

    def elapsed_ms(self, start, end):
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(start, end)


MAKERS = {
    "cujit": lambda: PythonPeer("cujit", "cujit.cuda"),
    "numba-cuda": lambda: PythonPeer("numba-cuda", "numba.cuda"),
    "CuPy RawKernel": CupyPeer,
}
# What runs the collection's kernels besides; some of them only, so they come last.
SUCCESSORS = {"numba-cuda-mlir": lambda: PythonPeer("numba-cuda-mlir", "numba_cuda_mlir.cuda")}


def prepare(name):
    """numba-cuda 0.30 imports a name that NumPy 2.5 no longer has."""
    if name == "numba-cuda" and not hasattr(np, "row_stack"):
        np.row_stack = np.vstack


def available(names=tuple(MAKERS)):
    """(peers by name, what was said of the missing ones)."""
    peers, notes = {}, []
    for name in names:
        try:
            peers[name] = {**MAKERS, **SUCCESSORS}[name]()
        except Missing as error:
            notes.append(f"skipped: {error}".splitlines()[0])
    return peers, notes


def gpu_name(peer):
    """The name of the GPU that the peer uses; None when it has none."""
    if isinstance(peer, CupyPeer):
        name = peer.cupy.cuda.runtime.getDeviceProperties(0)["name"]
    elif peer.cuda.is_available():
        name = peer.cuda.get_current_device().name
    else:
        return None
    return name.decode() if isinstance(name, bytes) else name
