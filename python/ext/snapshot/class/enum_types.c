/* Enums: the types of their members. A class is told by its address, so classes that types name are kept alive. */
#include "ext/snapshot/class/class_types.h"

#include "ext/guard.h"
#include "ext/snapshot/number.h"

static bool is_enum_class(PyObject *class)
{
    if (Py_IS_TYPE(class, &PyType_Type)) /* enums have a metaclass of their own */
        return false;
    PyObject *module = PyImport_ImportModule("enum");
    PyObject *meta = module ? PyObject_GetAttrString(module, "EnumMeta") : NULL;
    bool result = meta && PyObject_TypeCheck(class, (PyTypeObject *)meta);
    Py_XDECREF(meta);
    Py_XDECREF(module);
    ext_forgive();
    return result;
}

static const Type *make_type(ExtState *state, PyObject *class, const Type *value, Arena *arena)
{
    if (PySet_Add(state->kept_classes, class) < 0)
        return NULL;
    PyTypeObject *type = (PyTypeObject *)class;
    bool is_number = PyType_IsSubtype(type, &PyLong_Type) || PyType_IsSubtype(type, &PyFloat_Type);
    return type_enum(arena, type->tp_name, value, is_number ? TUPLE_INT_ENUM : TUPLE_ENUM, class);
}

/* The type of a member's value: a number, or a tuple of such; NULL without an exception for anything else. */
static const Type *value_type(PyObject *value, Arena *arena, int depth)
{
    if (!PyTuple_CheckExact(value))
        return ext_number_type(value);
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    if (!count || count > TYPE_MOST_VALUES || depth == TYPE_MOST_NESTING)
        return NULL;
    const Type **items = ARENA_ARRAY(arena, const Type *, count);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!(items[i] = value_type(PyTuple_GET_ITEM(value, i), arena, depth + 1)))
            return NULL;
    return type_tuple(arena, items, (uint32_t)count, TUPLE_PLAIN);
}

const Type *ext_enum_type(ExtState *state, PyObject *value, Arena *arena)
{
    PyObject *class = (PyObject *)Py_TYPE(value);
    if (!is_enum_class(class))
        return NULL;
    PyObject *inner = PyObject_GetAttrString(value, "value");
    const Type *inner_type = inner ? value_type(inner, arena, 0) : NULL;
    Py_XDECREF(inner);
    if (!ext_forgive())
        return NULL;
    return make_type(state, class, inner_type ? inner_type : &type_none, arena);
}

const Type *ext_enum_class_type(ExtState *state, PyObject *class, Arena *arena)
{
    PyObject *members = ext_hold(PySequence_List(class));
    const Type *number = NULL;
    for (Py_ssize_t i = 0; members && i < PyList_GET_SIZE(members); i++) {
        const Type *member = ext_enum_type(state, PyList_GET_ITEM(members, i), arena);
        const Type *value = member ? member->items[0] : &type_none;
        number = !number || type_equal(value, number) ? value : &type_none;
    }
    if (!ext_forgive())
        return NULL;
    return make_type(state, class, number ? number : &type_none, arena);
}
