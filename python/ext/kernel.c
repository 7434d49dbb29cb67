/* What every file may ask of a kernel: its name, its parameters, and a failure that names one of them. */
#include "ext/kernel.h"

#include "ext/raise.h"

const char *ext_kernel_name(const ExtKernel *kernel)
{
    PyObject *name = PyFunction_Check(kernel->py_func) ? ((PyFunctionObject *)kernel->py_func)->func_name : NULL;
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
    if (name && !text)
        PyErr_Clear(); /* surrogates, in a name that messages can do without */
    return text ? text : "kernel";
}

Py_ssize_t ext_kernel_arity(const ExtKernel *kernel)
{
    return ((PyCodeObject *)PyFunction_GetCode(kernel->py_func))->co_argcount;
}

bool ext_kernel_takes_rest(const ExtKernel *kernel)
{
    return ((PyCodeObject *)PyFunction_GetCode(kernel->py_func))->co_flags & CO_VARARGS;
}

bool ext_kernel_is_ready(const ExtKernel *kernel)
{
    if (PyFunction_Check(kernel->py_func))
        return true;
    PyErr_SetString(PyExc_RuntimeError, "KernelBase.__init__ has not been called");
    return false;
}

const char *ext_parameter_name(const ExtKernel *kernel, Py_ssize_t index, char *text, size_t size)
{
    snprintf(text, size, "#%zd", index + 1);
    PyObject *code = PyObject_GetAttrString(kernel->py_func, "__code__");
    PyObject *names = code ? PyObject_GetAttrString(code, "co_varnames") : NULL;
    const char *name = names && PyTuple_Check(names) && index < PyTuple_GET_SIZE(names)
                           ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, index))
                           : NULL;
    if (name)
        snprintf(text, size, "%s", name);
    Py_ssize_t arity = ext_kernel_arity(kernel);
    if (index >= arity && ext_kernel_takes_rest(kernel)) {
        Py_ssize_t place = arity + (code ? ((PyCodeObject *)code)->co_kwonlyargcount : 0);
        const char *rest = names && PyTuple_Check(names) && place < PyTuple_GET_SIZE(names)
                               ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, place))
                               : NULL;
        snprintf(text, size, "%s[%zd]", rest ? rest : "", index - arity);
    }
    PyErr_Clear();
    Py_XDECREF(code);
    Py_XDECREF(names);
    return text;
}

PyObject *ext_raise_argument(const ExtKernel *kernel, Py_ssize_t index)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
        !PyErr_ExceptionMatches(PyExc_OverflowError) && !PyErr_ExceptionMatches(PyExc_BufferError))
        return NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *reason = value ? PyObject_Str(value) : NULL;
    const char *text = reason ? PyUnicode_AsUTF8(reason) : NULL;
    char name[128];
    ext_parameter_name(kernel, index, name, sizeof name);
    ext_raise_id(DIAG_LAUNCH_ARGUMENT, name, ext_kernel_name(kernel), text ? text : "unsupported value");
    Py_XDECREF(reason);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return NULL;
}
