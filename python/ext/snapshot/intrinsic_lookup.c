/* Which objects of builtins, math, numpy, ... are intrinsics, and which intrinsic stands at a path. */
#include "ext/snapshot/intrinsic_lookup.h"

#include "ext/guard.h"

/* Takes over the key. */
static PyObject *intrinsic_of_key(ExtState *state, PyObject *key)
{
    PyObject *found = NULL;
    if (key)
        PyDict_GetItemRef(state->intrinsics, key, &found);
    Py_XDECREF(key);
    return found;
}

PyObject *ext_intrinsic_child(ExtState *state, PyObject *path, PyObject *name)
{
    return intrinsic_of_key(state, PyUnicode_FromFormat("%U.%U", path, name));
}

PyObject *ext_intrinsic_at(ExtState *state, const char *path, const char *name)
{
    return intrinsic_of_key(state, PyUnicode_FromFormat("%s.%s", path, name));
}

typedef bool PathVisitor(void *user, const char *path, size_t length, int number);

static bool each_spelling(const char *paths, int number, void *user, PathVisitor *visit)
{
    while (*(paths += strspn(paths, " "))) {
        size_t length = strcspn(paths, " ");
        if (!visit(user, paths, length, number))
            return false;
        paths += length;
    }
    return true;
}

bool ext_each_intrinsic_path(void *user, PathVisitor *visit)
{
    for (int id = INTRINSIC_NONE + 1; id < INTRINSIC_COUNT; id++)
        if (!each_spelling(intrinsic_info[id].path, id, user, visit))
            return false;
    for (int i = 0; i < library_function_count; i++) {
        const LibraryFunction *function = &library_functions[i];
        if (!library_function_is_form(function) &&
            !each_spelling(function->path, library_function_number(i), user, visit))
            return false;
    }
    return true;
}

/* --- objects of other modules that are intrinsics ---------------------------------------------------------------------------- */
/* The object at a path such as "numpy.linalg.norm"; NULL where there is none, with an exception where that could not be found
 * out. New reference. */
static PyObject *resolve(const char *path, size_t length)
{
    size_t end = strcspn(path, ".");
    PyObject *name = PyUnicode_FromStringAndSize(path, (Py_ssize_t)end);
    PyObject *object = name ? PyImport_GetModule(name) : NULL;
    if (name && !object && !PyErr_Occurred())
        object = PyImport_Import(name);
    Py_XDECREF(name);
    while (object && end < length) {
        const char *attribute = path + end + 1;
        size_t size = strcspn(attribute, ". ");
        PyObject *text = PyUnicode_FromStringAndSize(attribute, (Py_ssize_t)size);
        PyObject *next = text ? PyObject_GetAttr(object, text) : NULL;
        Py_XDECREF(text);
        Py_SETREF(object, next);
        end += 1 + size;
    }
    ext_forgive();
    return object;
}

/* Adds to the dict `user`; the first path of an object is the one. The dict keeps the object alive, whose address is the key. */
static bool add_object(void *user, const char *path, size_t length, int number)
{
    if (strncmp(path, EXT_PACKAGE_PREFIX, sizeof EXT_PACKAGE_PREFIX - 1) == 0)
        return true;
    PyObject *object = resolve(path, length);
    if (!object)
        return !PyErr_Occurred();
    PyObject *key = PyLong_FromVoidPtr(object), *value = Py_BuildValue("iO", number, object), *kept = NULL;
    bool ok = key && value && PyDict_SetDefaultRef(user, key, value, &kept) >= 0;
    Py_XDECREF(kept);
    Py_XDECREF(key);
    Py_XDECREF(value);
    Py_DECREF(object);
    return ok;
}

/* Importing and reading attributes may let other threads in: what is found is shown when all is there. Borrowed from the
 * state; NULL with an exception. */
static PyObject *find_objects(ExtState *state)
{
    PyObject *ids = PyDict_New(), *none = NULL;
    if (ids && !ext_each_intrinsic_path(ids, add_object))
        Py_CLEAR(ids);
    if (!ids ||
        __atomic_compare_exchange_n(&state->intrinsic_ids, &none, ids, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return ids;
    Py_DECREF(ids);
    return none;
}

int ext_intrinsic_of_object(ExtState *state, PyObject *object)
{
    if (Py_IS_TYPE(object, state->intrinsic_type))
        return ((ExtIntrinsic *)object)->number;
    if (PyModule_Check(object)) /* none is one; most kernels have no other global, and to find all imports modules */
        return INTRINSIC_NONE;
    PyObject *ids = __atomic_load_n(&state->intrinsic_ids, __ATOMIC_ACQUIRE), *known = NULL;
    ids = ids ? ids : find_objects(state);
    PyObject *key = ids ? PyLong_FromVoidPtr(object) : NULL;
    int found = key ? PyDict_GetItemRef(ids, key, &known) : -1;
    int number = found > 0 ? (int)PyLong_AsLong(PyTuple_GET_ITEM(known, 0)) : found ? -1 : INTRINSIC_NONE;
    Py_XDECREF(key);
    Py_XDECREF(known);
    return number;
}
