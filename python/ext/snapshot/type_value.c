/* Types of kernel values as Python's values, and Python's values that stand for one. */
#include "ext/snapshot/type_value.h"

#include "ext/guard.h"

PyObject *ext_make_type(ExtState *state, const Type *type, Arena *arena)
{
    ExtType *self = PyObject_New(ExtType, state->type_type);
    if (!self) {
        arena_destroy(arena);
        return NULL;
    }
    self->state = state;
    self->type = type;
    self->arena = arena;
    return (PyObject *)self;
}

typedef struct TypeWork {
    const Type *(*make)(Arena *arena, const void *data);
    const void *data;
    Arena *arena;
    const Type *type;
} TypeWork;

static bool make(void *data)
{
    TypeWork *work = data;
    work->type = work->make(work->arena, work->data);
    return true;
}

PyObject *ext_make_own_type(ExtState *state, const Type *(*make_type)(Arena *arena, const void *data), const void *data)
{
    TypeWork work = {make_type, data, ext_arena(), NULL};
    if (work.arena && ext_guard(make, &work))
        return ext_make_type(state, work.type, work.arena);
    arena_destroy(work.arena);
    return NULL;
}

static const Type *copy(Arena *arena, const void *type) { return type_copy(arena, type); }

PyObject *ext_type_object(ExtState *state, const Type *type)
{
    if (type_is_scalar(type))
        return Py_NewRef(state->singletons[type->scalar]);
    if (type->kind == TYPE_NONE)
        return Py_NewRef(state->singletons[EXT_NONE_TYPE]);
    return ext_make_own_type(state, copy, (void *)type);
}

bool ext_is_numbas(PyObject *object)
{
    PyObject *module = PyObject_GetAttrString(object, "__module__");
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    bool result = name && strncmp(name, "numba.", 6) == 0;
    Py_XDECREF(module);
    ext_forgive();
    return result;
}

PyObject *ext_call_foreign(const char *function, PyObject *argument)
{
    PyObject *module = PyImport_ImportModule("cujit._numba.foreign_types");
    PyObject *result = module ? PyObject_CallMethod(module, function, "O", argument) : NULL;
    Py_XDECREF(module);
    return result;
}

/* What cujit._numba.foreign_types makes of it, borrowed from the dict that keeps the first that a thread
 * puts there; NULL also for what is no type. */
static PyObject *foreign_type(ExtState *state, PyObject *object)
{
    PyObject *known;
    int found = PyDict_GetItemRef(state->foreign_types, object, &known);
    PyObject *type = found ? NULL : ext_call_foreign("type_from_numba", object);
    if (type && type != Py_None)
        PyDict_SetDefaultRef(state->foreign_types, object, type, &known);
    Py_XDECREF(type);
    Py_XDECREF(known);
    return known;
}

const Type *ext_type_of_object(ExtState *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->type_type))
        return ((ExtType *)object)->type;
    bool is_numbas = ext_is_numbas((PyObject *)Py_TYPE(object));
    PyObject *type = is_numbas ? foreign_type(state, object) : NULL;
    return type ? ((ExtType *)type)->type : NULL;
}

const Type *ext_type_borrowed(ExtState *state, PyObject *object)
{
    const Type *type = ext_type_of_object(state, object);
    if (!type && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "expected a cujit type, got %R", object);
    return type;
}
