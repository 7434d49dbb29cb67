"""What a kernel tells of itself: what is compiled, its code at each stage, its registers and memory."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

from cujit import _core
from cujit.cuda._array import layout
from cujit.cuda._dispatch import signature as signatures

if TYPE_CHECKING:
    from cujit._annotations import ArgumentTypes, ComputeCapability, Shape, SignatureLike
    from cujit._core import Signature
    from cujit.cuda._dispatch.explanation import Explanation

# CUfunction_attribute, of cuda.h.
_MAX_THREADS, _SHARED_BYTES, _CONST_BYTES, _LOCAL_BYTES, _REGISTERS = range(5)

_NONE = _core.scalar_types["none"]


class Stats:
    """How often a kernel was compiled (cache_misses) or, with cache=True, found on disk (cache_hits), and how many
    kernels were made besides, for launches that the first one does not hold for (variants); how many of all these began
    with code that was made quickly (quick_starts), and in how many optimized code has replaced it (replaced). By the
    argument types."""

    def __init__(self, compiled: list[ArgumentTypes], hits: list[ArgumentTypes],
                 variants: list[tuple[ArgumentTypes, int]], quick: list[tuple[ArgumentTypes, int, int]]) -> None:
        self.quick_starts = signatures.ByTypes({types: started for types, started, _ in quick if started})
        self.replaced = signatures.ByTypes({types: replaced for types, _, replaced in quick if replaced})
        self.variants = signatures.ByTypes({types: count for types, count in variants if count})
        self.cache_misses = signatures.ByTypes({types: 1 for types in compiled if types not in hits})
        self.cache_hits = signatures.ByTypes(dict.fromkeys(hits, 1))


class Overload:
    """A kernel compiled for one list of argument types."""

    def __init__(self, dispatcher: Inspection, types: ArgumentTypes) -> None:
        self.dispatcher, self.argtypes = dispatcher, types

    @property
    def signature(self) -> Signature:
        return _NONE(*self.argtypes)

    @property
    def launch_config_sensitive(self) -> bool:
        """Whether it is for launches with one configuration only; see Dispatcher.mark_launch_config_sensitive."""
        return self.dispatcher.is_bound()

    @property
    def regs_per_thread(self) -> int:
        """Registers of a thread."""
        return self.dispatcher.attribute(self.argtypes, _REGISTERS)

    @property
    def const_mem_size(self) -> int:
        """Bytes of constant memory."""
        return self.dispatcher.attribute(self.argtypes, _CONST_BYTES)

    @property
    def shared_mem_per_block(self) -> int:
        """Bytes of static shared memory of a block."""
        return self.dispatcher.attribute(self.argtypes, _SHARED_BYTES)

    @property
    def max_threads_per_block(self) -> int:
        """Threads of the largest block that can be launched."""
        return self.dispatcher.attribute(self.argtypes, _MAX_THREADS)

    @property
    def local_mem_per_thread(self) -> int:
        """Bytes of local memory of a thread."""
        return self.dispatcher.attribute(self.argtypes, _LOCAL_BYTES)

    def inspect_llvm(self) -> str:
        """LLVM IR, for the current device."""
        return self.dispatcher.inspect_llvm(self.argtypes)

    def inspect_asm(self, cc: ComputeCapability | None = None) -> str:
        """PTX, or assembly of the CPU device. cc: for GPUs of this compute capability; else the current device."""
        return self.dispatcher.inspect_asm(self.argtypes, cc)

    def inspect_sass(self) -> str:
        """Machine code of the current GPU; see Dispatcher.inspect_sass."""
        return self.dispatcher.inspect_sass(self.argtypes)

    def max_cooperative_grid_blocks(self, blockdim: Shape, dynsmemsize: int = 0) -> int:
        """The largest grid whose threads can wait for each other, of blocks with this shape and shared memory."""
        threads = math.prod(layout.as_shape(blockdim))
        return self.dispatcher.resident_blocks(self.argtypes, threads, dynsmemsize)

    def __repr__(self) -> str:
        return f"<{self.dispatcher.__name__}{self.signature.args}>"


class Inspection(_core.KernelBase):
    """What can be asked of a kernel; cuda.jit makes the class below it, Dispatcher.

    Attributes
    ----------
    specialized : bool
        Whether there is one signature, stated before any launch.
    """

    if TYPE_CHECKING:
        __name__: str
        specialized: bool

    @property
    def signatures(self) -> list[ArgumentTypes]:
        """The argument types compiled so far.

        Returns
        -------
        list of tuple of types

        Examples
        --------
        >>> _ = kernel.compile("void(int64[:])")
        >>> kernel.signatures
        [(array(int64, 1d, A),)]
        """
        return self.compiled_types()

    @property
    def nopython_signatures(self) -> list[Signature]:
        """The signatures compiled so far.

        Returns
        -------
        list of Signature

        Examples
        --------
        >>> kernel.nopython_signatures
        []
        """
        return [_NONE(*types) for types in self.signatures]

    @property
    def overloads(self) -> dict[ArgumentTypes, Overload]:
        """What is compiled so far.

        Returns
        -------
        dict of tuple of types to Overload

        Examples
        --------
        >>> kernel.overloads
        {}
        """
        return signatures.ByTypes({types: Overload(self, types) for types in self.signatures})

    @property
    def stats(self) -> Stats:
        """How often the kernel was compiled, and found on disk.

        Returns
        -------
        Stats
            cache_misses and, with cache=True, cache_hits: dicts of argument types to counts; likewise variants:
            kernels that were made besides for launches that the first one does not hold for, such as one beyond 2^30
            elements, or one whose output overlaps an input. With quick_start=True, quick_starts: kernels that began
            with code that was made quickly, and replaced: those of them that have optimized code by now.

        Examples
        --------
        >>> kernel.stats.cache_misses
        {}
        """
        loaded = self.loaded_types() if self.options.get("cache") else []
        return Stats(self.signatures, loaded, self.variant_counts(), self.quick_counts())

    @overload
    def inspect_llvm(self, signature: None = None, cc: ComputeCapability | None = None) -> dict[ArgumentTypes, str]: ...
    @overload
    def inspect_llvm(self, signature: SignatureLike, cc: ComputeCapability | None = None) -> str: ...
    def inspect_llvm(self, signature: SignatureLike | None = None,
                     cc: ComputeCapability | None = None) -> str | dict[ArgumentTypes, str]:
        """LLVM IR of what is compiled.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.
        cc : tuple of 2 int, optional
            For GPUs of this compute capability, such as (9, 0), which need not be there; the current device unless it
            is given.

        Returns
        -------
        str, or dict of tuple of types to str
            A dict without a signature.

        Examples
        --------
        >>> "define" in kernel.inspect_llvm("void(float32[:])")
        True
        """
        return self._inspect("llvm", signature, cc)

    @overload
    def inspect_asm(self, signature: None = None, cc: ComputeCapability | None = None) -> dict[ArgumentTypes, str]: ...
    @overload
    def inspect_asm(self, signature: SignatureLike, cc: ComputeCapability | None = None) -> str: ...
    def inspect_asm(self, signature: SignatureLike | None = None,
                    cc: ComputeCapability | None = None) -> str | dict[ArgumentTypes, str]:
        """PTX of what is compiled, or assembly of the CPU device.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.
        cc : tuple of 2 int, optional
            For GPUs of this compute capability, such as (9, 0), which need not be there; the current device unless it
            is given.

        Returns
        -------
        str, or dict of tuple of types to str
            A dict without a signature.

        Examples
        --------
        >>> ".target sm_90" in kernel.inspect_asm("void(float32[:])", cc=(9, 0))
        True
        """
        return self._inspect("asm", signature, cc)

    @overload
    def inspect_lto_ptx(self, signature: None = None,
                        cc: ComputeCapability | None = None) -> dict[ArgumentTypes, str]: ...
    @overload
    def inspect_lto_ptx(self, signature: SignatureLike, cc: ComputeCapability | None = None) -> str: ...
    def inspect_lto_ptx(self, signature: SignatureLike | None = None,
                        cc: ComputeCapability | None = None) -> str | dict[ArgumentTypes, str]:
        """PTX of the kernel as LTO-IR, optimized together with the LTO-IR and the CUDA C that it is linked with.

        Launches run the PTX that inspect_asm shows, with such code linked beside it. What is linked as PTX or machine
        code is left out here.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.
        cc : tuple of 2 int, optional
            For GPUs of this compute capability; the current device unless given.

        Returns
        -------
        str, or dict of tuple of types to str
            A dict without a signature.

        Raises
        ------
        LinkerError
            libNVVM, nvJitLink or NVRTC refuses, or is not installed.
        UnsupportedError
            The current device is the CPU device, and `cc` is not given.

        Examples
        --------
        >>> kernel.inspect_lto_ptx()
        {}
        """
        if signature is None:
            return {types: self._lto_ptx(types, cc) for types in self.signatures}
        return self._lto_ptx(signatures.normalize(signature)[0], cc)

    def _lto_ptx(self, types: ArgumentTypes, cc: ComputeCapability | None) -> str:
        from cujit.cuda._link.lto import linked_ptx

        text = self.inspect("nvvm", types, _sm(cc), any_launch=True)
        return linked_ptx(text, self.__name__, _sm(cc) or _core.current_device().sm, self.links(), self.options)

    @overload
    def inspect_sass(self, signature: None = None, cc: ComputeCapability | None = None) -> dict[ArgumentTypes, str]: ...
    @overload
    def inspect_sass(self, signature: SignatureLike, cc: ComputeCapability | None = None) -> str: ...
    def inspect_sass(self, signature: SignatureLike | None = None,
                     cc: ComputeCapability | None = None) -> str | dict[ArgumentTypes, str]:
        """Machine code of GPUs, which ptxas and nvdisasm of a CUDA toolkit make of the PTX.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.
        cc : tuple of 2 int, optional
            For GPUs of this compute capability; the current device unless given.

        Returns
        -------
        str, or dict of tuple of types to str
            A dict without a signature.

        Raises
        ------
        RuntimeError
            The tools are neither on PATH nor below CUDA_HOME or /usr/local/cuda, or refuse; a LinkerError where code
            that the kernel is linked with cannot be, or nvJitLink is not installed.
        UnsupportedError
            The current device is the CPU device, and `cc` is not given.

        Examples
        --------
        >>> kernel.inspect_sass()
        {}
        """
        from cujit.cuda._link.machine_code import disassemble

        limit, asm, links = self.options.get("max_registers"), self._inspect("asm", signature, cc), self.links()
        if signature is not None:
            return disassemble(asm, limit, links)
        return signatures.ByTypes({types: disassemble(text, limit, links) for types, text in asm.items()})

    @overload
    def inspect_ir(self, signature: None = None) -> dict[ArgumentTypes, str]: ...
    @overload
    def inspect_ir(self, signature: SignatureLike) -> str: ...
    def inspect_ir(self, signature: SignatureLike | None = None) -> str | dict[ArgumentTypes, str]:
        """cujit's typed IR of what is compiled.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.

        Returns
        -------
        str, or dict of tuple of types to str
            A dict without a signature.

        Examples
        --------
        >>> print(kernel.inspect_ir("void(float32[:])").splitlines()[0].partition(" ;")[0])
        kernel kernel(x: f32[1 A])
        """
        return self._inspect("ir", signature, None)

    def explain(self, signature: SignatureLike | None = None, cc: ComputeCapability | None = None) -> Explanation:
        """A page with the source beside the typed IR, the LLVM IR, the PTX (or assembly) and, where ptxas and nvdisasm
        are installed, the SASS made of it; the types of expressions, registers and memory, warnings. Lines that belong
        together light up together.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; the ones that are compiled unless it is given.
        cc : tuple of 2 int, optional
            For GPUs of this compute capability, such as (9, 0), which need not be there; the current device unless it
            is given.

        Returns
        -------
        Explanation
            Shows itself in Jupyter; `save(path)` writes one HTML file.

        Raises
        ------
        ValueError
            No signature is given, and not exactly one is compiled.

        Examples
        --------
        >>> page = kernel.explain("void(float32[:])", cc=(9, 0))
        >>> list(page.texts)[:4]
        ['source', 'typed IR', 'LLVM IR', 'PTX']
        """
        from cujit.cuda._dispatch.explanation import explain

        if signature is None and len(self.signatures) != 1:
            raise ValueError(f"{self!r} is compiled for {len(self.signatures)} lists of types; name one: "
                             'kernel.explain("void(float32[:])")')
        types = self.signatures[0] if signature is None else signatures.normalize(signature)[0]
        return explain(self, types, _sm(cc))

    def _repr_html_(self) -> str:
        """What Jupyter shows: the kernel, and what is compiled."""
        import html

        rows = [f"<tr><td><code>({html.escape(', '.join(map(str, types)))})</code></td></tr>"
                for types in self.signatures]
        table = f"<table><tr><th>compiled for</th></tr>{''.join(rows)}</table>" if rows else ""
        return f"<code>{html.escape(repr(self))}</code>{table}"

    def inspect_types(self, file: Any = None) -> None:
        """Prints the source with the types of its values, for every signature compiled so far.

        Parameters
        ----------
        file : file, optional
            Where to; standard output unless it is given.

        Examples
        --------
        >>> _ = kernel.compile("void(float32[:])")
        >>> kernel.inspect_types()   # doctest: +ELLIPSIS
        kernel ('array(float32, 1d, A)',)
        --------------------------------------------------------------------------------
        ...
        """
        for types in self.signatures:
            print(f"{self.__name__} {tuple(str(t) for t in types)}", file=file)
            print("-" * 80, file=file)
            print(self.inspect("types", types), file=file)

    def _inspect(self, what: str, signature: SignatureLike | None, cc: ComputeCapability | None) -> Any:
        if signature is None:
            return signatures.ByTypes({types: self.inspect(what, types, _sm(cc)) for types in self.signatures})
        return self.inspect(what, signatures.normalize(signature)[0], _sm(cc))

    def get_regs_per_thread(self, signature: SignatureLike | None = None) -> int | dict[ArgumentTypes, int]:
        """Registers of a thread.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.

        Returns
        -------
        int, or dict of tuple of types to int
            A dict without a signature, unless the kernel is specialized.

        Examples
        --------
        >>> kernel.get_regs_per_thread("void(float32[:])") >= 0
        True
        """
        return self._attribute(_REGISTERS, signature)

    def get_const_mem_size(self, signature: SignatureLike | None = None) -> int | dict[ArgumentTypes, int]:
        """Bytes of constant memory.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.

        Returns
        -------
        int, or dict of tuple of types to int
            A dict without a signature, unless the kernel is specialized.

        Examples
        --------
        >>> kernel.get_const_mem_size("void(float32[:])") >= 0
        True
        """
        return self._attribute(_CONST_BYTES, signature)

    def get_shared_mem_per_block(self, signature: SignatureLike | None = None) -> int | dict[ArgumentTypes, int]:
        """Bytes of static shared memory of a block.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.

        Returns
        -------
        int, or dict of tuple of types to int
            A dict without a signature, unless the kernel is specialized.

        Examples
        --------
        >>> kernel.get_shared_mem_per_block("void(float32[:])") >= 0
        True
        """
        return self._attribute(_SHARED_BYTES, signature)

    def get_max_threads_per_block(self, signature: SignatureLike | None = None) -> int | dict[ArgumentTypes, int]:
        """Threads of the largest block that can be launched.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.

        Returns
        -------
        int, or dict of tuple of types to int
            A dict without a signature, unless the kernel is specialized.

        Examples
        --------
        >>> kernel.get_max_threads_per_block("void(float32[:])") >= 0
        True
        """
        return self._attribute(_MAX_THREADS, signature)

    def get_local_mem_per_thread(self, signature: SignatureLike | None = None) -> int | dict[ArgumentTypes, int]:
        """Bytes of local memory of a thread.

        Parameters
        ----------
        signature : str, Signature or tuple of types, optional
            For these types; all that are compiled unless it is given.

        Returns
        -------
        int, or dict of tuple of types to int
            A dict without a signature, unless the kernel is specialized.

        Examples
        --------
        >>> kernel.get_local_mem_per_thread("void(float32[:])") >= 0
        True
        """
        return self._attribute(_LOCAL_BYTES, signature)

    def _attribute(self, number: int, signature: SignatureLike | None) -> int | dict[ArgumentTypes, int]:
        if signature is not None:
            return self.attribute(signatures.normalize(signature)[0], number)
        if self.specialized:
            return self.attribute(self.signatures[0], number)
        return signatures.ByTypes({types: self.attribute(types, number) for types in self.signatures})


def _sm(cc: ComputeCapability | None) -> int | None:
    return None if cc is None else cc[0] * 10 + cc[1]
