/* The types of other libraries' arrays: DLPack's C exchange table, which a launch asks without an attribute of the array, and
 * the functions behind the attributes of CuPy's, which have no such table. What was found is kept for a few types for ever: a type that has a table is a
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
    Py_XDECREF(kind->cupy_memory);
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
    Py_XINCREF(kind->cupy_memory);
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

/* The functions behind attributes of a class, which live as long as it does. False where one is none, with an exception or
 * without. */
static bool find_getters(PyTypeObject *class, const char *const *names, ExtGetter *getters, int count)
{
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        PyObject *descriptor = PyObject_GetAttrString((PyObject *)class, names[i]);
        ok = descriptor && Py_IS_TYPE(descriptor, &PyGetSetDescr_Type);
        if (ok) {
            const PyGetSetDef *known = ((PyGetSetDescrObject *)descriptor)->d_getset;
            getters[i] = (ExtGetter){known->get, known->closure};
            ok = known->get != NULL;
        }
        Py_XDECREF(descriptor);
    }
    return ok;
}

/* Fills the kind where the class of arrays is as is known; nothing where it is not. */
static void find_cupy(PyObject *cupy, PyTypeObject *class, ExtArrayKind *kind)
{
    static const char *const names[CUPY_ATTRIBUTES] = {
        [CUPY_DATA] = "data",
        [CUPY_DTYPE] = "dtype",
        [CUPY_SIZE] = "size",
        [CUPY_NDIM] = "ndim",
        [CUPY_SHAPE] = "shape",
        [CUPY_STRIDES] = "strides",
        [CUPY_PTR] = "ptr",
        [CUPY_IS_CONTIGUOUS] = "_c_contiguous",
        [CUPY_DEVICE_ID] = "device_id",
    };
    PyObject *module = PyObject_GetAttrString(cupy, "cuda");
    PyObject *memory = module ? PyObject_GetAttrString(module, "MemoryPointer") : NULL;
    PyObject *stream = memory ? PyObject_GetAttrString(module, "get_current_stream") : NULL;
    if (stream && PyType_Check(memory) && find_getters(class, names, kind->cupy, CUPY_PTR) &&
        find_getters((PyTypeObject *)memory, names + CUPY_PTR, kind->cupy + CUPY_PTR, CUPY_ATTRIBUTES - CUPY_PTR)) {
        kind->cupy_stream = Py_NewRef(stream);
        kind->cupy_memory = (PyTypeObject *)Py_NewRef(memory);
    }
    Py_XDECREF(module);
    Py_XDECREF(memory);
    Py_XDECREF(stream);
}

/* Of all types but cupy.ndarray nothing; with an exception where that is not known. */
static void look_for_cupy(PyTypeObject *type, ExtArrayKind *kind)
{
    if (strcmp(type->tp_name, "ndarray") != 0 && strcmp(type->tp_name, "cupy.ndarray") != 0)
        return;
    PyObject *name = PyUnicode_FromString("cupy");
    PyObject *cupy = name ? PyImport_GetModule(name) : NULL;
    PyObject *class = cupy ? PyObject_GetAttrString(cupy, "ndarray") : NULL;
    if (class == (PyObject *)type)
        find_cupy(cupy, type, kind);
    Py_XDECREF(name);
    Py_XDECREF(cupy);
    Py_XDECREF(class);
    ext_forgive();
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
    if (!found.exchange && !PyErr_Occurred())
        look_for_cupy(type, &found);
    const ExtArrayKind *kept = offered(&found) ? remember(state, type, &found) : NULL;
    Py_XDECREF(found.cupy_stream);
    Py_XDECREF(found.cupy_memory);
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
