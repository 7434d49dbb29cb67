/* Classes and opcodes that every snapshot asks Python for: looked up when the module is made, and not in each kernel's first
 * launch. NumPy has imported their modules. */
#include "ext/guard.h"
#include "ext/module_parts.h"
#include "ext/state.h"

static PyObject *imported(const char *module, const char *name)
{
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *attribute = imported ? PyObject_GetAttrString(imported, name) : NULL;
    Py_XDECREF(imported);
    return attribute;
}

/* -1 where this Python has no instruction of that name. */
static int opcode_of(PyObject *map, const char *name)
{
    PyObject *number = PyDict_GetItemString(map, name);
    return number ? (int)PyLong_AsLong(number) : -1;
}

static bool read_opcodes(ExtOpcodes *opcodes)
{
    PyObject *map = imported("opcode", "opmap");
    if (!map)
        return false;
    *opcodes = (ExtOpcodes){.load_global = opcode_of(map, "LOAD_GLOBAL"),
                            .load_deref = opcode_of(map, "LOAD_DEREF"),
                            .load_attr = opcode_of(map, "LOAD_ATTR"),
                            .load_method = opcode_of(map, "LOAD_METHOD"),
                            .extended_arg = opcode_of(map, "EXTENDED_ARG")};
    Py_DECREF(map);
    return !PyErr_Occurred();
}

bool ext_add_known_classes(PyObject *module)
{
    ExtState *state = ext_state(module);
    bool found = (state->enum_meta = imported("enum", "EnumMeta")) &&
                 (state->namespace_class = imported("types", "SimpleNamespace")) &&
                 (state->partial_class = imported("functools", "partial"));
    if (!found)
        return false;
    state->lazy_class = imported("types", "LazyImportType");
    return ext_forgive() && read_opcodes(&state->opcodes);
}
