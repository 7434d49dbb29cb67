/* __cuda_array_interface__: a dict that any object may offer, so nothing of it is believed unseen. */
#include "ext/array/interface_view.h"

#include "ext/array/array_layout.h"
#include "ext/array/element_types.h"

enum { LAST_VERSION = 3 };

/* The dict's items, as far as it has them; new references, since it may be one that others change. */
enum {
    ITEM_VERSION,
    ITEM_MASK,
    ITEM_TYPESTR,
    ITEM_DESCR,
    ITEM_DATA,
    ITEM_SHAPE,
    ITEM_STRIDES,
    ITEM_STREAM,
    ITEM_COUNT
};

static bool read_items(PyObject *interface, PyObject *items[ITEM_COUNT])
{
    static const char *const names[ITEM_COUNT] = {"version", "mask",  "typestr", "descr",
                                                  "data",    "shape", "strides", "stream"};
    for (int i = 0; i < ITEM_COUNT; i++)
        if (PyDict_GetItemStringRef(interface, names[i], &items[i]) < 0)
            return false;
    return true;
}

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
        PyObject *item = PyTuple_GET_ITEM(tuple, i), *integer = PyNumber_Index(item);
        out[i] = integer ? PyLong_AsLongLong(integer) : -1;
        Py_XDECREF(integer);
        if (PyErr_ExceptionMatches(PyExc_TypeError) && !PyIndex_Check(item))
            PyErr_Format(PyExc_TypeError, "'%s' of __cuda_array_interface__ has %R, which is no integer", name, item);
        if (PyErr_Occurred())
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
    if (!text || !PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, text ? "'typestr' of __cuda_array_interface__ is no text"
                                              : "__cuda_array_interface__ has no 'typestr'");
        return false;
    }
    const char *utf8 = PyUnicode_AsUTF8(text);
    if (!utf8)
        return false;
    if ((view->element = ext_scalar_of_typestr(utf8))) {
        *item_size = view->element->size;
        return true;
    }
    PyArray_Descr *dtype = NULL;
    if (strchr(utf8, 'V') && fields)
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

static bool read_address(PyObject *number, const char *key, uint64_t *out)
{
    *out = PyLong_AsUnsignedLongLong(number);
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%R in '%s' of __cuda_array_interface__ is no address", number, key);
    return !PyErr_Occurred();
}

static bool read_data(PyObject *data, ExtArrayView *view)
{
    if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        PyErr_SetString(PyExc_TypeError, "'data' of __cuda_array_interface__ is not a pair of pointer and flag");
        return false;
    }
    PyObject *pointer = PyTuple_GET_ITEM(data, 0);
    if (pointer != Py_None && !PyLong_Check(pointer)) {
        PyErr_Format(PyExc_TypeError, "the pointer in 'data' of __cuda_array_interface__ is of type '%s', not an int",
                     Py_TYPE(pointer)->tp_name);
        return false;
    }
    view->pointer = 0;
    bool has_address = pointer == Py_None || read_address(pointer, "data", &view->pointer);
    int read_only = has_address ? PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) : -1;
    view->read_only = read_only == 1;
    return read_only >= 0;
}

static bool read_strides(PyObject *strides, ExtArrayView *view, int64_t item_size)
{
    if (!strides || strides == Py_None)
        return ext_c_strides(view->ndim, view->own_shape, item_size, view->own_strides);
    if (read_integers(strides, "strides", view->own_strides) == view->ndim)
        return true;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "'strides' of __cuda_array_interface__ are not as many as 'shape'");
    return false;
}

static bool read_shape(PyObject *shape, PyObject *strides, ExtArrayView *view, int64_t item_size)
{
    view->ndim = read_integers(shape, "shape", view->own_shape);
    view->shape = view->own_shape;
    view->strides = view->own_strides;
    return view->ndim >= 0 && ext_check_extents(view->ndim, view->shape) && read_strides(strides, view, item_size) &&
           ext_check_reach(view->ndim, view->shape, view->strides, item_size, view->pointer);
}

static bool read_stream(PyObject *stream, ExtArrayView *view)
{
    view->has_stream = stream && stream != Py_None;
    if (view->has_stream && !PyLong_Check(stream))
        PyErr_Format(PyExc_TypeError, "'stream' of __cuda_array_interface__ is of type '%s', not an int",
                     Py_TYPE(stream)->tp_name);
    else if (view->has_stream)
        return read_address(stream, "stream", &view->stream_handle);
    return !PyErr_Occurred();
}

static bool check_version(PyObject *version)
{
    if (!version || (PyLong_Check(version) && PyLong_AsLong(version) >= 0 && PyLong_AsLong(version) <= LAST_VERSION))
        return true;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "version %R of __cuda_array_interface__ is not known; 0 to %d are", version,
                 LAST_VERSION);
    return false;
}

static bool view_items(ExtState *state, PyObject *const items[ITEM_COUNT], ExtArrayView *view)
{
    int64_t item_size;
    if (!check_version(items[ITEM_VERSION]))
        return false;
    if (items[ITEM_MASK] && items[ITEM_MASK] != Py_None) {
        PyErr_SetString(PyExc_TypeError, "kernels cannot use masked arrays");
        return false;
    }
    *view = (ExtArrayView){.is_foreign = true, .ordinal = -1};
    if (!read_dtype(state, items[ITEM_TYPESTR], items[ITEM_DESCR], view, &item_size) ||
        !read_data(items[ITEM_DATA], view) || !read_shape(items[ITEM_SHAPE], items[ITEM_STRIDES], view, item_size) ||
        !read_stream(items[ITEM_STREAM], view))
        return false;
    ext_contiguity(view->ndim, view->shape, view->strides, item_size, &view->c_contiguous, &view->f_contiguous);
    return true;
}

static void release_items(PyObject *items[ITEM_COUNT])
{
    for (int i = 0; i < ITEM_COUNT; i++)
        Py_XDECREF(items[i]);
}

bool ext_view_interface(ExtState *state, PyObject *interface, ExtArrayView *view)
{
    PyObject *items[ITEM_COUNT] = {NULL};
    if (!PyDict_Check(interface)) {
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ is not a dict");
        return false;
    }
    bool ok = read_items(interface, items) && view_items(state, items, view);
    release_items(items);
    return ok;
}

bool ext_interface_is_opaque(PyObject *interface)
{
    PyObject *items[ITEM_COUNT] = {NULL};
    if (!PyDict_Check(interface) || !read_items(interface, items)) {
        release_items(items);
        PyErr_Clear(); /* the interface is read once more */
        return false;
    }
    PyObject *text = items[ITEM_TYPESTR], *fields = items[ITEM_DESCR];
    bool has_fields = fields && PyList_Check(fields) && PyList_GET_SIZE(fields) > 1;
    bool is_opaque = text && PyUnicode_Check(text) &&
                     PyUnicode_FindChar(text, 'V', 0, PyUnicode_GET_LENGTH(text), 1) >= 0 && !has_fields;
    release_items(items);
    return is_opaque;
}
