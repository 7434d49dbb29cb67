"""numba's names of its extension interface that have another form here, or none: what to write instead."""

_LOWERING = "implementations are Python functions: cujit.extending.overload, or asm for PTX"
_STRUCT = "cujit.extending.as_type(cls, fields) is typeof_impl, register_model and make_attribute_wrapper in one"
_TYPING = "cujit.extending.overload gives a function its types and its implementation in one"
_BOXING = "kernels take values by the fields that cujit.extending.as_type declares, and return nothing"
_CACHE = "the disk cache keeps what kernels call by its content"

COUNTERPARTS = {
    **dict.fromkeys(("intrinsic", "lower_builtin", "lower_cast", "lower_getattr", "lower_getattr_generic",
                     "lower_setattr", "lower_setattr_generic", "lower_constant", "lower_attr", "lower", "builtin_cast"),
                    _LOWERING),
    **dict.fromkeys(("register_model", "models", "core_models", "make_attribute_wrapper", "StructModel",
                     "cgutils"), _STRUCT),
    **dict.fromkeys(("type_callable", "infer", "infer_global", "infer_getattr", "register_global", "register",
                     "register_attr", "AttributeTemplate", "CallableTemplate", "ConcreteTemplate",
                     "signature"), _TYPING),
    **dict.fromkeys(("box", "unbox", "reflect", "NativeValue"), _BOXING),
    **dict.fromkeys(("make_artificial_module", "SentryLiteralArgs", "is_jitted"), _CACHE),
    "as_numba_type": "as_type declares a class; typeof gives the type of a value",
}


def counterpart(name):
    """What `cujit.extending.name` is for programs written for numba: an object that can be imported and, when it is
    used, raises NotImplementedError with what to write instead. AttributeError for what numba has not."""
    if name not in COUNTERPARTS:
        raise AttributeError(f"module 'cujit.extending' has no attribute '{name}'")
    return Absent(name, COUNTERPARTS[name])


class Absent:
    """A name of numba's that can be imported, for code that also runs on numba; using it is an error."""

    def __init__(self, name, reason):
        self._name, self._reason = name, reason

    def _refuse(self):
        raise NotImplementedError(f"numba's {self._name}: {self._reason}; docs/extending.md")

    def __call__(self, *args, **kwargs):
        self._refuse()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __repr__(self):
        return f"<numba's {self._name}, which has another form here>"
