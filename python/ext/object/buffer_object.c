/* DeviceBuffer: device memory that is freed with its object; and copies to, from and on the device. */
#include "ext/object/buffer_object.h"

#include "core/base/memory.h"
#include "ext/allocation_place.h"
#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/object/graph_object.h"
#include "ext/object/stream_object.h"
#include "ext/raise.h"
#include "ext/array/array_view.h"

/* Memory that whoever records a graph lends it: is there already, and kept. */
static PyObject *create_scratch(ExtState *state, PyTypeObject *class, RtDevice *device, size_t size)
{
    RtGraph *graph = rt_graph_recorded();
    if (graph)
        rt_graph_lend_memory(graph, true);
    PyObject *made = ext_buffer_create(state, class, device, size);
    if (graph)
        rt_graph_lend_memory(graph, false);
    return made;
}

/* Other threads run while it waits. */
static bool allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    bool waits, ok = rt_allocate_at_once(device, size, pointer, &waits, diag);
    if (!waits)
        return ok;
    Py_BEGIN_ALLOW_THREADS ok = rt_allocate_ordered(device, size, pointer, diag);
    Py_END_ALLOW_THREADS return ok;
}

PyObject *ext_buffer_create(ExtState *state, PyTypeObject *class, RtDevice *device, size_t size)
{
    Diag diag;
    diag_clear(&diag);
    class = class ? class : state->buffer_type;
    ExtBuffer *self = (ExtBuffer *)class->tp_alloc(class, 0);
    if (!self)
        return NULL;
    self->state = state;
    self->device = device;
    self->size = size;
    if (allocate(device, size, &self->pointer, &diag)) {
        ext_note_place(device, RT_POOL_DEVICE, self->pointer);
        return (PyObject *)self;
    }
    self->pointer = 0;
    Py_DECREF(self);
    return ext_raise(&diag);
}

/* The driver's own memory, which others may know from the start. */
static PyObject *create_shared(ExtState *state, PyTypeObject *class, RtDevice *device, size_t size)
{
    Diag diag = {.id = DIAG_NONE};
    ExtBuffer *self = (ExtBuffer *)class->tp_alloc(class, 0);
    if (!self)
        return NULL;
    self->state = state;
    self->device = device;
    self->size = size;
    self->is_shared = true;
    bool ok;
    Py_BEGIN_ALLOW_THREADS ok = rt_allocate(device, size, &self->pointer, &diag);
    Py_END_ALLOW_THREADS if (ok)
    {
        ext_note_place(device, RT_POOL_DEVICE, self->pointer);
        return (PyObject *)self;
    }
    self->pointer = 0;
    Py_DECREF(self);
    return ext_raise(&diag);
}

static PyObject *buffer_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"size", "is_shared", "is_scratch", NULL};
    ExtState *state = ext_state_of_type(class);
    Py_ssize_t size;
    int is_shared = false, is_scratch = false;
    if (!state ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "n|pp:DeviceBuffer", names, &size, &is_shared, &is_scratch))
        return NULL;
    if (size < 0) {
        PyErr_SetString(PyExc_ValueError, "a buffer's size cannot be negative");
        return NULL;
    }
    RtDevice *device = ext_current_device(state);
    if (!device)
        return NULL;
    if (is_scratch)
        return create_scratch(state, class, device, (size_t)size);
    return is_shared ? create_shared(state, class, device, (size_t)size)
                     : ext_buffer_create(state, class, device, (size_t)size);
}

/* --- freeing ---------------------------------------------------------------------------------------------------------------- */
/* In order of the default stream, without waiting. What another library may still use is waited for when it is given away again;
 * memory of the driver's own, now, while other threads run. A failure has nobody to tell: it is the context's, and what comes
 * next will fail with it. */
static void free_now(const ExtDeferred *memory)
{
    Diag ignored;
    diag_clear(&ignored);
    if (memory->is_shared) {
        Py_BEGIN_ALLOW_THREADS rt_free(memory->device, memory->pointer, &ignored);
        Py_END_ALLOW_THREADS
    } else
        rt_free_ordered(memory->device, memory->pointer, &ignored);
}

/* Frees what has been noted, in the order in which it was. */
static void free_deferred(ExtState *state)
{
    ExtDeferred *last = atomic_exchange(&state->deferred, NULL), *first = NULL;
    while (last) {
        ExtDeferred *next = last->next;
        last->next = first;
        first = last;
        last = next;
    }
    while (first) {
        ExtDeferred *next = first->next;
        atomic_fetch_sub(&state->deferred_count, 1);
        free_now(first);
        memory_free(first);
        first = next;
    }
}

/* Whether the memory is noted to be freed later. Whoever notes it when the last end_deferring() is through, frees it. */
static bool defer(ExtState *state, const ExtDeferred *memory)
{
    ExtDeferred *noted = atomic_load(&state->defer_depth) ? memory_try(sizeof *noted) : NULL;
    if (!noted)
        return false;
    *noted = *memory;
    atomic_fetch_add(&state->deferred_count, 1);
    noted->next = atomic_load(&state->deferred);
    while (!atomic_compare_exchange_weak(&state->deferred, &noted->next, noted))
        continue;
    if (!atomic_load(&state->defer_depth))
        free_deferred(state);
    return true;
}

static PyObject *begin_deferring(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    atomic_fetch_add(&ext_state(module)->defer_depth, 1);
    Py_RETURN_NONE;
}

static PyObject *end_deferring(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    ExtState *state = ext_state(module);
    uint32_t depth = atomic_load(&state->defer_depth);
    while (depth && !atomic_compare_exchange_weak(&state->defer_depth, &depth, depth - 1))
        continue;
    if (depth == 1)
        free_deferred(state);
    Py_RETURN_NONE;
}

static PyObject *deferred_count(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromSize_t(ext_state(module)->deferred_count);
}

static PyObject *is_deferring(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(ext_state(module)->defer_depth > 0);
}

static void buffer_dealloc(ExtBuffer *self)
{
    PyTypeObject *class = Py_TYPE(self);
    ExtDeferred memory = {.device = self->device, .pointer = self->pointer, .is_shared = self->is_shared};
    if (self->pointer && !defer(self->state, &memory))
        free_now(&memory);
    class->tp_free(self);
    Py_DECREF(class);
}

static PyMemberDef buffer_members[] = {
    {"pointer", T_ULONGLONG, offsetof(ExtBuffer, pointer), READONLY, "The device address."},
    {"device_pointer", T_ULONGLONG, offsetof(ExtBuffer, pointer), READONLY, "The same, under numba's names:"},
    {"device_pointer_value", T_ULONGLONG, offsetof(ExtBuffer, pointer), READONLY, NULL},
    {"handle", T_ULONGLONG, offsetof(ExtBuffer, pointer), READONLY, NULL},
    {"size", T_PYSSIZET, offsetof(ExtBuffer, size), READONLY, "Bytes."},
    {0},
};

static PyObject *buffer_device(ExtBuffer *self, void *Py_UNUSED(closure))
{
    return ext_device_object(self->state, self->device);
}

static PyGetSetDef buffer_getset[] = {
    {"device", (getter)buffer_device, NULL, "The device whose memory it is.", NULL},
    {0},
};

static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, "Device memory, freed with the object."},
    {Py_tp_new, buffer_new},
    {Py_tp_dealloc, buffer_dealloc},
    {Py_tp_members, buffer_members},
    {Py_tp_getset, buffer_getset},
    {0},
};

static PyType_Spec buffer_spec = {
    .name = "cujit._core.DeviceBuffer",
    .basicsize = sizeof(ExtBuffer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = buffer_slots,
};

/* --- copies ------------------------------------------------------------------------------------------------------------------- */
typedef enum CopyKind { COPY_TO_DEVICE, COPY_TO_HOST, COPY_ON_DEVICE, FILL } CopyKind;

/* Where device memory is: an address on the current device, or a device array's. */
typedef struct Place {
    RtDevice *device;
    RtPointer pointer;
    uint64_t size; /* bytes there at most */
} Place;

typedef struct Copy {
    CopyKind kind;
    Place to, from;
    void *host;
    size_t size;
    uint8_t byte;
} Copy;

static bool read_place(ExtState *state, PyObject *object, Place *place)
{
    if (PyObject_TypeCheck(object, state->device_array_type)) {
        const ExtDeviceArray *array = (const ExtDeviceArray *)object;
        bool is_whole = array->c_contiguous || array->f_contiguous;
        uint64_t size = is_whole ? (uint64_t)array->size * (uint64_t)PyDataType_ELSIZE(array->dtype) : UINT64_MAX;
        *place = (Place){ext_device_of_array(array), array->pointer, size};
        return place->device != NULL;
    }
    *place = (Place){ext_current_device(state), PyLong_AsUnsignedLongLong(object), UINT64_MAX};
    return place->device && !PyErr_Occurred();
}

static bool do_copy(const Copy *copy, RtDevice *device, RtStream *stream, Diag *diag)
{
    switch (copy->kind) {
    case COPY_TO_DEVICE: return rt_copy_to_device(device, copy->to.pointer, copy->host, copy->size, stream, diag);
    case COPY_TO_HOST: return rt_copy_to_host(device, copy->host, copy->from.pointer, copy->size, stream, diag);
    case COPY_ON_DEVICE:
        return rt_copy_between(copy->to.device, copy->to.pointer, copy->from.device, copy->from.pointer, copy->size,
                               stream, diag);
    case FILL: return rt_fill(device, copy->to.pointer, copy->byte, copy->size, stream, diag);
    }
    return false;
}

/* In a stream of another device, whose context need not reach the memory: what is in the stream is done before, and the
 * copy after it. */
static bool do_copy_apart(const Copy *copy, RtDevice *device, RtDevice *stream_device, RtStream *stream, Diag *diag)
{
    return rt_stream_synchronize(stream_device, stream, diag) && do_copy(copy, device, NULL, diag) &&
           rt_stream_synchronize(device, NULL, diag);
}

static bool has_room(const Place *place, size_t size)
{
    if (size > place->size)
        PyErr_Format(PyExc_ValueError, "%zu bytes, but the device array has %llu", size,
                     (unsigned long long)place->size);
    else if (size && !place->pointer)
        PyErr_Format(PyExc_ValueError, "%zu bytes at address 0, where there is no memory", size);
    return !PyErr_Occurred();
}

static PyObject *run_copy(PyObject *module, const Copy *copy, PyObject *stream)
{
    ExtState *state = ext_state(module);
    if ((copy->kind != COPY_TO_HOST && !has_room(&copy->to, copy->size)) ||
        ((copy->kind == COPY_TO_HOST || copy->kind == COPY_ON_DEVICE) && !has_room(&copy->from, copy->size)))
        return NULL;
    RtDevice *device = copy->kind == COPY_TO_HOST ? copy->from.device : copy->to.device;
    PyObject *stream_object = ext_stream_object(state, stream, device);
    if (!stream_object)
        return NULL;
    Diag diag = {.id = DIAG_NONE};
    bool ok = true;
    RtStream *order = ext_rt_stream(stream_object);
    RtDevice *other = rt_stream_is_own(order) ? ((ExtStream *)stream_object)->device : device;
    bool is_apart = other != device && copy->kind != COPY_ON_DEVICE;
    if (copy->size) {
        Py_BEGIN_ALLOW_THREADS ok =
            is_apart ? do_copy_apart(copy, device, other, order, &diag) : do_copy(copy, device, order, &diag);
        Py_END_ALLOW_THREADS
    }
    Py_DECREF(stream_object);
    return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static bool use_host_array(PyObject *object, bool is_written, Copy *copy)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || (!PyArray_IS_C_CONTIGUOUS(array) && !PyArray_IS_F_CONTIGUOUS(array))) {
        PyErr_SetString(PyExc_ValueError, "expected a contiguous NumPy array");
        return false;
    }
    if (is_written && PyArray_FailUnlessWriteable(array, "destination array") < 0)
        return false;
    copy->host = PyArray_DATA(array);
    copy->size = (size_t)PyArray_NBYTES(array);
    return true;
}

/* The copy, which a graph that it becomes a part of needs the two objects for. */
static PyObject *run_kept(PyObject *module, const Copy *copy, PyObject *to, PyObject *from, PyObject *stream)
{
    return ext_graph_keep(to) && ext_graph_keep(from) ? run_copy(module, copy, stream) : NULL;
}

static PyObject *function_copy_to_device(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"to", "array", "stream", NULL};
    PyObject *to, *array, *stream = Py_None;
    Copy copy = {.kind = COPY_TO_DEVICE};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:copy_to_device", names, &to, &array, &stream) ||
        !read_place(ext_state(module), to, &copy.to))
        return NULL;
    return use_host_array(array, false, &copy) ? run_kept(module, &copy, to, array, stream) : NULL;
}

/* Whoever reads the elements at once would find nothing there yet. */
static PyObject *refuse_read(void)
{
    Diag diag = {.id = DIAG_NONE};
    diag_fail(&diag, NULL, DIAG_CAPTURE, "reading elements on the host",
              "copy_to_host(array) into an array of yours is filled by each launch of the graph");
    return ext_raise(&diag);
}

static PyObject *function_copy_to_host(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"array", "place", "stream", "is_read", NULL};
    int is_read = false;
    PyObject *array, *place, *stream = Py_None;
    Copy copy = {.kind = COPY_TO_HOST};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|Op:copy_to_host", names, &array, &place, &stream, &is_read) ||
        !read_place(ext_state(module), place, &copy.from))
        return NULL;
    if (is_read && rt_graph_recorded())
        return refuse_read();
    return use_host_array(array, true, &copy) ? run_kept(module, &copy, array, place, stream) : NULL;
}

static PyObject *function_copy_on_device(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"to", "place", "size", "stream", NULL};
    Py_ssize_t size;
    PyObject *to, *place, *stream = Py_None;
    Copy copy = {.kind = COPY_ON_DEVICE};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOn|O:copy_on_device", names, &to, &place, &size, &stream) ||
        !read_place(ext_state(module), to, &copy.to) || !read_place(ext_state(module), place, &copy.from))
        return NULL;
    copy.size = (size_t)(size < 0 ? 0 : size);
    return run_kept(module, &copy, to, place, stream);
}

static PyObject *function_fill(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"to", "byte", "size", "stream", NULL};
    unsigned char byte;
    Py_ssize_t size;
    PyObject *to, *stream = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Obn|O:fill", names, &to, &byte, &size, &stream))
        return NULL;
    Copy copy = {.kind = FILL, .byte = byte, .size = (size_t)(size < 0 ? 0 : size)};
    return read_place(ext_state(module), to, &copy.to) ? run_kept(module, &copy, to, to, stream) : NULL;
}

static PyMethodDef functions[] = {
    {"copy_to_device", (PyCFunction)(void (*)(void))function_copy_to_device, METH_VARARGS | METH_KEYWORDS,
     "Copies a contiguous host array to a device array's memory, or an address on the current device."},
    {"copy_to_host", (PyCFunction)(void (*)(void))function_copy_to_host, METH_VARARGS | METH_KEYWORDS,
     "Fills a contiguous host array from a device array's memory, or an address on the current device."},
    {"copy_on_device", (PyCFunction)(void (*)(void))function_copy_on_device, METH_VARARGS | METH_KEYWORDS,
     "Copies bytes between device arrays, which may be on several devices, or addresses on the current one."},
    {"fill", (PyCFunction)(void (*)(void))function_fill, METH_VARARGS | METH_KEYWORDS, "Sets bytes of device memory."},
    {"begin_deferring", begin_deferring, METH_NOARGS, "From now on memory is not freed but noted; calls nest."},
    {"deferred_count", deferred_count, METH_NOARGS, "How much memory has been noted: the number of pieces."},
    {"is_deferring", is_deferring, METH_NOARGS, "Whether memory is noted."},
    {"end_deferring", end_deferring, METH_NOARGS, "The outermost of these calls frees what has been noted."},
    {0},
};

bool ext_add_buffers(PyObject *module)
{
    ExtState *state = ext_state(module);
    state->buffer_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &buffer_spec, NULL);
    return state->buffer_type && PyModule_AddType(module, state->buffer_type) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}
