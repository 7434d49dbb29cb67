/* cupy.ndarray by the getters of its attributes: data, dtype, and shape and strides, which are tuples that CuPy makes anew
 * each time and are not asked for where the array is contiguous. */
#include "ext/array/array_layout.h"
#include "ext/array/dlpack_view.h"
#include "ext/array/element_types.h"

static PyObject *get(const ExtArrayKind *kind, ExtCupyAttribute attribute, PyObject *object)
{
    const ExtGetter *getter = &kind->cupy[attribute];
    return getter->get(object, getter->closure);
}

/* -1 with an exception. */
static int64_t get_integer(const ExtArrayKind *kind, ExtCupyAttribute attribute, PyObject *object)
{
    PyObject *integer = get(kind, attribute, object);
    int64_t value = integer ? PyLong_AsLongLong(integer) : -1;
    Py_XDECREF(integer);
    return value;
}

/* A tuple of as many integers. */
static bool read_integers(const ExtArrayKind *kind, ExtCupyAttribute attribute, PyObject *value, int count,
                          int64_t *out)
{
    PyObject *tuple = get(kind, attribute, value);
    bool ok = tuple && PyTuple_Check(tuple) && PyTuple_GET_SIZE(tuple) == count;
    for (int i = 0; ok && i < count; i++)
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
    if (tuple && !ok)
        PyErr_Format(PyExc_TypeError, "shape and strides of the array are not %d integers each", count);
    Py_XDECREF(tuple);
    return ok && !PyErr_Occurred();
}

static bool read_memory(PyObject *value, const ExtArrayKind *kind, ExtArrayView *view)
{
    PyObject *memory = get(kind, CUPY_DATA, value), *address = NULL;
    if (memory && PyObject_TypeCheck(memory, kind->cupy_memory))
        address = get(kind, CUPY_PTR, memory);
    else if (memory)
        PyErr_Format(PyExc_TypeError, "the array's data is of type '%s'", Py_TYPE(memory)->tp_name);
    if (address) {
        view->pointer = PyLong_AsUnsignedLongLong(address);
        view->ordinal = (int)get_integer(kind, CUPY_DEVICE_ID, memory);
    }
    Py_XDECREF(memory);
    Py_XDECREF(address);
    return address && !PyErr_Occurred();
}

static bool read_element(ExtState *state, PyObject *value, const ExtArrayKind *kind, ExtArrayView *view,
                         int64_t *item_size)
{
    PyObject *dtype = get(kind, CUPY_DTYPE, value);
    if (dtype && PyArray_DescrCheck(dtype)) {
        view->element = ext_element_type(state, (PyArray_Descr *)dtype);
        *item_size = PyDataType_ELSIZE((PyArray_Descr *)dtype);
    } else if (dtype)
        PyErr_Format(PyExc_TypeError, "%R is no dtype of NumPy's", dtype);
    Py_XDECREF(dtype);
    return view->element != NULL;
}

static bool read_layout(PyObject *value, const ExtArrayKind *kind, ExtArrayView *view, int64_t item_size)
{
    PyObject *flag = get(kind, CUPY_IS_CONTIGUOUS, value);
    int is_contiguous = flag ? PyObject_IsTrue(flag) : -1;
    Py_XDECREF(flag);
    int64_t ndim = is_contiguous < 0 ? -1 : get_integer(kind, CUPY_NDIM, value);
    if (ndim < 0)
        return false;
    if (ndim > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_TypeError, "kernels take arrays of at most %d dimensions, not %d", TYPE_MAX_NDIM, (int)ndim);
        return false;
    }
    view->ndim = (int)ndim;
    if (is_contiguous && ndim == 1)
        view->own_shape[0] = get_integer(kind, CUPY_SIZE, value);
    else if (!read_integers(kind, CUPY_SHAPE, value, view->ndim, view->own_shape))
        return false;
    if (PyErr_Occurred() || !ext_check_extents(view->ndim, view->shape))
        return false;
    return is_contiguous ? ext_c_strides(view->ndim, view->shape, item_size, view->own_strides)
                         : read_integers(kind, CUPY_STRIDES, value, view->ndim, view->own_strides);
}

int ext_view_cupy(ExtState *state, PyObject *value, const ExtArrayKind *kind, ExtArrayView *view)
{
    int64_t item_size = 0;
    *view = (ExtArrayView){.is_foreign = true, .kind = kind};
    view->shape = view->own_shape;
    view->strides = view->own_strides;
    if (!read_element(state, value, kind, view, &item_size) || !read_memory(value, kind, view) ||
        !read_layout(value, kind, view, item_size) ||
        !ext_check_reach(view->ndim, view->shape, view->strides, item_size, view->pointer))
        return -1;
    ext_contiguity(view->ndim, view->shape, view->strides, item_size, &view->c_contiguous, &view->f_contiguous);
    return 1;
}
