/* The only include of Python.h and of NumPy's C API. Built against NumPy 2's headers; the module runs with NumPy 1.26
 * and later. What differs between Python versions ends here. */
#ifndef CUJIT_EXT_PY_H
#define CUJIT_EXT_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_25_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL cujit_array_api
#ifndef EXT_IMPORTS_NUMPY   /* state.c alone */
#define NO_IMPORT_ARRAY
#endif
#include <numpy/ndarrayobject.h>
#include <numpy/arrayscalars.h>

/* --- what CPython 3.13 brought for interpreters without a GIL ------------------------------------------------------------- */
#if PY_VERSION_HEX >= 0x030D0000
#define EXT_NEEDS_NO_GIL {Py_mod_gil, Py_MOD_GIL_NOT_USED}
#else
#define EXT_NEEDS_NO_GIL {0} /* the end of the slots */
/* With a GIL a borrowed reference is as good until Python's code runs. */
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }

static inline int PyDict_GetItemRef(PyObject *dict, PyObject *key, PyObject **item)
{
    *item = Py_XNewRef(PyDict_GetItemWithError(dict, key));
    return *item ? 1 : PyErr_Occurred() ? -1 : 0;
}

static inline int PyDict_GetItemStringRef(PyObject *dict, const char *key, PyObject **item)
{
    PyObject *text = PyUnicode_FromString(key);
    int found = text ? PyDict_GetItemRef(dict, text, item) : (*item = NULL, -1);
    Py_XDECREF(text);
    return found;
}

static inline int PyDict_SetDefaultRef(PyObject *dict, PyObject *key, PyObject *value, PyObject **item)
{
    Py_ssize_t before = PyDict_GET_SIZE(dict);
    *item = Py_XNewRef(PyDict_SetDefault(dict, key, value));
    return !*item ? -1 : PyDict_GET_SIZE(dict) == before;
}

static inline PyObject *PyList_GetItemRef(PyObject *list, Py_ssize_t index)
{
    return Py_XNewRef(PyList_GetItem(list, index));
}

static inline int PyWeakref_GetRef(PyObject *weak, PyObject **object)
{
    PyObject *borrowed = PyWeakref_GetObject(weak);
    *object = borrowed == Py_None ? NULL : Py_XNewRef(borrowed);
    return *object ? 1 : borrowed ? 0 : -1;
}
#endif

/* --- ints of one digit, which most are: CPython 3.12 tells what they are ------------------------------------------------- */
static inline bool ext_small_int(PyObject *value, int64_t *number)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (!PyUnstable_Long_IsCompact((PyLongObject *)value))
        return false;
    *number = PyUnstable_Long_CompactValue((PyLongObject *)value);
    return true;
#else
    (void)value;
    (void)number;
    return false;
#endif
}

#endif
