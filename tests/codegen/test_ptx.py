"""PTX for every GPU that cujit compiles for, assembled by ptxas where it is installed; and what options do to it."""
import math
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from cujit import (
    _core,
    boolean,
    complex64,
    cuda,
    errors,
    float16,
    float32,
    float64,
    int32,
    int64,
    types,
    uint8,
    uint64,
    void,
)

PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
SMS = [75, 80, 90, 100, 120]
TABLE = np.arange(10.0)


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def tiled(x, out):
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    out[row, column] = tile[tx, ty]


def histogram(x, counts):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, x[i] >> 4, 1)


def math_library(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[i] = math.sin(v) * math.exp(v) + math.log(v) - math.pow(v, v) + math.tanh(v) + math.erf(v) + math.gamma(v)


def complex_numbers(z, out):
    i = cuda.grid(1)
    out[i] = z[i] * z[i].conjugate() + 1j / z[i]


def half(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * x[i] + x[i]


def local_and_constant(out, n):
    mine = cuda.local.array(16, float64)
    table = cuda.const.array_like(TABLE)
    for k in range(16):
        mine[k] = table[k % 10] * n
    total = 0.0
    for k in range(n):
        total += mine[k % 16]
    out[cuda.grid(1)] = total


def dynamic_shared(x):
    tile = cuda.shared.array(0, float64)
    tile[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    x[cuda.grid(1)] = tile[cuda.blockDim.x - 1 - cuda.threadIdx.x]


def bits(x, out):
    i = cuda.grid(1)
    out[i] = cuda.popc(x[i]) + cuda.clz(x[i]) + cuda.ffs(x[i]) + cuda.brev(x[i])


def tuples(pair, flag, out):
    out[0] = pair[0] + pair[1] if flag else pair[0]


def packed(a):
    i = cuda.grid(1)
    a[i].d *= 2
    a[i].f += 1
    a[i].h *= a[i].h
    a[i].ok = not a[i].ok


def strided(x, out):
    i, j, k = cuda.grid(3)
    out[i, j, k] = x[k, j, i]


PACKED = types.from_dtype(np.dtype([("d", "f8"), ("f", "f4"), ("h", "f2"), ("ok", "?")]))
KERNELS = [
    (saxpy, (float32, float32[::1], float32[::1], float32[::1])),
    (saxpy, (float64, float32[:], float64[:], float64[:])),
    (tiled, (float32[:, ::1], float32[:, ::1])), (histogram, (uint8[::1], int32[::1])),
    (histogram, (uint8[::1], uint64[::1])), (histogram, (uint8[::1], float64[::1])),
    (math_library, (float32[::1], float32[::1])), (math_library, (float64[::1], float64[::1])),
    (complex_numbers, (complex64[::1], complex64[::1])), (half, (float16[::1], float16[::1])),
    (local_and_constant, (float64[::1], int64)), (dynamic_shared, (float64[::1],)), (bits, (int32[::1], int64[::1])),
    (bits, (uint64[::1], int64[::1])), (tuples, (types.Tuple([int32, float64]), boolean, float64[::1])),
    (strided, (float32[:, :, :], float32[::1, :, :])), (packed, (PACKED[::1],)),
]
IDS = [f"{function.__name__}-{k}" for k, (function, _) in enumerate(KERNELS)]


def assemble(ptx, sm, folder):
    source = folder / "kernel.ptx"
    source.write_text(ptx)
    done = subprocess.run([PTXAS, f"-arch=sm_{sm}", "-o", str(folder / "kernel.cubin"), str(source)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + ptx


def arch_is_known(sm):
    done = subprocess.run([PTXAS, "--help"], capture_output=True, text=True)
    return f"sm_{sm}" in done.stdout


@pytest.mark.parametrize("sm", SMS)
@pytest.mark.parametrize("function, signature", KERNELS, ids=IDS)
def test_every_kernel_assembles(function, signature, sm, tmp_path):
    ptx, result = cuda.compile_ptx(function, signature, cc=divmod(sm, 10))
    assert result == void
    assert re.search(rf"\.target\s+sm_{sm}\b", ptx)
    assert len(re.findall(r"\.visible\s+\.entry", ptx)) == 1 and function.__name__ in ptx
    if PTXAS is None:
        pytest.skip("ptxas is not installed")
    if not arch_is_known(sm):
        pytest.skip(f"this ptxas does not know sm_{sm}")
    assemble(ptx, sm, tmp_path)


@pytest.mark.parametrize("sm", SMS)
@pytest.mark.parametrize("function, signature", KERNELS[:3], ids=IDS[:3])
@pytest.mark.parametrize("debug", [False, True], ids=["lineinfo", "debug"])
def test_options_assemble(debug, function, signature, sm, tmp_path):
    """Sections of debug information need newer PTX than the oldest GPUs do."""
    ptx, _ = cuda.compile_ptx(function, signature, cc=divmod(sm, 10), debug=debug, lineinfo=not debug, opt=not debug)
    assert not debug or float(re.search(r"\.version (\d+\.\d+)", ptx)[1]) >= 7.5
    if PTXAS and arch_is_known(sm):
        assemble(ptx, sm, tmp_path)


def test_the_targets_of_the_table_are_offered():
    assert set(SMS) <= set(_core.targets())
    for sm in _core.targets():
        assert f"sm_{sm}" in cuda.compile_ptx(saxpy, KERNELS[0][1], cc=divmod(sm, 10))[0]


def body(function, signature, **options):
    return cuda.compile_ptx(function, signature, **options)[0]


def test_float32_stays_float32():
    assert not re.search(r"\.f64", body(saxpy, KERNELS[0][1]))
    assert re.search(r"\.f64", body(saxpy, KERNELS[1][1]))


def test_contraction_is_an_option():
    def contracted(**options):
        kernel = cuda.jit(void(*KERNELS[0][1]), **options)(saxpy)
        return kernel.inspect_asm(KERNELS[0][1], cc=(9, 0))

    assert "fma.rn" in contracted()
    assert "fma.rn" not in contracted(fmad=False)


def test_fastmath_uses_approximations():
    def sine(x, out):
        out[0] = math.sin(x[0]) / x[1]

    signature = (float32[::1], float32[::1])
    assert "sin.approx" in body(sine, signature, fastmath=True)
    assert "sin.approx" not in body(sine, signature)
    assert "div.rn" in body(sine, signature) and "div.rn" not in body(sine, signature, fastmath=True)


def test_launch_bounds_are_said():
    ptx = body(saxpy, KERNELS[0][1], launch_bounds=(128, 4))
    assert re.search(r"\.maxntid\s+128", ptx) and re.search(r"\.minnctapersm\s+4", ptx)
    assert re.search(r"\.maxntid\s+96", body(saxpy, KERNELS[0][1], launch_bounds=96))


def test_shared_memory_is_static_or_dynamic():
    assert re.search(r"\.shared\s+\.align\s+\d+\s+\.b8\s+\S+\[1088\]", body(tiled, KERNELS[2][1]))
    assert re.search(r"\.extern\s+\.shared", body(dynamic_shared, (float64[::1],)))


def lookup(out, n):
    out[0] = cuda.const.array_like(TABLE)[n]


def test_constant_arrays_are_named_by_what_they_hold():
    texts = {cuda.compile_ptx(lookup, (float64[::1], int64), cc=(7, 5))[0] for _ in range(3)}
    assert len(texts) == 1 and ".const .align 16 .b8 cujit" in texts.pop()


def test_line_information_names_this_file():
    assert "test_ptx.py" in body(saxpy, KERNELS[0][1], lineinfo=True)
    assert "test_ptx.py" not in body(saxpy, KERNELS[0][1])


def test_unaligned_fields_move_byte_by_byte():
    assert not re.search(r"(ld|st)\.global\.(?!b8)", body(packed, (PACKED[::1],), cc=(9, 0)))


def test_unused_strides_cost_nothing():
    contiguous, any_stride = body(saxpy, KERNELS[0][1]), body(saxpy, (float32, *(float32[:],) * 3))
    assert contiguous.count("ld.param") < any_stride.count("ld.param")


def test_device_functions():
    def add(x, y):
        return x + y

    for signature, expected in [("(int32, int32)", int64), ("float32(float32, float32)", float32),
                                ("int32(int32, int32)", int32), ((float32, int64), float64)]:
        ptx, result = cuda.compile_ptx(add, signature, device=True, cc=(9, 0))
        assert result == expected and ".func" in ptx and ".entry" not in ptx
    ptx, _ = cuda.compile(add, (float32, float32), abi_info={"abi_name": "add_floats"})
    header = re.search(r"\.visible\s+\.func\s*\([^)]*\)\s*add_floats\s*\(([^)]*)\)", ptx)
    assert header and header.group(1).count(".param") == 2


def test_a_device_function_assembles(tmp_path):
    def hypot(x, y):
        return math.sqrt(x * x + y * y)

    ptx, _ = cuda.compile(hypot, (float64, float64), cc=(9, 0))
    if PTXAS is None:
        pytest.skip("ptxas is not installed")
    source = tmp_path / "function.ptx"
    source.write_text(ptx)
    done = subprocess.run([PTXAS, "-arch=sm_90", "-c", "-o", str(tmp_path / "f.o"), str(source)], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr


# --- machine code ----------------------------------------------------------------------------------------------------

def fake_tool(folder, name, body):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def compiled():
    kernel = cuda.jit("void(float32, float32[::1], float32[::1], float32[::1])")(saxpy)
    return kernel, kernel.signatures[0]


def test_machine_code_is_what_the_toolkits_tools_say(compiled, tmp_path, monkeypatch):
    kernel, signature = compiled
    fake_tool(tmp_path, "ptxas", 'echo "$@" > "$4.said"; cp "$4" "$3"')
    fake_tool(tmp_path, "nvdisasm", 'echo EXIT; cat "$1"')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    text = kernel.inspect_sass(signature, cc=(8, 0))
    assert text.startswith("EXIT") and ".target sm_80" in text
    assert kernel.inspect_sass(cc=(8, 0)) == {signature: text}


def test_machine_code_without_a_toolkit(compiled, tmp_path, monkeypatch):
    kernel, signature = compiled
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr("cujit.cuda._link.machine_code._FOLDERS", ())
    with pytest.raises(RuntimeError, match="ptxas of a CUDA toolkit is needed"):
        kernel.inspect_sass(signature, cc=(8, 0))
    fake_tool(tmp_path, "ptxas", "echo no such thing >&2; exit 1")
    fake_tool(tmp_path, "nvdisasm", "")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(RuntimeError, match="ptxas failed: no such thing"):
        kernel.inspect_sass(signature, cc=(8, 0))


@pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="the CPU device's")
def test_the_cpu_device_has_no_machine_code_of_a_gpu(compiled):
    with pytest.raises(errors.UnsupportedError, match="inspect_asm"):
        compiled[0].inspect_sass(compiled[1])
