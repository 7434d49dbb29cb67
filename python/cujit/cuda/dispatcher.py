"""The objects that cuda.jit makes: functions compiled once for each list of argument types."""
from __future__ import annotations

import functools
import math
import types as python_types
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from cujit import _core
from cujit.cuda import layout, signature as signatures
from cujit.cuda.launchers import ExtendedLauncher, ForAll, argument_type, block_for, quiet_launcher
from cujit.errors import LaunchConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cujit._annotations import (
        ArgumentTypes,
        ComputeCapability,
        PythonFunction,
        Shape,
        SignatureLike,
        StreamLike,
    )
    from cujit._core import Launcher, Signature, Type

# CUfunction_attribute, of cuda.h.
_MAX_THREADS, _SHARED_BYTES, _CONST_BYTES, _LOCAL_BYTES, _REGISTERS = range(5)

_NONE = _core.scalar_types["none"]
_P = ParamSpec("_P")
_R = TypeVar("_R")


class Stats:
    """How often a kernel was compiled (cache_misses) or, with cache=True, found on disk (cache_hits), by the argument
    types."""

    def __init__(self, signatures: list[ArgumentTypes], hits: list[ArgumentTypes]) -> None:
        self.cache_misses = {types: 1 for types in signatures if types not in hits}
        self.cache_hits = dict.fromkeys(hits, 1)


class Overload:
    """A kernel compiled for one list of argument types."""

    def __init__(self, dispatcher: Dispatcher[..., Any], types: ArgumentTypes) -> None:
        self.dispatcher, self.argtypes = dispatcher, types

    @property
    def signature(self) -> Signature:
        return _NONE(*self.argtypes)

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

    def max_cooperative_grid_blocks(self, blockdim: Shape, dynsmemsize: int = 0) -> int:
        """The largest grid whose threads can wait for each other, of blocks with this shape and shared memory."""
        threads = math.prod(layout.as_shape(blockdim))
        return self.dispatcher.resident_blocks(self.argtypes, threads, dynsmemsize)

    def __repr__(self) -> str:
        return f"<{self.dispatcher.__name__}{self.signature.args}>"


class Dispatcher(_core.KernelBase, Generic[_P, _R]):
    """A Python function as a kernel, or with device=True as a function for kernels. Made by cuda.jit.

    kernel[grid, block, stream, sharedmem, cluster](*args) launches; each list of argument types is compiled once, at
    its first launch.

    Attributes
    ----------
    py_func : function
        The Python function.
    is_device : bool
        Whether kernels call it.
    specialized : bool
        Whether there is one signature, stated before any launch.

    Examples
    --------
    >>> @cuda.jit
    ... def fill(out, value):
    ...     i = cuda.grid(1)
    ...     if i < out.size:
    ...         out[i] = value
    >>> out = cuda.device_array(1000)
    >>> fill[4, 256](out, 7)
    >>> out[999].item()
    7.0
    """

    if TYPE_CHECKING:
        __name__: str
        __qualname__: str
        __wrapped__: Callable[_P, _R]

        def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

    def __init__(self, function: Callable[_P, _R], *, device: bool = False, extensions: Sequence[Any] = (),
                 signature: tuple[ArgumentTypes, Type | None] | None = None, **options: Any) -> None:
        """signature: of a device function, (argument types, result type): its calls convert to these."""
        compiled = function if signature is None else converting(function, *signature)
        super().__init__(compiled, device=device, **options)
        functools.update_wrapper(self, function)
        self.declared = signature
        self._extensions = list(extensions)
        self.specialized = False
        self._specializations: dict[ArgumentTypes, Dispatcher[_P, _R]] = {}

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else python_types.MethodType(self, instance)

    @property
    def extensions(self) -> list[Any]:
        """The objects whose prepare_args arguments pass through, last first.

        Returns
        -------
        list
            Can be changed.

        Examples
        --------
        >>> kernel.extensions
        []
        """
        if type(self) is Dispatcher:
            self.__class__ = ExtendedDispatcher   # who asks may add some: from now on launches look
        return self._extensions

    @property
    def py_func(self) -> Callable[_P, _R]:   # type: ignore[override]
        """The Python function.

        Returns
        -------
        function

        Examples
        --------
        >>> kernel.py_func.__name__
        'kernel'
        """
        return self.__wrapped__

    def __repr__(self) -> str:
        return f"<{'device function' if self.is_device else 'kernel'} {self.__module__}.{self.__qualname__}>"

    # --- launching ---------------------------------------------------------------------------------------------------

    def configure(self, griddim: Shape, blockdim: Shape, stream: StreamLike = 0, sharedmem: int = 0,
                  cluster: Shape | None = None) -> Launcher:
        """A launcher, the same as kernel[griddim, blockdim, stream, sharedmem, cluster].

        Parameters
        ----------
        griddim : int or tuple of up to 3 int
            Blocks along each axis.
        blockdim : int or tuple of up to 3 int
            Threads of a block along each axis.
        stream : Stream or int
            The stream that launches go to; 0 is the default stream.
        sharedmem : int
            Bytes of dynamic shared memory of a block.
        cluster : int or tuple of up to 3 int, optional
            Blocks of a cluster along each axis.

        Returns
        -------
        Launcher
            Calling it launches, without waiting.

        Raises
        ------
        LaunchConfigurationError
            No device can run such a grid or block.
        TypeError
            A dimension is no integer.

        Examples
        --------
        >>> x = np.zeros(4)
        >>> kernel.configure(1, 32)(x)
        >>> x
        array([1., 1., 1., 1.])
        """
        return self[griddim, blockdim, stream, sharedmem, cluster]

    def forall(self, ntasks: int, tpb: int = 0, stream: StreamLike = 0, sharedmem: int = 0) -> ForAll:
        """A launcher of at least so many threads along one axis.

        Parameters
        ----------
        ntasks : int
            Threads; zero launches nothing.
        tpb : int
            Threads of a block; 0: as many as suit the device.
        stream : Stream or int
            The stream that launches go to.
        sharedmem : int
            Bytes of dynamic shared memory of a block.

        Returns
        -------
        ForAll
            Calling it launches, without waiting.

        Raises
        ------
        LaunchConfigurationError
            A number is negative.

        Examples
        --------
        >>> x = np.zeros(3)
        >>> kernel.forall(x.size)(x)
        >>> x
        array([1., 1., 1.])
        """
        if ntasks < 0 or tpb < 0:
            raise LaunchConfigurationError(f"cannot launch {ntasks} tasks" if ntasks < 0 else f"tpb is negative: {tpb}")
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def launch(self, x: int, y: int = 1, z: int = 1, stream: StreamLike = 0, sharedmem: int = 0) -> Callable[..., None]:
        """A launcher of a grid of at least x times y times z threads; idx, idy and idz tell them apart in the kernel.

        Blocks have up to 256 threads, powers of two along each axis.

        Parameters
        ----------
        x, y, z : int
            Threads along each axis; a zero launches nothing.
        stream : Stream or int
            The stream that launches go to.
        sharedmem : int
            Bytes of dynamic shared memory of a block.

        Returns
        -------
        callable
            Calling it launches, without waiting.

        Raises
        ------
        LaunchConfigurationError
            A number is negative.

        Examples
        --------
        >>> x = np.zeros(3)
        >>> kernel.launch(x.size)(x)
        >>> x
        array([1., 1., 1.])
        """
        if min(x, y, z) < 0:
            raise LaunchConfigurationError(f"cannot launch {x} by {y} by {z} threads")
        if 0 in (x, y, z):
            return lambda *args: None
        block = block_for(x, y, z)
        grid = tuple(-(-count // threads) for count, threads in zip((x, y, z), block, strict=True))
        return quiet_launcher(self, grid, block, stream, sharedmem)

    # --- compiling ---------------------------------------------------------------------------------------------------

    def compile(self, sig: SignatureLike) -> Overload:   # type: ignore[override]
        """Compiles for a signature on the current device.

        Parameters
        ----------
        sig : str, Signature or tuple of types
            The types of the arguments.

        Returns
        -------
        Overload
            What was compiled: its registers, its memory.

        Raises
        ------
        CompileError
            The function cannot be compiled for these types.
        SignatureError
            It is no signature.

        Examples
        --------
        >>> kernel.compile("void(float32[:])").argtypes
        (array(float32, 1d, A),)
        """
        types, _ = signatures.normalize(sig)
        if self.is_device:
            self.result_type(types)
        else:
            super().compile(types)
        return Overload(self, types)

    def compile_device(self, args: Sequence[Type]) -> Type:
        """The type of a device function's result.

        Parameters
        ----------
        args : sequence of types
            The types of the arguments.

        Returns
        -------
        Type

        Raises
        ------
        CompileError
            The function has no types for these arguments.

        Examples
        --------
        >>> cuda.jit(lambda x: x + 1, device=True).compile_device([types.float32])
        float64
        """
        return self.result_type(tuple(args))

    def disable_compile(self, val: bool = True) -> None:
        """From now on only the types compiled so far are accepted.

        Parameters
        ----------
        val : bool
            False changes nothing.

        Examples
        --------
        >>> frozen = cuda.jit("void(float32[:])")(kernel.py_func)
        >>> frozen.disable_compile()
        >>> frozen.is_frozen
        True
        """
        if val:
            self.freeze()

    def specialize(self, *args: Any) -> Dispatcher[_P, _R]:
        """A kernel for one list of argument types only.

        Parameters
        ----------
        *args : object
            Arguments as for a launch, or types.

        Returns
        -------
        Dispatcher
            The same one for the same types.

        Raises
        ------
        RuntimeError
            This kernel is specialized already.

        Examples
        --------
        >>> kernel.specialize(np.zeros(3, np.float32)).signatures
        [(array(float32, 1d, C),)]
        """
        if self.specialized:
            raise RuntimeError(f"kernel '{self.__name__}' is specialized already")
        types = tuple(argument_type(value) for value in args)
        if types not in self._specializations:
            self._specializations[types] = self._specialized_copy(types)
        return self._specializations[types]

    def _specialized_copy(self, types: ArgumentTypes) -> Dispatcher[_P, _R]:
        special = self._copy()
        special.compile(types)
        special.freeze()
        special.specialized = True
        return special

    @property
    def specializations(self) -> dict[ArgumentTypes, Dispatcher[_P, _R]]:
        """What specialize() has made.

        Returns
        -------
        dict of tuple of types to Dispatcher

        Examples
        --------
        >>> len(kernel.specializations)
        0
        """
        return dict(self._specializations)

    @property
    def signatures(self) -> list[ArgumentTypes]:   # type: ignore[override]
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
        return super().signatures()

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
        return {types: Overload(self, types) for types in self.signatures}

    @property
    def targetoptions(self) -> dict[str, Any]:
        """The options that the function was decorated with.

        Returns
        -------
        dict of str to object

        Examples
        --------
        >>> cuda.jit(fastmath=True)(kernel.py_func).targetoptions["fastmath"]
        True
        """
        return {**self.options, "device": self.is_device, "extensions": self._extensions}

    @property
    def stats(self) -> Stats:
        """How often the kernel was compiled, and found on disk.

        Returns
        -------
        Stats
            cache_misses and, with cache=True, cache_hits: dicts of argument types to counts.

        Examples
        --------
        >>> kernel.stats.cache_misses
        {}
        """
        return Stats(self.signatures, self.loaded_signatures() if self.options.get("cache") else [])

    # --- looking inside ----------------------------------------------------------------------------------------------

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
            The tools are neither on PATH nor below CUDA_HOME or /usr/local/cuda, or refuse.
        UnsupportedError
            The current device is the CPU device, and `cc` is not given.

        Examples
        --------
        >>> kernel.inspect_sass()
        {}
        """
        from cujit.cuda.machine_code import disassemble

        limit, asm = self.options.get("max_registers"), self._inspect("asm", signature, cc)
        if signature is not None:
            return disassemble(asm, limit)
        return {types: disassemble(text, limit) for types, text in asm.items()}

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
            return {types: self.inspect(what, types, _sm(cc)) for types in self.signatures}
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
        return {types: self.attribute(types, number) for types in self.signatures}

    # --- copies ------------------------------------------------------------------------------------------------------

    def _copy(self) -> Dispatcher[_P, _R]:
        return type(self)(self.py_func, device=self.is_device, extensions=self._extensions, signature=self.declared,
                          **self.options)

    def __copy__(self) -> Dispatcher[_P, _R]:
        return self._copy()

    def __deepcopy__(self, memo: object) -> Dispatcher[_P, _R]:
        return self._copy()

    def __reduce__(self) -> tuple[Any, ...]:
        from cujit.cuda import pickling

        return pickling.reduce_dispatcher(self)


class ExtendedDispatcher(Dispatcher[_P, _R]):
    """A kernel whose arguments pass through the option `extensions` first."""

    def __getitem__(self, configuration: Any, /) -> Any:
        return ExtendedLauncher(self, super().__getitem__(configuration))


def _sm(cc: ComputeCapability | None) -> int | None:
    return None if cc is None else cc[0] * 10 + cc[1]


def converting(function: PythonFunction, types: ArgumentTypes, result: Type | None,
               name: str | None = None) -> PythonFunction:
    """A Python function that converts scalar arguments to `types`, calls `function`, and converts its result.

    result: the type of the result, or None for the one that it has.
    """
    namespace: dict[str, Any] = {"function": Dispatcher(function, device=True)}
    arguments, passed = [f"a{k}" for k in range(len(types))], []
    for argument, a_type in zip(arguments, types, strict=True):
        is_scalar = a_type in _core.scalar_types.values()
        passed.append(f"type_{argument}({argument})" if is_scalar else argument)
        namespace[f"type_{argument}"] = a_type
    call = f"return function({', '.join(passed)})"
    if result not in (None, _NONE):
        namespace["result"] = result
        call = f"return result(function({', '.join(passed)}))"
    name = name or function.__name__
    label = name if name.isidentifier() else "compiled"
    exec(f"def {label}({', '.join(arguments)}):\n    {call}\n", namespace)
    return namespace[label]
