"""Pickling kernels, ufuncs and what is made of functions for whole arrays: by name where a module holds the object, so
that another process finds it there; by value, with the globals that the code uses, where it is of `__main__`, of no
module, or of a module that cloudpickle has registered."""
from __future__ import annotations

import builtins
import dis
import importlib
import importlib.util
import marshal
import pickle
import sys
import threading
import types
import weakref

from cujit.cuda._dispatch.arrivals import UNFILLED, first_of

# cloudpickle, and the copies of it that other packages bring, each with a register_pickle_by_value of its own.
_CLOUDPICKLES = ("cloudpickle", "ray.cloudpickle", "joblib.externals.cloudpickle")
# What another process has under these names are other programs: its own, or that of multiprocessing's parent.
_MAINS = ("__main__", "__mp_main__")


def reduce_dispatcher(kernel):
    """What Dispatcher.__reduce__ returns."""
    if has_name(kernel, kernel.__module__, kernel.__qualname__):
        return _by_name, (kernel.__module__, kernel.__qualname__)
    compiled = tuple(kernel.signatures) if kernel.is_frozen else ()
    limits = compiled, kernel.specialized
    about = (kernel.is_device, kernel._extensions, dict(kernel.options), kernel.declared, limits)
    return _rebuild, (type(kernel), by_value(kernel.py_func), about), limits, None, None, _compile


def _rebuild(cls, function, about):
    return first_of(_new_kernel, cls, function, about)


def _new_kernel(cls, function, about):
    device, extensions, options, declared, _ = about
    return cls(function, device=device, extensions=extensions, signature=declared, **options)


def _compile(kernel, limits):
    """A kernel that was limited to certain types is again."""
    if kernel.is_frozen:   # it came before
        return
    compiled, specialized = limits
    for each in compiled:
        kernel.compile(each)
    if compiled:
        kernel.freeze()
        kernel.specialized = specialized


def reduce_ufunc(ufunc, function, signatures, *more, keywords=()):
    """What __reduce__ of UFunc and GUFunc returns. function: a Dispatcher of theirs; signatures: (types, result) pairs;
    more: what their class takes between signatures and options; keywords: what it takes besides."""
    if has_name(ufunc, ufunc.__module__, ufunc.__qualname__):
        return _by_name, (ufunc.__module__, ufunc.__qualname__)
    about = (tuple(signatures), more, dict(function.options), dict(keywords), ufunc.max_blocksize)
    return _rebuild_ufunc, (type(ufunc), by_value(function.py_func), about)


def _rebuild_ufunc(cls, function, about):
    return first_of(_new_ufunc, cls, function, about)


def _new_ufunc(cls, function, about):
    signatures, more, options, keywords, threads = about
    made = cls(function, [result(*types) for types, result in signatures], *more, options, **keywords)
    made.max_blocksize = threads
    return made


def reduce_made(made, *arguments):
    """What __reduce__ of an object returns that type(made)(*arguments) makes; functions among them are Dispatchers."""
    module, name = getattr(made, "__module__", None), getattr(made, "__qualname__", "")
    if name and has_name(made, module, name):
        return _by_name, (module, name)
    return first_of, (type(made), *map(_encoded, arguments))


# --- names -----------------------------------------------------------------------------------------------------------

def has_name(value, module, qualname):
    """Whether another process finds the object by importing the module."""
    if not module or _goes_by_value(module):
        return False
    found = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found is value


def _goes_by_value(module):
    if module in _MAINS:
        return True
    registered = set()
    for name in _CLOUDPICKLES:
        registry = getattr(sys.modules.get(name), "list_registry_pickle_by_value", None)
        registered |= registry() if registry else set()
    parts = module.split(".")
    return any(".".join(parts[:count + 1]) in registered for count in range(len(parts)))


def _by_name(module, qualname):
    """The object that a module holds under this name. UnpicklingError where there is none such."""
    about = f"'{qualname}' was pickled by its name in the module '{module}'"
    hint = "cloudpickle.register_pickle_by_value(module) has the code pickled instead"
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise pickle.UnpicklingError(f"{about}, which cannot be imported here ({error}); {hint}") from error
    for name in qualname.split("."):
        found = getattr(found, name, None)
    if found is None:
        raise pickle.UnpicklingError(f"{about}, which has no such name here ({_place(module)}); {hint}")
    return found


def _place(module):
    return getattr(sys.modules[module], "__file__", None) or "a module without a file"


# --- functions by value ----------------------------------------------------------------------------------------------
# pickle itself writes functions and modules by name only. Each stands in a pickle as an object of one of these classes,
# which comes back as the function or module.

class _Module:
    def __init__(self, name):
        self._name = name

    def __reduce__(self):
        return importlib.import_module, (self._name,)


class _Function:
    """One for each function while it is being pickled: what refers to itself is written once."""

    def __init__(self, function):
        self._function = function

    def __reduce__(self):
        function = self._function
        about = {name: getattr(function, name) for name in ("__name__", "__qualname__", "__module__", "__doc__")}
        code = marshal.dumps(function.__code__)
        made = (importlib.util.MAGIC_NUMBER, code, about, len(function.__closure__ or ()))
        return _empty_function, made, _contents(function), None, None, _fill


# id of a function -> the _Function that keeps it alive
_functions: weakref.WeakValueDictionary[int, _Function] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def by_value(function):
    """What stands for a Python function in a pickle."""
    with _lock:
        found = _functions.get(id(function))
        if found is None:
            found = _functions[id(function)] = _Function(function)
        return found


def _encoded(value):
    """What stands for a value that a kernel's code refers to."""
    if isinstance(value, types.ModuleType) and not _goes_by_value(value.__name__):
        return _Module(value.__name__)
    if isinstance(value, types.FunctionType) and not has_name(value, value.__module__, value.__qualname__):
        return by_value(value)
    return value


def _contents(function):
    used = set()
    _collect_globals(function.__code__, used)
    namespace = {name: _encoded(function.__globals__[name]) for name in sorted(used) if name in function.__globals__}
    cells = [_encoded_cell(cell) for cell in function.__closure__ or ()]
    defaults = function.__defaults__ and tuple(map(_encoded, function.__defaults__))
    keyword_defaults = function.__kwdefaults__ and {k: _encoded(v) for k, v in function.__kwdefaults__.items()}
    return namespace, cells, defaults, keyword_defaults


def _encoded_cell(cell):
    """A list of the cell's value; empty for a variable without one."""
    try:
        return [_encoded(cell.cell_contents)]
    except ValueError:
        return []


def _collect_globals(code, names):
    names.update(i.argval for i in dis.get_instructions(code) if "GLOBAL" in i.opname or i.opname == "LOAD_NAME")
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _collect_globals(constant, names)


def _empty_function(magic, code, about, cell_count):
    """The function without its globals, which may refer to it. UnpicklingError for another Python's code."""
    if magic != importlib.util.MAGIC_NUMBER:
        raise pickle.UnpicklingError(f"'{about['__qualname__']}' was pickled by another version of Python than "
                                     f"{sys.version_info.major}.{sys.version_info.minor}: its code cannot be read")
    namespace = {"__builtins__": builtins, "__name__": about["__module__"], UNFILLED: True}
    cells = tuple(types.CellType() for _ in range(cell_count))
    function = types.FunctionType(marshal.loads(code), namespace, about["__name__"], None, cells)
    for name, value in about.items():
        setattr(function, name, value)
    return function


def _fill(function, contents):
    namespace, cells, function.__defaults__, function.__kwdefaults__ = contents
    function.__globals__.update(namespace)
    function.__globals__.pop(UNFILLED, None)
    for cell, value in zip(function.__closure__ or (), cells, strict=True):
        if value:
            cell.cell_contents = value[0]
