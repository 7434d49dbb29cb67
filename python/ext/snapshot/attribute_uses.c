/* A module is asked for what the code reads of it. Were it asked for all names in the code, `x.shape` beside `np.float32`
 * would read np.shape, and import what stands for that in kernels; and cuda would look for a submodule of that name. */
#include "ext/snapshot/attribute_uses.h"

/* None for the name: its value is used in other ways. */
static bool note_other_use(PyObject *uses, PyObject *name) { return PyDict_SetItem(uses, name, Py_None) == 0; }

static bool note_attribute(PyObject *uses, PyObject *name, PyObject *attribute)
{
    PyObject *known = PyDict_GetItemWithError(uses, name);
    if (known == Py_None)
        return true;
    if (known) {
        int found = PySequence_Contains(known, attribute);
        return found > 0 || (found == 0 && PyList_Append(known, attribute) == 0);
    }
    PyObject *list = PyErr_Occurred() ? NULL : PyList_New(0);
    bool ok = list && PyList_Append(list, attribute) == 0 && PyDict_SetItem(uses, name, list) == 0;
    Py_XDECREF(list);
    return ok;
}

/* The item of a tuple, or NULL behind its end. */
static PyObject *item_of(PyObject *tuple, uint32_t place)
{
    return place < (size_t)PyTuple_GET_SIZE(tuple) ? PyTuple_GET_ITEM(tuple, place) : NULL;
}

/* The global or free variable that the instruction loads, or NULL. */
static PyObject *loaded_name(const SnapshotBuilder *builder, const PyCodeObject *code, int opcode, uint32_t argument)
{
    if (opcode == builder->state->opcodes.load_global)
        return item_of(code->co_names, argument >> 1); /* the lowest bit says whether a call follows */
    return opcode == builder->state->opcodes.load_deref ? item_of(code->co_localsplusnames, argument) : NULL;
}

/* The attribute that the instruction reads of what the one before it loaded, or NULL. */
static PyObject *read_attribute(const SnapshotBuilder *builder, const PyCodeObject *code, int opcode, uint32_t argument)
{
    if (opcode == builder->state->opcodes.load_attr)
        return item_of(code->co_names, PY_VERSION_HEX >= 0x030C0000 ? argument >> 1 : argument);
    return opcode == builder->state->opcodes.load_method ? item_of(code->co_names, argument) : NULL;
}

static bool collect_own(const SnapshotBuilder *builder, PyObject *uses, PyCodeObject *code)
{
    enum { CACHE = 0 };
    PyObject *bytes = ext_hold(PyCode_GetCode(code)), *loaded = NULL;
    if (!bytes)
        return false;
    const uint8_t *unit = (const uint8_t *)PyBytes_AS_STRING(bytes), *end = unit + PyBytes_GET_SIZE(bytes);
    uint32_t argument = 0;
    for (bool ok = true; unit + 1 < end; unit += 2) {
        argument = argument << 8 | unit[1];
        if (unit[0] == CACHE || unit[0] == builder->state->opcodes.extended_arg)
            continue;
        PyObject *attribute = loaded ? read_attribute(builder, code, unit[0], argument) : NULL;
        if (loaded)
            ok = attribute ? note_attribute(uses, loaded, attribute) : note_other_use(uses, loaded);
        if (!ok)
            return false;
        loaded = loaded_name(builder, code, unit[0], argument);
        argument = 0;
    }
    return !loaded || note_other_use(uses, loaded);
}

static bool collect(const SnapshotBuilder *builder, PyObject *uses, PyCodeObject *code)
{
    if (!collect_own(builder, uses, code))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i);
        if (PyCode_Check(constant) && !collect(builder, uses, (PyCodeObject *)constant))
            return false;
    }
    return true;
}

PyObject *ext_attribute_uses(const SnapshotBuilder *builder, PyCodeObject *code)
{
    PyObject *uses = ext_hold(PyDict_New());
    return uses && collect(builder, uses, code) ? uses : NULL;
}
