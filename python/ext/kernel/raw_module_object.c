/* RawModule: PTX or machine code from elsewhere, loaded on each device on which something of it is used. */
#include "ext/kernel.h"

#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/raise.h"

static PyObject *raw_module_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "name", "max_registers", NULL};
    Py_buffer code;
    const char *name;
    int max_registers = 0;
    ExtState *state = ext_state_of_type(class);
    if (!state || !PyArg_ParseTupleAndKeywords(args, kwargs, "y*s|i:RawModule", names, &code, &name, &max_registers))
        return NULL;
    ExtRawModule *self = (ExtRawModule *)class->tp_alloc(class, 0);
    if (self) {
        self->state = state;
        self->raw = jit_raw_module_create(code.buf, (size_t)code.len, name, max_registers);
        if (!self->raw) {
            Py_CLEAR(self);
            PyErr_NoMemory();
        }
    }
    PyBuffer_Release(&code);
    return (PyObject *)self;
}

static void raw_module_dealloc(ExtRawModule *self)
{
    PyTypeObject *class = Py_TYPE(self);
    JitRawModule *raw = self->raw;
    Py_BEGIN_ALLOW_THREADS jit_raw_module_destroy(raw);
    Py_END_ALLOW_THREADS class->tp_free(self);
    Py_DECREF(class);
}

/* The module on the device of this thread. NULL with an exception. */
static RtModule *loaded(const ExtRawModule *self)
{
    RtDevice *device = ext_current_device(self->state);
    if (!device)
        return NULL;
    Diag diag = {.id = DIAG_NONE};
    RtModule *module;
    Py_BEGIN_ALLOW_THREADS module = jit_raw_module_on(self->raw, device, &diag);
    Py_END_ALLOW_THREADS if (!module) ext_raise(&diag);
    return module;
}

static PyObject *raw_module_load(ExtRawModule *self, PyObject *Py_UNUSED(ignored))
{
    RtModule *module = loaded(self);
    return module ? PyLong_FromUnsignedLongLong(rt_module_handle(module)) : NULL;
}

static PyObject *raw_module_attribute(ExtRawModule *self, PyObject *args)
{
    const char *symbol;
    int number, value = 0;
    RtModule *module;
    if (!PyArg_ParseTuple(args, "si:attribute", &symbol, &number) || !(module = loaded(self)))
        return NULL;
    Diag diag = {.id = DIAG_NONE};
    RtKernel *kernel = rt_module_kernel(module, symbol, false, &diag);
    bool ok = kernel && rt_kernel_attribute(kernel, number, &value, &diag);
    rt_kernel_unload(kernel);
    return ok ? PyLong_FromLong(value) : ext_raise(&diag);
}

static PyObject *raw_module_variable(ExtRawModule *self, PyObject *name)
{
    const char *symbol = PyUnicode_AsUTF8(name);
    RtModule *module = symbol ? loaded(self) : NULL;
    if (!module)
        return NULL;
    RtPointer pointer = 0;
    size_t size = 0;
    Diag diag = {.id = DIAG_NONE};
    bool ok = rt_module_global(module, symbol, &pointer, &size, &diag);
    return ok ? Py_BuildValue("(Kn)", (unsigned long long)pointer, (Py_ssize_t)size) : ext_raise(&diag);
}

static PyMethodDef raw_module_methods[] = {
    {"load", (PyCFunction)raw_module_load, METH_NOARGS,
     "The driver's handle on the current device, where it is loaded now."},
    {"attribute", (PyCFunction)raw_module_attribute, METH_VARARGS, "A CUfunction_attribute of a kernel by its number."},
    {"variable", (PyCFunction)raw_module_variable, METH_O, "(address, bytes) of a variable."},
    {0},
};

static PyType_Slot raw_module_slots[] = {
    {Py_tp_doc, "PTX or machine code from elsewhere."},
    {Py_tp_new, raw_module_new},
    {Py_tp_dealloc, raw_module_dealloc},
    {Py_tp_methods, raw_module_methods},
    {0},
};

static PyType_Spec raw_module_spec = {
    .name = "cujit._core.RawModule",
    .basicsize = sizeof(ExtRawModule),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = raw_module_slots,
};

bool ext_add_raw_modules(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->raw_module_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &raw_module_spec, NULL);
    return state->raw_module_type && PyModule_AddType(module, state->raw_module_type) == 0;
}
