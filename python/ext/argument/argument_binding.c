/* Binds the arguments of a launch to the kernel's parameters, as a call in Python does. Off the path of launches that
 * give every argument by position. */
#include "ext/argument/argument_binding.h"

#include "ext/raise.h"

typedef struct Binding {
    ExtKernel *kernel;
    PyObject *names;         /* the code's variable names, parameters first */
    PyObject *defaults;      /* of the function; NULL: none */
    Py_ssize_t arity;
    PyObject **values;       /* arity; borrowed, NULL: none yet */
} Binding;

static bool bind_keyword(Binding *binding, PyObject *name, PyObject *value)
{
    for (Py_ssize_t i = 0; i < binding->arity; i++) {
        int equal = PyObject_RichCompareBool(PyTuple_GET_ITEM(binding->names, i), name, Py_EQ);
        if (equal < 0)
            return false;
        if (equal && binding->values[i]) {
            PyErr_SetString(PyExc_TypeError, "given both by position and by name");
            return ext_raise_argument(binding->kernel, i), false;
        }
        if (equal) {
            binding->values[i] = value;
            return true;
        }
    }
    const char *text = PyUnicode_AsUTF8(name);
    if (text)
        ext_raise_id(DIAG_CALL_KEYWORD, ext_kernel_name(binding->kernel), text);
    return false;
}

static bool bind_defaults(Binding *binding, Py_ssize_t given)
{
    PyObject *defaults = binding->defaults;
    Py_ssize_t default_count = defaults && PyTuple_Check(defaults) ? PyTuple_GET_SIZE(defaults) : 0;
    for (Py_ssize_t i = 0; i < binding->arity; i++) {
        Py_ssize_t place = i - (binding->arity - default_count);
        if (!binding->values[i] && place >= 0)
            binding->values[i] = PyTuple_GET_ITEM(defaults, place);
        if (!binding->values[i]) {
            ext_raise_id(DIAG_LAUNCH_ARITY, ext_kernel_name(binding->kernel), (int)binding->arity,
                         binding->arity == 1 ? "" : "s", (int)given);
            return false;
        }
    }
    return true;
}

static PyObject *bind(Binding *binding, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t keyword_count = names ? PyTuple_GET_SIZE(names) : 0;
    Py_ssize_t rest = count > binding->arity && ext_kernel_takes_rest(binding->kernel) ? count - binding->arity : 0;
    if (count - rest + keyword_count > binding->arity)
        return ext_raise_id(DIAG_LAUNCH_ARITY, ext_kernel_name(binding->kernel), (int)binding->arity,
                            binding->arity == 1 ? "" : "s", (int)(count + keyword_count));
    for (Py_ssize_t i = 0; i < count - rest; i++)
        binding->values[i] = args[i];
    for (Py_ssize_t i = 0; i < keyword_count; i++)
        if (!bind_keyword(binding, PyTuple_GET_ITEM(names, i), args[count + i]))
            return NULL;
    if (!bind_defaults(binding, count - rest + keyword_count))
        return NULL;
    PyObject *bound = PyTuple_New(binding->arity + rest);
    for (Py_ssize_t i = 0; bound && i < binding->arity + rest; i++)
        PyTuple_SET_ITEM(bound, i, Py_NewRef(i < binding->arity ? binding->values[i] : args[i]));
    return bound;
}

PyObject *ext_bind_arguments(ExtKernel *kernel, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyCodeObject *code = (PyCodeObject *)PyFunction_GetCode(kernel->py_func);
    PyObject *variables = PyCode_GetVarnames(code), *bound = NULL;
    Binding binding = {.kernel = kernel, .names = variables, .arity = code->co_argcount};
    binding.values = PyMem_Calloc((size_t)binding.arity + 1, sizeof *binding.values);
    Py_BEGIN_CRITICAL_SECTION(kernel->py_func);
    binding.defaults = Py_XNewRef(PyFunction_GetDefaults(kernel->py_func));
    Py_END_CRITICAL_SECTION();
    if (variables && binding.values)
        bound = bind(&binding, args, count, names);
    else if (!binding.values)
        PyErr_NoMemory();
    PyMem_Free(binding.values);
    Py_XDECREF(binding.defaults);
    Py_XDECREF(variables);
    return bound;
}
