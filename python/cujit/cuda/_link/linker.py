"""numba's Linker over cujit's: code is gathered, and complete() makes machine code of it."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._link import foreign

if TYPE_CHECKING:
    from cujit._annotations import ComputeCapability


class Linker:
    """Links code for a GPU.

    Parameters
    ----------
    max_registers : int, optional
        Of a thread.
    lineinfo : bool
        Keeps line numbers for profilers.
    cc : tuple of 2 int, optional
        The compute capability, for which nvJitLink links; the current device's unless given, whose driver does.
    lto : bool, optional
        Optimizes LTO-IR of all inputs together, which nvJitLink does.
    additional_flags : sequence of str, optional
        More of nvJitLink's options.
    """

    def __init__(self, max_registers: int | None = None, lineinfo: bool = False, cc: ComputeCapability | None = None,
                 lto: bool | None = None, additional_flags: Any = None) -> None:
        self.max_registers, self.lineinfo, self.lto = max_registers or 0, lineinfo, bool(lto)
        self.sm = None if cc is None else 10 * cc[0] + cc[1]
        self.options = tuple(additional_flags or ())
        self._items: list[_core.LinkItem] = []
        self._log = self._errors = ""

    @classmethod
    def new(cls, max_registers: int | None = None, lineinfo: bool = False, cc: ComputeCapability | None = None,
            lto: bool | None = None, additional_flags: Any = None) -> Linker:
        """A linker with these options."""
        return cls(max_registers, lineinfo, cc, lto, additional_flags)

    @property
    def info_log(self) -> str:
        """What the linker said."""
        return self._log

    @property
    def error_log(self) -> str:
        """What it said when complete() failed."""
        return self._errors

    def add_ptx(self, ptx: str | bytes, name: str = "<ptx>") -> None:
        """Adds PTX."""
        self._items.append(foreign.PTXSource(ptx, name))

    def add_cu(self, cu: str | bytes, name: str = "<cu>") -> None:
        """Adds CUDA C, which NVRTC compiles."""
        self._items.append(foreign.CUSource(cu, name))

    def add_cubin(self, cubin: bytes, name: str = "<cubin>") -> None:
        """Adds relocatable machine code."""
        self._items.append(foreign.Cubin(cubin, name))

    def add_ltoir(self, ltoir: bytes, name: str = "<ltoir>") -> None:
        """Adds LTO-IR."""
        self._items.append(foreign.LTOIR(ltoir, name))

    def add_fatbin(self, fatbin: bytes, name: str = "<fatbin>") -> None:
        """Adds a fatbin."""
        self._items.append(foreign.Fatbin(fatbin, name))

    def add_object(self, object_: bytes, name: str = "<object>") -> None:
        """Adds an object file."""
        self._items.append(foreign.Object(object_, name))

    def add_library(self, library: bytes, name: str = "<lib>") -> None:
        """Adds a library of object files."""
        self._items.append(foreign.Archive(library, name))

    def add_file(self, path: str | os.PathLike[str], kind: str) -> None:
        """Adds a file of that kind, an ending such as "ptx"."""
        ending = kind.lower().lstrip(".")
        if ending not in _core.link_kinds:
            raise RuntimeError(f"{kind!r} is no kind of code that can be linked")
        with open(path, "rb") as file:
            self._items.append(foreign.class_of(ending)(file, os.path.basename(os.fspath(path))))

    def add_file_guess_ext(self, path_or_code: Any, ignore_nonlto: bool = False) -> None:
        """Adds a file by its ending, or LinkableCode. ignore_nonlto: passes over what is neither LTO-IR nor CUDA C."""
        (item,) = foreign.linked(path_or_code)
        if not ignore_nonlto or item.kind in ("LTOIR", "CU"):
            self._items.append(item)

    def add_data(self, data: str | bytes, kind: str, name: str) -> None:
        """Adds code of that kind, an ending such as "ptx"."""
        self._items.append(foreign.class_of(kind.lower())(data, name))

    def get_linked_ptx(self) -> bytes:
        """PTX of all LTO-IR together, by nvJitLink."""
        return self._link(True)

    def complete(self) -> bytes:
        """Machine code of all that was added. LinkerError with the log where that fails."""
        return self._link(False)

    def _link(self, ptx: bool) -> bytes:
        try:
            code, self._log = _core.link(tuple(self._items), self.sm, self.max_registers, self.lineinfo, lto=self.lto,
                                         ptx=ptx, options=self.options)
        except Exception as error:
            self._errors = str(error)
            raise
        return code
