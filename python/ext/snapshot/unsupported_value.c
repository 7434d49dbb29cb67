/* What no kernel can use, in words: what it is, and what a kernel has in its place. */
#include "ext/snapshot/snapshot_builder.h"

/* Whether `name` is one of the words of `names`. */
static bool is_among(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static const char array_makers[] = "arange array asarray ascontiguousarray concatenate copy empty empty_like eye full "
                                   "full_like hstack identity linspace "
                                   "ones ones_like repeat sort stack tile vstack zeros zeros_like";

/* The attribute as text in the arena; "" where there is none. */
static const char *attribute_text(Arena *arena, PyObject *object, const char *attribute)
{
    PyObject *value = ext_hold(PyObject_GetAttrString(object, attribute));
    const char *text = value && PyUnicode_Check(value) ? ext_arena_text(arena, value) : NULL;
    ext_forgive();
    return text ? text : "";
}

static bool is_of(const char *module, const char *package)
{
    size_t length = strlen(package);
    return strncmp(module, package, length) == 0 && (!module[length] || module[length] == '.');
}

/* A function of the modules random and numpy.random: mostly methods of a generator of theirs. */
static bool is_random(Arena *arena, PyObject *value)
{
    PyObject *owner = ext_hold(PyObject_GetAttrString(value, "__self__"));
    ext_forgive();
    const char *module =
        attribute_text(arena, owner && !PyModule_Check(owner) ? (PyObject *)Py_TYPE(owner) : value, "__module__");
    return is_of(module, "random") || is_of(module, "_random") || is_of(module, "numpy.random");
}

const Constant *ext_unsupported_value(SnapshotBuilder *builder, PyObject *value, const char *shown)
{
    Arena *arena = builder->arena;
    const char *what = arena_format(arena, "object of class '%s'", Py_TYPE(value)->tp_name), *hint = "";
    bool is_callable = PyCallable_Check(value);
    bool is_numpys = is_callable && is_of(attribute_text(arena, value, "__module__"), "numpy");
    if (is_callable && is_random(arena, value)) {
        what = "random number generator of the host";
        hint = "; kernels have those of cuda.random, such as xoroshiro128p_uniform_float32";
    } else if (is_numpys && is_among(array_makers, attribute_text(arena, value, "__name__"))) {
        what = "function of NumPy that makes arrays";
        hint = "; cuda.local.array(shape, dtype) makes one for a thread, cuda.shared.array for a block";
    } else if (is_numpys) {
        what = "function of NumPy that kernels do not have";
        hint = "; write what it does as a loop, or call it before the launch";
    } else if (PyCFunction_Check(value)) {
        what = "function that is not written in Python";
    } else if (PyList_Check(value) || PyAnySet_Check(value)) {
        hint = "; a tuple can be, or an array of NumPy's";
    }
    Constant *constant = (Constant *)ext_unsupported(builder, what, shown);
    const char **names = ARENA_ARRAY(arena, const char *, 1);
    names[0] = hint;
    constant->names = names;
    return PyErr_Occurred() ? NULL : constant;
}
