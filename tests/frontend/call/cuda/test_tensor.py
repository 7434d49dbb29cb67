"""Tensor cores, ldmatrix and asynchronous copies: values against NumPy, PTX for the architectures that have them."""
import re

import numpy as np
import pytest

from cujit import _core, cuda, errors

NUMPY = {"f16": np.float16, "f32": np.float32, "tf32": np.float32, "s8": np.int8, "u8": np.uint8, "s32": np.int32,
         "f64": np.float64, "bf16": np.float32}   # NumPy has no bfloat16: the kernel converts
ROWS = sorted({path for row in _core.intrinsic_table for path in row["paths"] if path.startswith("cuda.mma.")})


def parse(path):
    """(m, n, k), dtype of a and b, dtype of c and d, and the elements that a register holds."""
    m, n, k, kinds = re.fullmatch(r"cuda\.mma\.m(\d+)n(\d+)k(\d+)_(\w+)", path).groups()
    given, result = (kinds.split("_") * 2)[:2]
    size = 2 if given == "bf16" else np.dtype(NUMPY[given]).itemsize
    return (int(m), int(n), int(k)), NUMPY[given], NUMPY[result], 4 // size if size < 4 else 1


def kernel_for(path):
    """d = a @ b + c by one warp; places of elements as the PTX ISA has them, written here once more on purpose."""
    (m, n, k), given, result, each = parse(path)
    tall = m // 8
    function = getattr(cuda.mma, path.rpartition(".")[2])
    in_a, in_b, in_c = m * k // 32, k * n // 32, m * n // 32
    text = "def kernel(a, b, c, d):\n    lane = cuda.laneid\n    g, t = lane // 4, lane % 4\n"

    def element(name, row, column):
        return f"{name}[{row}, {column}]"

    def place_a(i):
        word = i // each
        return f"g + {8 * (word % tall)}", f"t * {each} + {i % each + 4 * each * (word // tall)}"

    def place_b(i):
        return f"t * {each} + {i % each + 4 * each * (i // each)}", "g"

    def place_c(i):
        return f"g + {8 * (i // 2)}", f"t * 2 + {i % 2}"

    text += f"    fa = ({', '.join(element('a', *place_a(i)) for i in range(in_a))},)\n"
    text += f"    fb = ({', '.join(element('b', *place_b(i)) for i in range(in_b))},)\n"
    text += f"    fc = ({', '.join(element('c', *place_c(i)) for i in range(in_c))},)\n"
    text += "    fd = multiply(fa, fb, fc)\n"
    for i in range(in_c):
        text += f"    {element('d', *place_c(i))} = fd[{i}]\n"
    namespace = {"cuda": cuda, "multiply": function}
    exec(text, namespace)
    return cuda.jit(namespace["kernel"]), (m, n, k), given, result


def least_sm(path):
    return next(row["sm"] for row in _core.intrinsic_table if path in row["paths"])


def needs(sm):
    if cuda.get_current_device().kind == "cuda" and cuda.get_current_device().compute_capability < divmod(sm, 10):
        pytest.skip(f"needs sm_{sm}")


def random_matrix(rng, shape, dtype):
    if np.dtype(dtype).kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape).astype(dtype) if np.dtype(
            dtype).itemsize == 1 else rng.integers(-1000, 1000, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def test_there_are_rows():
    assert len(ROWS) >= 10


@pytest.mark.parametrize("path", ROWS)
def test_products(path, rng):
    needs(least_sm(path))
    kernel, (m, n, k), given, result = kernel_for(path)
    a, b = random_matrix(rng, (m, k), given), random_matrix(rng, (k, n), given)
    if "_bf16" in path:
        a, b = [(x.view(np.uint32) & 0xffff0000).view(np.float32) for x in (a, b)]
    c, d = random_matrix(rng, (m, n), result), np.zeros((m, n), result)
    kernel[1, 32](a, b, c, d)
    wide = np.float64 if np.dtype(result).kind == "f" else np.int64
    expected = a.astype(wide) @ b.astype(wide) + c.astype(wide)
    if np.dtype(result).kind == "i":
        np.testing.assert_array_equal(d, expected)
        return
    scale = np.abs(a.astype(wide)) @ np.abs(b.astype(wide)) + np.abs(c)
    epsilon = {np.float16: 2e-3, np.float32: 2e-3 if "tf32" in path else 2e-6, np.float64: 1e-15}[result]
    assert (np.abs(d - expected) <= epsilon * scale).all()


@pytest.mark.parametrize("path", ROWS)
def test_ptx(path):
    kernel, _, given, result = kernel_for(path)
    types = tuple(_types(given) for _ in range(2)) + tuple(_types(result) for _ in range(2))
    signature = f"void({', '.join(types)})"
    oldest = least_sm(path)
    ptx, _ = cuda.compile_ptx(kernel.py_func, signature, cc=divmod(oldest, 10))
    shape = path.rpartition(".")[2].split("_")[0]
    assert len(re.findall(rf"mma\.sync\.aligned\.{shape}\.row\.col", ptx)) == 1
    if oldest > 75:
        with pytest.raises(errors.UnsupportedError, match="sm_75"):
            cuda.compile_ptx(kernel.py_func, signature, cc=(7, 5))


def _types(dtype):
    return f"{np.dtype(dtype).name}[:, ::1]"


def test_lanes_that_do_not_fit_are_refused(refused):
    for expression, message in [
            ("«cuda.mma.m8n8k4_f64((1.0,), (1.0,), 1.0)»", "argument 3 is a tuple of 2 numbers"),
            ("«cuda.mma.m16n8k8_f16_f32((x,), (x,), (x,))»", "argument 1 is a tuple of 4 numbers (float16)"),
            ("«cuda.mma.m8n8k4_f64((1.0,), (1.0,))»", "takes 3 arguments")]:
        refused(expression.replace("«", "").replace("»", ""), message)


# --- ldmatrix --------------------------------------------------------------------------------------------------------

def load_fragments(dtype):
    @cuda.jit
    def kernel(x, plain, transposed):
        tile = cuda.shared.array((16, 16), dtype)
        lane = cuda.laneid
        for i in range(8):
            tile[lane // 2, lane % 2 * 8 + i] = x[lane // 2, lane % 2 * 8 + i]
        cuda.syncwarp()
        row, column = lane % 16, lane // 16 * 8
        one = cuda.ldmatrix_x1(tile, lane % 8, 0)
        two = cuda.ldmatrix_x2(tile, lane % 16, 0)
        four = cuda.ldmatrix_x4(tile, row, column)
        for i in range(8):
            plain[lane, i] = four[i]
        for i in range(4):
            plain[lane, 8 + i] = two[i]
        for i in range(2):
            plain[lane, 12 + i] = one[i]
        one = cuda.ldmatrix_x1_trans(tile, lane % 8, 0)
        two = cuda.ldmatrix_x2_trans(tile, lane % 16, 0)
        four = cuda.ldmatrix_x4_trans(tile, row, column)
        for i in range(8):
            transposed[lane, i] = four[i]
        for i in range(4):
            transposed[lane, 8 + i] = two[i]
        for i in range(2):
            transposed[lane, 12 + i] = one[i]

    return kernel


@pytest.mark.parametrize("dtype", [np.float16, np.int16, np.uint16])
def test_ldmatrix(dtype):
    x = np.arange(256).reshape(16, 16).astype(dtype)
    plain, transposed = np.zeros((32, 14), dtype), np.zeros((32, 14), dtype)
    load_fragments(_core.scalar_types[np.dtype(dtype).name])[1, 32](x, plain, transposed)
    corners = [(0, 0), (8, 0), (0, 8), (8, 8)] + [(0, 0), (8, 0)] + [(0, 0)]
    for lane in range(32):
        for place, (row, column) in enumerate(corners):
            matrix = x[row:row + 8, column:column + 8]
            for source, out in ((matrix, plain), (matrix.T, transposed)):
                expected = source[lane // 4, lane % 4 * 2:lane % 4 * 2 + 2]
                np.testing.assert_array_equal(out[lane, 2 * place:2 * place + 2], expected)


def test_ldmatrix_takes_shared_arrays_of_16_bits(refused):
    refused("cuda.ldmatrix_x1(out, 0, 0)", "2-D shared array of 16-bit elements")
    refused("cuda.ldmatrix_x1(out, 0, 0)", "it loads from shared memory", signature="void(float16[:,::1])")
    refused("cuda.ldmatrix_x1(cuda.local.array((8, 8), np.float16), 0, 0)", "it loads from shared memory")


# --- copies ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype, count", [(np.float32, 1), (np.float32, 2), (np.float32, 4), (np.float16, 8),
                                          (np.int8, 16), (np.float64, 1), (np.float64, 2), (np.uint8, 4)])
def test_copies_arrive(dtype, count):
    element = _core.scalar_types[np.dtype(dtype).name]

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((2, 32 * 16), element, alignment=16)
        i = cuda.threadIdx.x
        cuda.cp_async(tile, (0, i * count), x, i * count, count)
        cuda.cp_async_commit()
        cuda.cp_async(tile, (1, i * count), x, (32 + i) * count, count)
        cuda.cp_async_commit()
        cuda.cp_async_wait(1)
        cuda.syncthreads()
        for k in range(count):
            out[i * count + k] = tile[0, (31 - i) * count + k]
        cuda.cp_async_wait(0)
        cuda.syncthreads()
        for k in range(count):
            out[(32 + i) * count + k] = tile[1, (31 - i) * count + k]

    x = np.arange(64 * count).astype(dtype)
    out = np.zeros_like(x)
    kernel[1, 32](x, out)
    halves = x.reshape(2, 32, count)[:, ::-1]
    np.testing.assert_array_equal(out, halves.reshape(-1))
    signature = f"void({np.dtype(dtype).name}[::1], {np.dtype(dtype).name}[::1])"
    ampere, turing = (cuda.compile_ptx(kernel.py_func, signature, cc=cc)[0] for cc in ((8, 0), (7, 5)))
    size = np.dtype(dtype).itemsize * count
    assert len(re.findall(rf"cp\.async\.c[ag]\.shared\.global\s*\[.*\], {size};", ampere)) == 2
    assert "cp.async.wait_group" in ampere and "cp.async" not in turing


def test_copies_that_do_not_fit_are_refused(refused):
    contiguous = {"signature": "void(int64[::1])"}
    refused("cuda.cp_async(out, 0, out, 0, 3)", "copies 4, 8 or 16 bytes, not 24", **contiguous)
    refused("cuda.cp_async(out, 0, out, 0, x * out[0])", "must be a compile-time constant", **contiguous)
    refused("cuda.cp_async(out, 0, 3, 0, 1)", "it takes an array and an index of an element", **contiguous)
    refused("cuda.cp_async(out, 0, out, 0, 1)", "must be C-contiguous")
    refused("cuda.cp_async(out, 0, cuda.shared.array(4, np.int64), 0, 1)", "it copies into shared memory", **contiguous)
    refused("cuda.cp_async_wait(out[0])", "must be a compile-time constant")


# --- the example -----------------------------------------------------------------------------------------------------

def test_the_matmul_of_the_examples(rng):
    needs(80)
    import importlib.util
    from pathlib import Path

    path = Path(__file__).parents[4] / "examples" / "tensor_matmul.py"
    spec = importlib.util.spec_from_file_location("tensor_matmul", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    a = rng.normal(size=(256, 320)).astype(np.float16)
    b = rng.normal(size=(320, 128)).astype(np.float16)
    c = np.zeros((256, 128), np.float32)
    module.matmul(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-4, atol=1e-3)
