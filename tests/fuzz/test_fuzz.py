"""A bounded run of the fuzzer: the same programs every time. run.py does long ones."""
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cooperation
import differential
import grammar
import mutated_code
import reference
import sharing
import typed_values

from cujit import cuda

# The reference is bit for bit that of the CPU device: libm's functions round otherwise than a GPU's.
pytestmark = pytest.mark.skipif(cuda.get_current_device().kind == "cuda", reason="compares with the CPU device")

PROGRAMS_OF_A_TEST = 20
TESTS = 10


@pytest.mark.parametrize("first", range(0, TESTS * PROGRAMS_OF_A_TEST, PROGRAMS_OF_A_TEST))
def test_programs(first, monkeypatch):
    monkeypatch.setenv("CUJIT_DEVICE", "cpu")
    for seed in range(first, first + PROGRAMS_OF_A_TEST):
        program = grammar.generate(seed)
        wrong, compared = differential.check(program)
        assert not wrong, f"seed {seed}: {wrong}\n{program.text}"


@pytest.mark.parametrize("generate, check, first, count", [
    *((cooperation.Cooperation, cooperation.check, first, 15) for first in range(0, 60, 15)),
    *((sharing.generate, sharing.check, first, 20) for first in range(0, 80, 20))])
def test_threads_that_work_together_and_arguments_in_one_memory(generate, check, first, count):
    for seed in range(first, first + count):
        program = generate(seed)
        wrong = check(program)
        assert not wrong, f"seed {seed}: {wrong}\n{program.text}"


def test_programs_of_threads_have_everything():
    """Each collective, and loops around barriers."""
    text = "".join(cooperation.Cooperation(seed).text for seed in range(60))
    for name in ["syncthreads()", "syncthreads_count", "syncthreads_and", "syncthreads_or", "shfl_sync", "shfl_up_sync",
                 "shfl_down_sync", "shfl_xor_sync", "ballot_sync", "any_sync", "all_sync", "shared.array",
                 *(f"atomic.{name}" for name in cooperation.ATOMICS)]:
        assert f"cuda.{name}" in text, name


def test_the_model_of_threads():
    kinds = {"vote_count": [3] * 4, "vote_and": [0] * 4, "warp_ballot": [0b1011] * 4, "warp_any": [1] * 4}
    for kind, expected in kinds.items():
        assert cooperation.exchange(kind, [1, 1, 0, 1]) == expected
    assert cooperation.exchange("shuffle", [(lane, 5) for lane in range(64)]) == [5] * 32 + [37] * 32
    assert cooperation.exchange("shuffle_up", [(lane, 30) for lane in range(32)]) == [*range(30), 0, 1]

    def thread(t):
        if t:
            yield "barrier", None
        yield "vote_and", 1

    with pytest.raises(AssertionError, match="threads of a block are at"):
        cooperation.run_block([thread(0), thread(1)])


def test_the_model_notices_a_wrong_result(monkeypatch):
    monkeypatch.setattr(cooperation, "shift", lambda value, by: value)
    assert any(cooperation.check(cooperation.Cooperation(seed)) for seed in range(12))


def test_arguments_in_one_memory_have_everything():
    """Each way to see a memory, and each way to use it."""
    programs = [sharing.generate(seed) for seed in range(160)]
    views = [view for program in programs for view in program.views.values()]
    for what in [lambda v: v.has_fields, lambda v: v.turned, lambda v: v.swapped, lambda v: v.flat == -1,
                 lambda v: isinstance(v.cut, int), lambda v: isinstance(v.cut, slice) and v.cut.step == -1,
                 lambda v: v.kind == "complex128", lambda v: v.end > v.own, lambda v: v.is_read]:
        assert any(map(what, views))
    assert any(view.kind not in (program.base, *typed_values.PARTS) for program in programs
               for view in program.views.values())
    assert {len(set(launch.values())) > 1 for program in programs for launch in program.in_one} == {True, False}
    text = "".join(program.text for program in programs)
    for part in ["cuda.syncthreads()", "cuda.gridsize(1)", "cuda.grid(2)", "cuda.local.array", "mate", "def move",
                 "for k", "for t", "return", "cuda.atomic.sub(w", "cuda.atomic.add(m", "cuda.atomic.max(v", ":-1]",
                 "r1["]:
        assert part in text, part


def test_arguments_in_one_memory_have_no_races():
    assert not any(sharing.has_races(sharing.generate(seed)) for seed in range(12))


def test_a_store_that_another_name_does_not_see_is_noticed(monkeypatch):
    """A reference in which each name keeps what it has read, as a compiler does that takes arguments for apart."""
    kept = {}

    def load(self, index, load=reference.Array.__getitem__):
        key = self, str(index)
        item = kept[key] if key in kept else load(self, index)
        return kept.setdefault(key, item) if isinstance(item, typed_values.Value) else item

    def store(self, index, value, store=reference.Array.__setitem__):
        store(self, index, value)
        kept.pop((self, str(index)), None)

    monkeypatch.setattr(reference.Array, "__getitem__", load)
    monkeypatch.setattr(reference.Array, "__setitem__", store)
    programs = [program for program in map(sharing.generate, range(40))     # neither others' cells nor slices
                if not re.search(r"sync|move|\[[^\]]*:", program.text)]
    assert any(map(sharing.check, programs))
    for program in programs:
        program.in_one = [{name: i for i, name in enumerate([*program.parameters])}]
        assert not sharing.check(program)


@pytest.mark.parametrize("first", [1000, 1020])
def test_damaged_programs(first, monkeypatch):
    """Compiled or refused: nothing else."""
    monkeypatch.setenv("CUJIT_DEVICE", "cpu")
    outcomes = mutated_code.run(first, 20)
    assert outcomes.get("compiled") and len(outcomes) > 1


def test_a_program_comes_from_its_seed_alone():
    assert grammar.generate(7).text == grammar.generate(7).text


def test_markers_are_for_the_reference_only():
    program = "def kernel(x):\n    x = _join('float64', x)\n    y = _join('float64', x if x else 2)\n"
    assert "_join" not in reference.kernel_text(program)
    assert "_join('float64', x if x else _lift(2))" in reference.reference_text(program)


def test_the_reference_wraps_and_saturates():
    lift, convert = typed_values.lift, typed_values.convert
    typed_values.Value.steps_left = 10
    assert (lift(2**63 - 1) + 1).number == -2**63
    assert convert(lift(1e300), "int64").number == 2**63 - 1
    assert convert(lift(300), "uint8").number == 44
    assert (convert(lift(-7), "int32") // 2).kind == "int64"
    assert (convert(lift(1), "uint64") + lift(-1)).kind == typed_values.BINARY["ARITHMETIC"]["uint64", "int64"]


def test_the_fuzzer_finds_a_wrong_result(monkeypatch):
    """A reference that computes something else must be noticed."""
    monkeypatch.setitem(typed_values.INTEGER_OPERATIONS, "-", lambda kind, a, b: a - b + 1)
    assert any(differential.check(grammar.generate(seed))[0] for seed in range(12))
