import pytest


@pytest.fixture(scope="session")
def has_masks():
    """Whether LLVM makes vectors of loops in which some threads load what others do not: AVX-512 has masks for that;
    with AVX2 it finds one thread after the other cheaper, and NEON has no loads of some lanes."""
    from cujit import _core

    return "+avx512vl" in _core.host_cpu()
