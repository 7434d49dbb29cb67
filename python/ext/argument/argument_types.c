/* Values -> Types as kernel arguments, and numbers -> bytes. */
#include "ext/argument/argument_types.h"

#include "ext/guard.h"
#include "ext/array/array_view.h"
#include "ext/snapshot/class_types.h"
#include "ext/array/element_types.h"
#include "ext/snapshot/number.h"
#include "ext/snapshot/type_value.h"

static const Type *array_view_type(const ExtArrayView *view, Arena *arena)
{
    return type_array(arena, view->element, view->ndim, ext_view_layout(view), view->read_only);
}

static bool record_is_writable(PyObject *record)
{
    return (((PyVoidScalarObject *)record)->flags & NPY_ARRAY_WRITEABLE) != 0;
}

static const Type *any_type(ExtState *state, PyObject *value, Arena *arena);
static const Type *known_type(ExtState *state, PyObject *value, Arena *arena);

static const Type *tuple_type(ExtState *state, PyObject *tuple, Arena *arena)
{
    uint32_t count = (uint32_t)PyTuple_GET_SIZE(tuple);
    const Type **items = ARENA_ARRAY(arena, const Type *, count);
    if (!ext_enter(" in a tuple argument"))
        return NULL;
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = (items[i] = any_type(state, PyTuple_GET_ITEM(tuple, i), arena)) != NULL;
    ext_leave();
    if (!ok)
        return NULL;
    const Type *class = PyTuple_CheckExact(tuple) ? NULL : ext_class_type(state, (PyObject *)Py_TYPE(tuple), arena);
    if (PyErr_Occurred())
        return NULL;
    if (class && class->count == count)
        return type_with_items(arena, class, items);
    return type_tuple(arena, items, count, TUPLE_PLAIN);
}

/* An instance of a dataclass: its fields, by value. NULL without an exception for anything else. */
static const Type *instance_type(ExtState *state, PyObject *value, Arena *arena)
{
    const Type *class = PyType_Check(value) ? NULL : ext_class_type(state, (PyObject *)Py_TYPE(value), arena);
    if (!class || !ext_enter(" in a dataclass argument"))
        return NULL;
    const Type **items = ARENA_ARRAY(arena, const Type *, class->count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < class->count; i++) {
        PyObject *field = ext_hold(PyObject_GetAttrString(value, class->names[i]));
        ok = field && (items[i] = any_type(state, field, arena));
    }
    ext_leave();
    return ok ? type_with_items(arena, class, items) : NULL;
}

/* np.float32, cujit.float32, np.dtype("f4"): the scalar type that a type object stands for; NULL for any other value,
 * with an exception where that could not be found out. */
static const Type *named_scalar(ExtState *state, PyObject *value)
{
    PyArray_Descr *dtype = NULL;
    const Type *stated = ext_type_of_object(state, value);
    if (stated)
        return stated;
    if (!ext_forgive())
        return NULL;
    if (PyArray_DescrCheck(value))
        return ext_scalar_of_dtype((PyArray_Descr *)value);
    bool is_number_class = PyType_Check(value) && PyType_IsSubtype((PyTypeObject *)value, &PyGenericArrType_Type);
    const Type *type = is_number_class && PyArray_DescrConverter(value, &dtype) ? ext_scalar_of_dtype(dtype) : NULL;
    Py_XDECREF(dtype);
    ext_forgive();
    return type;
}

/* The type of a NumPy scalar as an element of an array. */
static const Type *scalar_element(ExtState *state, PyObject *value)
{
    PyArray_Descr *dtype = PyArray_DescrFromScalar(value);
    const Type *type = dtype ? ext_element_type(state, dtype) : NULL;
    Py_XDECREF(dtype);
    return type;
}

/* Members whose values are no numbers are known while compiling only. */
static const Type *enum_argument(PyObject *value, const Type *type)
{
    if (!type || type->kind != TYPE_TUPLE || type->items[0]->kind != TYPE_NONE)
        return type;
    PyErr_Format(PyExc_TypeError, "kernels take members of enums whose values are numbers, not %R", value);
    return NULL;
}

/* What to pass in place of a value that kernels do not take. */
static const char *argument_hint(PyObject *value)
{
    if (PyList_Check(value))
        return "; np.array(...) makes an array of it, tuple(...) a tuple";
    if (PyObject_HasAttrString(value, "__array__"))
        return "; np.asarray(...) makes an array of it";
    return "; they take numbers, arrays, tuples, and NamedTuples and dataclasses of these";
}

static const Type *known_type(ExtState *state, PyObject *value, Arena *arena)
{
    bool is_plain = PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyArray_IsScalar(value, Generic);
    const Type *type = is_plain ? NULL : ext_enum_type(state, value, arena);
    if (!type && !PyErr_Occurred())
        type = ext_number_type(value);
    if (type || PyErr_Occurred())
        return enum_argument(value, type);
    ExtArrayView view;
    int is_array = ext_array_view(state, value, &view);
    if (is_array)
        return is_array > 0 ? array_view_type(&view, arena) : NULL;
    if (PyTuple_Check(value))
        return tuple_type(state, value, arena);
    if (value == Py_None)
        return &type_none;
    if (PyArray_IsScalar(value, Datetime) || PyArray_IsScalar(value, Timedelta))
        return scalar_element(state, value);
    if (PyArray_IsScalar(value, Void)) {
        type = scalar_element(state, value);
        return type ? type_array(arena, type, 0, LAYOUT_C, !record_is_writable(value)) : NULL;
    }
    const Type *named = named_scalar(state, value);
    if (named && type_is_scalar(named))
        return type_object(arena, &state->type_constants[named->scalar]);
    return PyErr_Occurred() ? NULL : instance_type(state, value, arena);
}

static const Type *any_type(ExtState *state, PyObject *value, Arena *arena)
{
    const Type *type = known_type(state, value, arena);
    if (!type && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "kernels cannot take a value of type '%s'%s", Py_TYPE(value)->tp_name,
                     argument_hint(value));
    return type;
}

typedef struct Typing {
    const Type *(*find)(ExtState *state, PyObject *value, Arena *arena);
    ExtState *state;
    PyObject *value;
    Arena *arena;
    const Type *type;
} Typing;

static bool find(void *data)
{
    Typing *typing = data;
    return (typing->type = typing->find(typing->state, typing->value, typing->arena)) != NULL;
}

const Type *ext_known_argument_type(ExtState *state, PyObject *value, Arena *arena)
{
    Typing typing = {known_type, state, value, arena, NULL};
    return ext_guard(find, &typing) ? typing.type : NULL;
}

const Type *ext_argument_type(ExtState *state, PyObject *value, Arena *arena)
{
    Typing typing = {any_type, state, value, arena, NULL};
    return ext_guard(find, &typing) ? typing.type : NULL;
}
