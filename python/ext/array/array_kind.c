/* The types of other libraries' arrays: DLPack's C exchange table, which a launch asks without an attribute of the array, and
 * CuPy's arrays, which have no such table. What was found is kept for a few types for ever: a type that has a table is a
 * library's own. */
#include "ext/array/array_kind.h"

#include "ext/guard.h"

enum { MOST_KINDS = 64, MOST_PLAIN_KINDS = 32 };

static const char kind_name[] = "cujit array kind";
static const ExtArrayKind plain_kind;

static const ExtArrayKind *offered(const ExtArrayKind *kind)
{
    return kind->exchange || kind->cupy_stream ? kind : NULL;
}

static void release_kind(PyObject *capsule)
{
    ExtArrayKind *kind = PyCapsule_GetPointer(capsule, kind_name);
    Py_XDECREF(kind->cupy_stream);
    PyMem_Free(kind);
}

/* Keeps a kind for a type. Failures are not told: the type is asked again. */
static const ExtArrayKind *remember(ExtState *state, PyTypeObject *type, const ExtArrayKind *found)
{
    if (PyDict_GET_SIZE(state->array_kinds) >= MOST_KINDS)
        return NULL;
    ExtArrayKind *kind = PyMem_Malloc(sizeof *kind);
    PyObject *capsule = kind ? PyCapsule_New(kind, kind_name, release_kind) : NULL;
    if (!capsule) {
        PyMem_Free(kind);
        PyErr_Clear();
        return NULL;
    }
    *kind = *found;
    Py_XINCREF(kind->cupy_stream);
    PyObject *kept = NULL;
    PyDict_SetDefaultRef(state->array_kinds, (PyObject *)type, capsule, &kept);
    kind = kept ? PyCapsule_GetPointer(kept, kind_name) : NULL; /* nothing is ever taken out of the dict */
    Py_XDECREF(kept);
    Py_DECREF(capsule);
    PyErr_Clear();
    return kind;
}

/* The table of version 1: a later one leads to it. NULL where there is none, with an exception where that is not known. */
static const DlpackExchange *exchange_table(ExtState *state, PyTypeObject *type)
{
    PyObject *capsule = PyObject_GetAttr((PyObject *)type, state->exchange_name);
    const DlpackExchange *table = NULL;
    if (capsule && PyCapsule_IsValid(capsule, DLPACK_EXCHANGE_NAME))
        table = PyCapsule_GetPointer(capsule, DLPACK_EXCHANGE_NAME);
    Py_XDECREF(capsule);
    if (!ext_forgive())
        return NULL;
    while (table && table->version.major > DLPACK_MAJOR)
        table = table->older;
    bool is_complete = table && table->version.major == DLPACK_MAJOR && table->current_stream &&
                       (table->tensor_of_object || table->managed_of_object);
    return is_complete ? table : NULL;
}

static bool has_lazy_signs(PyTypeObject *type)
{
    return PyObject_HasAttrString((PyObject *)type, "is_conj") && PyObject_HasAttrString((PyObject *)type, "is_neg");
}

/* New reference; NULL for all types but cupy.ndarray, with an exception where that is not known. */
static PyObject *cupy_stream_function(PyTypeObject *type)
{
    if (strcmp(type->tp_name, "ndarray") != 0 && strcmp(type->tp_name, "cupy.ndarray") != 0)
        return NULL;
    PyObject *name = PyUnicode_FromString("cupy");
    PyObject *cupy = name ? PyImport_GetModule(name) : NULL;
    PyObject *class = cupy ? PyObject_GetAttrString(cupy, "ndarray") : NULL;
    PyObject *module = class == (PyObject *)type ? PyObject_GetAttrString(cupy, "cuda") : NULL;
    PyObject *function = module ? PyObject_GetAttrString(module, "get_current_stream") : NULL;
    Py_XDECREF(name);
    Py_XDECREF(cupy);
    Py_XDECREF(class);
    Py_XDECREF(module);
    ext_forgive();
    return function;
}

const ExtArrayKind *ext_array_kind(ExtState *state, PyTypeObject *type)
{
    PyObject *known;
    int is_known = PyDict_GetItemRef(state->array_kinds, (PyObject *)type, &known);
    if (is_known > 0) {
        const ExtArrayKind *kind = PyCapsule_GetPointer(known, kind_name);
        Py_DECREF(known); /* the dict keeps it */
        return offered(kind);
    }
    ExtArrayKind found = {0};
    if (is_known == 0 || ext_forgive()) /* a metaclass may have no hash */
        found.exchange = exchange_table(state, type);
    found.has_lazy_signs = found.exchange && has_lazy_signs(type);
    found.cupy_stream = found.exchange || PyErr_Occurred() ? NULL : cupy_stream_function(type);
    const ExtArrayKind *kept = offered(&found) ? remember(state, type, &found) : NULL;
    Py_XDECREF(found.cupy_stream);
    return kept;
}

void ext_array_kind_is_plain(ExtState *state, PyTypeObject *type)
{
    if (PyDict_GET_SIZE(state->array_kinds) < MOST_PLAIN_KINDS)
        remember(state, type, &plain_kind);
}

static bool cupy_stream(const ExtArrayKind *kind, int ordinal, uint64_t *handle)
{
    PyObject *device = PyLong_FromLong(ordinal);
    PyObject *stream = device ? PyObject_CallOneArg(kind->cupy_stream, device) : NULL;
    PyObject *pointer = stream ? PyObject_GetAttrString(stream, "ptr") : NULL;
    if (pointer)
        *handle = PyLong_AsUnsignedLongLong(pointer);
    Py_XDECREF(device);
    Py_XDECREF(stream);
    Py_XDECREF(pointer);
    return pointer && !PyErr_Occurred();
}

bool ext_current_stream_of(const ExtArrayKind *kind, int ordinal, uint64_t *handle)
{
    void *stream = NULL;
    if (!kind->exchange)
        return cupy_stream(kind, ordinal, handle);
    if (kind->exchange->current_stream(DLPACK_CUDA, ordinal, &stream) != 0)
        return false;
    *handle = (uint64_t)(uintptr_t)stream;
    return true;
}
