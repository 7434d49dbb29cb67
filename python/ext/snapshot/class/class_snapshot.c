/* Classes of named tuples and dataclasses -> Constants: fields with their defaults, and the methods and properties that the
 * class of a named tuple adds. */
#include "ext/snapshot/snapshot_builder.h"

#include "ext/snapshot/class/class_types.h"

static bool add_fields(SnapshotScope *scope, PyObject *fields, PyObject *defaults, Constant *out, const char **names,
                       const Constant **items)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields); i++) {
        PyObject *name = PyTuple_GET_ITEM(fields, i);
        PyObject *value = NULL;
        if (PyDict_Check(defaults) && PyDict_GetItemRef(defaults, name, &value) < 0)
            return false;
        ext_hold(value);
        names[out->count] = ext_arena_text(scope->builder->arena, name);
        items[out->count] = value ? ext_constant(scope, value, NULL) : NULL;
        if (!names[out->count] || (value && !items[out->count]))
            return false;
        out->count++;
    }
    out->integer = out->count;
    return true;
}

/* A function or the getter of a property; NULL for anything else. Borrowed. */
static PyObject *method_of(PyObject *attribute)
{
    if (PyFunction_Check(attribute))
        return attribute;
    if (!Py_IS_TYPE(attribute, &PyProperty_Type))
        return NULL;
    PyObject *getter = ext_hold(PyObject_GetAttrString(attribute, "fget"));
    ext_forgive();
    return getter && PyFunction_Check(getter) ? getter : NULL;
}

static bool is_known(const Constant *class, const char *name)
{
    for (uint32_t i = 0; i < class->count; i++)
        if (strcmp(class->names[i], name) == 0)
            return true;
    return false;
}

static bool add_method(SnapshotScope *scope, PyObject *name, PyObject *attribute, Constant *out, const char **names,
                       const Constant **items)
{
    SnapshotBuilder *builder = scope->builder;
    const char *text = ext_arena_text(builder->arena, name);
    PyObject *function = text && text[0] != '_' ? method_of(attribute) : NULL;
    bool ok = text && !PyErr_Occurred();
    if (function && !is_known(out, text)) {
        Constant *method = ext_new_constant(builder, CONSTANT_FUNCTION, text);
        method->function = ext_function(builder, function, false);
        method->text = function == attribute ? NULL : "property";
        names[out->count] = text;
        items[out->count++] = method;
        ok = method->function != NULL;
    }
    return ok;
}

/* The attributes of the class and of its bases but tuple, as a list of (name, value): others may add some meanwhile. */
static PyObject *all_attributes(PyObject *classes)
{
    PyObject *all = ext_hold(PyList_New(0));
    for (Py_ssize_t i = 0; all && i < PyTuple_GET_SIZE(classes); i++) {
        PyObject *class = PyTuple_GET_ITEM(classes, i), *attributes = ((PyTypeObject *)class)->tp_dict;
        if (class == (PyObject *)&PyTuple_Type || !attributes || !PyDict_Check(attributes))
            continue;
        PyObject *pairs = ext_hold(PyDict_Items(attributes));
        if (!pairs || PyList_SetSlice(all, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, pairs) < 0)
            return NULL;
    }
    return all;
}

static bool add_methods(SnapshotScope *scope, PyObject *attributes, Constant *out, const char **names,
                        const Constant **items)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(attributes); i++) {
        PyObject *pair = PyList_GET_ITEM(attributes, i), *name = PyTuple_GET_ITEM(pair, 0);
        if (PyUnicode_Check(name) && !add_method(scope, name, PyTuple_GET_ITEM(pair, 1), out, names, items))
            return false;
    }
    return true;
}

static bool fill(SnapshotScope *scope, PyObject *value, PyObject *fields, Constant *out)
{
    Arena *arena = scope->builder->arena;
    ExtDeclaredClass declared;
    bool is_declared = ext_declared_class(scope->builder->state, value, &declared);
    PyObject *class = is_declared ? declared.class : value;
    PyObject *attributes = all_attributes(ext_hold(Py_NewRef(((PyTypeObject *)class)->tp_mro)));
    if (!attributes)
        return false;
    Py_ssize_t limit = PyTuple_GET_SIZE(fields) + PyList_GET_SIZE(attributes);
    const char **names = ARENA_ARRAY(arena, const char *, limit);
    const Constant **items = ARENA_ARRAY(arena, const Constant *, limit);
    PyObject *defaults = ext_hold(ext_class_defaults(scope->builder->state, value));
    out->type = defaults ? ext_class_type(scope->builder->state, value, arena) : NULL;
    out->text = arena_string(arena, ((PyTypeObject *)class)->tp_name);
    out->names = names;
    out->items = items;
    bool has_methods = out->type && type_is_tagged(out->type, TUPLE_NAMED); /* others' are asked for by type */
    scope->builder->has_overloads |= out->type && type_class(out->type);
    return out->type && add_fields(scope, fields, defaults, out, names, items) &&
           (!has_methods || add_methods(scope, attributes, out, names, items));
}

/* Methods name their own class: it is in the table before its insides are made. */
const Constant *ext_class(SnapshotScope *scope, PyObject *value, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    ExtState *state = builder->state;
    ExtDeclaredClass declared;
    bool is_class = PyType_Check(value) || ext_declared_class(state, value, &declared);
    bool can_be = is_class && !ext_class_has_own_constructor(state, value);
    PyObject *fields = can_be && !PyErr_Occurred() ? ext_hold(ext_class_fields(state, value)) : NULL;
    if (!fields)
        return NULL;
    Constant *constant = table_get(builder->arrays, &value, sizeof value);
    if (!constant) {
        constant = ext_new_constant(builder, CONSTANT_CLASS, shown);
        table_set(builder->arrays, &value, sizeof value, constant);
        if (PyList_Append(builder->held, value) < 0 || !fill(scope, value, fields, constant))
            constant = NULL;
    }
    return constant;
}
