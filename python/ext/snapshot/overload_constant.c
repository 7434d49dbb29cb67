/* What cujit.extending has given implementations by type: functions, and the members of values that code can name. */
#include "ext/snapshot/snapshot_builder.h"

static Constant *overloaded(SnapshotBuilder *builder, PyObject *overloads, const char *name, const char *shown)
{
    Constant *constant = ext_new_constant(builder, CONSTANT_OVERLOADED, shown);
    if (PyList_Append(builder->keep_alive, overloads) < 0)
        return NULL;
    PyObject *prefers = ext_hold(PyObject_GetAttrString(overloads, "prefers_literals"));
    constant->integer = prefers == Py_True;
    constant->overloads = overloads;
    constant->text = name;
    builder->has_overloads = true;
    return prefers ? constant : NULL;
}

/* The function's name for messages. */
static const char *name_of(SnapshotBuilder *builder, PyObject *value, const char *shown)
{
    PyObject *name = shown ? NULL : ext_hold(PyObject_GetAttrString(value, "__name__"));
    ext_forgive();
    if (name && PyUnicode_Check(name))
        return ext_arena_text(builder->arena, name);
    return shown ? shown : "this function";
}

const Constant *ext_overloaded_function(SnapshotScope *scope, PyObject *value, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    PyObject *known = builder->state->overloads;
    if (PyDict_GET_SIZE(known) == 0 || builder->library_depth || !PyCallable_Check(value))
        return NULL;
    PyObject *overloads = PyDict_GetItemWithError(known, value);
    if (!overloads && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
        ext_forgive(); /* it has no hash */
    Constant *constant = overloads ? overloaded(builder, overloads, name_of(builder, value, shown), shown) : NULL;
    if (!constant)
        return NULL;
    const Constant **otherwise = ARENA_ARRAY(builder->arena, const Constant *, 1);
    otherwise[0] = ext_plain_constant(scope, value, shown);
    constant->items = otherwise;
    constant->count = 1;
    return otherwise[0] ? constant : NULL;
}

static bool is_named(const CodeSnapshot *code, const char *name)
{
    for (uint32_t i = 0; i < code->name_count; i++)
        if (strcmp(code->names[i], name) == 0)
            return true;
    return strchr(name, '.') || strncmp(name, "__", 2) == 0; /* operators and conversions have no names in code */
}

bool ext_read_members(SnapshotScope *scope, CodeSnapshot *out)
{
    SnapshotBuilder *builder = scope->builder;
    if (PyDict_GET_SIZE(builder->state->member_overloads) == 0 || builder->library_depth)
        return true;
    PyObject *known = ext_hold(PyDict_Items(builder->state->member_overloads)); /* threads may add some meanwhile */
    const Constant **members = known ? ARENA_ARRAY(builder->arena, const Constant *, PyList_GET_SIZE(known)) : NULL;
    out->members = members;
    for (Py_ssize_t i = 0; members && i < PyList_GET_SIZE(known); i++) {
        PyObject *pair = PyList_GET_ITEM(known, i);
        const char *text = ext_arena_text(builder->arena, PyTuple_GET_ITEM(pair, 0));
        if (!text)
            return false;
        if (!is_named(out, text))
            continue;
        members[out->member_count] = overloaded(builder, PyTuple_GET_ITEM(pair, 1), text, text);
        if (!members[out->member_count++])
            return false;
    }
    return members != NULL;
}
