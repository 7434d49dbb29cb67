/* NumPy arrays, device arrays and what has __cuda_array_interface__, all seen alike. */
#include "ext/array/array_view.h"

#include "ext/array/array_kind.h"
#include "ext/array/array_layout.h"
#include "ext/array/dlpack_view.h"
#include "ext/array/element_types.h"
#include "ext/array/interface_view.h"

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
    view->kind = NULL;
    view->owner = NULL;
    view->shape = (const int64_t *)PyArray_DIMS(array);
    view->strides = (const int64_t *)PyArray_STRIDES(array);
    view->device = NULL;
    view->pointer = 0;
    view->host = array;
    return ext_check_extents(view->ndim, view->shape) ? 1 : -1;
}

RtDevice *ext_device_of_array(const ExtDeviceArray *array)
{
    if (!array->device)
        PyErr_SetString(PyExc_ValueError, "DeviceArrayBase.__init__ of the device array has not been called");
    return array->device;
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
    view->kind = NULL;
    view->owner = NULL;
    view->shape = array->shape;
    view->strides = array->strides;
    view->device = ext_device_of_array(array);
    view->pointer = array->pointer;
    view->host = NULL;
    return view->device ? 1 : -1;
}

/* --- arrays of other libraries -------------------------------------------------------------------------------------------- */
/* A new reference; NULL without an exception where the object has no such attribute, else with one. */
static PyObject *attribute(PyObject *value, PyObject *name)
{
    PyObject *found = PyObject_GetAttr(value, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return found;
}

/* An array that says more by DLPack where the interface is silent: 0 where it has no DLPack. */
static int view_opaque(ExtState *state, PyObject *value, ExtArrayView *view)
{
    PyObject *method = attribute(value, state->dlpack_name);
    int result = method ? ext_view_dlpack(state, value, method, view) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(method);
    return result;
}

static int view_by_interface(ExtState *state, PyObject *value, ExtArrayView *view)
{
    PyObject *interface = attribute(value, state->array_interface_name);
    if (!interface)
        return PyErr_Occurred() ? -1 : 0;
    int result = ext_interface_is_opaque(interface) ? view_opaque(state, value, view) : 0;
    if (!result)
        result = ext_view_interface(state, interface, view) ? 1 : -1;
    Py_DECREF(interface);
    return result;
}

/* The table of DLPack first, which is the fastest and knows all dtypes; then the interface, then DLPack's methods. */
static int view_foreign(ExtState *state, PyObject *value, ExtArrayView *view)
{
    const ExtArrayKind *kind = ext_array_kind(state, Py_TYPE(value));
    if (PyErr_Occurred())
        return -1;
    if (kind)
        return kind->exchange ? ext_view_exchange(state, value, kind, view) : ext_view_cupy(state, value, kind, view);
    int result = view_by_interface(state, value, view);
    if (!result)
        result = view_opaque(state, value, view);
    if (result > 0)
        ext_array_kind_is_plain(state, Py_TYPE(value));
    return result;
}

/* Subclasses may say that devices reach their memory. */
static int view_numpy(ExtState *state, PyObject *value, ExtArrayView *view)
{
    int is_foreign = PyArray_CheckExact(value) ? 0 : view_by_interface(state, value, view);
    return is_foreign ? is_foreign : view_host(state, (PyArrayObject *)value, view);
}

/* What is no array for sure, without asking for an attribute. */
static bool is_plain_value(PyObject *value)
{
    return PyLong_CheckExact(value) || PyFloat_CheckExact(value) || value == Py_None || PyBool_Check(value) ||
           PyTuple_Check(value) || PyUnicode_CheckExact(value) || PyType_Check(value) || PyList_CheckExact(value) ||
           PyArray_CheckScalar(value);
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
    return is_plain_value(value) ? 0 : view_foreign(state, value, view);
}
