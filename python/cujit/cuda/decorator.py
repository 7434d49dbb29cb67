"""cuda.jit: its options, and the compilations that signatures ask for."""
import os
import types as python_types
import warnings

from cujit import _core
from cujit.cuda import signature as signatures
from cujit.cuda.dispatcher import Dispatcher, ExtendedDispatcher
from cujit.errors import CujitWarning, DeprecationError

_DEFAULTS = {"fastmath": False, "fmad": True, "debug": False, "exceptions": False, "lineinfo": False,
             "opt": True, "max_registers": None, "launch_bounds": None, "forceinline": False, "literals": "numba",
             "warn_float64": False, "cache": False, "shared_memory_carveout": None}

_NONE = _core.scalar_types["none"]


def jit(func_or_sig=None, device=False, inline="never", forceinline=False, link=(), debug=None, opt=None,
        lineinfo=False, cache=False, launch_bounds=None, lto=None, shared_memory_carveout=None, fastmath=False,
        max_registers=None, extensions=(), fmad=True, literals="numba", warn_float64=None, exceptions=False,
        sig=None, **options):
    """Makes a kernel of a Python function, or with device=True a function for kernels.

    Bare, with options, or with a signature (text, types called with types, a tuple of types) or a list of them, which
    compiles at once and for these types only. Text may be C's: "void (float a, float* x, int n)". sig: the signature
    by name, also beside the function.

    debug: what threads raise (`raise`, `assert`, a division by zero, a tuple's index out of range) is raised by the
    launch, which waits for the kernel. exceptions: the same, but nothing waits: the next synchronization, copy to the
    host or launch on the stream raises it. fastmath: less exact and faster floating point, in the functions that a
    kernel calls, too: True for what CUDA's -use_fast_math does, or a set of LLVM's words "nnan", "ninf", "nsz", "arcp",
    "contract", "afn", "reassoc", "fast" for all of them. fmad: a * b + c may be rounded once; False: sums, products,
    quotients and square roots are NumPy's to the bit. opt: False, True, or a level from 0 to 3. max_registers: of a
    thread. launch_bounds: (threads of the largest block[, blocks of a multiprocessor]). lineinfo: line numbers for
    profilers. cache: stats counts what came from disk, where compiled code is kept anyway. extensions: objects with
    prepare_args, for arguments of types of their own. literals: "weak": Python's numbers in kernels take the precision
    of the float16 or float32 beside them, as in NumPy; "numba": they are float64 and int64. warn_float64: a
    PerformanceWarning for each line where narrower floats become float64 (None: where the environment has
    CUJIT_WARN_FLOAT64=1). shared_memory_carveout: a hint how many percent of a multiprocessor's L1 cache to use as
    shared memory: 0 to 100, "MaxL1", "MaxShared", or -1 or "default" for the driver's choice; none on the CPU device.

    NotImplementedError for boundscheck=True and for link; DeprecationError for argtypes, restype and bind; TypeError
    for unknown options and for a kernel's signature that has a result;
    ValueError for an unknown carveout, word of fastmath, of `literals` or of `inline`, and for numbers out of range.
    """
    _refuse(options, link, inline)
    if warn_float64 is None:
        warn_float64 = os.environ.get("CUJIT_WARN_FLOAT64", "0") == "1"
    core = {
        "fastmath": fastmath, "fmad": bool(fmad), "debug": bool(debug), "lineinfo": bool(lineinfo),
        "opt": True if opt is None else opt, "max_registers": max_registers, "launch_bounds": launch_bounds,
        "exceptions": bool(exceptions or debug),
        "forceinline": bool(forceinline) or inline in ("always", True), "literals": literals,
        "warn_float64": bool(warn_float64), "cache": bool(cache),
        "shared_memory_carveout": _carveout_percent(shared_memory_carveout),
    }
    if debug and opt:
        warnings.warn("debug=True with opt=True: optimized code is hard to debug", CujitWarning, stacklevel=2)
    if debug and lineinfo:
        warnings.warn("debug=True and lineinfo=True exclude each other; lineinfo has no effect", CujitWarning,
                      stacklevel=2)

    if func_or_sig is None:
        return lambda function: _make(function, sig, device, extensions, core)
    if signatures.is_signature(func_or_sig):
        return lambda function: _make(function, func_or_sig, device, extensions, core)
    return _make(func_or_sig, sig, device, extensions, core)


def _refuse(options, link, inline):
    if link:
        raise NotImplementedError("link: foreign code cannot be linked into a kernel")
    if options.pop("boundscheck", None):
        raise NotImplementedError("boundscheck: kernels do not check bounds")
    for name in ("argtypes", "restype", "bind"):
        if name in options:
            raise DeprecationError(f"{name}: give a signature as the first argument of cuda.jit instead")
    if options:
        raise TypeError(f"cuda.jit has no option '{next(iter(options))}'")
    if inline not in ("never", "always", True, False, None) and not callable(inline):
        raise ValueError(f"inline is 'never', 'always' or a function, not {inline!r}")


_CARVEOUTS = {"maxl1": 0, "maxshared": 100, "default": None}


def _carveout_percent(carveout):
    """Of the L1 cache for shared memory; None for the driver's own choice."""
    if isinstance(carveout, str) and carveout.lower() in _CARVEOUTS:
        return _CARVEOUTS[carveout.lower()]
    if carveout is not None and not isinstance(carveout, (int, str)):
        raise TypeError(f"shared_memory_carveout is text or a number of percent, not {type(carveout).__name__}")
    if isinstance(carveout, str) or (carveout is not None and not -1 <= carveout <= 100):
        raise ValueError(f"shared_memory_carveout {carveout!r}: expected 'MaxL1', 'MaxShared', 'default' or -1 to 100")
    return None if carveout in (None, -1) else int(carveout)


def _make(function, signature, device, extensions, options):
    function = function.py_func if isinstance(function, Dispatcher) else function
    if not isinstance(function, python_types.FunctionType):
        raise TypeError(f"cuda.jit decorates Python functions, not {type(function).__name__}")
    given = {name: value for name, value in options.items()
             if value != _DEFAULTS.get(name) or type(value) is not type(_DEFAULTS.get(name))}   # opt=1 is not True
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
