"""Many variables that a generator keeps over many yields: compile time goes with the pairs, and not with their cube."""
import re

import pytest
from made_kernels import check_values, made, variables_of_yields

from cujit import cuda, types

SIGNATURE = (types.int64[::1], types.int64)


@pytest.mark.parametrize("count", [20, 90, 200])
def test_values(count):
    check_values(variables_of_yields(count), count)


@pytest.mark.parametrize("sm", [None, 80])
def test_results_of_all_returns_come_to_one_place(sm):
    """A struct for each took a node of all values for each of them: 300 took 11 s."""
    if sm is None and cuda.get_current_device().kind != "cpu":
        pytest.skip("code of the CPU device")
    text = cuda.jit(made(variables_of_yields(150))).inspect("llvm", SIGNATURE, sm)
    assert len(re.findall("insertvalue", text)) < 1000
