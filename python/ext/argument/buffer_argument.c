/* Buffers and lists as arrays for a launch. A buffer is asked for its memory last, where nothing else makes an argument of
 * the value: an array in a GPU's memory may say that it is a buffer, too, and raise when it is asked. */
#include "ext/argument/buffer_argument.h"

#include "ext/argument/argument_types.h"
#include "ext/argument/specialization.h"
#include "ext/guard.h"
#include "ext/array/element_types.h"

/* --- buffers -------------------------------------------------------------------------------------------------------------- */
/* A cheap test, for most values are none. */
static bool is_buffer(PyObject *value)
{
    return PyObject_CheckBuffer(value) && !PyArray_Check(value) && !PyArray_CheckScalar(value) && !PyBytes_Check(value);
}

/* 1: the value is an argument by itself; 0: it is not; -1: it is one that kernels cannot use, with an exception. */
static int is_argument(ExtState *state, PyObject *value)
{
    Arena *arena = ext_arena();
    if (!arena)
        return -1;
    const Type *type = ext_known_argument_type(state, value, arena);
    arena_destroy(arena);
    return type ? 1 : PyErr_Occurred() ? -1 : 0;
}

/* TypeError with the buffer's own exception as its cause: NumPy drops that one, and goes on to other protocols. */
static void raise_unreadable(PyObject *value)
{
    PyObject *view = PyMemoryView_FromObject(value);
    PyObject *type, *cause, *trace;
    Py_XDECREF(view);
    PyErr_Fetch(&type, &cause, &trace);
    PyErr_NormalizeException(&type, &cause, &trace);
    if (type && !PyErr_GivenExceptionMatches(type, PyExc_Exception)) { /* KeyboardInterrupt */
        PyErr_Restore(type, cause, trace);
        return;
    }
    if (cause)
        PyErr_Format(PyExc_TypeError, "the buffer of a value of type '%s' cannot be read (%s: %S)",
                     Py_TYPE(value)->tp_name, ((PyTypeObject *)type)->tp_name, cause);
    else
        PyErr_Format(PyExc_TypeError, "the buffer of a value of type '%s' is no array of axes and numbers",
                     Py_TYPE(value)->tp_name);
    Py_XDECREF(type);
    Py_XDECREF(cause);
    Py_XDECREF(trace);
}

/* Where neither the buffer nor another protocol of NumPy's gives memory, NumPy makes an array without axes that holds the
 * object, or passes on what the last of the protocols raised. */
static PyObject *array_over(PyObject *value)
{
    PyObject *array = PyArray_FromAny(value, NULL, 0, 0, 0, NULL);
    if (!array && !ext_forgive())
        return NULL;
    if (array && PyArray_NDIM((PyArrayObject *)array))
        return array;
    Py_XDECREF(array);
    raise_unreadable(value);
    return NULL;
}

PyObject *ext_buffer_array(ExtState *state, PyObject *value)
{
    return is_buffer(value) && is_argument(state, value) == 0 ? array_over(value) : NULL;
}

/* --- launches --------------------------------------------------------------------------------------------------------------- */
/* A list as an array of the dtype that the only signature has there. */
static PyObject *array_of_list(const ExtCompiled *compiled, PyObject *list, Py_ssize_t index)
{
    const JitSignature *only = compiled->count == 1 ? compiled->signatures : NULL;
    const Type *type = only && index < only->count ? only->arguments[index] : NULL;
    bool is_typed = type && type->kind == TYPE_ARRAY;
    PyArray_Descr *dtype = is_typed ? ext_dtype_of_type(type->element) : NULL;
    return is_typed && !dtype ? NULL : PyArray_FromAny(list, dtype, 1, 0, NPY_ARRAY_FORCECAST, NULL);
}

/* The array for an argument, or the argument. New reference; NULL with LaunchArgumentError. */
static PyObject *replaced(ExtKernel *kernel, const ExtCompiled *compiled, PyObject *value, Py_ssize_t index)
{
    bool is_list = kernel->is_frozen && PyList_Check(value);
    PyObject *array = is_list ? array_of_list(compiled, value, index) : ext_buffer_array(kernel->state, value);
    if (!array && !PyErr_Occurred())
        return Py_NewRef(value);
    return array ? array : ext_raise_argument(kernel, index);
}

PyObject *ext_with_arrays(ExtKernel *kernel, PyObject *const *args, Py_ssize_t count)
{
    bool has_any = false;
    for (Py_ssize_t i = 0; i < count; i++)
        has_any |= is_buffer(args[i]) || (kernel->is_frozen && PyList_Check(args[i]));
    PyObject *made = has_any ? PyTuple_New(count) : NULL;
    if (!made)
        return NULL;
    ExtCompiled compiled = {.arena = ext_arena()};
    if (!compiled.arena || (kernel->is_frozen && !ext_compiled_signatures(kernel, &compiled)))
        Py_CLEAR(made);
    for (Py_ssize_t i = 0; made && i < count; i++) {
        PyObject *item = replaced(kernel, &compiled, args[i], i);
        if (item)
            PyTuple_SET_ITEM(made, i, item);
        else
            Py_CLEAR(made);
    }
    arena_destroy(compiled.arena);
    return made;
}
