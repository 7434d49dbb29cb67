/* NumPy arrays, device arrays and what has __cuda_array_interface__, all seen alike. */
#include "ext/array/array_view.h"

#include "core/kernel_abi.h"
#include "ext/array/element_types.h"

void ext_contiguity(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, bool *c_contiguous,
                    bool *f_contiguous)
{
    int64_t c_stride = item_size, f_stride = item_size;
    *c_contiguous = *f_contiguous = true;
    for (int axis = 0; axis < ndim; axis++)
        if (shape[axis] == 0)
            return;
    for (int axis = 0; axis < ndim; axis++) {
        int last = ndim - 1 - axis;
        if (shape[last] != 1 && strides[last] != c_stride)
            *c_contiguous = false;
        if (shape[axis] != 1 && strides[axis] != f_stride)
            *f_contiguous = false;
        c_stride *= shape[last];
        f_stride *= shape[axis];
    }
}

static bool check_extents(const ExtArrayView *view)
{
    for (int axis = 0; axis < view->ndim; axis++)
        if (view->shape[axis] < 0 || view->shape[axis] > KERNEL_ABI_MAX_EXTENT) {
            PyErr_Format(PyExc_ValueError, "an array cannot have %lld items along axis %d",
                         (long long)view->shape[axis], axis);
            return false;
        }
    return true;
}

static int view_host(ExtState *state, PyArrayObject *array, ExtArrayView *view)
{
    view->element = ext_element_type(state, PyArray_DESCR(array));
    view->ndim = PyArray_NDIM(array);
    if (!view->element)
        return -1;
    if (view->ndim > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_TypeError, "kernels take arrays of at most %d dimensions, not %d", TYPE_MAX_NDIM,
                     view->ndim);
        return -1;
    }
    view->c_contiguous = PyArray_IS_C_CONTIGUOUS(array);
    view->f_contiguous = PyArray_IS_F_CONTIGUOUS(array);
    view->read_only = !PyArray_ISWRITEABLE(array);
    view->copy_in = view->copy_out = true;
    view->is_foreign = view->has_stream = false;
    view->shape = (const int64_t *)PyArray_DIMS(array);
    view->strides = (const int64_t *)PyArray_STRIDES(array);
    view->device = NULL;
    view->pointer = 0;
    view->host = array;
    return check_extents(view) ? 1 : -1;
}

static int view_device(ExtDeviceArray *array, ExtArrayView *view)
{
    view->element = array->element ? array->element : ext_element_type(array->state, array->dtype);
    if (!view->element)
        return -1;
    view->ndim = array->ndim;
    view->c_contiguous = array->c_contiguous;
    view->f_contiguous = array->f_contiguous;
    view->read_only = array->read_only;
    view->is_foreign = view->has_stream = false;
    view->shape = array->shape;
    view->strides = array->strides;
    view->device = array->device;
    view->pointer = array->pointer;
    view->host = NULL;
    return 1;
}

/* --- __cuda_array_interface__ ------------------------------------------------------------------------------------------- */
/* A tuple of integers; its length, or -1 with an exception. */
static int read_integers(PyObject *tuple, const char *name, int64_t *out)
{
    if (!tuple || !PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_TypeError, "'%s' of __cuda_array_interface__ is not a tuple of at most %d integers", name,
                     TYPE_MAX_NDIM);
        return -1;
    }
    int count = (int)PyTuple_GET_SIZE(tuple);
    for (int i = 0; i < count; i++) {
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (out[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return count;
}

/* Padding is a nameless field there, which NumPy's own constructor would take for one that is called f0. */
static PyArray_Descr *dtype_of_fields(PyObject *fields)
{
    PyObject *format = PyImport_ImportModule("numpy.lib.format");
    PyObject *dtype = format ? PyObject_CallMethod(format, "descr_to_dtype", "O", fields) : NULL;
    Py_XDECREF(format);
    return (PyArray_Descr *)dtype;
}

static bool read_dtype(ExtState *state, PyObject *text, PyObject *fields, ExtArrayView *view, int64_t *item_size)
{
    const char *utf8 = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    if (utf8 && (view->element = ext_scalar_of_typestr(utf8))) {
        *item_size = view->element->size;
        return true;
    }
    PyArray_Descr *dtype = NULL;
    bool is_record = text && PyUnicode_Check(text) && PyUnicode_FindChar(text, 'V', 0, PY_SSIZE_T_MAX, 1) >= 0;
    if (!text)
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ has no 'typestr'");
    else if (is_record && fields)
        dtype = dtype_of_fields(fields);
    else
        PyArray_DescrConverter(text, &dtype);
    if (!dtype)
        return false;
    view->element = ext_element_type(state, dtype);
    *item_size = PyDataType_ELSIZE(dtype);
    Py_DECREF(dtype);
    return view->element != NULL;
}

static bool read_data(PyObject *data, ExtArrayView *view)
{
    if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        PyErr_SetString(PyExc_TypeError, "'data' of __cuda_array_interface__ is not a pair of pointer and flag");
        return false;
    }
    PyObject *pointer = PyTuple_GET_ITEM(data, 0);
    view->pointer = pointer == Py_None ? 0 : PyLong_AsUnsignedLongLong(pointer);
    int read_only = PyErr_Occurred() ? -1 : PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    view->read_only = read_only == 1;
    return read_only >= 0;
}

static bool read_shape(PyObject *shape, PyObject *strides, ExtArrayView *view, int64_t item_size)
{
    view->ndim = read_integers(shape, "shape", view->own_shape);
    view->shape = view->own_shape;
    view->strides = view->own_strides;
    if (view->ndim < 0 || !check_extents(view))
        return false;
    if (strides && strides != Py_None) {
        if (read_integers(strides, "strides", view->own_strides) == view->ndim)
            return true;
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "'strides' of __cuda_array_interface__ are not as many as 'shape'");
        return false;
    }
    for (int axis = view->ndim - 1; axis >= 0; axis--) {
        view->own_strides[axis] = item_size;
        item_size *= view->own_shape[axis];
    }
    return true;
}

static bool read_stream(PyObject *stream, ExtArrayView *view)
{
    view->has_stream = stream && stream != Py_None;
    if (view->has_stream)
        view->stream_handle = PyLong_AsUnsignedLongLong(stream);
    return !PyErr_Occurred();
}

/* The dict's items, as far as it has them; new references, since it may be one that others change. */
enum { ITEM_MASK, ITEM_TYPESTR, ITEM_DESCR, ITEM_DATA, ITEM_SHAPE, ITEM_STRIDES, ITEM_STREAM, ITEM_COUNT };

static bool read_items(PyObject *interface, PyObject *items[ITEM_COUNT])
{
    static const char *const names[ITEM_COUNT] = {"mask", "typestr", "descr", "data", "shape", "strides", "stream"};
    for (int i = 0; i < ITEM_COUNT; i++)
        if (PyDict_GetItemStringRef(interface, names[i], &items[i]) < 0)
            return false;
    return true;
}

static bool view_items(ExtState *state, PyObject *const items[ITEM_COUNT], ExtArrayView *view)
{
    int64_t item_size;
    if (items[ITEM_MASK] && items[ITEM_MASK] != Py_None) {
        PyErr_SetString(PyExc_TypeError, "kernels cannot use masked arrays");
        return false;
    }
    *view = (ExtArrayView){.is_foreign = true};
    if (!read_dtype(state, items[ITEM_TYPESTR], items[ITEM_DESCR], view, &item_size) ||
        !read_data(items[ITEM_DATA], view) || !read_shape(items[ITEM_SHAPE], items[ITEM_STRIDES], view, item_size) ||
        !read_stream(items[ITEM_STREAM], view))
        return false;
    ext_contiguity(view->ndim, view->shape, view->strides, item_size, &view->c_contiguous, &view->f_contiguous);
    return true;
}

static bool read_interface(ExtState *state, PyObject *interface, ExtArrayView *view)
{
    PyObject *items[ITEM_COUNT] = {NULL};
    if (!PyDict_Check(interface)) {
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ is not a dict");
        return false;
    }
    bool ok = read_items(interface, items) && view_items(state, items, view);
    for (int i = 0; i < ITEM_COUNT; i++)
        Py_XDECREF(items[i]);
    return ok;
}

static int view_foreign(ExtState *state, PyObject *value, ExtArrayView *view)
{
    PyObject *interface = PyObject_GetAttr(value, state->array_interface_name);
    if (!interface) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    bool ok = read_interface(state, interface, view);
    Py_DECREF(interface);
    return ok ? 1 : -1;
}

/* Subclasses may say that devices reach their memory. */
static int view_numpy(ExtState *state, PyObject *value, ExtArrayView *view)
{
    int is_foreign = PyArray_CheckExact(value) ? 0 : view_foreign(state, value, view);
    return is_foreign ? is_foreign : view_host(state, (PyArrayObject *)value, view);
}

int ext_array_view(ExtState *state, PyObject *value, ExtArrayView *view)
{
    if (PyObject_TypeCheck(value, state->device_array_type))
        return view_device((ExtDeviceArray *)value, view);
    if (PyArray_Check(value))
        return view_numpy(state, value, view);
    if (PyObject_TypeCheck(value, state->host_argument_type)) {
        const ExtHostArgument *argument = (ExtHostArgument *)value;
        int result = ext_array_view(state, argument->array, view);
        view->copy_in = argument->copy_in;
        view->copy_out = argument->copy_out;
        return result;
    }
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyTuple_Check(value) || PyType_Check(value))
        return 0;
    return view_foreign(state, value, view);
}
