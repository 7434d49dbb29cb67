/* Arrays of other libraries by DLPack: by the table of their type, where it has one, else by __dlpack__. A capsule is only
 * looked into: it is kept as long as its memory is used, and gives that back itself when it goes. */
#include "ext/array/dlpack_view.h"

#include "ext/array/array_layout.h"
#include "ext/array/dlpack_type.h"
#include "ext/array/element_types.h"

enum { LEGACY_DEFAULT_STREAM = 1 };

/* --- tensors -------------------------------------------------------------------------------------------------------------- */
static bool read_layout(const DlpackTensor *tensor, ExtArrayView *view)
{
    int64_t size = view->element->size;
    if (tensor->ndim < 0 || tensor->ndim > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_TypeError, "kernels take arrays of at most %d dimensions, not %d", TYPE_MAX_NDIM,
                     tensor->ndim);
        return false;
    }
    view->ndim = tensor->ndim;
    view->shape = view->own_shape;
    view->strides = view->own_strides;
    if (view->ndim && !tensor->shape) {
        PyErr_SetString(PyExc_ValueError, "DLPack gave an array without a shape");
        return false;
    }
    for (int axis = 0; axis < view->ndim; axis++)
        view->own_shape[axis] = tensor->shape[axis];
    if (!ext_check_extents(view->ndim, view->shape))
        return false;
    if (!tensor->strides)
        return ext_c_strides(view->ndim, view->shape, size, view->own_strides);
    /* Modulo 2^64, as addresses are: CuPy divides negative strides as unsigned ones, which this undoes. */
    for (int axis = 0; axis < view->ndim; axis++)
        view->own_strides[axis] = (int64_t)((uint64_t)tensor->strides[axis] * (uint64_t)size);
    return true;
}

/* The dtype under which NumPy moves elements: it has none for bfloat16. */
static PyArray_Descr *host_dtype(const Type *element)
{
    return element == TYPE_OF(BFLOAT16) ? PyArray_DescrFromType(NPY_UINT16) : ext_dtype_of_type(element);
}

static bool make_host(ExtArrayView *view, PyObject *keeper)
{
    PyArray_Descr *dtype = host_dtype(view->element);
    npy_intp shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (int axis = 0; axis < view->ndim; axis++) {
        shape[axis] = view->shape[axis];
        strides[axis] = view->strides[axis];
    }
    PyObject *array =
        dtype ? PyArray_NewFromDescr(&PyArray_Type, dtype, view->ndim, shape, strides, (void *)(uintptr_t)view->pointer,
                                     view->read_only ? 0 : NPY_ARRAY_WRITEABLE, NULL)
              : NULL;
    if (!array)
        return false;
    if (PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(keeper)) < 0) {
        Py_DECREF(array);
        return false;
    }
    view->host = (PyArrayObject *)array;
    view->owner = array;
    view->copy_in = view->copy_out = true;
    view->pointer = 0;
    return true;
}

bool ext_view_tensor(ExtState *Py_UNUSED(state), const DlpackTensor *tensor, uint64_t flags, PyObject *keeper,
                     ExtArrayView *view)
{
    *view = (ExtArrayView){.read_only = (flags & DLPACK_READ_ONLY) != 0, .ordinal = -1};
    if (!(view->element = ext_type_of_dlpack(tensor->type)) || !read_layout(tensor, view))
        return false;
    view->pointer = tensor->data ? (uint64_t)(uintptr_t)tensor->data + tensor->byte_offset : 0;
    if (!ext_check_reach(view->ndim, view->shape, view->strides, view->element->size, view->pointer))
        return false;
    ext_contiguity(view->ndim, view->shape, view->strides, view->element->size, &view->c_contiguous,
                   &view->f_contiguous);
    switch (tensor->device.kind) {
    case DLPACK_CPU: return make_host(view, keeper);
    case DLPACK_CUDA: view->ordinal = tensor->device.ordinal; /* fallthrough */
    case DLPACK_CUDA_HOST:
    case DLPACK_CUDA_MANAGED: view->is_foreign = true; return true;
    default:
        PyErr_Format(PyExc_TypeError, "the array is in memory of another kind of device (DLPack's device type %d)",
                     tensor->device.kind);
        return false;
    }
}

/* --- the table of a type -------------------------------------------------------------------------------------------------- */
static const char managed_name[] = "cujit managed tensor";

static void release_managed(PyObject *capsule)
{
    DlpackVersioned *managed = PyCapsule_GetPointer(capsule, managed_name);
    if (managed->deleter)
        managed->deleter(managed);
}

/* The library's own exception, which may be of any kind and several pages long, as a TypeError of one line. */
static int refuse(PyObject *value)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
        return -1;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *text = error ? PyObject_Str(error) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    PyObject *line = PyUnicode_DecodeUTF8(utf8 ? utf8 : "", utf8 ? (Py_ssize_t)strcspn(utf8, "\n") : 0, "replace");
    if (line)
        PyErr_Format(PyExc_TypeError, "a value of type '%s' does not tell where its memory is: %U",
                     Py_TYPE(value)->tp_name, line);
    Py_XDECREF(line);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return -1;
}

/* A table without tensor_of_object: what it gives is owned by a capsule. */
static int view_managed(ExtState *state, PyObject *value, const ExtArrayKind *kind, ExtArrayView *view)
{
    DlpackVersioned *managed = NULL;
    if (kind->exchange->managed_of_object(value, &managed) != 0)
        return refuse(value);
    PyObject *capsule = PyCapsule_New(managed, managed_name, release_managed);
    if (!capsule) {
        if (managed->deleter)
            managed->deleter(managed);
        return -1;
    }
    bool ok = ext_view_tensor(state, &managed->tensor, managed->flags, capsule, view);
    if (ok && !view->owner)
        view->owner = Py_NewRef(capsule);
    Py_DECREF(capsule);
    return ok ? 1 : -1;
}

/* 1 or 0; -1 with an exception. */
static int ask(PyObject *value, const char *method)
{
    PyObject *answer = PyObject_CallMethod(value, method, NULL);
    int result = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return result;
}

/* A tensor of torch's may stand for what is not in its memory: x.conj(), and the imaginary parts of that, whose elements
 * have gaps between them. The table does not say so. */
static int check_signs(PyObject *value, const ExtArrayView *view)
{
    bool is_complex = view->element->kind == TYPE_COMPLEX;
    if (!is_complex && (view->element->kind != TYPE_FLOAT || view->c_contiguous))
        return 1;
    int is_lazy = ask(value, is_complex ? "is_conj" : "is_neg");
    if (is_lazy > 0)
        PyErr_Format(PyExc_TypeError,
                     "the tensor stands for the %s of what is in its memory; %s makes it a tensor of "
                     "its own",
                     is_complex ? "conjugate" : "negative", is_complex ? "resolve_conj()" : "resolve_neg()");
    return is_lazy ? -1 : 1;
}

int ext_view_exchange(ExtState *state, PyObject *value, const ExtArrayKind *kind, ExtArrayView *view)
{
    DlpackTensor tensor;
    int result;
    if (!kind->exchange->tensor_of_object)
        result = view_managed(state, value, kind, view);
    else if (kind->exchange->tensor_of_object(value, &tensor) != 0)
        return refuse(value);
    else
        result = ext_view_tensor(state, &tensor, 0, value, view) ? 1 : -1;
    if (result > 0 && kind->has_lazy_signs && (result = check_signs(value, view)) < 0)
        Py_CLEAR(view->owner);
    if (result > 0 && view->is_foreign)
        view->kind = kind;
    return result;
}

/* --- capsules -------------------------------------------------------------------------------------------------------------- */
static bool read_versioned(const DlpackVersioned *managed, const DlpackTensor **tensor, uint64_t *flags)
{
    if (managed->version.major != DLPACK_MAJOR) {
        PyErr_Format(PyExc_BufferError, "the capsule is of version %u.%u of DLPack; version %d is known",
                     managed->version.major, managed->version.minor, DLPACK_MAJOR);
        return false;
    }
    *tensor = &managed->tensor;
    *flags = managed->flags;
    return true;
}

bool ext_read_capsule(PyObject *capsule, const DlpackTensor **tensor, uint64_t *flags)
{
    *flags = 0;
    if (PyCapsule_IsValid(capsule, DLPACK_VERSIONED_NAME))
        return read_versioned(PyCapsule_GetPointer(capsule, DLPACK_VERSIONED_NAME), tensor, flags);
    if (PyCapsule_IsValid(capsule, DLPACK_NAME)) {
        *tensor = &((const DlpackManaged *)PyCapsule_GetPointer(capsule, DLPACK_NAME))->tensor;
        /* There is no flag: host memory is taken to be read-only, as NumPy takes it, for JAX's cannot be written. */
        *flags = (*tensor)->device.kind == DLPACK_CPU ? DLPACK_READ_ONLY : 0;
        return true;
    }
    if (!PyCapsule_CheckExact(capsule))
        PyErr_Format(PyExc_TypeError, "__dlpack__ gave a value of type '%s', not a capsule", Py_TYPE(capsule)->tp_name);
    else if (PyCapsule_IsValid(capsule, DLPACK_USED_NAME) || PyCapsule_IsValid(capsule, DLPACK_USED_VERSIONED_NAME))
        PyErr_SetString(PyExc_ValueError, "the capsule of DLPack has been taken over already: each can be used once");
    else
        PyErr_Format(PyExc_ValueError, "a capsule called '%s' is none of DLPack's",
                     PyCapsule_GetName(capsule) ? PyCapsule_GetName(capsule) : "");
    return false;
}

PyObject *ext_ask_capsule(PyObject *method, bool is_gpu)
{
    PyObject *none = PyTuple_New(0);
    PyObject *keywords = Py_BuildValue("{s(ii)}", "max_version", DLPACK_MAJOR, DLPACK_MINOR);
    PyObject *stream = PyLong_FromLong(LEGACY_DEFAULT_STREAM), *capsule = NULL;
    if (none && keywords && stream && (!is_gpu || PyDict_SetItemString(keywords, "stream", stream) == 0))
        capsule = PyObject_Call(method, none, keywords);
    /* A library of before version 1 does not know the keyword. */
    if (!capsule && keywords && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        if (PyDict_DelItemString(keywords, "max_version") == 0)
            capsule = PyObject_Call(method, none, keywords);
    }
    Py_XDECREF(none);
    Py_XDECREF(keywords);
    Py_XDECREF(stream);
    return capsule;
}

static bool read_device(PyObject *pair, DlpackDevice *device)
{
    int32_t *numbers[] = {&device->kind, &device->ordinal};
    bool is_pair = PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2;
    for (int i = 0; is_pair && i < 2; i++) {
        PyObject *integer = PyNumber_Index(PyTuple_GET_ITEM(pair, i));
        *numbers[i] = integer ? (int32_t)PyLong_AsLong(integer) : 0;
        Py_XDECREF(integer);
        is_pair = !PyErr_Occurred();
    }
    if (is_pair)
        return true;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "__dlpack_device__ gave %R, not a pair of integers", pair);
    return false;
}

int ext_ask_dlpack_device(ExtState *state, PyObject *value, DlpackDevice *device)
{
    PyObject *method = PyObject_GetAttr(value, state->dlpack_device_name);
    if (!method) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    PyObject *pair = PyObject_CallNoArgs(method);
    int result = pair && read_device(pair, device) ? 1 : -1;
    Py_XDECREF(pair);
    Py_DECREF(method);
    return result;
}

int ext_view_dlpack(ExtState *state, PyObject *value, PyObject *method, ExtArrayView *view)
{
    DlpackDevice device;
    const DlpackTensor *tensor;
    uint64_t flags;
    int known = ext_ask_dlpack_device(state, value, &device);
    if (known <= 0)
        return known;
    PyObject *capsule = ext_ask_capsule(method, device.kind == DLPACK_CUDA || device.kind == DLPACK_CUDA_MANAGED);
    bool ok =
        capsule && ext_read_capsule(capsule, &tensor, &flags) && ext_view_tensor(state, tensor, flags, capsule, view);
    if (ok && view->is_foreign) {
        view->owner = Py_NewRef(capsule);
        view->has_stream = true;
        view->stream_handle = LEGACY_DEFAULT_STREAM;
    }
    Py_XDECREF(capsule);
    return ok ? 1 : -1;
}
