"""Link-time optimization: LTO-IR by libNVVM, PTX of what nvJitLink makes of it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._link import toolkit
from cujit.cuda._link.foreign import LTOIR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cujit._core import LinkItem

# What can be optimized together: LTO-IR, and CUDA C, which NVRTC makes it of.
_KINDS = "LTOIR", "CU"


def ltoir(text: str, name: str, sm: int) -> bytes:
    """LTO-IR of the text that inspect("nvvm") gives."""
    toolkit.find()
    return _core.compile_llvm(text, name, sm)


def _rules(options: Mapping[str, Any]) -> list[str]:
    """What a kernel's options say of floating point, to the linker, which decides that."""
    words = options.get("fastmath")
    said = ["-fma=0"] if options.get("fmad") is False else []
    if words is True or (isinstance(words, (set, frozenset)) and "afn" in words):
        said.append("-prec-div=0")
    return [*said, "-ftz=1"] if words is True else said


def linked_ptx(text: str, name: str, sm: int, links: Sequence[LinkItem], options: Mapping[str, Any]) -> str:
    """PTX of a kernel, given as text for libNVVM, and of those of its LinkItems that can be optimized with it."""
    items = [LTOIR(ltoir(text, name, sm), name), *(item for item in links if item.kind in _KINDS)]
    code, _ = _core.link(tuple(items), sm, options.get("max_registers") or 0, lto=True, ptx=True,
                         options=tuple(_rules(options)))
    return code.decode()
