/* HostMemory: host memory that a device reaches, freed with its object; and page-locking of memory that is there already. */
#include "ext/allocation_place.h"
#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/raise.h"

typedef struct ExtHostMemory {
    PyObject_HEAD RtDevice *device;
    RtHostBuffer buffer;
} ExtHostMemory;

static const char *const kind_names[] = {
    [RT_HOST_PINNED] = "pinned",
    [RT_HOST_WRITE_COMBINED] = "write-combined",
    [RT_HOST_MANAGED] = "managed",
    [RT_HOST_MANAGED_BY_HOST] = "managed by host",
};

static int kind_by_name(const char *name)
{
    for (int kind = 0; kind < (int)(sizeof kind_names / sizeof *kind_names); kind++)
        if (strcmp(kind_names[kind], name) == 0)
            return kind;
    PyErr_Format(PyExc_ValueError, "there is no host memory of kind '%s'", name);
    return -1;
}

/* --- the object ------------------------------------------------------------------------------------------------------------- */
static PyObject *memory_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"size", "kind", NULL};
    ExtState *state = ext_state_of_type(class);
    Py_ssize_t size;
    const char *name;
    if (!state || !PyArg_ParseTupleAndKeywords(args, kwargs, "ns:HostMemory", names, &size, &name))
        return NULL;
    int kind = kind_by_name(name);
    if (kind < 0)
        return NULL;
    if (size < 0) {
        PyErr_SetString(PyExc_ValueError, "the size of memory cannot be negative");
        return NULL;
    }
    RtDevice *device = ext_current_device(state);
    ExtHostMemory *self = device ? (ExtHostMemory *)class->tp_alloc(class, 0) : NULL;
    if (!self)
        return NULL;
    bool ok;
    Diag diag = {.id = DIAG_NONE};
    self->device = device;
    Py_BEGIN_ALLOW_THREADS ok = rt_allocate_host(device, (RtHostMemory)kind, (size_t)size, &self->buffer, &diag);
    Py_END_ALLOW_THREADS if (ok)
    {
        ext_note_place(device, RT_POOL_PINNED, self->buffer.device);
        return (PyObject *)self;
    }
    self->buffer.host = NULL;
    Py_DECREF(self);
    return ext_raise(&diag);
}

/* A failure has nobody to tell: it is the context's, and what comes next will fail with it. */
static void memory_dealloc(ExtHostMemory *self)
{
    PyTypeObject *class = Py_TYPE(self);
    Diag ignored = {.id = DIAG_NONE};
    if (self->buffer.host) {
        Py_BEGIN_ALLOW_THREADS rt_free_host(self->device, &self->buffer, &ignored);
        Py_END_ALLOW_THREADS
    }
    class->tp_free(self);
    Py_DECREF(class);
}

static int memory_get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    const RtHostBuffer *buffer = &((ExtHostMemory *)self)->buffer;
    return PyBuffer_FillInfo(view, self, buffer->host, (Py_ssize_t)buffer->size, 0, flags);
}

static PyObject *get_device(ExtHostMemory *self, void *Py_UNUSED(closure))
{
    return ext_device_object(ext_state_of_type(Py_TYPE(self)), self->device);
}

static PyMemberDef memory_members[] = {
    {"address", T_ULONGLONG, offsetof(ExtHostMemory, buffer.host), READONLY, "Where the host finds it."},
    {"pointer", T_ULONGLONG, offsetof(ExtHostMemory, buffer.device), READONLY, "Where kernels find it."},
    {"size", T_PYSSIZET, offsetof(ExtHostMemory, buffer.size), READONLY, "Bytes."},
    {0},
};

static PyGetSetDef memory_getset[] = {
    {"device", (getter)get_device, NULL, "The device that was current when it was made.", NULL},
    {0},
};

static PyType_Slot memory_slots[] = {
    {Py_tp_doc, "Host memory that the current device reaches, freed with the object."},
    {Py_tp_new, memory_new},
    {Py_tp_dealloc, memory_dealloc},
    {Py_tp_members, memory_members},
    {Py_tp_getset, memory_getset},
    {Py_bf_getbuffer, memory_get_buffer},
    {0},
};

static PyType_Spec memory_spec = {
    .name = "cujit._core.HostMemory",
    .basicsize = sizeof(ExtHostMemory),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = memory_slots,
};

/* --- a view of any host memory ----------------------------------------------------------------------------------------------- */
typedef struct ExtHostView {
    PyObject_HEAD unsigned long long address;
    Py_ssize_t size;
} ExtHostView;

static int view_init(ExtHostView *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"address", "size", NULL};
    return PyArg_ParseTupleAndKeywords(args, kwargs, "Kn:HostView", names, &self->address, &self->size) ? 0 : -1;
}

static void view_dealloc(PyObject *self)
{
    PyTypeObject *class = Py_TYPE(self);
    class->tp_free(self);
    Py_DECREF(class);
}

static int view_get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    const ExtHostView *self = (ExtHostView *)object;
    return PyBuffer_FillInfo(view, object, (void *)(uintptr_t)self->address, self->size, 0, flags);
}

static PyType_Slot view_slots[] = {
    {Py_tp_doc, "HostView(address, size): host memory that a subclass owns, as a writable buffer."},
    {Py_tp_init, view_init},
    {Py_tp_dealloc, view_dealloc},
    {Py_bf_getbuffer, view_get_buffer},
    {0},
};

static PyType_Spec view_spec = {
    .name = "cujit._core.HostView",
    .basicsize = sizeof(ExtHostView),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = view_slots,
};

/* --- memory that is there already --------------------------------------------------------------------------------------------- */
static PyObject *function_register_host(PyObject *module, PyObject *args)
{
    unsigned long long address;
    Py_ssize_t size;
    RtDevice *device = ext_current_device(ext_state(module));
    if (!device || !PyArg_ParseTuple(args, "Kn:register_host", &address, &size))
        return NULL;
    bool ok;
    RtPointer pointer = 0;
    Diag diag = {.id = DIAG_NONE};
    Py_BEGIN_ALLOW_THREADS ok = rt_register_host(device, (void *)(uintptr_t)address, (size_t)size, &pointer, &diag);
    Py_END_ALLOW_THREADS return ok ? PyLong_FromUnsignedLongLong(pointer) : ext_raise(&diag);
}

static PyObject *function_unregister_host(PyObject *module, PyObject *args)
{
    unsigned long long address;
    RtDevice *device = ext_current_device(ext_state(module));
    if (!device || !PyArg_ParseTuple(args, "K:unregister_host", &address))
        return NULL;
    bool ok;
    Diag diag = {.id = DIAG_NONE};
    Py_BEGIN_ALLOW_THREADS ok = rt_unregister_host(device, (void *)(uintptr_t)address, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyMethodDef functions[] = {
    {"register_host", function_register_host, METH_VARARGS,
     "register_host(address, size): page-locks memory and gives its address for kernels."},
    {"unregister_host", function_unregister_host, METH_VARARGS, "unregister_host(address): undoes register_host."},
    {0},
};

bool ext_add_host_memory(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &memory_spec, NULL);
    bool ok =
        type && PyModule_AddType(module, (PyTypeObject *)type) == 0 && PyModule_AddFunctions(module, functions) == 0;
    Py_XDECREF(type);
    type = ok ? PyType_FromModuleAndSpec(module, &view_spec, NULL) : NULL;
    ok = type && PyModule_AddType(module, (PyTypeObject *)type) == 0;
    Py_XDECREF(type);
    return ok;
}
