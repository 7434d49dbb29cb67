"""cuda.jit: its options, and the compilations that signatures ask for."""
from __future__ import annotations

import os
import types as python_types
import warnings
from typing import TYPE_CHECKING, Any, overload

from cujit import _core, config
from cujit.cuda._dispatch import options, signature as signatures
from cujit.cuda.dispatcher import Dispatcher, ExtendedDispatcher
from cujit.errors import DeprecationError, OptionsWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import ParamSpec, TypeVar, Unpack

    from cujit._annotations import Signatures
    from cujit.cuda._dispatch.options import Options

    _P = ParamSpec("_P")
    _R = TypeVar("_R")

# Options that numba.cuda.jit takes and has no use for.
_NUMBAS_OWN = {"nopython", "forceobj", "looplift", "nogil", "parallel", "target", "error_model"}

_NONE = _core.scalar_types["none"]


@overload
def jit(func_or_sig: Callable[_P, _R], device: bool = False, inline: str | bool | Callable[..., Any] | None = "never",
        *, link: Sequence[Any] = (), lto: bool | None = None, extensions: Sequence[Any] = (),
        sig: Signatures | None = None, **given: Unpack[Options]) -> Dispatcher[_P, _R]: ...
@overload
def jit(func_or_sig: Signatures | None = None, device: bool = False,
        inline: str | bool | Callable[..., Any] | None = "never", *, link: Sequence[Any] = (), lto: bool | None = None,
        extensions: Sequence[Any] = (), sig: Signatures | None = None,
        **given: Unpack[Options]) -> Callable[[Callable[_P, _R]], Dispatcher[_P, _R]]: ...
@options.takes(options.TABLE)
def jit(func_or_sig: Any = None, device: bool = False, inline: str | bool | Callable[..., Any] | None = "never", *,
        link: Sequence[Any] = (), lto: bool | None = None, extensions: Sequence[Any] = (),
        sig: Signatures | None = None, **given: Any) -> Any:
    """Makes a kernel of a Python function, or with device=True a function for kernels.

    Used bare, with options, or with signatures, which compile at once and for these types only.

    Parameters
    ----------
    func_or_sig : function, or signatures, optional
        A signature is text, also C's ("void (float a, float* x, int n)"), types called with types, or a tuple of
        types; several are a list.
    device : bool
        A function that kernels call, instead of a kernel.
    inline : {"never", "always"}, bool or function
        "always" is forceinline=True.
    link : sequence
        Code from elsewhere that is linked beside the kernel: names of files, PTXSource and the like.
    lto : bool, optional
        Has no effect: functions of a kernel are compiled together anyway.
    extensions : sequence of objects
        Their prepare_args(type, value, stream=, retr=) make arguments of types of their own ready for a launch.
    sig : signatures, optional
        `func_or_sig` by name, also beside the function.

    Returns
    -------
    Dispatcher
        Or a decorator that makes one, where no function is given.

    Raises
    ------
    NotImplementedError
        boundscheck=True.
    DeprecationError
        argtypes, restype or bind, which numba.cuda had once.
    TypeError
        An unknown option (a warning where device=True), what is no function, or a kernel's signature with a result.
    RuntimeError
        A file to link whose ending is none of PTX's and the like.
    ValueError
        An unknown carveout, word of `fastmath`, of `literals` or of `inline`; a number out of range.

    Examples
    --------
    >>> @cuda.jit
    ... def double(x):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         x[i] *= 2
    >>> x = np.arange(4.0)
    >>> double[1, 32](x)
    >>> x
    array([0., 2., 4., 6.])

    >>> @cuda.jit("float32(float32)", device=True)
    ... def half(value):
    ...     return value / 2
    >>> @cuda.jit("void(float32[::1])", fastmath=True)
    ... def halve(x):
    ...     x[cuda.threadIdx.x] = half(x[cuda.threadIdx.x])
    >>> halve.signatures
    [(array(float32, 1d, C),)]
    """
    _refuse(given, inline, device)
    core = options.given(_implied(given, inline))
    if link:
        from cujit.cuda._link.foreign import linked  # only programs that link pay for it

        core["link"] = linked(link)
    if core.get("debug") and core.get("opt"):
        warnings.warn("debug=True with opt=True: optimized code is hard to debug", OptionsWarning, stacklevel=2)
    if core.get("debug") and core.get("lineinfo"):
        warnings.warn("debug=True and lineinfo=True exclude each other; lineinfo has no effect", OptionsWarning,
                      stacklevel=2)

    if func_or_sig is None:
        return lambda function: _make(function, sig, device, extensions, core)
    if signatures.is_signature(func_or_sig):
        return lambda function: _make(function, func_or_sig, device, extensions, core)
    return _make(func_or_sig, sig, device, extensions, core)


def _refuse(given, inline, device):
    if given.pop("boundscheck", None):
        raise NotImplementedError("boundscheck: cujit's option is check='bounds'")
    ignored = sorted(_NUMBAS_OWN & given.keys())
    if ignored:
        warnings.warn(f"cuda.jit: {', '.join(ignored)}: for numba's compiler for CPUs; without effect here",
                      OptionsWarning, stacklevel=3)
        for name in ignored:
            given.pop(name)
    for name in ("argtypes", "restype", "bind"):
        if name in given:
            raise DeprecationError(f"{name}: give a signature as the first argument of cuda.jit instead")
    if device:
        _drop_unknown(given)
    options.check("cuda.jit", given, options.TABLE)
    if inline not in ("never", "always", True, False, None) and not callable(inline):
        raise ValueError(f"inline is 'never', 'always' or a function, not {inline!r}")


def _drop_unknown(given):
    """numba.cuda looks at a device function's options by name, so that programs have misspelled ones there; a kernel's
    are refused by it, too."""
    for name in options.unknown(dict(given), options.TABLE):
        warnings.warn(f"ignored for a device function: cuda.jit has no option {name}", OptionsWarning, stacklevel=4)
    for name in given.keys() - options.TABLE.keys():
        given.pop(name)


def _implied(given, inline):
    """With the options that others, or the environment, imply."""
    implied = dict(given)
    if given.get("debug") is None and config.CUDA_DEBUGINFO_DEFAULT:
        implied["debug"] = True
    if implied.get("debug"):
        implied["exceptions"] = True
    if inline in ("always", True):
        implied["forceinline"] = True
    if given.get("warn_float64") is None:
        implied["warn_float64"] = os.environ.get("CUJIT_WARN_FLOAT64", "0") == "1"
    return implied


def _make(function, signature, device, extensions, given):
    if not isinstance(function, python_types.FunctionType):
        function = getattr(function, "py_func", function)   # a kernel, or numba's @njit function
    if not isinstance(function, python_types.FunctionType):
        raise TypeError(f"cuda.jit decorates Python functions, not {type(function).__name__}")
    cls = ExtendedDispatcher if extensions else Dispatcher
    listed = [signatures.normalize(each) for each in (signature if isinstance(signature, list) else [signature])
              if each is not None]
    declared = listed[0] if device and len(listed) == 1 else None
    made = cls(function, device=device, extensions=extensions, signature=declared, **given)
    _compile_now(made, listed)
    if listed and not device:
        made.freeze()
        made.specialized = not isinstance(signature, list)
    return made


def _compile_now(kernel, listed):
    code = kernel.py_func.__code__
    if kernel.is_device and kernel.__name__ in (*code.co_names, *code.co_freevars):
        return  # it calls itself, by a name that is bound only after this
    for types, result in listed:
        if not kernel.is_device and result not in (None, _NONE):
            raise TypeError(f"a kernel cannot return a value: the signature of '{kernel.__name__}' says {result}")
        kernel.compile(types)
