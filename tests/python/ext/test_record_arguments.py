"""Records as arguments: by value where the kernel only reads them, on both devices."""
import itertools

import numpy as np
import pytest

from cujit import cuda, errors, float64, from_dtype

POINT = np.dtype([("x", np.float32), ("y", np.int32), ("c", np.float64, (4,))], align=True)


def point(x=3, y=2):
    record = np.zeros(1, POINT)
    record[0] = (x, y, [1, 2, 3, 4])
    return record[0]


def device_point(x):
    return cuda.to_device(np.array(point(x)).reshape(()))


@cuda.jit(device=True, inline=False)
def sum_of(p):
    return p.x + p.c[0]


def read(p, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p.x + p.y * p.c[i & 3]


def choose(p, q, out):
    i = cuda.grid(1)
    if i < out.size:
        chosen = p if i & 1 else q
        out[i] = chosen.x


def write(p, out):
    out[0] = p.x
    p.y = 5


def count(p, out):
    out[0] = cuda.atomic.add(p.c, 1, 1)


def hand_on(p, out):
    out[0] = sum_of(p)


def hinted(p, out):
    out[0] = cuda.ldcg(p.c, 2)


def tuples(pair, out):
    out[0] = pair[0].x + pair[1]


@pytest.fixture
def out():
    return cuda.to_device(np.zeros(8))


def passing(kernel, *types):
    """How the parameters of its first kernel are passed; None: all by pointer."""
    header = kernel.inspect("checks", *types or kernel.signatures[:1]).splitlines()
    return next((line.split(" passed ")[1].split(" ;")[0] for line in header if " passed " in line), None)


@pytest.mark.parametrize("function, expected, how", [
    (read, 3 + 2 * 1, "2 0"), (hand_on, 4, "2 0"), (hinted, 3, None), (write, 3, None), (count, 2, None)])
def test_what_is_only_read_goes_by_value(function, expected, how, out):
    kernel = cuda.jit(function)
    kernel[1, 1](point(), out)
    assert out.copy_to_host()[0] == expected and passing(kernel) == how


LINE = np.dtype([("ends", POINT, (2,)), ("width", np.float64)], align=True)


def whole(line, lines):
    """Which end of the array `ends` is copied first depends on where the two lie, which asks for their addresses."""
    lines[cuda.grid(1)] = line


def test_a_record_whose_address_is_asked_for_is_passed_by_pointer():
    """LLVM's inference of address spaces ended the process where it was compared with another one."""
    line, lines = np.zeros(1, LINE), np.zeros(3, LINE)
    line["ends"]["x"], line["width"] = [5, 6], 7
    kernel = cuda.jit(whole)
    kernel[1, 3](line[0], lines)
    np.testing.assert_array_equal(lines, np.repeat(line, 3))
    assert passing(kernel) is None
    assert "st.global" in kernel.inspect("asm", kernel.signatures[0], 90)


def sums(p, index, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p.x + index[i]


def meets(p, q, out):
    i = cuda.grid(1)
    shared = cuda.shared.array(64, float64)
    shared[cuda.threadIdx.x] = p.c[i % 4]
    cuda.syncthreads()
    total = q.x + shared[63 - cuda.threadIdx.x]
    out[i] = total + cuda.shfl_sync(0xffffffff, i, 0)


def test_a_variant_that_checks_finds_the_record():
    """Its raises make regions of it on the CPU device, a kernel built anew."""
    kernel, out = cuda.jit(check="bounds")(sums), np.zeros(64)
    kernel[1, 64](point(), np.arange(64), out)
    np.testing.assert_array_equal(out, np.arange(64) + 3.0)
    with pytest.raises(IndexError):
        kernel[1, 64](point(), np.arange(10), out)
    kernel[1, 64](device_point(5), np.arange(64), out)
    np.testing.assert_array_equal(out, np.arange(64) + 5.0)


def test_records_in_every_mix_of_places_with_barriers():
    kernel = cuda.jit(meets)
    i = np.arange(128)
    for mix in ("hh", "dh", "hd", "dd", "hh", "hd"):
        p, q = (point(k) if place == "h" else device_point(k) for k, place in zip((7, 9), mix, strict=True))
        out = np.zeros(128)
        kernel[2, 64](p, q, out)
        np.testing.assert_array_equal(out, 9 + 1 + (63 - i % 64) % 4 + i // 32 * 32.0, err_msg=mix)
        assert sum(kernel.stats.variants.values()) <= 3
    along_z = " single z" if cuda.get_current_device().kind == "cpu" else ""
    assert passing(kernel) == "2 2 0" + along_z   # and there for blocks of one thread along z
    first = cuda.jit(meets)
    first[2, 64](point(7), point(9), out)
    assert first.stats.variants == {}


def five(a, b, c, d, e, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a.x + 10 * b.x + 100 * c.x + 1000 * d.x + 10000 * e.x


@pytest.mark.parametrize("options", [{}, {"check": "bounds"}], ids=str)
def test_all_mixes_of_places_have_few_kernels(options):
    """The first has its records on the host; three mixes more have a kernel each, and one looks for the records."""
    kernel, out = cuda.jit(**options)(five), np.zeros(40)
    for mix in itertools.product("hd", repeat=5):
        values = np.random.default_rng(len(mix)).permutation(5) + 1
        records = [point(k) if place == "h" else device_point(k) for k, place in zip(values, mix, strict=True)]
        out[:] = 0
        kernel[2, 32](*records, out)
        assert (out == (values * 10 ** np.arange(5)).sum()).all(), mix
    assert sum(kernel.stats.variants.values()) == 4


def test_what_is_written_comes_back(out):
    p, q = point(), point()
    cuda.jit(write)[1, 1](p, out)
    cuda.jit(count)[1, 1](q, out)
    assert p["y"] == 5 and q["c"][1] == 3


def test_records_in_tuples_are_passed_by_pointer(out):
    kernel = cuda.jit(tuples)
    kernel[1, 1]((point(), 4), out)
    assert out.copy_to_host()[0] == 7 and passing(kernel) is None


def test_each_launch_has_its_own_bytes(out):
    kernel = cuda.jit(read)
    for x in range(5):
        kernel[1, 8](point(x), out)
        assert out.copy_to_host().tolist() == [x + 2 * c for c in (1, 2, 3, 4)] * 2


def test_beside_records_on_the_device(out):
    """One that lies on the device is read there, by another kernel; and the others stay where they are."""
    kernel = cuda.jit(choose)
    a, b = point(1), point(2)
    c, d = device_point(3), device_point(4)
    for (p, x), (q, y) in (((a, 1), (b, 2)), ((a, 1), (d, 4)), ((c, 3), (b, 2)), ((c, 3), (d, 4)), ((b, 2), (a, 1)),
                           ((d, 4), (a, 1))):
        kernel[1, 8](p, q, out)
        assert out.copy_to_host().tolist() == [y, x] * 4
    assert list(kernel.stats.variants.values()) == [3]
    assert len(kernel.signatures) == 1 and passing(kernel) == "2 2 0"


def test_an_array_of_the_host_without_axes(out):
    array = np.array(point(6))
    assert array.shape == ()
    cuda.jit(read)[1, 8](array, out)
    assert out.copy_to_host()[0] == 8


def test_records_that_do_not_fit_the_parameters(out):
    """4 KiB are what all GPUs have: the first one fits, the second one not, the third one does again."""
    def first(p, q, r, out):
        out[0] = p.v[1] + q.v[2] + r.x

    large = np.dtype([("v", np.float64, (300,))])
    p, q = np.zeros(1, large), np.zeros(1, large)
    p["v"][0, 1], q["v"][0, 2] = 10, 20
    kernel = cuda.jit(first)
    kernel[1, 1](p[0], q[0], point(), out)
    assert out.copy_to_host()[0] == 33 and passing(kernel) == "2 0 2 0"


def test_other_types_are_other_kernels_or_refused(out):
    kernel = cuda.jit(read)
    kernel[1, 8](point(), out)
    short = np.zeros(1, np.dtype([("x", np.int16), ("y", np.int32), ("c", np.float64, (4,))], align=True))
    short[0] = (9, 1, [1, 2, 3, 4])
    kernel[1, 8](short[0], out)
    assert out.copy_to_host()[0] == 10 and len(kernel.signatures) == 2
    frozen = np.array([point(8)])
    frozen.flags.writeable = False
    kernel[1, 8](frozen[0], out)
    assert out.copy_to_host()[0] == 10
    with pytest.raises(TypeError):
        kernel[1, 8](point(), point())


def test_declared_types(out):
    kernel = cuda.jit([(from_dtype(POINT), float64[::1])])(read)
    kernel[1, 8](point(), out)
    assert out.copy_to_host()[0] == 5 and passing(kernel) == "2 0"
    kernel[1, 8](device_point(6), out)
    assert out.copy_to_host()[0] == 8


def test_a_process_finds_them_on_disk(tmp_path, run_python):
    program = """
import numpy as np
from cujit import cuda

@cuda.jit(cache=True)
def read(p, out):
    out[0] = p.x

record = np.zeros(1, [("x", np.float32), ("y", np.int32)])
record["x"] = 5
out = np.zeros(1)
read[1, 1](record[0], out)
assert out[0] == 5
lies = cuda.to_device(np.array(record[0]).reshape(()))
read[1, 1](lies, out)
assert out[0] == 5
print(sum(read.stats.cache_hits.values()), sum(read.stats.variants.values()))
"""
    where = {"CUJIT_CACHE": "1", "CUJIT_CACHE_DIR": str(tmp_path)}
    assert run_python(program, **where).split() == ["0", "1"]
    assert run_python(program, **where).split() == ["1", "1"]


@pytest.mark.parametrize("options", [
    {"debug": True, "opt": False}, {"check": "race"}, {"check": "init"}, {"opt": False}])
def test_check_modes_take_them_by_pointer(options, out):
    kernel = cuda.jit(**options)(read)
    kernel[1, 8](point(), out)
    assert out.copy_to_host()[0] == 5 and passing(kernel) is None


def test_exceptions_know_them(out):
    @cuda.jit(exceptions=True)
    def root_of(p, out):
        if p.x < 0:
            raise ValueError("negative")
        out[0] = p.x

    root_of[1, 1](point(4), out)
    cuda.synchronize()
    assert out.copy_to_host()[0] == 4 and passing(root_of) == "2 0"
    with pytest.raises(ValueError, match="negative"):
        root_of[1, 1](point(-4), out)
        cuda.synchronize()


def test_graphs_keep_the_bytes_and_take_others(out):
    kernel = cuda.jit(read)
    p = point(1)
    kernel[1, 8](p, out)
    with cuda.graph() as g:
        kernel[1, 8](p, out)
    p["x"] = 100
    g.launch()
    cuda.synchronize()
    assert out.copy_to_host()[0] == 3
    g.update(p=point(7))
    g.launch()
    cuda.synchronize()
    assert out.copy_to_host()[0] == 9


def test_graphs_do_not_copy_what_is_written(out):
    kernel = cuda.jit(write)
    kernel[1, 1](point(), out)
    with pytest.raises(errors.CudaAPIError, match="a host array as an argument"), cuda.graph():
        kernel[1, 1](point(), out)


@pytest.mark.parametrize("cc", [(7, 5), (9, 0)])
@pytest.mark.parametrize("function", [read, hand_on])
def test_gpus_read_their_constant_memory(function, cc, assembles, out):
    """Which old PTX cannot address. What is compiled for launches by others takes pointers."""
    kernel = cuda.jit(function)
    kernel[1, 1](point(), out)
    types = kernel.signatures[0]
    ptx = kernel.inspect_asm(types, cc)
    assert f".param .align 16 .b8 {function.__name__}_param_3[40]" in ptx
    assert ".local" not in ptx
    assert "_param_3" not in assembles(function, types, cc)


def test_nothing_is_copied_to_a_gpu(fake_driver, run_python):
    """The parameters of a launch: two pointers, an extent, and the record's bytes at the next multiple of 16."""
    run_python("""
import ctypes, os, struct, warnings
import numpy as np
from cujit import cuda

warnings.simplefilter("error")

class FakeDriver(ctypes.Structure):
    _fields_ = [("fail", ctypes.c_void_p), ("calls", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
                ("alive", ctypes.CFUNCTYPE(ctypes.c_int)), ("last_launch", ctypes.CFUNCTYPE(ctypes.c_void_p))]

driver = FakeDriver.in_dll(ctypes.CDLL(os.environ["CUJIT_DRIVER_LIBRARY"]), "fake_driver")

@cuda.jit
def read(p, out):
    out[0] = p.x

def parameters():   # behind the configuration and four attributes
    last = ctypes.string_at(driver.last_launch(), 416)
    at = last.index(struct.pack("<QQQ", 0, out.pointer, 1))
    return last[at:at + 40]

record = np.zeros(1, [("x", np.float32), ("y", np.int32)])
record[0] = (1.5, 7)
out = cuda.to_device(np.zeros(1))
launch = read[200, 128]
launch(record[0], out)
alive, allocations = driver.alive(), driver.calls(b"cuMemAllocAsync")
launch(record[0], out)
assert driver.alive() == alive and driver.calls(b"cuMemAllocAsync") == allocations
assert parameters()[32:] == record.tobytes()
on_device = cuda.to_device(np.array(record[0]).reshape(()))
launch(on_device, out)
assert sum(read.stats.variants.values()) == 1
""", CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")
