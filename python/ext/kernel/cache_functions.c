/* What is kept on disk, for the command line; and what is to get there before the program ends. */
#include "ext/interrupt.h"
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

static PyObject *function_finish_quick_starts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    bool is_done;
    ExtInterrupt interrupt = ext_interrupt();
    Py_BEGIN_ALLOW_THREADS is_done = jit_finish_quick_starts(interrupt);
    Py_END_ALLOW_THREADS if (is_done || !ext_raise_interruption()) Py_RETURN_NONE;
    return NULL;
}

static PyMethodDef functions[] = {
    {"finish_quick_starts", function_finish_quick_starts, METH_NOARGS,
     "Waits until all code that was made quickly is replaced; from a signal on that raises nobody waits for it any "
     "more."},
    {"cache_folder", function_cache_folder, METH_NOARGS, "Where compiled kernels are kept; None where none are."},
    {"list_cached", function_list_cached, METH_NOARGS,
     "A line for each: file, bytes, seconds since 1970 at its last use, \"gpu\" or \"cpu\", symbol, with tabs "
     "between."},
    {0},
};

bool ext_add_cache(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }
