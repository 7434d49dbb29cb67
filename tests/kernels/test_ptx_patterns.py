"""What must, and what must not, be in the PTX of the samples; and ptxas takes all of it."""
import re
import shutil
import subprocess

import pytest
from samples import SAMPLES

from cujit import _core, cuda, types

ARCHITECTURES = [75, 80, 90, 100, 120]
PTXAS = shutil.which("ptxas")


def ptx_of(name, sm=90, **options):
    function, signature = SAMPLES[name]
    return cuda.jit(function, **options).inspect("asm", _core.parse_signature(signature).args, sm)


def body(ptx):
    return ptx[ptx.index("{") :]


def test_loads_and_stores_are_global():
    ptx = ptx_of("saxpy")
    assert len(re.findall(r"ld\.global\S*\.[bf]32", ptx)) == 2
    assert len(re.findall(r"st\.global\S*\.[bf]32", ptx)) == 1
    assert not re.search(r"\b(ld|st)(\.local)?\.[bfu]\d", body(ptx))


def test_a_complex_number_of_a_kernel_s_own_memory_is_one_access():
    def kernel(x, y):
        s = cuda.shared.array(64, types.complex128)
        i = cuda.threadIdx.x
        s[i] = x[i]
        cuda.syncthreads()
        y[i] = s[63 - i]

    ptx = cuda.jit(kernel).inspect("asm", (types.complex128[::1], types.complex128[::1]), 80)
    assert len(re.findall(r"(ld|st)\.shared\.v2\.[bf]64", ptx)) == 2 and ".shared .align 16" in ptx
    assert len(re.findall(r"(ld|st)\.global(?:\.nc)?\.v2\.[bf]64", ptx)) == 2   # a launch's plan asks where they begin


def test_multiply_and_add_are_fused_unless_told_otherwise():
    assert "fma.rn.f32" in ptx_of("saxpy")
    separate = ptx_of("saxpy", fmad=False)
    assert "fma" not in separate and "mul.rn.f32" in separate and "add.rn.f32" in separate


def test_an_index_that_cannot_be_negative_is_not_tested():
    """One comparison only: the bound of the grid."""
    assert len(re.findall(r"\bsetp\.", ptx_of("saxpy"))) == 1


def test_shared_memory_and_barrier():
    ptx = ptx_of("tiled_sum")
    assert re.search(r"\.shared .*\[80\]", ptx)
    assert "ld.shared" in ptx and "st.shared" in ptx
    assert re.search(r"bar(rier)?\.(cta\.)?sync", ptx)


def test_atomic_is_one_reduction_instruction():
    assert re.search(r"(red|atom)\.(relaxed\.)?(gpu\.|sys\.)?global\.add\.[us]32|red\.global\.add", ptx_of("histogram"))


def test_a_float64_is_shuffled_as_two_halves():
    ptx = ptx_of("warp_sum")
    assert len(re.findall(r"shfl\.sync\.down\.b32\s.*, 31, -1;", ptx)) == 2 * 5
    assert "ld.local" not in ptx and "st.local" not in ptx


@pytest.mark.parametrize("instruction", ["vote.sync.ballot.b32", "match.all.sync.b64", "activemask.b32",
                                         "bar.warp.sync", "vote.sync.all.pred", "nanosleep.u32", "%lanemask_lt"])
def test_warp_instructions(instruction):
    assert instruction in ptx_of("warp_votes")


def test_votes_of_a_block():
    assert re.search(r"bar(rier)?\.(cta\.)?red\.popc(\.aligned)?\.u32", ptx_of("warp_votes"))
    assert re.search(r"bar(rier)?\.(cta\.)?red\.or(\.aligned)?\.pred", ptx_of("warp_votes"))


def test_barrier_of_the_grid():
    ptx = ptx_of("grid_phases")
    assert ptx.count("atom.add.release.gpu.u32") == ptx.count("ld.acquire.gpu.u32") == 2


def test_helpers_are_inlined():
    assert "call" not in body(ptx_of("helpers"))


@pytest.mark.parametrize("sm", ARCHITECTURES)
def test_target_line(sm):
    assert f".target sm_{sm}" in ptx_of("saxpy", sm)


@pytest.mark.skipif(not PTXAS, reason="ptxas is not installed")
@pytest.mark.parametrize("sm", ARCHITECTURES)
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_ptxas_takes_it(name, sm, tmp_path):
    path = tmp_path / "kernel.ptx"
    path.write_text(ptx_of(name, sm))
    command = [PTXAS, f"-arch=sm_{sm}", "-o", tmp_path / "kernel.cubin", path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
