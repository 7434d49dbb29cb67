"""extending.asm: PTX with typed operands."""
import numpy as np
import pytest

from cujit import cuda, errors, types
from cujit.extending import asm

mad = asm("mad.lo.s32 %0, %1, %2, %3;", "int32(int32, int32, int32)", constraints="=r, r, r, r", pure=True,
          cpu=lambda a, b, c: a * b + c)
both = asm("{ .reg .u32 t; add.u32 t, %2, %3; mov.u32 %0, t; sub.u32 %1, %2, %3; }",
           types.Tuple((types.uint32, types.uint32))(types.uint32, types.uint32), cpu=lambda a, b: (a + b, a - b))
half_add = asm("add.f16 %0, %1, %2;", "float16(float16, float16)", cpu=lambda a, b: a + b)
choose = asm("selp.f64 %0, %2, %3, %1;", "float64(boolean, float64, float64)", cpu=lambda p, a, b: a if p else b)
wait = asm("bar.warp.sync 0xffffffff;", "void()", cpu=lambda: None)
lane = asm("mov.u32 %0, %%laneid;", "uint32()")
store = asm("st.global.f32 [%0], %1;", "void(uint64, float32)")


def compute(out):
    out[0] = mad(out[1], 4, 5)
    a, b = both(9, 4)
    out[1] = a
    out[2] = b
    out[3] = half_add(1.5, 2)
    wait()
    out[4] = choose(out[0] > 1, 3.0, 4)


def test_values_on_the_device():
    out = np.ones(5)
    cuda.jit(compute)[1, 1](out)
    assert list(out) == [9, 13, 5, 3.5, 3]


@pytest.mark.parametrize("cc", [(7, 5), (9, 0), (10, 0)])
def test_ptx(assembles, cc):
    ptx = assembles(compute, (types.float64[::1],), cc)
    for instruction in ("mad.lo.s32", "sub.u32", "add.f16", "bar.warp.sync", "selp.f64"):
        assert f"\t{instruction}" in ptx or f" {instruction}" in ptx


def test_pure_assembly_runs_no_more_often_than_needed(assembles):
    def kernel(out):
        mad(1, 2, 3)
        wait()
        out[0] = mad(3, 4, 5) + mad(3, 4, 5)

    assert assembles(kernel, (types.int64[::1],), (8, 0)).count("mad.lo.s32") == 1


def test_without_a_function_for_the_cpu_device(assembles):
    def kernel(out):
        out[0] = lane()

    assert "%laneid" in assembles(kernel, (types.uint32[::1],), (8, 0))
    with pytest.raises(errors.UnsupportedError, match="cpu=function") as caught:
        cuda.jit(kernel).inspect("asm", (types.uint32[::1],)) if _on_cpu() else _refuse()
    assert "test_asm.py" in str(caught.value)


def _on_cpu():
    return cuda.get_current_device().kind == "cpu"


def _refuse():
    pytest.skip("the kernel runs on a GPU")


def test_memory_that_assembly_may_write_is_copied_back():
    def kernel(out, unread):
        store(out.ctypes.data, 1.5)

    module = cuda.jit(kernel).inspect("ir", (types.float32[::1], types.float32[::1]))
    assert "address out !escapes" in module or "escapes" in module


def test_calls_in_python():
    assert mad(2, 3, 4) == 10
    with pytest.raises(TypeError, match="cpu=function"):
        lane()


@pytest.mark.parametrize("template, signature, keywords, error, text", [
    ("add %0, %3;", "int32(int32)", {}, ValueError, "%3 is beyond the 2 operands"),
    ("add %1;", "int32(int32)", {}, ValueError, "nothing sets %0"),
    ("{ mov.u32 %0, 1;", "int32()", {}, ValueError, "braces"),
    (" ", "void()", {}, ValueError, "no instruction"),
    ("mov %0, 1;", "int8()", {}, TypeError, "int8 has no register"),
    ("mov %0, %1;", "int32(float32[:])", {}, TypeError, "has no register"),
    ("mov.u32 %0, %1;", "int32(int32)", {"constraints": "=r,l"}, ValueError, "not those of the signature, '=r,r'"),
    ("bar.sync 0;", (), {}, errors.SignatureError, "states no result"),
])
def test_what_is_checked_where_it_is_declared(template, signature, keywords, error, text):
    with pytest.raises(error, match=text):
        asm(template, signature, **keywords)


def test_arguments_that_do_not_convert():
    @cuda.jit
    def kernel(out):
        out[0] = mad(out, 1, 2)

    with pytest.raises(errors.TypingError, match="kernel"):
        kernel[1, 1](np.zeros(2))
