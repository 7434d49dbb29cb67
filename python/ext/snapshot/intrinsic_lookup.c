/* Which objects of builtins, math, numpy, ... are intrinsics, and which intrinsic stands at a path. */
#include "ext/snapshot/intrinsic_lookup.h"

#include "ext/guard.h"

PyObject *ext_intrinsic_child(ExtState *state, PyObject *path, PyObject *name)
{
    PyObject *key = PyUnicode_FromFormat("%U.%U", path, name);
    PyObject *child = key ? PyDict_GetItemWithError(state->intrinsics, key) : NULL;
    Py_XDECREF(key);
    return child;
}

PyObject *ext_intrinsic_at(ExtState *state, const char *path, const char *name)
{
    PyObject *key = PyUnicode_FromFormat("%s.%s", path, name);
    PyObject *child = key ? PyDict_GetItemWithError(state->intrinsics, key) : NULL;
    Py_XDECREF(key);
    return child;
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
    PyObject *object = name ? PyImport_Import(name) : NULL;
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

typedef struct KnownObjects {
    PyObject *ids, *objects;
} KnownObjects;

static bool add_object(void *user, const char *path, size_t length, int number)
{
    const KnownObjects *known = user;
    if (strncmp(path, EXT_PACKAGE_PREFIX, sizeof EXT_PACKAGE_PREFIX - 1) == 0)
        return true;
    PyObject *object = resolve(path, length);
    if (!object)
        return !PyErr_Occurred();
    PyObject *key = PyLong_FromVoidPtr(object), *value = PyLong_FromLong(number);
    bool ok = key && value && PyDict_SetDefault(known->ids, key, value) && PyList_Append(known->objects, object) == 0;
    Py_XDECREF(key);
    Py_XDECREF(value);
    Py_DECREF(object);
    return ok;
}

/* Importing and reading attributes may let other threads in: what is found is shown when all is there. */
static bool find_objects(ExtState *state)
{
    KnownObjects known = {PyDict_New(), PyList_New(0)};
    bool ok = known.ids && known.objects && ext_each_intrinsic_path(&known, add_object);
    if (ok && !state->intrinsic_ids) {
        state->intrinsic_ids = Py_NewRef(known.ids);
        state->intrinsic_objects = Py_NewRef(known.objects);
    }
    Py_XDECREF(known.ids);
    Py_XDECREF(known.objects);
    return ok;
}

int ext_intrinsic_of_object(ExtState *state, PyObject *object)
{
    if (Py_IS_TYPE(object, state->intrinsic_type))
        return ((ExtIntrinsic *)object)->number;
    if (!state->intrinsic_ids && !find_objects(state))
        return -1;
    PyObject *key = PyLong_FromVoidPtr(object);
    PyObject *id = key ? PyDict_GetItemWithError(state->intrinsic_ids, key) : NULL;
    Py_XDECREF(key);
    if (!id)
        return PyErr_Occurred() ? -1 : INTRINSIC_NONE;
    return (int)PyLong_AsLong(id);
}
