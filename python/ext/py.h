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

#endif
