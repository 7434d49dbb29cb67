/* What is kept on disk, for the command line. */
#include "ext/kernel/kernel_inspection.h"
#include "ext/module_parts.h"

static PyObject *function_cache_folder(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    char path[4096];
    if (!jit_cache_folder(path, sizeof path))
        Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(path);
}

static PyObject *function_list_cached(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Diag diag = {.id = DIAG_NONE};
    char *text;
    Py_BEGIN_ALLOW_THREADS text = jit_list_cached(&diag);
    Py_END_ALLOW_THREADS return ext_take_text(text, &diag);
}

static PyMethodDef functions[] = {
    {"cache_folder", function_cache_folder, METH_NOARGS, "Where compiled kernels are kept; None where none are."},
    {"list_cached", function_list_cached, METH_NOARGS,
     "A line for each: file, bytes, seconds since 1970 at its last use, \"gpu\" or \"cpu\", symbol, with tabs "
     "between."},
    {0},
};

bool ext_add_cache(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
