"""PyTorch's own tensors: on the device of the test run and on the CPU, of every dtype and layout, with its streams.
Without a GPU the tests of CPU tensors run on the CPU device."""
import numpy as np
import pytest

from cujit import cuda, errors, guvectorize, vectorize
from cujit.cuda.devicearray import DeviceNDArray

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::cujit.errors.PerformanceWarning")

has_gpu = torch.cuda.is_available() and cuda.get_current_device().kind == "cuda"
PLACES = [pytest.param("cuda", marks=pytest.mark.skipif(not has_gpu, reason="needs a GPU")), "cpu"]
needs_gpu = pytest.mark.skipif(not has_gpu, reason="needs a GPU")

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
          "float32", "float64", "complex64", "complex128"]
PARTS = {
    "C": lambda a: a,
    "transposed": lambda a: a.T,
    "slice": lambda a: a[1:, ::3],
    "column": lambda a: a[:, 2:3],
    "repeated": lambda a: a[:1].expand(7, 12),
    "nothing": lambda a: a[:0],
}


@cuda.jit
def copy_matrix(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j]


def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def matrix(dtype, place):
    return (torch.arange(84) % 100).reshape(7, 12).to(getattr(torch, dtype)).to(place)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_layout(dtype, part, place):
    x = part(matrix(dtype, place))
    out = torch.zeros(x.shape, dtype=x.dtype, device=place)
    copy_matrix[1, (16, 16)](x, out)
    cuda.synchronize()
    assert torch.equal(x.cpu(), out.cpu())


@pytest.mark.parametrize("place", PLACES)
def test_a_fresh_kernel_writes_into_a_part(place):
    whole = torch.ones(20, device=place)
    cuda.jit(double)[1, 32](whole[1::2])
    cuda.synchronize()
    assert whole.cpu().tolist() == [1.0, 2.0] * 10


@pytest.mark.parametrize("place", PLACES)
def test_tensors_that_require_grad(place):
    """Kernels work on the values; autograd does not see it."""
    leaf = torch.ones(4, device=place, requires_grad=True)
    parameter = torch.nn.Parameter(torch.ones(4, device=place))
    for tensor in leaf, parameter, leaf * 3:
        before = tensor.detach().clone()
        cuda.jit(double)[1, 32](tensor)
        cuda.synchronize()
        assert torch.equal(tensor.detach(), before * 2) and tensor.requires_grad


@needs_gpu
def test_cpu_tensors_beside_gpu_tensors():
    host, device = torch.arange(4.0), torch.zeros(4, device="cuda")

    @cuda.jit
    def add(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] += x[i]
            x[i] = -1

    add[1, 32](host, device)
    assert device.tolist() == [0, 1, 2, 3] and host.tolist() == [-1] * 4


@pytest.mark.parametrize("place", PLACES)
def test_dtypes_without_a_type_are_named(place):
    for name in "float8_e4m3fn", "float8_e5m2":
        with pytest.raises(errors.LaunchArgumentError, match=f"cannot use dtype {name}"):
            cuda.jit(double)[1, 1](torch.ones(3).to(getattr(torch, name)).to(place))


@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_in_memory(place):
    z = torch.ones(3, dtype=torch.complex64, device=place)
    z[1] = 1 + 2j
    for tensor, message in ((z.conj(), "resolve_conj"), (z.conj().imag, "resolve_neg"),
                            (z.real.contiguous().to_sparse(), "type 'Tensor'"), (torch.ones(3, device="meta"), "meta")):
        with pytest.raises(errors.LaunchArgumentError, match=message):
            cuda.jit(double)[1, 1](tensor)
    cuda.jit(double)[1, 3](z.conj().resolve_conj())


# --- ufuncs and copies ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("place", PLACES)
def test_ufuncs(place):
    add = vectorize(lambda a, b: a + b)
    x = torch.arange(6.0, device=place)
    for _ in range(3):
        result = add(x, x)
        assert isinstance(result, np.ndarray if place == "cpu" else DeviceNDArray)
        assert np.asarray(result).tolist() == [0, 2, 4, 6, 8, 10]
    assert np.asarray(add(x.reshape(2, 3)[:, ::2], 1.0)).tolist() == [[1, 3], [4, 6]]
    assert np.asarray(add(x.requires_grad_(), 1.0)).tolist() == [1, 2, 3, 4, 5, 6]


@needs_gpu
def test_ufuncs_write_into_tensors():
    add = vectorize(lambda a, b: a + b)
    x, out = torch.arange(6.0, device="cuda"), torch.zeros(6, device="cuda")
    for k in range(3):
        assert add(x, np.float32(k), out=out) is out
        cuda.synchronize()
        assert out.tolist() == [k + i for i in range(6)]


@pytest.mark.parametrize("place", PLACES)
def test_gufuncs_and_reductions(place):
    @guvectorize(["void(float32[:], float32[:])"], "(n)->()")
    def total(row, out):
        out[0] = 0
        for value in row:
            out[0] += value

    x = torch.arange(12.0, device=place).reshape(3, 4)
    assert np.asarray(total(x)).tolist() == [6, 22, 38]
    assert cuda.reduce(lambda a, b: a + b)(x.ravel()) == 66


@pytest.mark.parametrize("place", PLACES)
def test_copies(place):
    x = torch.arange(6.0, device=place)
    assert cuda.to_device(x).copy_to_host().tolist() == x.tolist()
    ours = cuda.device_array_like(x)
    ours.copy_to_device(x + 1)
    ours[:2] = x[4:]
    assert ours.copy_to_host().tolist() == [4, 5, 3, 4, 5, 6]


# --- DLPack -----------------------------------------------------------------------------------------------------------

def same_place():
    return "cuda" if cuda.get_current_device().kind == "cuda" else "cpu"


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "bfloat16"])
def test_dlpack_both_ways(dtype):
    x = matrix(dtype, same_place())[1:, ::2]
    ours = cuda.from_dlpack(x)
    assert ours.pointer == x.data_ptr() and ours.shape == tuple(x.shape)
    assert ours.strides == tuple(s * x.element_size() for s in x.stride())
    back = torch.from_dlpack(ours)
    assert back.data_ptr() == x.data_ptr() and back.stride() == x.stride() and torch.equal(back, x)
    assert cuda.from_dlpack(back, copy=True).pointer != x.data_ptr()


def test_memory_lives_as_long_as_it_is_used():
    ours = cuda.to_device(np.arange(1000.0))
    theirs = torch.from_dlpack(ours)
    del ours
    again = cuda.from_dlpack(theirs)
    del theirs
    for _ in range(10):
        cuda.to_device(np.zeros(1000))
    assert again.copy_to_host().tolist() == list(range(1000))


@needs_gpu
def test_device_memory_is_no_host_memory():
    with pytest.raises(BufferError, match="cuda.to_device"):
        cuda.from_dlpack(torch.ones(3))


# --- streams ----------------------------------------------------------------------------------------------------------

BIG = 1 << 22


@needs_gpu
def test_work_of_torchs_stream_is_waited_for():
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.zeros(BIG, device="cuda")
        for _ in range(200):
            x += 1
        cuda.jit(double)[BIG // 256, 256](x)
    cuda.synchronize()
    assert torch.equal(x, torch.full_like(x, 400))


@needs_gpu
def test_a_launch_on_torchs_stream():
    stream = torch.cuda.Stream()
    kernel = cuda.jit(double)
    with torch.cuda.stream(stream):
        x = torch.zeros(BIG, device="cuda")
        for _ in range(5):
            x += 1
            kernel[BIG // 256, 256, torch.cuda.current_stream()](x)
        assert torch.equal(x, torch.full_like(x, 62))


@needs_gpu
def test_a_launch_in_torchs_graph():
    kernel, x, graph = cuda.jit(double), torch.ones(1000, device="cuda"), torch.cuda.CUDAGraph()
    kernel[4, 256](torch.ones_like(x))   # compiled before: loading a kernel is nothing that a graph can hold
    cuda.synchronize()
    with torch.cuda.graph(graph):
        kernel[4, 256, torch.cuda.current_stream()](x)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(x, torch.full_like(x, 8))


FIRST_LAUNCH_IN_A_GRAPH = """
import gc, sys, threading
import numpy as np
import torch
from cujit import cuda

@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2

@cuda.jit
def loaded_meanwhile(x):
    x[0] = 1

x, graph = torch.ones(1000, device="cuda"), torch.cuda.CUDAGraph()
double[4, 256](torch.ones_like(x))
ours = cuda.to_device(np.ones(1000, np.float32)) if sys.argv[1] == "arrays" else None
lent = torch.from_dlpack(cuda.to_device(np.ones(1 << 20))) if ours is not None else None
pinned = cuda.pinned_array(1000) if ours is not None else None
cuda.synchronize()

def meanwhile():
    loaded_meanwhile.compile("void(float32[:])")

with torch.cuda.graph(graph):
    double[4, 256, torch.cuda.current_stream()](x)   # no launch of this process was on such a stream before
    lent = pinned = None
    gc.collect()
    other = threading.Thread(target=meanwhile)
    other.start()
    other.join()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
assert torch.equal(x, torch.full_like(x, 8)), x
if ours is not None:
    double[4, 256](ours)
    assert ours.copy_to_host().tolist() == [2] * 1000
"""


@needs_gpu
@pytest.mark.parametrize("kept", ["nothing", "arrays"])
def test_the_first_launch_in_torchs_graph(run_python, kept):
    """The stream is met then, a kernel is loaded and memory freed meanwhile: the graph has none of it, and lives on."""
    run_python(FIRST_LAUNCH_IN_A_GRAPH, kept)


@needs_gpu
def test_copies_and_ufuncs_on_torchs_stream():
    stream = torch.cuda.Stream()
    x = cuda.to_device(np.arange(4.0), stream=stream)
    result = vectorize(lambda a: a + 1)(x, stream=stream)
    assert result.copy_to_host(stream=stream).tolist() == [1, 2, 3, 4]
    assert cuda.event().wait(stream) is None
