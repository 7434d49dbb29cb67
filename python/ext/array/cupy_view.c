/* cupy.ndarray by its public attributes: data.ptr, data.device_id, dtype, shape, strides. */
#include "ext/array/array_layout.h"
#include "ext/array/dlpack_view.h"
#include "ext/array/element_types.h"

/* A tuple of ints, which it releases; its length, or -1 with an exception. */
static int read_integers(PyObject *tuple, int64_t *out)
{
    int count = -1;
    if (tuple && (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > TYPE_MAX_NDIM))
        PyErr_Format(PyExc_TypeError, "kernels take arrays of at most %d dimensions", TYPE_MAX_NDIM);
    else if (tuple)
        count = (int)PyTuple_GET_SIZE(tuple);
    for (int i = 0; i < count; i++)
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
    Py_XDECREF(tuple);
    return PyErr_Occurred() ? -1 : count;
}

/* data, a MemoryPointer. */
static bool read_memory(ExtState *state, PyObject *value, ExtArrayView *view)
{
    PyObject *memory = PyObject_GetAttr(value, state->data_name);
    PyObject *address = memory ? PyObject_GetAttr(memory, state->ptr_name) : NULL;
    PyObject *ordinal = address ? PyObject_GetAttr(memory, state->device_id_name) : NULL;
    if (ordinal) {
        view->pointer = PyLong_AsUnsignedLongLong(address);
        view->ordinal = (int)PyLong_AsLong(ordinal);
    }
    Py_XDECREF(memory);
    Py_XDECREF(address);
    Py_XDECREF(ordinal);
    return ordinal && !PyErr_Occurred();
}

static bool read_element(ExtState *state, PyObject *value, ExtArrayView *view, int64_t *item_size)
{
    PyObject *dtype = PyObject_GetAttr(value, state->dtype_name);
    if (dtype && PyArray_DescrCheck(dtype)) {
        view->element = ext_element_type(state, (PyArray_Descr *)dtype);
        *item_size = PyDataType_ELSIZE((PyArray_Descr *)dtype);
    } else if (dtype)
        PyErr_Format(PyExc_TypeError, "%R is no dtype of NumPy's", dtype);
    Py_XDECREF(dtype);
    return view->element != NULL;
}

int ext_view_cupy(ExtState *state, PyObject *value, const ExtArrayKind *kind, ExtArrayView *view)
{
    int64_t item_size = 0;
    *view = (ExtArrayView){.is_foreign = true, .kind = kind};
    view->shape = view->own_shape;
    view->strides = view->own_strides;
    if (!read_element(state, value, view, &item_size) || !read_memory(state, value, view))
        return -1;
    view->ndim = read_integers(PyObject_GetAttr(value, state->shape_name), view->own_shape);
    if (view->ndim < 0 || !ext_check_extents(view->ndim, view->shape) ||
        read_integers(PyObject_GetAttr(value, state->strides_name), view->own_strides) != view->ndim ||
        !ext_check_reach(view->ndim, view->shape, view->strides, item_size, view->pointer))
        return -1;
    ext_contiguity(view->ndim, view->shape, view->strides, item_size, &view->c_contiguous, &view->f_contiguous);
    return 1;
}
