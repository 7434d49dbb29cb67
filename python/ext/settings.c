/* What a program can turn on and off while it runs: cujit.config has them under numba's names. */
#include "ext/module_parts.h"
#include "ext/state.h"

static const struct {
    const char *name;
    size_t offset; /* of a bool in ExtState */
} settings[] = {
    {"low_occupancy_warnings", offsetof(ExtState, warns_about_grids)},
    {"implicit_copy_warnings", offsetof(ExtState, warns_about_copies)},
    {"array_interface_sync", offsetof(ExtState, waits_for_arrays)},
};

static bool *find(ExtState *state, const char *name)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(settings[i].name, name) == 0)
            return (bool *)((char *)state + settings[i].offset);
    PyErr_Format(PyExc_KeyError, "there is no setting '%s'", name);
    return NULL;
}

static PyObject *get_setting(PyObject *module, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    const bool *place = text ? find(ext_state(module), text) : NULL;
    return place ? PyBool_FromLong(*place) : NULL;
}

static PyObject *set_setting(PyObject *module, PyObject *args)
{
    const char *name;
    int value;
    if (!PyArg_ParseTuple(args, "sp:set_setting", &name, &value))
        return NULL;
    bool *place = find(ext_state(module), name);
    if (!place)
        return NULL;
    *place = value;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"get_setting", get_setting, METH_O, "Whether the setting of that name is on."},
    {"set_setting", set_setting, METH_VARARGS, "Turns the setting of that name on or off."},
    {0},
};

bool ext_add_settings(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
