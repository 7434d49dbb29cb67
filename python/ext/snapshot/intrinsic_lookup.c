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

typedef bool RowVisitor(void *user, const char *paths, int number);

static bool each_row(void *user, RowVisitor *visit)
{
    for (int id = INTRINSIC_NONE + 1; id < INTRINSIC_COUNT; id++)
        if (!visit(user, intrinsic_info[id].path, id))
            return false;
    for (int i = 0; i < library_function_count; i++) {
        const LibraryFunction *function = &library_functions[i];
        if (!library_function_is_form(function) && !visit(user, function->path, library_function_number(i)))
            return false;
    }
    return true;
}

typedef struct SpellingVisit {
    void *user;
    PathVisitor *visit;
} SpellingVisit;

static bool visit_spellings(void *data, const char *paths, int number)
{
    const SpellingVisit *spellings = data;
    return each_spelling(paths, number, spellings->user, spellings->visit);
}

bool ext_each_intrinsic_path(void *user, PathVisitor *visit)
{
    SpellingVisit spellings = {user, visit};
    return each_row(&spellings, visit_spellings);
}

/* --- objects of other modules that are intrinsics ---------------------------------------------------------------------------- */
/* The object at a path such as "numpy.linalg.norm"; NULL where there is none, with an exception where that could not be found
 * out. What the program has not imported it has no object of. New reference. */
static PyObject *resolve(const char *path, size_t length)
{
    size_t end = strcspn(path, ".");
    PyObject *name = PyUnicode_FromStringAndSize(path, (Py_ssize_t)end);
    PyObject *object = name ? PyImport_GetModule(name) : NULL;
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

/* An object is looked for at those paths alone that end with its own name, which all that are not cujit's have: np.abs is
 * called absolute. Trying all paths imports modules, and takes as long as all else that a first launch from disk does. */
typedef struct ObjectSearch {
    PyObject *object;
    const char *name;
    size_t length; /* of the name */
    int number; /* found */
} ObjectSearch;

static bool is_not_at(void *user, const char *path, size_t length, int number)
{
    ObjectSearch *search = user;
    size_t start = length - search->length; /* of the path's last name */
    if (length <= search->length || path[start - 1] != '.' || memcmp(path + start, search->name, search->length) ||
        strncmp(path, EXT_PACKAGE_PREFIX, sizeof EXT_PACKAGE_PREFIX - 1) == 0)
        return true;
    PyObject *object = resolve(path, length);
    if (object == search->object)
        search->number = number;
    Py_XDECREF(object);
    return object != search->object && !PyErr_Occurred();
}

static bool is_not_in_row(void *user, const char *paths, int number)
{
    ObjectSearch *search = user;
    return !strstr(paths, search->name) || each_spelling(paths, number, user, is_not_at);
}

int ext_intrinsic_of_object(ExtState *state, PyObject *object)
{
    if (Py_IS_TYPE(object, state->intrinsic_type))
        return ((ExtIntrinsic *)object)->number;
    if (!PyCallable_Check(object))
        return INTRINSIC_NONE;
    ObjectSearch search = {.object = object, .number = INTRINSIC_NONE};
    Py_ssize_t length;
    PyObject *name = PyObject_GetAttrString(object, "__name__");
    if (name && PyUnicode_Check(name) && (search.name = PyUnicode_AsUTF8AndSize(name, &length)) && length) {
        search.length = (size_t)length;
        each_row(&search, is_not_in_row);
    }
    Py_XDECREF(name);
    return ext_forgive() ? search.number : -1;
}
