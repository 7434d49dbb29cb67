/* Memory managers written in Python, in the place of the driver's pool; and memory that processes share. */
#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/raise.h"

#include <stdatomic.h>

/* --- the manager --------------------------------------------------------------------------------------------------------- */
/* The runtime's table has no place for data: the process has one manager, that of the module that set it last. */
static _Atomic(ExtState *) manager_state;

/* The exception's class and text, as a failure of the runtime. */
static bool fail_allocation(RtDevice *device, size_t size, Diag *diag)
{
    PyObject *type, *value, *trace;
    char text[160];
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *shown = value ? PyObject_Str(value) : NULL;
    const char *what = shown ? PyUnicode_AsUTF8(shown) : NULL;
    snprintf(text, sizeof text, "%s: %s", type ? ((PyTypeObject *)type)->tp_name : "no address", what ? what : "");
    PyErr_Clear();
    Py_XDECREF(shown);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return diag_fail(diag, NULL, DIAG_MEMORY_MANAGER, size, rt_device_name(device), text);
}

/* Called with the GIL or without. */
static bool allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    ExtState *state = manager_state;
    PyObject *object = ext_device_object(state, device);
    PyObject *address = object ? PyObject_CallFunction(state->memory_allocate, "On", object, (Py_ssize_t)size) : NULL;
    *pointer = address ? PyLong_AsUnsignedLongLong(address) : 0;
    bool ok = !PyErr_Occurred() || fail_allocation(device, size, diag);
    Py_XDECREF(address);
    Py_XDECREF(object);
    PyGILState_Release(gil);
    return ok;
}

/* Within the destructors of arrays: what is raised there has nobody to tell, and what was raised before stays. */
static bool release(RtDevice *device, RtPointer pointer)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    ExtState *state = manager_state;
    PyObject *object = state->memory_release ? ext_device_object(state, device) : NULL;
    PyObject *done =
        object ? PyObject_CallFunction(state->memory_release, "OK", object, (unsigned long long)pointer) : NULL;
    bool released = done == Py_True;
    if (!done && object)
        PyErr_WriteUnraisable(state->memory_release);
    Py_XDECREF(done);
    Py_XDECREF(object);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
    return released;
}

static const RtMemoryManager manager = {allocate, release};

static PyObject *function_set_memory_manager(PyObject *module, PyObject *args)
{
    ExtState *state = ext_state(module);
    PyObject *allocates, *releases;
    if (!PyArg_ParseTuple(args, "OO:set_memory_manager", &allocates, &releases))
        return NULL;
    if (allocates == Py_None) {
        rt_set_memory_manager(NULL);
        Py_RETURN_NONE;
    }
    Py_XSETREF(state->memory_allocate, Py_NewRef(allocates));
    Py_XSETREF(state->memory_release, Py_NewRef(releases));
    manager_state = state;
    rt_set_memory_manager(&manager);
    Py_RETURN_NONE;
}

/* --- memory that processes share --------------------------------------------------------------------------------------------- */
static PyObject *function_memory_range(PyObject *module, PyObject *args)
{
    size_t size;
    RtPointer start;
    unsigned long long pointer;
    Diag diag = {.id = DIAG_NONE};
    RtDevice *device = ext_current_device(ext_state(module));
    if (!device || !PyArg_ParseTuple(args, "K:memory_range", &pointer))
        return NULL;
    return rt_memory_range(device, pointer, &start, &size, &diag)
               ? Py_BuildValue("Kn", (unsigned long long)start, (Py_ssize_t)size)
               : ext_raise(&diag);
}

static PyObject *function_export_memory(PyObject *module, PyObject *args)
{
    RtExport handle;
    unsigned long long pointer;
    Diag diag = {.id = DIAG_NONE};
    RtDevice *device = ext_current_device(ext_state(module));
    if (!device || !PyArg_ParseTuple(args, "K:export_memory", &pointer))
        return NULL;
    return rt_export_memory(device, pointer, &handle, &diag)
               ? PyBytes_FromStringAndSize((const char *)handle.bytes, sizeof handle.bytes)
               : ext_raise(&diag);
}

static PyObject *function_import_memory(PyObject *module, PyObject *args)
{
    bool ok;
    RtPointer pointer;
    const char *bytes;
    Py_ssize_t size;
    RtExport handle;
    Diag diag = {.id = DIAG_NONE};
    RtDevice *device = ext_current_device(ext_state(module));
    if (!device || !PyArg_ParseTuple(args, "y#:import_memory", &bytes, &size))
        return NULL;
    if (size != sizeof handle.bytes) {
        PyErr_Format(PyExc_ValueError, "a handle has %zu bytes, not %zd", sizeof handle.bytes, size);
        return NULL;
    }
    memcpy(handle.bytes, bytes, sizeof handle.bytes);
    Py_BEGIN_ALLOW_THREADS ok = rt_import_memory(device, &handle, &pointer, &diag);
    Py_END_ALLOW_THREADS return ok ? PyLong_FromUnsignedLongLong(pointer) : ext_raise(&diag);
}

static PyObject *function_close_import(PyObject *module, PyObject *args)
{
    bool ok;
    unsigned long long pointer;
    Diag diag = {.id = DIAG_NONE};
    RtDevice *device = ext_current_device(ext_state(module));
    if (!device || !PyArg_ParseTuple(args, "K:close_import", &pointer))
        return NULL;
    Py_BEGIN_ALLOW_THREADS ok = rt_close_import(device, pointer, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyMethodDef functions[] = {
    {"set_memory_manager", function_set_memory_manager, METH_VARARGS,
     "set_memory_manager(allocate, release): device memory comes from allocate(Device, size), which gives an address, "
     "and "
     "goes to release(Device, address), which says whether it was its own. (None, None): it comes from the driver."},
    {"memory_range", function_memory_range, METH_VARARGS,
     "memory_range(address): (start, size) of the allocation of the current device; size 0 where that is not known."},
    {"export_memory", function_export_memory, METH_VARARGS, "export_memory(address): a handle for other processes."},
    {"import_memory", function_import_memory, METH_VARARGS, "import_memory(handle): the address in this process."},
    {"close_import", function_close_import, METH_VARARGS, "close_import(address): undoes import_memory."},
    {0},
};

bool ext_add_memory_manager(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
