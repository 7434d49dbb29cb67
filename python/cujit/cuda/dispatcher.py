"""The objects that cuda.jit makes: functions compiled once for each list of argument types."""
import copyreg
import functools
import math
import operator
import pickle
import types as python_types

from cujit import _core
from cujit.cuda import signature as signatures
from cujit.cuda.devicearray import as_cuda_array, is_cuda_array
from cujit.cuda.hostarray import In, InOut, Out
from cujit.errors import LaunchConfigurationError

# CUfunction_attribute, of cuda.h.
_MAX_THREADS, _SHARED_BYTES, _CONST_BYTES, _LOCAL_BYTES, _REGISTERS = range(5)

_NONE = _core.scalar_types["none"]


class Stats:
    """How often a kernel was compiled (cache_misses) or, with cache=True, found on disk (cache_hits), by the argument
    types."""

    def __init__(self, signatures, hits):
        self.cache_misses = {types: 1 for types in signatures if types not in hits}
        self.cache_hits = dict.fromkeys(hits, 1)


class Overload:
    """A kernel compiled for one list of argument types."""

    def __init__(self, dispatcher, types):
        self.dispatcher, self.argtypes = dispatcher, types

    @property
    def signature(self):
        return _NONE(*self.argtypes)

    @property
    def regs_per_thread(self):
        return self.dispatcher.attribute(self.argtypes, _REGISTERS)

    @property
    def const_mem_size(self):
        return self.dispatcher.attribute(self.argtypes, _CONST_BYTES)

    @property
    def shared_mem_per_block(self):
        return self.dispatcher.attribute(self.argtypes, _SHARED_BYTES)

    @property
    def max_threads_per_block(self):
        return self.dispatcher.attribute(self.argtypes, _MAX_THREADS)

    @property
    def local_mem_per_thread(self):
        return self.dispatcher.attribute(self.argtypes, _LOCAL_BYTES)

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """The largest grid whose threads can wait for each other, of blocks with this shape and shared memory."""
        threads = math.prod(blockdim) if isinstance(blockdim, tuple | list) else blockdim
        return self.dispatcher.resident_blocks(self.argtypes, threads, dynsmemsize)

    def __repr__(self):
        return f"<{self.dispatcher.__name__}{self.signature.args}>"


class Dispatcher(_core.KernelBase):
    """A Python function as a kernel, or with device=True as a function for kernels. Made by cuda.jit.

    kernel[grid, block, stream=0, sharedmem=0, cluster=None](*args) launches; each list of argument types is
    compiled once, at its first launch. Attributes: py_func (the Python function), targetoptions, signatures, overloads,
    specialized, stats.
    """

    def __init__(self, function, *, device=False, extensions=(), signature=None, **options):
        """signature: of a device function, (argument types, result type): its calls convert to these."""
        compiled = function if signature is None else converting(function, *signature)
        super().__init__(compiled, device=device, **options)
        functools.update_wrapper(self, function)
        self.declared = signature
        self._extensions = list(extensions)
        self.specialized = False
        self._specializations = {}

    def __get__(self, instance, owner=None):
        return self if instance is None else python_types.MethodType(self, instance)

    @property
    def extensions(self):
        """A list of objects whose prepare_args(type, value, stream=, retr=) arguments pass through; can be changed."""
        if type(self) is Dispatcher:
            self.__class__ = ExtendedDispatcher   # who asks may add some: from now on launches look
        return self._extensions

    @property
    def py_func(self):
        """The Python function."""
        return self.__wrapped__

    def __repr__(self):
        return f"<{'device function' if self.is_device else 'kernel'} {self.__module__}.{self.__qualname__}>"

    # --- launching ---------------------------------------------------------------------------------------------------

    def configure(self, griddim, blockdim, stream=0, sharedmem=0, cluster=None):
        """The same as kernel[griddim, blockdim, stream, sharedmem, cluster]; `sharedmem` in bytes, `cluster` in blocks.

        ValueError for a grid or block that no device can run, TypeError for dimensions that are no integers.
        """
        return self[griddim, blockdim, stream, sharedmem, cluster]

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        """A launcher of at least `ntasks` threads in blocks of `tpb` (0: as many as suit the device), one axis.

        LaunchConfigurationError for a negative number.
        """
        if ntasks < 0 or tpb < 0:
            raise LaunchConfigurationError(f"cannot launch {ntasks} tasks" if ntasks < 0 else f"tpb is negative: {tpb}")
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def launch(self, x, y=1, z=1, stream=0, sharedmem=0):
        """A launcher of a grid of at least x times y times z threads; idx, idy and idz tell them apart in the kernel.

        Blocks have up to 256 threads, powers of two along each axis; a zero launches nothing. LaunchConfigurationError
        for a negative number.
        """
        if min(x, y, z) < 0:
            raise LaunchConfigurationError(f"cannot launch {x} by {y} by {z} threads")
        if 0 in (x, y, z):
            return lambda *args: None
        block = _block_for(x, y, z)
        grid = tuple(-(-count // threads) for count, threads in zip((x, y, z), block, strict=True))
        return quiet_launcher(self, grid, block, stream, sharedmem)

    # --- compiling ---------------------------------------------------------------------------------------------------

    def compile(self, sig):
        """Compiles for a signature (text, Signature or tuple of types) on the current device; returns the Overload."""
        types, _ = signatures.normalize(sig)
        if self.is_device:
            self.result_type(types)
        else:
            super().compile(types)
        return Overload(self, types)

    def compile_device(self, args):
        """Infers a device function for argument types; returns the type of its result."""
        return self.result_type(tuple(args))

    def disable_compile(self, val=True):
        """From now on only the types compiled so far are accepted."""
        if val:
            self.freeze()

    def specialize(self, *args):
        """A kernel for these types, or the types of these arguments, only. RuntimeError on one that is specialized."""
        if self.specialized:
            raise RuntimeError(f"kernel '{self.__name__}' is specialized already")
        types = tuple(argument_type(value) for value in args)
        if types not in self._specializations:
            self._specializations[types] = self._specialized_copy(types)
        return self._specializations[types]

    def _specialized_copy(self, types):
        special = self._copy()
        special.compile(types)
        special.freeze()
        special.specialized = True
        return special

    @property
    def specializations(self):
        return dict(self._specializations)

    @property
    def signatures(self):
        """The argument types (tuples) compiled so far."""
        return super().signatures()

    @property
    def nopython_signatures(self):
        """The signatures compiled so far."""
        return [_NONE(*types) for types in self.signatures]

    @property
    def overloads(self):
        """What is compiled so far: argument types -> Overload."""
        return {types: Overload(self, types) for types in self.signatures}

    @property
    def targetoptions(self):
        """The options the function was decorated with."""
        return {**self.options, "device": self.is_device, "extensions": self._extensions}

    @property
    def stats(self):
        return Stats(self.signatures, self.loaded_signatures() if self.options.get("cache") else [])

    # --- looking inside ----------------------------------------------------------------------------------------------

    def inspect_llvm(self, signature=None, cc=None):
        """LLVM IR (str) for a signature; without one, a dict of it over all compiled so far."""
        return self._inspect("llvm", signature, cc)

    def inspect_asm(self, signature=None, cc=None):
        """PTX, or assembly of the CPU device; without a signature a dict over all compiled so far.

        cc: a compute capability such as (9, 0): PTX for that GPU, which need not be there.
        """
        return self._inspect("asm", signature, cc)

    def inspect_sass(self, signature=None, cc=None):
        """Machine code of the current GPU, or of compute capability `cc`; without a signature a dict of it over all.

        ptxas and nvdisasm of a CUDA toolkit make it of the PTX (on PATH, or below CUDA_HOME or /usr/local/cuda):
        RuntimeError where they are missing or refuse. UnsupportedError on the CPU device without cc.
        """
        from cujit.cuda.machine_code import disassemble

        limit, asm = self.options.get("max_registers"), self._inspect("asm", signature, cc)
        if signature is not None:
            return disassemble(asm, limit)
        return {types: disassemble(text, limit) for types, text in asm.items()}

    def inspect_ir(self, signature=None):
        """cujit's typed IR."""
        return self._inspect("ir", signature, None)

    def inspect_types(self, file=None):
        """Prints the source with the types of its values, for every signature compiled so far."""
        for types in self.signatures:
            print(f"{self.__name__} {tuple(str(t) for t in types)}", file=file)
            print("-" * 80, file=file)
            print(self.inspect("types", types), file=file)

    def _inspect(self, what, signature, cc):
        if signature is None:
            return {types: self.inspect(what, types, _sm(cc)) for types in self.signatures}
        return self.inspect(what, signatures.normalize(signature)[0], _sm(cc))

    def get_regs_per_thread(self, signature=None):
        """Registers of a thread; without a signature a dict over all compiled so far (one number when specialized)."""
        return self._attribute(_REGISTERS, signature)

    def get_const_mem_size(self, signature=None):
        """Bytes of constant memory."""
        return self._attribute(_CONST_BYTES, signature)

    def get_shared_mem_per_block(self, signature=None):
        """Bytes of static shared memory of a block."""
        return self._attribute(_SHARED_BYTES, signature)

    def get_max_threads_per_block(self, signature=None):
        """The largest block that can be launched, in threads."""
        return self._attribute(_MAX_THREADS, signature)

    def get_local_mem_per_thread(self, signature=None):
        """Bytes of local memory of a thread."""
        return self._attribute(_LOCAL_BYTES, signature)

    def _attribute(self, number, signature):
        if signature is not None:
            return self.attribute(signatures.normalize(signature)[0], number)
        if self.specialized:
            return self.attribute(self.signatures[0], number)
        return {types: self.attribute(types, number) for types in self.signatures}

    # --- copies ------------------------------------------------------------------------------------------------------

    def _copy(self):
        return type(self)(self.py_func, device=self.is_device, extensions=self._extensions, signature=self.declared,
                          **self.options)

    def __copy__(self):
        return self._copy()

    def __deepcopy__(self, memo):
        return self._copy()

    def __reduce__(self):
        from cujit.cuda import pickling

        return pickling.reduce_dispatcher(self)


class ExtendedDispatcher(Dispatcher):
    """A kernel whose arguments pass through the option `extensions` first."""

    def __getitem__(self, configuration):
        return ExtendedLauncher(self, super().__getitem__(configuration))


class ExtendedLauncher:
    """A launcher that hands each argument to every extension's prepare_args(type, value, stream=, retr=), last first.

    What the extensions append to `retr` is called after the launch.
    """

    def __init__(self, kernel, launcher):
        self._kernel, self._launcher = kernel, launcher

    def __getattr__(self, name):
        return getattr(self._launcher, name)

    def __reduce__(self):
        return _reduce_launcher(self._launcher)

    def __call__(self, *args):
        retr, stream = [], self._launcher.stream
        self._launcher(*[self._prepare(value, stream, retr) for value in args])
        for call in retr:
            call()

    def _prepare(self, value, stream, retr):
        ty = argument_type(value)
        for extension in reversed(self._kernel.extensions):
            ty, value = extension.prepare_args(ty, value, stream=stream, retr=retr)
        return value


def _reduce_launcher(launcher):
    """Pickles a kernel with its configuration, for copyreg."""
    if launcher.pre_launch_callbacks:
        raise pickle.PicklingError("a configured kernel with pre_launch_callbacks cannot be pickled")
    configuration = launcher.griddim, launcher.blockdim, launcher.stream, launcher.sharedmem, launcher.cluster
    return operator.getitem, (launcher.kernel, configuration)


copyreg.pickle(_core.Launcher, _reduce_launcher)


class ForAll:
    """A kernel to be launched with at least `ntasks` threads; calling it launches."""

    def __init__(self, kernel, ntasks, tpb, stream, sharedmem):
        self.kernel, self.ntasks, self.thread_per_block = kernel, ntasks, tpb
        self.stream, self.sharedmem = stream, sharedmem

    def __call__(self, *args):
        if self.ntasks == 0:
            return
        threads = self.thread_per_block or self._block_size(args)
        blocks = -(-self.ntasks // threads)
        quiet_launcher(self.kernel, blocks, threads, self.stream, self.sharedmem)(*args)

    def _block_size(self, args):
        kernel = self.kernel
        if kernel.specialized:
            types = kernel.signatures[0]
        else:
            types = tuple(argument_type(value) for value in args)
            kernel.compile(types)
        return kernel.occupancy(types, self.sharedmem)[1]


def _block_for(x, y, z):
    """Threads of a block along each axis of a grid of so many threads."""
    most = (256, 1, 1) if y == z == 1 else (32, 8, 1) if z == 1 else (8, 8, 4)
    return tuple(min(1 << max(count - 1, 0).bit_length(), limit) for count, limit in zip((x, y, z), most, strict=True))


def quiet_launcher(kernel, blocks, threads, stream=0, sharedmem=0):
    """kernel[blocks, threads, stream, sharedmem] without a hint that the grid is small: its size is not the user's."""
    launcher = kernel.quiet_launcher((blocks, threads, stream, sharedmem))
    return ExtendedLauncher(kernel, launcher) if kernel._extensions else launcher


def argument_type(value):
    """The type that a kernel sees for an argument; of a type, itself. TypeError where it takes none such."""
    if (stated := signatures.as_type(value)) is not None:
        return stated
    if isinstance(value, (In, Out, InOut)):
        value = value.value
    if not isinstance(value, _core.DeviceArrayBase) and is_cuda_array(value):
        value = as_cuda_array(value, sync=False)
    return _core.type_of(value)


def _sm(cc):
    return None if cc is None else cc[0] * 10 + cc[1]


def converting(function, types, result, name=None):
    """A Python function that converts scalar arguments to `types`, calls `function`, and converts its result.

    result: the type of the result, or None for the one that it has.
    """
    namespace = {"function": Dispatcher(function, device=True)}
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
