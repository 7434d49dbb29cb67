"""Compiling to PTX without launching, for any GPU, with or without one in the machine."""
from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any, overload

from cujit import _core, config
from cujit.cuda._dispatch import options, signature as signatures
from cujit.cuda.decorator import jit
from cujit.cuda.devices import need_device
from cujit.cuda.dispatcher import Dispatcher, converting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from cujit._annotations import ComputeCapability, PythonFunction, SignatureLike
    from cujit._core import Type
    from cujit.cuda._dispatch.options import CodeOptions


@options.takes(options.OF_CODE)
def compile_ptx(pyfunc: PythonFunction, sig: SignatureLike, *, device: bool = False,
                cc: ComputeCapability | None = None, abi: str = "numba", abi_info: dict[str, str] | None = None,
                forceinline: bool = False,
                **given: Unpack[CodeOptions]) -> tuple[str, Type]:
    """PTX of a function for a signature.

    Parameters
    ----------
    pyfunc : function or Dispatcher
        What is compiled.
    sig : str, Signature or tuple of types
        The types of the arguments.
    device : bool
        A function that kernels call, instead of a kernel.
    cc : tuple of 2 int, optional
        The compute capability; config.CUDA_DEFAULT_PTX_CC unless given, which is (7, 5).
    abi : {"numba", "c"}
        "c" is for device functions.
    abi_info : dict, optional
        {"abi_name": str} names a device function in the PTX.
    forceinline : bool
        Must be False: it has a meaning in LTO output only.

    Returns
    -------
    (str, Type)
        PTX, and the type of the result.

    Raises
    ------
    TypeError
        A kernel returns a value.

    Examples
    --------
    >>> ptx, result = cuda.compile_ptx(lambda x: x + 1, "(float32,)", device=True)
    >>> ".target sm_75" in ptx, result
    (True, float64)
    """
    return compile(pyfunc, sig, device=device, cc=cc, abi=abi, abi_info=abi_info, forceinline=forceinline, **given)


def compile_ptx_for_current_device(pyfunc: PythonFunction, sig: SignatureLike, **given: Any) -> tuple[str, Type]:
    """compile_ptx for the compute capability of the current device."""
    return compile_ptx(pyfunc, sig, cc=need_device().compute_capability, **given)


def compile_for_current_device(pyfunc: PythonFunction, sig: SignatureLike, **given: Any) -> tuple[str, Type]:
    """compile for the compute capability of the current device."""
    made: Any = compile(pyfunc, sig, cc=need_device().compute_capability, **given)
    return made


@overload
def compile(pyfunc: PythonFunction | Sequence[PythonFunction], sig: None = None, *, device: bool = True,
            cc: None = None, abi: str = "c", abi_info: dict[str, str] | None = None, output: str = "ptx",
            forceinline: bool = False,
            **given: Unpack[CodeOptions]) -> Dispatcher[..., Any]: ...
@overload
def compile(pyfunc: PythonFunction, sig: SignatureLike, *, device: bool = True, cc: ComputeCapability | None = None,
            abi: str = "c", abi_info: dict[str, str] | None = None, output: str = "ptx", forceinline: bool = False,
            **given: Unpack[CodeOptions]) -> tuple[Any, Type]: ...
@options.takes(options.OF_CODE)
def compile(pyfunc: PythonFunction | Sequence[PythonFunction], sig: SignatureLike | None = None, *, device: bool = True,
            cc: ComputeCapability | None = None, abi: str = "c", abi_info: dict[str, str] | None = None,
            output: str = "ptx", forceinline: bool = False,
            **given: Unpack[CodeOptions]) -> Dispatcher[..., Any] | tuple[Any, Type]:
    """PTX of a function for a signature, or without one the kernel that cuda.jit makes.

    Parameters
    ----------
    pyfunc : function or Dispatcher, or a sequence of them
        What is compiled; of several the first, whose functions find each other by name.
    sig : str, Signature or tuple of types, optional
        The types of the arguments.
    device : bool
        A function that kernels call, instead of a kernel.
    cc : tuple of 2 int, optional
        The compute capability; config.CUDA_DEFAULT_PTX_CC unless given, which is (7, 5).
    abi : {"c", "numba"}
        How a device function takes arguments and gives its result, as for declare_device; by "c" an array is its
        pointer, its extents and, where its layout is "A", its strides.
    abi_info : dict, optional
        {"abi_name": str} names a device function in the PTX.
    output : {"ptx", "llvm", "ltoir", "cubin"}
        What is made: PTX, LLVM IR, LTO-IR, or of a kernel machine code, linked with what it calls.
    forceinline : bool
        With output="ltoir": the linker puts the function's code into its callers.

    Returns
    -------
    (str, Type), or Dispatcher
        The code, of a cubin and LTO-IR bytes, and the type of the result; without a signature the kernel.

    Raises
    ------
    NotImplementedError
        Another `abi` or `output`, abi="c" with a kernel, a cubin of a device function, `check` of a
        kernel.
    LinkerError
        A cubin cannot be linked, or nvJitLink, which does that, is not installed, or for LTO-IR libNVVM.
    ValueError
        forceinline=True without output="ltoir".

    Examples
    --------
    >>> cuda.compile(lambda x: x * x, "(int64,)")[1]
    int64
    """
    options.check("cuda.compile", given, options.OF_CODE)
    if sig is None:
        first: Any = pyfunc if callable(pyfunc) else together(pyfunc)
        return jit(first, **given)
    if abi not in ("c", "numba"):
        raise NotImplementedError(f"abi {abi!r}: there are 'c' and 'numba'")
    if abi == "c" and not device:
        raise NotImplementedError("abi 'c' is for device functions")
    arguments, result = signatures.normalize(sig)
    sm = _sm(cc or config.CUDA_DEFAULT_PTX_CC)
    _check_output(output, device)
    if forceinline and output != "ltoir":
        raise ValueError("forceinline has a meaning in LTO output only")
    function: Any = pyfunc.py_func if isinstance(pyfunc, Dispatcher) else pyfunc
    core = options.given(given)
    if core.get("check") is None:
        core["check"] = False
    if core["check"] and not device:
        raise NotImplementedError("check: code for other launchers has nobody to report to; launch the kernel by cujit")
    if not device:
        return _kernel_code(Dispatcher(function, **core), arguments, sm, output), _core.scalar_types["none"]
    name = (abi_info or {}).get("abi_name")
    if result is not None or name:
        function = converting(function, arguments, result, name)
    made = Dispatcher(function, device=True, **core)
    code = _finished(made.inspect(_STAGES[output], arguments, sm, abi, forceinline), made, output, sm)
    return code, _by_value(made.result_type(arguments))


@options.takes(options.OF_CODE)
def compile_all(pyfunc: PythonFunction, sig: SignatureLike, *, device: bool = True, cc: ComputeCapability | None = None,
                abi: str = "c", abi_info: dict[str, str] | None = None, output: str = "ptx", forceinline: bool = False,
                **given: Unpack[CodeOptions]) -> tuple[list[Any], Type]:
    """The code of a function, and of all that kernels with it are linked with.

    Parameters
    ----------
    pyfunc : function or Dispatcher
        What is compiled.
    sig : str, Signature or tuple of types
        The types of the arguments.
    device, cc, abi, abi_info, output, forceinline
        As for compile(); the output is "ptx", "llvm" or "ltoir".

    Returns
    -------
    (list, Type)
        The code, then the data of each LinkableCode that the function names, CUDA C as PTX, with output="ltoir" as
        LTO-IR; and the type of the result.

    Raises
    ------
    LinkerError
        NVRTC cannot compile CUDA C, or is not installed.

    Examples
    --------
    >>> codes, result = cuda.compile_all(lambda x: x * x, "(int64,)")
    >>> len(codes), result
    (1, int64)
    """
    code, result = compile(pyfunc, sig, device=device, cc=cc, abi=abi, abi_info=abi_info, output=output,
                           forceinline=forceinline, **given)
    made = pyfunc if isinstance(pyfunc, Dispatcher) else Dispatcher(pyfunc, device=device)
    sm = _sm(cc or config.CUDA_DEFAULT_PTX_CC)
    return [code, *(_linked_code(item, sm, output) for item in made.links())], result


# What inspect() calls the outputs.
_STAGES = {"ptx": "asm", "llvm": "llvm", "ltoir": "nvvm"}


def _check_output(output, device):
    if output not in (*_STAGES, "cubin"):
        raise NotImplementedError(f"output {output!r}: there are 'ptx', 'llvm', 'ltoir' and, of kernels, 'cubin'")
    if output == "cubin" and device:
        raise NotImplementedError("output 'cubin' is of kernels, which are linked with all that they call")


def _by_value(result):
    """A record is given by value, though kernels know it by where it is."""
    is_record = result.kind == "array" and result.ndim == 0 and result.dtype.kind == "record"
    return result.dtype if is_record else result


def _kernel_code(kernel, arguments, sm, output):
    if output in _STAGES:
        return _finished(kernel.inspect(_STAGES[output], arguments, sm, any_launch=True), kernel, output, sm)
    from cujit.cuda._link.foreign import PTXSource

    ptx = kernel.inspect("asm", arguments, sm, any_launch=True)
    return _core.link((PTXSource(ptx, kernel.__name__), *kernel.links()), sm)[0]


def _finished(text, function, output, sm):
    """What the text of a stage becomes: LTO-IR where that is wanted."""
    if output != "ltoir":
        return text
    from cujit.cuda._link.lto import ltoir

    return ltoir(text, function.__name__, sm)


def _linked_code(item, sm, output):
    if item.kind != "CU":
        return item.data
    kind = "ltoir" if output == "ltoir" else "ptx"
    return _core.compile_source(item.data.decode(), item.name, sm, kind, relocatable=True)[0]


def together(functions: Sequence[PythonFunction]) -> PythonFunction:
    """The first function, in whose globals, and in those of the others, all of them are found by name."""
    plain = [f.py_func if isinstance(f, Dispatcher) else f for f in functions]
    names, made = {}, []
    for function in plain:
        scope = dict(function.__globals__)
        made.append(types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__,
                                       function.__closure__))
        functools.update_wrapper(made[-1], function)
        made[-1].__kwdefaults__ = function.__kwdefaults__
        names[function.__name__] = made[-1]
    for function in made:
        function.__globals__.update(names)
    return made[0]


def _sm(cc: tuple[int, int]) -> int:
    return cc[0] * 10 + cc[1]
