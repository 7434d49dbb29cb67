/* Arrays of other libraries as device arrays or NumPy arrays over their memory, and device arrays as DLPack's capsules. What
 * is asked of whom, and which stream waits for which, is decided in Python. */
#include "ext/array/dlpack_type.h"
#include "ext/array/dlpack_view.h"
#include "ext/array/element_types.h"
#include "ext/module_parts.h"
#include "ext/object/device_object.h"
#include "ext/object/launch_device.h"
#include "ext/raise.h"

/* --- memory of other libraries as arrays ------------------------------------------------------------------------------- */
/* The device that an array's memory is seen from: the one whose memory it is, or the current one. NULL with an exception. */
static RtDevice *device_of(ExtState *state, const ExtArrayView *view, RtPointer pointer)
{
    RtDevice *device = ext_current_device(state);
    Diag diag = {.id = DIAG_NONE};
    if (!device || view->ordinal < 0)
        return device ? ext_device_of_pointer(device, pointer) : NULL;
    if (rt_device_kind(device) == RT_CPU) {
        PyErr_SetString(PyExc_ValueError, "the array is in memory of a GPU, and the current device is the CPU device");
        return NULL;
    }
    if (view->ordinal == rt_device_ordinal(device))
        return device;
    device = rt_device(RT_GPU, view->ordinal, &diag);
    if (!device)
        ext_raise(&diag);
    return device;
}

/* A device array of that class over the memory, which `base` keeps. */
static PyObject *array_over(ExtState *state, PyTypeObject *class, const ExtArrayView *view, RtPointer pointer,
                            PyObject *base)
{
    RtDevice *device = device_of(state, view, pointer);
    PyArray_Descr *dtype = device ? ext_dtype_of_type(view->element) : NULL;
    ExtDeviceArray *made = dtype ? (ExtDeviceArray *)class->tp_new(class, NULL, NULL) : NULL;
    if (!made) {
        Py_XDECREF(dtype);
        return NULL;
    }
    Py_SETREF(made->dtype, dtype);
    Py_SETREF(made->base, Py_NewRef(base));
    made->element = view->element;
    made->device = device;
    made->pointer = pointer;
    made->read_only = view->read_only;
    made->c_contiguous = view->c_contiguous;
    made->f_contiguous = view->f_contiguous;
    made->ndim = view->ndim;
    made->size = 1;
    for (int axis = 0; axis < view->ndim; axis++) {
        made->shape[axis] = view->shape[axis];
        made->strides[axis] = view->strides[axis];
        made->size *= view->shape[axis];
    }
    return (PyObject *)made;
}

/* The stream whose work on the array has to be done first: None, or its handle. */
static PyObject *stream_of(const ExtArrayView *view, const RtDevice *device)
{
    uint64_t handle = view->stream_handle;
    int ordinal = view->ordinal < 0 ? rt_device_ordinal(device) : view->ordinal;
    if (!view->kind && !view->has_stream)
        Py_RETURN_NONE;
    if (view->kind && !ext_current_stream_of(view->kind, ordinal, &handle))
        return NULL;
    return PyLong_FromUnsignedLongLong(handle);
}

static PyObject *function_view_array(PyObject *module, PyObject *args)
{
    ExtState *state = ext_state(module);
    PyTypeObject *class;
    PyObject *value;
    ExtArrayView view;
    if (!PyArg_ParseTuple(args, "O!O:view_array", &PyType_Type, &class, &value))
        return NULL;
    if (!PyType_IsSubtype(class, state->device_array_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a class of device arrays");
        return NULL;
    }
    int is_array = ext_array_view(state, value, &view);
    if (is_array < 0)
        return NULL;
    PyObject *array = NULL, *stream = NULL, *result = NULL;
    if (is_array && view.is_foreign) {
        array = array_over(state, class, &view, view.pointer, view.owner ? view.owner : value);
        stream = array ? stream_of(&view, ((ExtDeviceArray *)array)->device) : NULL;
        result = stream ? PyTuple_Pack(2, array, stream) : NULL;
    } else
        result = Py_NewRef(Py_None);
    if (is_array)
        Py_XDECREF(view.owner);
    Py_XDECREF(array);
    Py_XDECREF(stream);
    return result;
}

/* The dtype that programs see; a view where the array has another one. */
static PyObject *with_dtype(PyArrayObject *array, const Type *element)
{
    PyArray_Descr *dtype = ext_dtype_of_type(element);
    if (!dtype || dtype == PyArray_DESCR(array)) {
        Py_XDECREF(dtype);
        return dtype ? Py_NewRef((PyObject *)array) : NULL;
    }
    return PyArray_View(array, dtype, NULL);
}

static PyObject *function_host_array(PyObject *module, PyObject *value)
{
    ExtArrayView view;
    int is_array = ext_array_view(ext_state(module), value, &view);
    if (is_array < 0)
        return NULL;
    if (!is_array)
        Py_RETURN_NONE;
    PyObject *result = view.host && view.owner ? with_dtype(view.host, view.element) : Py_NewRef(Py_None);
    Py_XDECREF(view.owner);
    return result;
}

static PyObject *function_is_in_device_memory(PyObject *module, PyObject *value)
{
    ExtState *state = ext_state(module);
    DlpackDevice device = {0};
    const ExtArrayKind *kind = ext_array_kind(state, Py_TYPE(value));
    if (PyErr_Occurred())
        return NULL;
    if (kind && kind->cupy_stream)
        Py_RETURN_TRUE;
    if (!kind && !PyType_Check(value)) {
        PyObject *interface = PyObject_GetAttr(value, state->array_interface_name);
        bool has_none = !interface && PyErr_ExceptionMatches(PyExc_AttributeError);
        Py_XDECREF(interface);
        if (!has_none)
            return interface ? Py_NewRef(Py_True) : NULL;
        PyErr_Clear();
    }
    int known = PyArray_Check(value) || PyType_Check(value) ? 0 : ext_ask_dlpack_device(state, value, &device);
    return known < 0 ? NULL : PyBool_FromLong(known && device.kind != DLPACK_CPU);
}

/* --- capsules taken over ----------------------------------------------------------------------------------------------------- */
static const char owner_name[] = "cujit taken capsule";

static void release_versioned(PyObject *capsule)
{
    DlpackVersioned *managed = PyCapsule_GetPointer(capsule, owner_name);
    if (managed->deleter)
        managed->deleter(managed);
}

static void release_legacy(PyObject *capsule)
{
    DlpackManaged *managed = PyCapsule_GetPointer(capsule, owner_name);
    if (managed->deleter)
        managed->deleter(managed);
}

/* What gives the memory back when it goes, in the place of a capsule that was read; from then on that one does nothing. */
static PyObject *take_over(PyObject *capsule)
{
    bool is_versioned = PyCapsule_IsValid(capsule, DLPACK_VERSIONED_NAME);
    const char *name = is_versioned ? DLPACK_VERSIONED_NAME : DLPACK_NAME;
    PyObject *owner = PyCapsule_New(PyCapsule_GetPointer(capsule, name), owner_name, NULL);
    if (!owner || PyCapsule_SetName(capsule, is_versioned ? DLPACK_USED_VERSIONED_NAME : DLPACK_USED_NAME) != 0) {
        Py_XDECREF(owner);
        return NULL;
    }
    PyCapsule_SetDestructor(owner, is_versioned ? release_versioned : release_legacy);
    return owner;
}

static bool can_be_here(ExtState *state, const ExtArrayView *view)
{
    const RtDevice *device = ext_current_device(state);
    if (!device)
        return false;
    if (view->host && rt_device_kind(device) == RT_GPU) {
        PyErr_SetString(PyExc_BufferError,
                        "the array is in host memory, and the current device is a GPU; cuda.to_device "
                        "makes a copy there");
        return false;
    }
    return true;
}

static PyObject *function_from_capsule(PyObject *module, PyObject *args)
{
    ExtState *state = ext_state(module);
    PyTypeObject *class;
    PyObject *capsule;
    const DlpackTensor *tensor;
    uint64_t flags;
    ExtArrayView view;
    if (!PyArg_ParseTuple(args, "O!O:from_capsule", &PyType_Type, &class, &capsule))
        return NULL;
    if (!ext_read_capsule(capsule, &tensor, &flags) || !ext_view_tensor(state, tensor, flags, capsule, &view))
        return NULL;
    RtPointer pointer = view.host ? (RtPointer)(uintptr_t)PyArray_DATA(view.host) : view.pointer;
    PyObject *array = can_be_here(state, &view) ? array_over(state, class, &view, pointer, Py_None) : NULL;
    Py_XDECREF(view.owner);
    PyObject *owner = array ? take_over(capsule) : NULL;
    if (!owner) {
        Py_XDECREF(array);
        return NULL;
    }
    Py_SETREF(((ExtDeviceArray *)array)->base, owner);
    return array;
}

static PyObject *function_ask_capsule(PyObject *module, PyObject *value)
{
    ExtState *state = ext_state(module);
    DlpackDevice device;
    PyObject *method = PyObject_GetAttr(value, state->dlpack_name);
    int known = method ? ext_ask_dlpack_device(state, value, &device) : -1;
    if (known == 0)
        PyErr_Format(PyExc_AttributeError, "'%s' has no __dlpack_device__", Py_TYPE(value)->tp_name);
    PyObject *capsule = known > 0 ? ext_ask_capsule(method, device.kind == DLPACK_CUDA) : NULL;
    Py_XDECREF(method);
    return capsule;
}

/* --- capsules made ----------------------------------------------------------------------------------------------------------- */
/* What a capsule of ours points to, in one piece. */
typedef struct Exported {
    union {
        DlpackManaged legacy;
        DlpackVersioned versioned;
    };
    int64_t shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
} Exported;

/* Another library calls the deleter where and when it likes: without the GIL, with an exception under way, at the end of the
 * process. */
static void release_exported(PyObject *owner, void *exported)
{
    if (Py_IsInitialized()) {
        PyGILState_STATE held = PyGILState_Ensure();
        PyObject *type, *error, *trace;
        PyErr_Fetch(&type, &error, &trace);
        Py_DECREF(owner);
        PyErr_Restore(type, error, trace);
        PyGILState_Release(held);
    }
    PyMem_RawFree(exported);
}

static void delete_legacy(DlpackManaged *managed) { release_exported(managed->context, managed); }
static void delete_versioned(DlpackVersioned *managed) { release_exported(managed->context, managed); }

/* A capsule that nobody has taken over. */
static void drop_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, DLPACK_VERSIONED_NAME))
        delete_versioned(PyCapsule_GetPointer(capsule, DLPACK_VERSIONED_NAME));
    else if (PyCapsule_IsValid(capsule, DLPACK_NAME))
        delete_legacy(PyCapsule_GetPointer(capsule, DLPACK_NAME));
}

/* Fills a tensor whose shape and strides are in `exported`. False with BufferError where DLPack cannot say what the array
 * is. */
static bool describe(const ExtDeviceArray *array, DlpackDevice device, Exported *exported, DlpackTensor *tensor)
{
    int64_t item_size = PyDataType_ELSIZE(array->dtype);
    *tensor = (DlpackTensor){.data = array->size ? (void *)(uintptr_t)array->pointer : NULL,
                             .device = device,
                             .ndim = array->ndim,
                             .shape = exported->shape,
                             .strides = exported->strides};
    if (!array->element || !ext_dlpack_of_type(array->element, &tensor->type)) {
        PyErr_Format(PyExc_BufferError, "DLPack has no dtype for %S", array->dtype);
        return false;
    }
    for (int axis = 0; axis < array->ndim; axis++) {
        exported->shape[axis] = array->shape[axis];
        exported->strides[axis] = array->strides[axis] / item_size;
        if (array->strides[axis] % item_size) {
            PyErr_Format(PyExc_BufferError, "DLPack counts strides in elements, and a stride is %lld bytes",
                         (long long)array->strides[axis]);
            return false;
        }
    }
    return true;
}

static PyObject *function_to_capsule(PyObject *module, PyObject *args)
{
    ExtState *state = ext_state(module);
    PyObject *array;
    DlpackDevice device;
    int is_versioned, is_copied;
    if (!PyArg_ParseTuple(args, "O!(ii)pp:to_capsule", state->device_array_type, &array, &device.kind, &device.ordinal,
                          &is_versioned, &is_copied))
        return NULL;
    const ExtDeviceArray *source = (const ExtDeviceArray *)array;
    if (source->read_only && !is_versioned) {
        PyErr_SetString(PyExc_BufferError, "DLPack before version 1 cannot say that an array is read-only");
        return NULL;
    }
    Exported *exported = PyMem_RawCalloc(1, sizeof *exported);
    if (!exported)
        return PyErr_NoMemory();
    DlpackTensor *tensor = is_versioned ? &exported->versioned.tensor : &exported->legacy.tensor;
    if (!describe(source, device, exported, tensor)) {
        PyMem_RawFree(exported);
        return NULL;
    }
    if (is_versioned) {
        exported->versioned.version = (DlpackVersion){DLPACK_MAJOR, DLPACK_MINOR};
        exported->versioned.flags = (source->read_only ? DLPACK_READ_ONLY : 0) | (is_copied ? DLPACK_IS_COPIED : 0);
        exported->versioned.deleter = delete_versioned;
        exported->versioned.context = Py_NewRef(array);
    } else {
        exported->legacy.deleter = delete_legacy;
        exported->legacy.context = Py_NewRef(array);
    }
    PyObject *capsule = PyCapsule_New(exported, is_versioned ? DLPACK_VERSIONED_NAME : DLPACK_NAME, drop_capsule);
    if (!capsule) {
        Py_DECREF(array);
        PyMem_RawFree(exported);
    }
    return capsule;
}

static PyMethodDef functions[] = {
    {"view_array", function_view_array, METH_VARARGS,
     "view_array(class, value): (device array over the memory of another library's array, handle of the stream to wait "
     "for "
     "or None), or None where the value is no array in memory that a device reaches."},
    {"host_array", function_host_array, METH_O,
     "host_array(value): a NumPy array over the host memory of another library's array, or None."},
    {"is_in_device_memory", function_is_in_device_memory, METH_O,
     "is_in_device_memory(value): whether it is an array of another library in memory that a device reaches."},
    {"ask_capsule", function_ask_capsule, METH_O, "ask_capsule(value): the capsule of value.__dlpack__."},
    {"from_capsule", function_from_capsule, METH_VARARGS,
     "from_capsule(class, capsule): a device array over the capsule's memory, which it takes over."},
    {"to_capsule", function_to_capsule, METH_VARARGS,
     "to_capsule(array, (device type, ordinal), is_versioned, is_copied): a capsule that keeps the array alive."},
    {0},
};

bool ext_add_foreign_arrays(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
