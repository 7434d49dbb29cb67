"""Code from elsewhere in kernels: what cuda.jit(link=...) takes, and functions that are declared to be in it."""
from __future__ import annotations

import os
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._dispatch import signature as signatures
from cujit.cuda._link import toolkit
from cujit.types import CPointer, is_pointer

if TYPE_CHECKING:
    from collections.abc import Callable

    from cujit._annotations import SignatureLike

    Callback = Callable[["ModuleHandle"], Any]

_NONE = _core.scalar_types["none"]
_ABIS = "numba", "c"
# Kinds of types that C has values of, and that are structs there.
_VALUES = frozenset({"bool", "int", "uint", "float", "complex", "record"})
_STRUCTS = frozenset({"tuple", "named", "vector", "dim3"})


class ModuleHandle(int):
    """The driver's handle of a loaded module, a CUmodule, as a number; 0 on the CPU device."""

    @property
    def value(self) -> int:
        return int(self)


class LinkableCode(_core.LinkItem):
    """Code that is linked beside a kernel.

    Parameters
    ----------
    data : bytes, str, or a file that is open
        The code. A file is read now.
    name : str, optional
        What messages call it.
    setup_callback, teardown_callback : function, optional
        Called with the module's handle when a kernel with this code was loaded, and before it is unloaded. Such kernels
        are not kept on disk.
    nrt : bool
        Must be False: there is no runtime for memory as numba has one.

    Raises
    ------
    NotImplementedError
        nrt=True.
    TypeError
        Neither text nor bytes; a callback that cannot be called.
    """

    KIND = ""
    setup_callback: Callback | None
    teardown_callback: Callback | None

    def __new__(cls, data: Any, name: str | None = None, setup_callback: Callback | None = None,
                teardown_callback: Callback | None = None, nrt: bool = False, *, path: str | None = None) -> Any:
        if nrt:
            raise NotImplementedError("nrt: kernels have no runtime that counts references to memory")
        for callback in (setup_callback, teardown_callback):
            if callback is not None and not callable(callback):
                raise TypeError(f"{callback!r} cannot be called with a module's handle")
        watched = setup_callback is not None or teardown_callback is not None
        toolkit.find()
        made = super().__new__(cls, cls.KIND, _as_bytes(data), name or f"<{cls.__name__}>", path, watched)
        made.setup_callback, made.teardown_callback = setup_callback, teardown_callback
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        more = {"path": self.path} if self.path else {}
        return _make, (type(self), (self.data, self.name, self.setup_callback, self.teardown_callback), more)

    def loaded(self, handle: int) -> None:
        """The extension calls this for each module that has the code."""
        if self.setup_callback is not None:
            self.setup_callback(ModuleHandle(handle))

    def unloaded(self, handle: int) -> None:
        if self.teardown_callback is not None:
            self.teardown_callback(ModuleHandle(handle))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def _make(cls, given, more):
    return cls(*given, **more)


def _as_bytes(data):
    if hasattr(data, "read"):
        data = data.read()
    if isinstance(data, str):
        return data.encode()
    return bytes(memoryview(data))


class PTXSource(LinkableCode):
    pass


class CUSource(LinkableCode):
    pass


class Cubin(LinkableCode):
    pass


class Fatbin(LinkableCode):
    pass


class Object(LinkableCode):
    pass


class Archive(LinkableCode):
    pass


class LTOIR(LinkableCode):
    pass


class CSource(LinkableCode):
    pass


class SharedLibrary(LinkableCode):
    pass


# What each class is, its row says.
_CLASSES = {ending: globals()[name] for ending, (_, name, _, _) in _core.link_kinds.items()}
for _ending, _class in _CLASSES.items():
    _class.KIND, _, _, _class.__doc__ = _core.link_kinds[_ending]


def class_of(ending: str) -> type[LinkableCode]:
    """The class for files with that ending. KeyError for an unknown one."""
    return _CLASSES[ending]


def from_file(path: str | os.PathLike[str]) -> LinkableCode:
    """The code in a file, whose ending says of which kind it is. RuntimeError for an unknown ending."""
    text = os.fspath(path)
    ending = "so" if ".so." in os.path.basename(text) else os.path.splitext(text)[1][1:]
    if ending not in _core.link_kinds:
        known = ", ".join(f".{each}" for each in _core.link_kinds)
        raise RuntimeError(f"{text!r} cannot be linked: it ends with none of {known}")
    cls = class_of(ending)
    with open(text, "rb") as file:
        return cls(file, os.path.basename(text), path=os.path.abspath(text) if cls is SharedLibrary else None)


def linked(link: Any) -> tuple[_core.LinkItem, ...]:
    """What `link` stands for: names of files, LinkableCode, or a sequence of them."""
    items = [link] if isinstance(link, (str, os.PathLike, _core.LinkItem)) else list(link or ())
    return tuple(each if isinstance(each, _core.LinkItem) else from_file(each) for each in items)


# --- functions -------------------------------------------------------------------------------------------------------

class ForeignFunction(_core.ForeignFunction):
    """A function from elsewhere, declared for kernels, which call it by this object. Made by declare_device."""

    @property
    def name(self) -> str:
        return self.symbol

    @property
    def sig(self) -> _core.Signature:
        return self.result(*self.parameters)

    @property
    def link(self) -> tuple[_core.LinkItem, ...]:
        return self.links

    def __reduce__(self) -> tuple[Any, ...]:
        return ForeignFunction, (self.symbol, self.result, self.parameters, self.by_pointer, self.abi, self.links,
                                 self.is_cooperative)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"'{self.symbol}' is a function from elsewhere: kernels call it, Python cannot")

    def __repr__(self) -> str:
        return f"<foreign function {self.symbol}{self.sig}>"


def declare_device(name: str, sig: SignatureLike, link: Any = None, use_cooperative: bool = False,
                   abi: str = "numba") -> ForeignFunction:
    """Declares a function from elsewhere, for kernels to call.

    Parameters
    ----------
    name : str
        Its symbol: of C++ the mangled one, or extern "C".
    sig : str, Signature
        Result and parameters, also as C declares them: "float (float *x, int n)". Pointers take arrays.
    link : sequence, optional
        Where it is: what cuda.jit(link=...) takes. Kernels that call it are linked with that.
    use_cooperative : bool
        It waits for threads of other blocks: kernels that call it are launched cooperatively.
    abi : {"numba", "c"}
        "c": as C has it; an array is passed as the pointer to its data, tuples, records and complex numbers as structs.
        "numba": the result goes through a pointer that is the first argument, and the function returns an int, 0; an
        array is passed as (meminfo, parent, items, itemsize, data, extents, strides), a tuple as its items.

    Returns
    -------
    ForeignFunction

    Raises
    ------
    TypeError
        The signature has no result, or a type that cannot be passed.
    ValueError
        An unknown `abi`.
    RuntimeError
        A file to link whose ending is none of PTX's and the like.

    Examples
    --------
    >>> source = cuda.CUSource('extern "C" __device__ float twice(float x) { return 2 * x; }')
    >>> twice = cuda.declare_device("twice", "float32(float32)", link=source, abi="c")
    >>> @cuda.jit
    ... def kernel(x):
    ...     x[cuda.threadIdx.x] = twice(x[cuda.threadIdx.x])
    """
    if abi not in _ABIS:
        raise ValueError(f"abi {abi!r} is neither 'numba' nor 'c'")
    types, result, pointers = _declared(sig)
    if result is None:
        raise TypeError(f"the signature of {name} has no result: write 'int32(float32)', or 'void(float32)'")
    pointers = [is_pointer(each) or (is_array and (abi == "c" or is_array_pointer))
                for each, is_array, is_array_pointer in zip(types, map(_is_array, types), pointers, strict=True)]
    for each, passed in zip(types, pointers, strict=True):
        if not passed and not _is_array(each) and not _has_value(each):
            raise TypeError(f"{name}: {each} cannot be passed to a function from elsewhere; pass a pointer to it")
    if result != _NONE and not _has_value(result):
        raise TypeError(f"{name}: a function from elsewhere cannot return {result} by abi {abi!r}")
    return ForeignFunction(name, result, tuple(types), tuple(pointers), abi, linked(link), use_cooperative)


def _is_array(type):
    return getattr(type, "ndim", None) is not None


def _has_value(type):
    """Whether C has values of the type: numbers, records, pointers, and what is made of them."""
    if type.kind in _STRUCTS:
        return len(type.types) > 0 and all(item.kind != "record" and _has_value(item) for item in type.types)
    return type.kind in _VALUES or is_pointer(type)


# --- cffi ------------------------------------------------------------------------------------------------------------

def from_buffer(array):
    return array   # which is a pointer where one is declared


# What kernels have of cffi's FFI.
ffi = SimpleNamespace(from_buffer=from_buffer)


# --- pointers in signatures ------------------------------------------------------------------------------------------
def _declared(sig):
    """(parameter types, result type or None, whether each parameter is an array that stands for a pointer)."""
    if isinstance(sig, str):
        head, _, rest = sig.strip().partition("(")
        if rest.endswith(")") and ("CPointer" in rest or re.search(r"\*\s*[,)]", rest)):
            return _with_pointers(head.strip(), rest[:-1])
        declared = signatures.c_declaration(sig.strip())
        if declared is not None:
            return list(declared[0]), declared[1], [_is_array(each) for each in declared[0]]
    types, result = signatures.normalize(sig)
    return list(types), result, [False] * len(types)


def _with_pointers(result, rest):
    types, pointers = [], []
    for text in _split(rest):
        element = re.fullmatch(r"(?:types\.)?CPointer\((.*)\)|(.*)\*", text)
        pointers.append(False)   # arrays are none
        (each,), _ = signatures.normalize(f"void({(element[1] or element[2]) if element else text})")
        types.append(CPointer(each) if element else each)
    returned = signatures.normalize(f"{result}()")[1] if result else None
    return types, returned, pointers


def _split(text):
    """The parts between commas outside of brackets."""
    depth, parts = 0, [""]
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
