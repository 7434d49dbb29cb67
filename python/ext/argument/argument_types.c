/* Values -> Types as kernel arguments, and numbers -> bytes. */
#include "ext/argument/argument_types.h"

#include "ext/array/array_view.h"
#include "ext/array/element_types.h"
#include "ext/guard.h"
#include "ext/raise.h"
#include "ext/snapshot/class/class_types.h"
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
    if (ext_depth() >= TYPE_MOST_NESTING) {
        ext_raise_id(DIAG_TUPLE_NESTING, TYPE_MOST_NESTING);
        return NULL;
    }
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
    const Type *type = class && class->count == count ? type_with_items(arena, class, items)
                                                      : type_tuple(arena, items, count, TUPLE_PLAIN);
    return ext_check_tuple(type) ? type : NULL;
}

/* The items of an instance's type: of the fields of a declared class, else of its attributes. */
static bool field_types(ExtState *state, PyObject *value, const Type *class, PyObject *fields, const Type **items,
                        Arena *arena)
{
    for (uint32_t i = 0; i < class->count; i++) {
        PyObject *field =
            fields ? PyTuple_GET_ITEM(fields, i) : ext_hold(PyObject_GetAttrString(value, class->names[i]));
        bool is_stated = class->items[i]->kind != TYPE_NONE;
        items[i] = class->items[i];
        if (!field || (!is_stated && !(items[i] = any_type(state, field, arena))))
            return false;
    }
    return true;
}

/* An instance of a dataclass or a declared class: its fields, by value. NULL without an exception for anything else. */
static const Type *instance_type(ExtState *state, PyObject *value, Arena *arena)
{
    ExtDeclaredClass declared;
    bool is_declared = ext_declared_class(state, (PyObject *)Py_TYPE(value), &declared);
    const Type *class = PyType_Check(value) ? NULL : ext_class_type(state, (PyObject *)Py_TYPE(value), arena);
    if (!class || !ext_enter(" in an argument with fields"))
        return NULL;
    PyObject *fields = is_declared ? ext_hold(ext_declared_fields(&declared, value)) : NULL;
    const Type **items = ARENA_ARRAY(arena, const Type *, class->count);
    bool ok = (fields || !is_declared) && field_types(state, value, class, fields, items, arena);
    ext_leave();
    return ok ? type_with_items(arena, class, items) : NULL;
}

/* What a function that was registered for the class of the value says; NULL without an exception where there is none. */
static const Type *registered_type(ExtState *state, PyObject *value, Arena *arena)
{
    PyObject *bases = Py_TYPE(value)->tp_mro, *function = NULL;
    for (Py_ssize_t i = 0; bases && !function && i < PyTuple_GET_SIZE(bases); i++)
        function = PyDict_GetItemWithError(state->typeof_functions, PyTuple_GET_ITEM(bases, i));
    PyObject *type = function ? ext_hold(PyObject_CallFunctionObjArgs(function, value, Py_None, NULL)) : NULL;
    const Type *stated = type ? ext_type_borrowed(state, type) : NULL;
    return stated ? type_copy(arena, stated) : NULL;
}

/* Classes that the program has told of: nothing else of the value counts. */
static const Type *type_by_class(ExtState *state, PyObject *value, Arena *arena)
{
    ExtDeclaredClass declared;
    const Type *type = PyDict_GET_SIZE(state->typeof_functions) ? registered_type(state, value, arena) : NULL;
    if (!type && !PyErr_Occurred() && ext_declared_class(state, (PyObject *)Py_TYPE(value), &declared))
        type = instance_type(state, value, arena);
    return type;
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

/* Members whose values are neither numbers nor tuples of them are known while compiling only. */
static const Type *enum_argument(PyObject *value, const Type *type)
{
    if (!type || type->kind != TYPE_TUPLE || type->items[0]->kind != TYPE_NONE)
        return type;
    PyErr_Format(PyExc_TypeError,
                 "kernels take members of enums whose values are numbers or tuples of numbers, not %R; one that the "
                 "kernel finds as a "
                 "global or captured variable can be compared with others",
                 value);
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

PyObject *ext_ctypes_pointer(PyObject *value)
{
    PyObject *module = PyImport_ImportModule("cujit._pointers");
    PyObject *found = module ? PyObject_CallMethod(module, "pointer_argument", "O", value) : NULL;
    Py_XDECREF(module);
    return found;
}

/* Pointers of ctypes come last, since a Python function knows them. */
static const Type *rare_type(ExtState *state, PyObject *value, Arena *arena)
{
    const Type *type = instance_type(state, value, arena);
    if (type || PyErr_Occurred())
        return type;
    PyObject *found = ext_hold(ext_ctypes_pointer(value));
    const Type *stated = found && PyTuple_Check(found) ? ext_type_borrowed(state, PyTuple_GET_ITEM(found, 1)) : NULL;
    return stated ? type_copy(arena, stated) : NULL;
}

static const Type *known_type(ExtState *state, PyObject *value, Arena *arena)
{
    bool is_plain = PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyArray_IsScalar(value, Generic);
    const Type *type = is_plain ? NULL : type_by_class(state, value, arena);
    if (type || PyErr_Occurred())
        return type;
    type = is_plain ? NULL : ext_enum_type(state, value, arena);
    if (!type && !PyErr_Occurred())
        type = ext_number_type(value);
    if (type || PyErr_Occurred())
        return enum_argument(value, type);
    ExtArrayView view;
    int is_array = ext_array_view(state, value, &view);
    if (is_array > 0)
        ext_hold(view.owner);
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
    return PyErr_Occurred() ? NULL : rare_type(state, value, arena);
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
