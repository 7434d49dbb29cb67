/* What a program can turn on and off while it runs: cujit.config has them under numba's names. */
#include "core/base/memory.h"
#include "ext/module_parts.h"
#include "ext/state.h"

static const struct {
    const char *name;
    size_t offset; /* of an atomic_bool in ExtState */
} settings[] = {
    {"low_occupancy_warnings", offsetof(ExtState, warns_about_grids)},
    {"implicit_copy_warnings", offsetof(ExtState, warns_about_copies)},
    {"observe_lines", offsetof(ExtState, observes_lines)},
    {"array_interface_sync", offsetof(ExtState, waits_for_arrays)},
};

static atomic_bool *find(ExtState *state, const char *name)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(settings[i].name, name) == 0)
            return (atomic_bool *)((char *)state + settings[i].offset);
    PyErr_Format(PyExc_KeyError, "there is no setting '%s'", name);
    return NULL;
}

static PyObject *get_setting(PyObject *module, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    const atomic_bool *place = text ? find(ext_state(module), text) : NULL;
    return place ? PyBool_FromLong(*place) : NULL;
}

static PyObject *set_setting(PyObject *module, PyObject *args)
{
    const char *name;
    int value;
    if (!PyArg_ParseTuple(args, "sp:set_setting", &name, &value))
        return NULL;
    atomic_bool *place = find(ext_state(module), name);
    if (!place)
        return NULL;
    *place = value;
    Py_RETURN_NONE;
}

#ifdef CUJIT_FAULTS
/* Builds for tests: which request for memory fails from now on. */
static PyObject *fail_memory(PyObject *Py_UNUSED(module), PyObject *args)
{
    long n, failures = memory_failures();
    int for_good = 0;
    if (!PyArg_ParseTuple(args, "l|p:_fail_memory", &n, &for_good))
        return NULL;
    memory_fail_at(n, for_good);
    return PyLong_FromLong(failures);
}
#endif

static PyMethodDef functions[] = {
#ifdef CUJIT_FAULTS
    {"_fail_memory", fail_memory, METH_VARARGS,
     "_fail_memory(n, for_good=False): the n-th request for memory fails, and those behind it if for_good; 0: none. "
     "How "
     "many have failed since the last call."},
#endif
    {"get_setting", get_setting, METH_O, "Whether the setting of that name is on."},
    {"set_setting", set_setting, METH_VARARGS, "Turns the setting of that name on or off."},
    {0},
};

bool ext_add_settings(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
