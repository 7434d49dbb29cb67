/* Device: the CPU device or a GPU; and which one this thread uses. */
#include "ext/object/device_object.h"

#include <stdlib.h>

#include "ext/module_parts.h"
#include "ext/raise.h"

typedef struct ExtDevice {
    PyObject_HEAD RtDevice *device;
} ExtDevice;

/* --- the current device ---------------------------------------------------------------------------------------------------- */
/* The first GPU; the CPU device where there is none and `may_fall_back`. */
static RtDevice *first_gpu(bool may_fall_back, const char **why, Diag *diag)
{
    bool ok = true;
    RtDevice *device = NULL;
    *why = NULL;
    Py_BEGIN_ALLOW_THREADS int count = rt_gpu_count(why, &ok, diag);
    if (ok && count > 0)
        device = rt_device(RT_GPU, 0, diag);
    else if (ok && may_fall_back)
        device = rt_device(RT_CPU, 0, diag);
    else if (ok)
        diag_fail(diag, NULL, DIAG_DRIVER_MISSING, *why ? *why : "no GPU was found");
    Py_END_ALLOW_THREADS return device;
}

static bool warn_about_fallback(const char *why)
{
    char text[512];
    snprintf(text, sizeof text, "kernels run on the CPU device: %s (CUJIT_DEVICE=cpu chooses it without this warning)",
             why ? why : "no GPU was found");
    return ext_warn("NoGPUWarning", text);
}

RtDevice *ext_choose_device(ExtState *state)
{
    const char *choice = getenv("CUJIT_DEVICE"), *why = NULL;
    Diag diag = {.id = DIAG_NONE};
    RtDevice *device = NULL;
    bool is_auto = !choice || !*choice || strcmp(choice, "auto") == 0;
    if (is_auto || strcmp(choice, "cuda") == 0)
        device = first_gpu(is_auto, &why, &diag);
    else if (strcmp(choice, "cpu") == 0)
        device = rt_device(RT_CPU, 0, &diag);
    else
        diag_fail(&diag, NULL, DIAG_DEVICE_CHOICE, choice);
    if (!device) {
        ext_raise(&diag);
        return NULL;
    }
    RtDevice *none = NULL;
    bool is_first = atomic_compare_exchange_strong(&state->default_device, &none, device);
    if (is_first && is_auto && rt_device_kind(device) == RT_CPU && !warn_about_fallback(why))
        return NULL;
    return device;
}

/* --- the object -------------------------------------------------------------------------------------------------------------- */
PyObject *ext_device_object(ExtState *state, RtDevice *device)
{
    PyObject *key = Py_BuildValue("ii", rt_device_kind(device), rt_device_ordinal(device));
    PyObject *known = NULL;
    int found = key ? PyDict_GetItemRef(state->devices, key, &known) : -1;
    ExtDevice *made = found ? NULL : PyObject_New(ExtDevice, state->device_type);
    if (made) {
        made->device = device;
        PyDict_SetDefaultRef(state->devices, key, (PyObject *)made, &known); /* another thread's, where it was first */
        Py_DECREF(made);
    }
    Py_XDECREF(key);
    return known;
}

static PyObject *device_new(PyTypeObject *class, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"kind", "ordinal", NULL};
    ExtState *state = ext_state_of_type(class);
    const char *kind;
    int ordinal = 0;
    if (!state || !PyArg_ParseTupleAndKeywords(args, kwargs, "s|i:Device", names, &kind, &ordinal))
        return NULL;
    bool is_gpu = strcmp(kind, "cuda") == 0;
    if (!is_gpu && strcmp(kind, "cpu") != 0) {
        PyErr_Format(PyExc_ValueError, "a device is of kind 'cpu' or 'cuda', not '%s'", kind);
        return NULL;
    }
    Diag diag = {.id = DIAG_NONE};
    RtDevice *device;
    Py_BEGIN_ALLOW_THREADS device = rt_device(is_gpu ? RT_GPU : RT_CPU, ordinal, &diag);
    Py_END_ALLOW_THREADS return device ? ext_device_object(state, device) : ext_raise(&diag);
}

static void device_dealloc(ExtDevice *self)
{
    PyTypeObject *class = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(class);
}

static PyObject *device_repr(ExtDevice *self)
{
    char text[200];
    return PyUnicode_FromFormat("<cujit device: %s>", ext_device_text(self->device, text, sizeof text));
}

static PyObject *get_kind(ExtDevice *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(rt_device_kind(self->device) == RT_CPU ? "cpu" : "cuda");
}

static PyObject *get_id(ExtDevice *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(rt_device_ordinal(self->device));
}

static PyObject *get_name(ExtDevice *self, void *Py_UNUSED(closure))
{
    return PyUnicode_DecodeUTF8(rt_device_name(self->device), (Py_ssize_t)strlen(rt_device_name(self->device)),
                                "replace");
}

static PyObject *get_sm(ExtDevice *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(rt_device_sm(self->device));
}

static PyObject *device_attribute(ExtDevice *self, PyObject *number)
{
    Diag diag = {.id = DIAG_NONE};
    int value;
    long attribute = PyLong_AsLong(number);
    if (attribute == -1 && PyErr_Occurred())
        return NULL;
    return rt_device_attribute(self->device, (int)attribute, &value, &diag) ? PyLong_FromLong(value) : ext_raise(&diag);
}

static PyObject *device_uuid(ExtDevice *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    uint8_t uuid[16];
    return rt_device_uuid(self->device, uuid, &diag) ? PyBytes_FromStringAndSize((char *)uuid, 16) : ext_raise(&diag);
}

static PyObject *device_synchronize(ExtDevice *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    bool ok;
    Py_BEGIN_ALLOW_THREADS ok = rt_synchronize(self->device, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *device_memory_info(ExtDevice *self, PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    size_t available, total;
    bool ok = rt_memory_info(self->device, &available, &total, &diag);
    return ok ? Py_BuildValue("nn", (Py_ssize_t)available, (Py_ssize_t)total) : ext_raise(&diag);
}

/* Numbers of a tuple; how many, -1 with an exception. */
static Py_ssize_t read_axes(PyObject *tuple, int64_t *out)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > TENSOR_MAP_MOST_AXES)
        count = TENSOR_MAP_MOST_AXES + 1;
    for (Py_ssize_t i = 0; i < count && i < TENSOR_MAP_MOST_AXES; i++)
        if ((out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i))) == -1 && PyErr_Occurred())
            return -1;
    return count;
}

static PyObject *device_tensor_map(ExtDevice *self, PyObject *arguments)
{
    Diag diag = {.id = DIAG_NONE};
    TensorMap map = {.axes = 0};
    TensorMapWords words;
    PyObject *extents, *strides, *box;
    unsigned long long pointer;
    int64_t edges[TENSOR_MAP_MOST_AXES];
    int swizzle;
    if (!PyArg_ParseTuple(arguments, "KIO!O!O!i", &pointer, &map.element_size, &PyTuple_Type, &extents, &PyTuple_Type,
                          &strides, &PyTuple_Type, &box, &swizzle))
        return NULL;
    map.pointer = pointer;
    map.swizzle = (uint32_t)swizzle;
    Py_ssize_t axes = read_axes(extents, map.extents), steps = read_axes(strides, map.strides),
               count = read_axes(box, edges);
    if (axes < 0 || steps < 0 || count < 0)
        return NULL;
    if (axes != steps || axes != count)
        return PyErr_Format(PyExc_ValueError, "cuda.tensor_map: the box has %zd axes, the array %zd", count, axes);
    map.axes = (uint32_t)axes;
    for (Py_ssize_t i = 0; i < axes && i < TENSOR_MAP_MOST_AXES; i++)
        map.box[i] = edges[i] < 0 || edges[i] > INT32_MAX ? 0 : (uint32_t)edges[i];
    bool ok = rt_tensor_map(self->device, &map, &words, &diag);
    return ok ? PyBytes_FromStringAndSize((const char *)&words, sizeof words) : ext_raise(&diag);
}

/* The argument of what follows: whether pinned memory is meant. */
static bool read_pool(PyObject *is_pinned, RtPoolKind *kind)
{
    int truth = PyObject_IsTrue(is_pinned);
    *kind = truth > 0 ? RT_POOL_PINNED : RT_POOL_DEVICE;
    return truth >= 0;
}

static PyObject *device_pool_use(ExtDevice *self, PyObject *is_pinned)
{
    RtPoolKind kind;
    RtPoolUse use;
    Diag diag = {.id = DIAG_NONE};
    if (!read_pool(is_pinned, &kind))
        return NULL;
    return rt_pool_use(self->device, kind, &use, &diag)
               ? Py_BuildValue("nnnnK", (Py_ssize_t)use.used_bytes, (Py_ssize_t)use.kept_bytes,
                               (Py_ssize_t)use.kept_blocks, (Py_ssize_t)use.limit, (unsigned long long)use.allocations)
               : ext_raise(&diag);
}

static PyObject *device_pool_total(ExtDevice *self, PyObject *is_pinned)
{
    RtPoolKind kind;
    size_t total;
    Diag diag = {.id = DIAG_NONE};
    if (!read_pool(is_pinned, &kind))
        return NULL;
    return rt_pool_total(self->device, kind, &total, &diag) ? PyLong_FromSize_t(total) : ext_raise(&diag);
}

static PyObject *device_empty_pool(ExtDevice *self, PyObject *is_pinned)
{
    RtPoolKind kind;
    bool ok;
    Diag diag = {.id = DIAG_NONE};
    if (!read_pool(is_pinned, &kind))
        return NULL;
    Py_BEGIN_ALLOW_THREADS ok = rt_pool_empty(self->device, kind, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *device_limit_pool(ExtDevice *self, PyObject *args)
{
    int is_pinned;
    Py_ssize_t limit;
    Diag diag = {.id = DIAG_NONE};
    if (!PyArg_ParseTuple(args, "pn:limit_pool", &is_pinned, &limit))
        return NULL;
    RtPoolKind kind = is_pinned ? RT_POOL_PINNED : RT_POOL_DEVICE;
    return rt_pool_limit(self->device, kind, (size_t)limit, &diag) ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static RtDevice *peer_of(ExtDevice *self, PyObject *peer)
{
    if (Py_TYPE(peer) == Py_TYPE(self))
        return ((ExtDevice *)peer)->device;
    PyErr_Format(PyExc_TypeError, "expected a Device, got %R", peer);
    return NULL;
}

static PyObject *device_can_access_peer(ExtDevice *self, PyObject *other)
{
    bool can;
    Diag diag = {.id = DIAG_NONE};
    RtDevice *peer = peer_of(self, other);
    if (!peer)
        return NULL;
    return rt_can_access_peer(self->device, peer, &can, &diag) ? PyBool_FromLong(can) : ext_raise(&diag);
}

static PyObject *device_enable_peer_access(ExtDevice *self, PyObject *other)
{
    bool ok;
    Diag diag = {.id = DIAG_NONE};
    RtDevice *peer = peer_of(self, other);
    if (!peer)
        return NULL;
    Py_BEGIN_ALLOW_THREADS ok = rt_enable_peer_access(self->device, peer, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *device_make_current(ExtDevice *self, PyObject *Py_UNUSED(ignored))
{
    uint64_t former;
    Diag diag = {.id = DIAG_NONE};
    return rt_make_current(self->device, &former, &diag) ? PyLong_FromUnsignedLongLong(former) : ext_raise(&diag);
}

static PyObject *device_restore_current(ExtDevice *self, PyObject *former)
{
    Diag diag = {.id = DIAG_NONE};
    uint64_t context = PyLong_AsUnsignedLongLong(former);
    if (PyErr_Occurred())
        return NULL;
    return rt_restore_current(self->device, context, &diag) ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *get_context(ExtDevice *self, void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(rt_device_context(self->device));
}

static PyGetSetDef device_getset[] = {
    {"kind", (getter)get_kind, NULL, "'cpu' or 'cuda'.", NULL},
    {"id", (getter)get_id, NULL, "The number of the device among those of its kind.", NULL},
    {"name", (getter)get_name, NULL, NULL, NULL},
    {"context", (getter)get_context, NULL, "The CUcontext as a number; 0 for the CPU device.", NULL},
    {"sm", (getter)get_sm, NULL, "90 for compute capability 9.0; 0 for the CPU device.", NULL},
    {0},
};

static PyMethodDef device_methods[] = {
    {"attribute", (PyCFunction)device_attribute, METH_O, "A CUdevice_attribute by its number."},
    {"__reduce__", ext_refuse_pickle, METH_NOARGS, NULL},
    {"uuid", (PyCFunction)device_uuid, METH_NOARGS, NULL},
    {"synchronize", (PyCFunction)device_synchronize, METH_NOARGS, "Waits for all work on the device."},
    {"tensor_map", (PyCFunction)device_tensor_map, METH_VARARGS,
     "tensor_map(pointer, itemsize, shape, strides, box, swizzle): the 128 bytes of a tensor map."},
    {"memory_info", (PyCFunction)device_memory_info, METH_NOARGS, "(free, total) bytes."},
    {"pool_use", (PyCFunction)device_pool_use, METH_O,
     "pool_use(is_pinned): (bytes in use, bytes kept, blocks kept, limit or 0, how often the driver was asked)."},
    {"pool_total", (PyCFunction)device_pool_total, METH_O, "pool_total(is_pinned): the bytes there are."},
    {"empty_pool", (PyCFunction)device_empty_pool, METH_O, "empty_pool(is_pinned): gives back what is kept."},
    {"limit_pool", (PyCFunction)device_limit_pool, METH_VARARGS, "limit_pool(is_pinned, bytes); 0: no limit."},
    {"make_current", (PyCFunction)device_make_current, METH_NOARGS,
     "Makes its context the thread's; the former one, for restore_current."},
    {"restore_current", (PyCFunction)device_restore_current, METH_O, NULL},
    {"can_access_peer", (PyCFunction)device_can_access_peer, METH_O, "Whether kernels could use the peer's memory."},
    {"enable_peer_access", (PyCFunction)device_enable_peer_access, METH_O, "Lets kernels use the peer's memory."},
    {0},
};

static PyType_Slot device_slots[] = {
    {Py_tp_doc, "The CPU device or a GPU; there is one object for each."},
    {Py_tp_new, device_new},
    {Py_tp_dealloc, device_dealloc},
    {Py_tp_repr, device_repr},
    {Py_tp_getset, device_getset},
    {Py_tp_methods, device_methods},
    {0},
};

static PyType_Spec device_spec = {
    .name = "cujit._core.Device",
    .basicsize = sizeof(ExtDevice),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = device_slots,
};

/* --- functions of the module --------------------------------------------------------------------------------------------------- */
static PyObject *function_gpu_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    bool ok = true;
    int count;
    Py_BEGIN_ALLOW_THREADS count = rt_gpu_count(NULL, &ok, &diag);
    Py_END_ALLOW_THREADS return ok ? PyLong_FromLong(count) : ext_raise(&diag);
}

static PyObject *function_cpu_count(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    int count;
    return rt_cpu_count(&count, &diag) ? PyLong_FromLong(count) : ext_raise(&diag);
}

static PyObject *function_gpu_missing_reason(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    bool ok = true;
    const char *why = NULL;
    int count;
    Py_BEGIN_ALLOW_THREADS count = rt_gpu_count(&why, &ok, &diag);
    Py_END_ALLOW_THREADS if (!ok) return PyUnicode_FromString(diag.message);
    return count > 0 || !why ? Py_NewRef(Py_None) : PyUnicode_FromString(why);
}

static PyObject *function_driver_version(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    int version;
    return rt_driver_version(&version, &diag) ? PyLong_FromLong(version) : ext_raise(&diag);
}

static PyObject *function_current_device(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    RtDevice *device = ext_current_device(ext_state(module));
    return device ? ext_device_object(ext_state(module), device) : NULL;
}

static PyObject *function_set_current_device(PyObject *module, PyObject *device)
{
    ExtState *state = ext_state(module);
    if (device == Py_None) {
        pthread_setspecific(state->thread_device, NULL);
        Py_RETURN_NONE;
    }
    if (!PyObject_TypeCheck(device, state->device_type)) {
        PyErr_Format(PyExc_TypeError, "expected a Device, got %R", device);
        return NULL;
    }
    pthread_setspecific(state->thread_device, ((ExtDevice *)device)->device);
    state->has_chosen_devices = true;
    Py_RETURN_NONE;
}

static PyObject *function_synchronize(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    bool ok;
    Diag diag = {.id = DIAG_NONE};
    ExtState *state = ext_state(module);
    RtDevice *device = ext_current_device(state);
    if (!device)
        return NULL;
    bool is_chosen = ext_chosen_device(state) != NULL;
    Py_BEGIN_ALLOW_THREADS ok = is_chosen ? rt_synchronize(device, &diag) : rt_synchronize_all(device, &diag);
    Py_END_ALLOW_THREADS return ok ? Py_NewRef(Py_None) : ext_raise(&diag);
}

static PyObject *function_chosen_device(PyObject *module, PyObject *Py_UNUSED(ignored))
{
    ExtState *state = ext_state(module);
    RtDevice *chosen = ext_chosen_device(state);
    return chosen ? ext_device_object(state, chosen) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"gpu_count", function_gpu_count, METH_NOARGS, "The number of GPUs; 0 without a driver."},
    {"cpu_count", function_cpu_count, METH_NOARGS, "The number of CPU devices: CUJIT_CPU_DEVICES, else 1."},
    {"gpu_missing_reason", function_gpu_missing_reason, METH_NOARGS, "Why there is no GPU; None where there is one."},
    {"driver_version", function_driver_version, METH_NOARGS, "13000 for CUDA 13.0."},
    {"current_device", function_current_device, METH_NOARGS, "The device that this thread uses."},
    {"set_current_device", function_set_current_device, METH_O,
     "Chooses the device that this thread uses; None: the first one, or where the arguments are."},
    {"synchronize", function_synchronize, METH_NOARGS,
     "Waits for the device that this thread has chosen, or for all that are in use."},
    {"chosen_device", function_chosen_device, METH_NOARGS, "The device that this thread has chosen, or None."},
    {0},
};

bool ext_add_devices(PyObject *module)
{
    ExtState *state = ext_state(module);
    if (pthread_key_create(&state->thread_device, NULL) != 0) {
        PyErr_SetString(PyExc_OSError, "no key for a thread's device is left");
        return false;
    }
    state->has_thread_device_key = true;
    state->devices = PyDict_New();
    state->device_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &device_spec, NULL);
    return state->devices && state->device_type && PyModule_AddType(module, state->device_type) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}
