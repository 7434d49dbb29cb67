"""Variables times branches: what each has in each block takes room in proportion to both numbers, and is bounded."""
import pytest

from cujit import cuda, errors, int64

SIGNATURE = (int64[::1], int64)


def variables_in_ifs(count):
    lines = [f"        if a > {k}:\n            v{k} = x[k]\n        if a > {k}:\n            x[k] += v{k}"
             for k in range(count)]
    return "\n".join(["def kernel(x, a):", "    for k in range(4):", *lines])


def compiled(source):
    names = {}
    exec(compile(source, "<many>", "exec"), names)  # noqa: S102
    return cuda.jit(names["kernel"]).inspect("ir", SIGNATURE)


@pytest.mark.filterwarnings("ignore::cujit.errors.CujitWarning")
def test_thousands_in_one_loop_are_refused_before_memory_is_full():
    with pytest.raises(errors.UnsupportedError, match=r"<many>:\d+ in kernel\nso many variables in so many"):
        compiled(variables_in_ifs(2500))


@pytest.mark.filterwarnings("ignore::cujit.errors.CujitWarning")
def test_hundreds_are_not():
    assert "kernel kernel" in compiled(variables_in_ifs(300))
