"""The objects that cuda.jit makes: functions compiled once for each list of argument types."""
from __future__ import annotations

import functools
import types as python_types
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from cujit import _core
from cujit.cuda._dispatch import signature as signatures
from cujit.cuda._dispatch.inspection import Inspection, Overload
from cujit.cuda._dispatch.launchers import ExtendedLauncher, ForAll, argument_type, block_for, quiet_launcher
from cujit.errors import LaunchConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cujit._annotations import ArgumentTypes, PythonFunction, Shape, SignatureLike, StreamLike
    from cujit._core import Launcher, Type
    from cujit.cuda._dispatch.profile import Profiler

_NONE = _core.scalar_types["none"]
_P = ParamSpec("_P")
_R = TypeVar("_R")


class Dispatcher(Inspection, Generic[_P, _R]):
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
        self._profilers: dict[str, Profiler] = {}   # by what they observe
        self._specializations: dict[ArgumentTypes, Dispatcher[_P, _R]] = {}
        self._configured: dict[Any, Dispatcher[_P, _R]] = {}
        self._captures: list[dict[str, Any]] = []

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

    @property
    def profile(self) -> Profiler:
        """Launches on the CPU device that count what threads and warps do, line by line.

        kernel.profile[grid, block, stream, sharedmem, cluster](*args) gives a Profile, whose text is the annotated
        source.

        Returns
        -------
        Profiler
            The same each time.

        Examples
        --------
        >>> counted = kernel.profile[2, 32](np.zeros(40))
        >>> counted.total().branches, counted.total().divergent
        (2, 1)
        """
        made = self._profilers.get("accesses")
        if made is None:
            from cujit.cuda._dispatch.profile import Profiler
            made = self._profilers.setdefault("accesses", Profiler(self))   # of several threads, the first's
        return made

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
        special = self._specializations.get(types)
        if special is None:   # of threads that are here at the same time, all get the first one's
            special = self._specializations.setdefault(types, self._specialized_copy(types))
        return special

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
    def _device(self) -> bool:
        """is_device, by the name that functions of numba's simulator have it."""
        return self.is_device

    # --- code for one configuration ----------------------------------------------------------------------------------

    def mark_launch_config_sensitive(self) -> None:
        """Says, while code is compiled for a launch, that it depends on the launch's configuration.

        Launches with another grid, block, cluster or dynamic shared memory compile code of their own. Overloads of
        cujit.extending call it, by `launchconfig.current_launch_config().dispatcher`.

        Raises
        ------
        RuntimeError
            Nothing is compiled for a launch of this kernel in this thread.

        Examples
        --------
        >>> kernel.mark_launch_config_sensitive()
        Traceback (most recent call last):
        RuntimeError: no code is compiled for a launch in this thread
        """
        from cujit.cuda import launchconfig

        launch = launchconfig.ensure_current_launch_config()
        if launch.dispatcher is not self:
            raise RuntimeError(f"code is compiled for a launch of {launch.dispatcher!r}, not of this kernel")
        self.bind(launch.launcher)

    def _compiled_for_launch(self) -> None:
        """Called by launches that have compiled code."""
        from cujit.cuda import launchconfig

        for record in list(self._captures):
            record["config"] = launchconfig.current_launch_config()

    def _capture(self, record: dict[str, Any], begins: bool) -> None:
        """Begins or ends to put the configurations of launches that compile into a record."""
        kept = [each for each in self._captures if each is not record]
        self._captures[:] = [*kept, record] if begins else kept
        for kernel in (self, *self._configured.values()):
            kernel.watch(bool(self._captures))

    def _for_configuration(self, launcher: _core.Launcher) -> _core.Launcher:
        """Called by launches whose configuration the code is not for."""
        key = launcher.griddim, launcher.blockdim, launcher.sharedmem, launcher.cluster
        own = self._configured.get(key)
        if own is None:
            own = self._configured.setdefault(key, self._copy())
            own._captures = self._captures
            own.watch(bool(self._captures))
        stated = launcher.griddim, launcher.blockdim, launcher.stream, launcher.sharedmem
        return own.quiet_launcher(stated if launcher.cluster is None else (*stated, launcher.cluster))

    # --- copies ------------------------------------------------------------------------------------------------------

    def _copy(self, **changes: Any) -> Dispatcher[_P, _R]:
        return type(self)(self.py_func, device=self.is_device, extensions=self._extensions, signature=self.declared,
                          **{**self.options, **changes})

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


CUDADispatcher = Dispatcher   # numba's name, which programs use with isinstance()


def converting(function: PythonFunction, types: ArgumentTypes, result: Type | None,
               name: str | None = None) -> PythonFunction:
    """A Python function that converts arguments to `types`, calls `function`, and converts its result: numbers, and
    those in tuples. All else keeps the type that it has.

    result: the type of the result, or None for the one that it has.
    """
    namespace: dict[str, Any] = {"function": Dispatcher(function, device=True)}
    arguments = [f"a{k}" for k in range(len(types))]
    lines, passed = [], []
    for argument, a_type in zip(arguments, types, strict=True):
        taken, converted = _conversion(a_type, argument, namespace)
        passed.append(converted)
        if taken != argument:
            lines.append(f"{taken} = {argument}")
    call = f"function({', '.join(passed)})"
    if result in (None, _NONE):
        lines.append(f"return {call}")
    else:
        taken, converted = _conversion(result, "result", namespace)
        lines += [f"{taken} = {call}", f"return {converted}"]
    from cujit.cuda._dispatch.generated_source import code_at_the_place_of

    name = name or function.__name__
    label = name if name.isidentifier() else "compiled"
    body = "".join(f"    {line}\n" for line in lines)
    exec(code_at_the_place_of(function, f"def {label}({', '.join(arguments)}):\n{body}"), namespace)
    return namespace[label]


def _conversion(a_type: Any, name: str, namespace: dict[str, Any]) -> tuple[str, str]:
    """(what a value is assigned to, what is then it converted to `a_type`), as source; types go into `namespace`."""
    if a_type in _core.scalar_types.values():
        namespace[f"type_{name}"] = a_type
        return name, f"type_{name}({name})"
    if a_type.kind != "tuple":
        return name, name
    parts = [_conversion(item, f"{name}_{k}", namespace) for k, item in enumerate(a_type.types)]
    taken, converted = ("".join(f"{part[side]}, " for part in parts) for side in (0, 1))
    return f"({taken})", f"({converted})"
