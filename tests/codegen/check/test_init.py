"""The check `init`: memory that nothing has written, by element."""
import ctypes
import re

import numpy as np
import pytest

from cujit import cuda, errors, float32, float64, int16, int64

ON_GPU = cuda.get_current_device().kind == "cuda"


def unwritten(kernel, *arguments, grid=1, threads=1):
    with pytest.raises(errors.UninitializedError) as caught:
        kernel[grid, threads](*arguments)
    return str(caught.value).replace(__file__, "program.py")


@cuda.jit(check="init")
def read(x, place, out):
    out[0] = x[place]


def test_report():
    line = read.py_func.__code__.co_firstlineno + 2
    assert unwritten(read, cuda.device_array(10), 3, np.zeros(1)) == f"""\
element 3 of 'x' is read, and nothing has written it
  File "program.py", line {line}, in read: block (0, 0, 0), thread (0, 0, 0)
    out[0] = x[place]
             ^^^^^^^^"""


def test_elements_one_by_one():
    @cuda.jit(check="init")
    def write(x, start, stop):
        for i in range(start, stop):
            x[i] = i

    x = cuda.device_array(100, np.int16)
    write[1, 1](x, 20, 41)
    for place in (0, 19, 41, 99):
        unwritten(read, x, place, np.zeros(1))
    for place in (20, 30, 40):
        read[1, 1](x, place, np.zeros(1))
    x[50:60] = np.arange(10)
    read[1, 1](x, 50, np.zeros(1))
    unwritten(read, x, 60, np.zeros(1))
    unwritten(read, x[60:], 2, np.zeros(1))


@pytest.mark.parametrize("write", ["copy", "fill", "kernel", "shared", "device copy", pytest.param(
    "address", marks=pytest.mark.skipif(ON_GPU, reason="the host writes there"))])
def test_what_counts_as_written(write):
    @cuda.jit
    def unchecked(x):
        x[0] = 1

    x = cuda.device_array(10)
    unwritten(read, x, 9, np.zeros(1))
    if write == "copy":
        x.copy_to_device(np.zeros(10))
    elif write == "fill":
        x[:] = 3.0
    elif write == "kernel":
        unchecked[1, 1](x)
    elif write == "device copy":
        x.copy_to_device(cuda.to_device(np.ones(10)))
    elif write == "address":
        ctypes.memset(x.device_ctypes_pointer, 0, 80)
    else:
        assert x.__cuda_array_interface__["shape"] == (10,)
    read[1, 1](x, 9, np.zeros(1))
    read[1, 1](cuda.to_device(np.zeros(10)), 9, np.zeros(1))
    read[1, 1](np.empty(10), 9, np.zeros(1))


def test_slices_of_one_allocation():
    """Bits are the allocation's, whatever part of it a kernel is given."""
    @cuda.jit(check="init")
    def copy(x, y):
        for i in range(x.size):
            y[i] = x[i]

    x = cuda.device_array(1000, np.int8)
    x[3:130] = np.arange(127, dtype=np.int8)
    copy[1, 1](x[3:103], x[200:300])
    assert x[200:300].copy_to_host().tolist() == list(range(100))
    copy[1, 1](x[100:130], x[299:329])
    copy[1, 1](x[200:329], x[400:529])
    text = unwritten(copy, x[299:330], x[600:631])
    assert text.startswith("element 30 of 'x' is read")
    copy[1, 1](x[600:630], x[700:730])   # what came before the fault was written
    assert "element 30 of 'x'" in unwritten(copy, x[600:631], x[700:731])


def test_other_functions_and_several_arrays_of_a_thread():
    @cuda.jit(device=True)
    def fill(a, stop):
        b = cuda.local.array(9, float64)
        for i in range(stop):
            b[i] = i
            a[i] = b[i] + 1

    @cuda.jit(check="init")
    def kernel(out, stop):
        a, c = cuda.local.array((3, 3), float64), cuda.local.array(100, int16)
        flat = a.reshape(9)
        for _ in range(2):
            fill(flat, stop)
            c[99] = stop
            out[cuda.grid(1)] = flat[5] + c[99]

    out = np.zeros(64)
    kernel[2, 32](out, 6)
    assert (out == 12).all()
    assert "element" in unwritten(kernel, out, 5, threads=32)


def test_memory_that_is_used_again_is_new():
    for _ in range(4):
        x = cuda.to_device(np.zeros(1000))
        read[1, 1](x, 5, np.zeros(1))
        del x
        x = cuda.device_array(1000)
        unwritten(read, x, 5, np.zeros(1))
        del x


@pytest.mark.parametrize("memory", ["cuda.shared.array(8, int16)", "cuda.local.array(8, int16)",
                                    "cuda.shared.array(0, int16)"])
def test_arrays_of_a_kernel(memory):
    """In each block, and each thread, anew."""
    scope = {"cuda": cuda, "int16": int16}
    exec(f"def kernel(place, out):\n    a = {memory}\n    if place >= 4 or cuda.blockIdx.x == 0:\n"
         "        a[5] = 7\n    a[1] = 2\n    out[cuda.blockIdx.x] = a[place]\n", scope)
    kernel = cuda.jit(check="init")(scope["kernel"])
    out = np.zeros(2)
    launch = kernel[2, 1, 0, 16]
    for place in 1, 5:
        launch(place, out)
    assert out.tolist() == [7, 7]
    with pytest.raises(errors.UninitializedError, match="line 6|element 2 of"):
        launch(2, out)


def test_records_and_complex_numbers():
    record = np.dtype([("a", np.int32), ("b", np.complex128)], align=True)

    @cuda.jit(check="init")
    def kernel(x, field, out):
        x[0].a = 3
        x[1] = x[0]
        if field == 0:
            out[0] = x[0].a
        else:
            out[0] = x[0].b.real

    kernel[1, 1](cuda.device_array(2, record), 0, np.zeros(1))
    unwritten(kernel, cuda.device_array(2, record), 1, np.zeros(1))


@pytest.mark.skipif(ON_GPU, reason="there a copy counts as written")
@pytest.mark.parametrize("memory", ["local", "shared", "global"])
def test_copies_of_records(memory):
    """What the original lacks the copy lacks, until something writes it."""
    record = np.dtype([("a", np.int32), ("b", np.int32)], align=True)

    @cuda.jit(check="init")
    def kernel(given, field, out):
        if memory == "local":
            x = cuda.local.array(2, record)
        elif memory == "shared":
            x = cuda.shared.array(2, record)
        else:
            x = given
        x[0].a = 3
        x[1].b = 5
        x[1] = x[0]
        if field == 2:
            x[1].b = 4
        if field == 0:
            out[0] = x[1].a
        else:
            out[0] = x[1].b

    for field, expected in (0, 3), (2, 4):
        out = np.zeros(1)
        kernel[1, 1](cuda.device_array(2, record), field, out)
        assert out[0] == expected
    assert "'x[1].b' is read" in unwritten(kernel, cuda.device_array(2, record), 1, np.zeros(1))


def test_by_several_threads():
    @cuda.jit(check="init,race")
    def kernel(x, out, with_barrier):
        s = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        s[i] = x[i]
        if with_barrier:
            cuda.syncthreads()
        out[i] = s[63 - i]

    x = np.arange(64, dtype=np.float32)
    out = np.zeros(64, np.float32)
    kernel[1, 64](x, out, True)
    assert out.tolist() == x[::-1].tolist()
    if not ON_GPU:  # whose threads run at once: all of them may have written
        assert "element 63 of 's'" in unwritten(kernel, x, out, False, threads=64)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_asynchronous_copies_write_all_their_elements(count):
    @cuda.jit(check="init")
    def kernel(x, out):
        tile, i = cuda.shared.array(256, float32, alignment=16), cuda.threadIdx.x
        cuda.cp_async(tile, i * count, x, i * count, count)
        cuda.cp_async_wait(0)
        cuda.syncthreads()
        for k in range(out.size):
            out[k] = tile[k]

    out = np.zeros(32 * count, np.float32)
    kernel[1, 32](np.arange(128, dtype=np.float32), out)
    assert out[-1] == 32 * count - 1
    with pytest.raises(errors.UninitializedError, match=f"element {32 * count} of"):
        kernel[1, 32](np.arange(128, dtype=np.float32), np.zeros(32 * count + 1, np.float32))


def test_parts_of_an_array_that_change_places():
    """What keeps an element meanwhile is the library's, and no chain of elements needs it."""
    @cuda.jit(check="init")
    def kernel(x):
        x[1:] = x[:-1]
        x[:] = x[::-1]

    x = np.arange(6.0)
    kernel[1, 1](x)
    assert x.tolist() == [4, 3, 2, 1, 0, 0]


def test_the_launch_says_what_came_first():
    """On a GPU a kernel goes on with what it has read, and what comes of that is no news."""
    @cuda.jit(check=True)
    def kernel(x, out):
        places = cuda.local.array(4, int64)
        places[0] = 1 << 40
        if out[0] == 0:
            out[1] = x[places[int(out[0]) + 2] + (1 << 40)]

    unwritten(kernel, np.zeros(8), np.zeros(2))


@cuda.jit(check="init")
def of_loop(out):
    unwritten = cuda.local.array(4, int64)
    for item in unwritten:
        out[0] += item


@cuda.jit(check="init")
def of_generator(out):
    unwritten = cuda.local.array(4, int64)
    out[0] = sum(item for item in unwritten)


@cuda.jit(check="init")
def of_assignment(out):
    unwritten = cuda.local.array(4, int64)
    out[:] = unwritten


@cuda.jit(check="init")
def of_method(out):
    unwritten = cuda.local.array(4, int64)
    out[0] = unwritten.sum()


@cuda.jit(check="init")
def of_display(out):
    unwritten = cuda.local.array(2, int64)
    first, second = unwritten
    out[0] = first + second


@cuda.jit(check="init")
def of_shared_memory(out):
    unwritten = cuda.shared.array((2, 2), int64)
    for place, row in enumerate(unwritten[0]):
        out[place] = row
    for row in unwritten:
        out[0] += row[0]


@pytest.mark.parametrize("kernel", [of_loop, of_assignment, of_display])
def test_the_variable_is_named_where_the_expression_is_another_one(kernel):
    assert re.match(r"element [01] of 'unwritten' is read", unwritten(kernel, np.zeros(4, np.int64)))


@pytest.mark.parametrize("kernel", [of_generator, of_method, of_shared_memory])
def test_no_other_array_is_named(kernel):
    """Where the source does not say which array is read: no loop variable, target, or parameter of the library's."""
    assert unwritten(kernel, np.zeros(4, np.int64)).startswith("element 0 of an array is read")


def test_array_of_a_method():
    @cuda.jit(check="init")
    def kernel(out):
        values = cuda.local.array(4, int64)
        out[0] = values.item(2)

    assert unwritten(kernel, np.zeros(4, np.int64)).startswith("element 2 of 'values' is read")
