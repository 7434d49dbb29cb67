"""Pickling kernels: by name where a module holds the kernel, else by value with the globals that the code uses."""
import builtins
import importlib
import marshal
import sys
import types

from cujit import _core


def reduce_dispatcher(kernel):
    """What Dispatcher.__reduce__ returns."""
    if _lookup(kernel.__module__, kernel.__qualname__) is kernel:
        return _lookup, (kernel.__module__, kernel.__qualname__)
    frozen = [tuple(map(_encode, types)) for types in kernel.signatures] if kernel.specialized else []
    types, result = kernel.declared or ((), None)
    declared = kernel.declared and (tuple(map(_encode, types)), _encode(result))
    state = (kernel.is_device, kernel._extensions, dict(kernel.options), declared, frozen)
    return _rebuild, (type(kernel), _encode_function(kernel.py_func), state)


def _rebuild(cls, function, state):
    device, extensions, options, declared, frozen = state
    signature = declared and (tuple(map(_decode, declared[0])), _decode(declared[1]))
    kernel = cls(_decode(function), device=device, extensions=extensions, signature=signature, **options)
    for encoded in frozen:
        kernel.compile(tuple(map(_decode, encoded)))
        kernel.freeze()
        kernel.specialized = True
    return kernel


def reduce_ufunc(ufunc, function, signatures, *more):
    """What __reduce__ of UFunc and GUFunc returns. function: a Dispatcher of theirs; signatures: (types, result) pairs;
    more: what their class takes between signatures and options."""
    if _lookup(ufunc.__module__, ufunc.__name__) is ufunc:
        return _lookup, (ufunc.__module__, ufunc.__name__)
    encoded = [(tuple(map(_encode, types)), _encode(result)) for types, result in signatures]
    return _rebuild_ufunc, (type(ufunc), _encode_function(function.py_func), encoded, more, dict(function.options))


def _rebuild_ufunc(cls, function, encoded, more, options):
    signatures = [_decode(result)(*map(_decode, types)) for types, result in encoded]
    return cls(_decode(function), signatures, *more, options)


def _lookup(module, qualname):
    """The object that a module holds under this name, or None."""
    found = sys.modules.get(module)
    if found is None:
        try:
            found = importlib.import_module(module)
        except ImportError:
            return None
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


# A value is encoded as a pair (kind, what): pickle cannot write modules, intrinsics, types and plain functions itself.

def _encode(value):
    if isinstance(value, types.ModuleType):
        return "module", value.__name__
    if isinstance(value, _core.Intrinsic):
        return "intrinsic", value.path
    if isinstance(value, _core.Type):
        return "type", value.key
    if isinstance(value, types.FunctionType) and _lookup(value.__module__, value.__qualname__) is not value:
        return _encode_function(value)
    return "value", value


def _encode_function(function):
    names = set()
    _collect_names(function.__code__, names)
    cells = [_encode(cell.cell_contents) for cell in function.__closure__ or ()]
    used = {name: _encode(function.__globals__[name]) for name in sorted(names) if name in function.__globals__}
    about = {name: getattr(function, name)
             for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__")}
    return "function", (marshal.dumps(function.__code__), used, cells, about)


def _collect_names(code, names):
    names.update(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _collect_names(constant, names)


def _decode(encoded):
    kind, what = encoded
    if kind == "module":
        return importlib.import_module(what)
    if kind == "intrinsic":
        return _core.intrinsics[what]
    if kind == "type":
        return _core.type_from_key(what)
    if kind == "function":
        return _decode_function(*what)
    return what


def _decode_function(code, used, cells, about):
    namespace = {name: _decode(value) for name, value in used.items()}
    namespace["__builtins__"] = builtins
    namespace["__name__"] = about["__module__"]
    closure = tuple(types.CellType(_decode(cell)) for cell in cells)
    function = types.FunctionType(marshal.loads(code), namespace, about["__name__"], None, closure)
    for name, value in about.items():
        setattr(function, name, value)
    return function
