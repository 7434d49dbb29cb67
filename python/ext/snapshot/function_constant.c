/* Constants that are functions: Python's, intrinsics and what stands for them in cujit._kernel_functions, and objects of
 * the host that are called like functions. */
#include "ext/snapshot/snapshot_builder.h"

#include "ext/snapshot/intrinsic_lookup.h"

/* Whether the function's module has this name, or lies below it. */
static bool is_of(PyObject *function, const char *package)
{
    PyObject *module = PyObject_GetAttrString(function, "__module__");
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    size_t size = strlen(package);
    bool result = name && strncmp(name, package, size) == 0 && (name[size] == 0 || name[size] == '.');
    Py_XDECREF(module);
    ext_forgive();
    return result;
}

const Constant *ext_function_constant(SnapshotBuilder *builder, PyObject *value, const ExtKernel *kernel,
                                      const char *shown)
{
    bool has_foreign_insides = is_of(value, "numpy"); /* no intrinsic: no kernel can use them */
    bool is_own = is_of(value, "cujit.cuda"); /* cuda.random's */
    if (has_foreign_insides)
        return ext_unsupported_value(builder, value, shown);
    if (PyErr_Occurred())
        return NULL;
    Constant *constant = ext_new_constant(builder, CONSTANT_FUNCTION, shown);
    builder->library_depth += is_own;
    constant->function = ext_function(builder, value, kernel);
    builder->library_depth -= is_own;
    return constant->function ? constant : NULL;
}

const Constant *ext_library_function_constant(SnapshotBuilder *builder, const LibraryFunction *function,
                                              const char *shown)
{
    PyObject *path = ext_hold(PyUnicode_FromFormat("cujit._kernel_functions.%s", function->module));
    PyObject *module = path ? ext_hold(PyImport_Import(path)) : NULL;
    PyObject *value = module ? ext_hold(PyObject_GetAttrString(module, function->name)) : NULL;
    builder->library_depth++;
    const Constant *constant = value ? ext_function_constant(builder, value, NULL, shown) : NULL;
    builder->library_depth--;
    return constant;
}

/* What a function of cujit._kernel_functions.sequences makes of arguments on the host: a function for kernels. Takes over
 * the arguments, a tuple. */
static const Constant *made_function(SnapshotScope *scope, const char *maker, PyObject *arguments, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    PyObject *module =
        ext_hold(arguments) ? ext_hold(PyImport_ImportModule("cujit._kernel_functions.sequences")) : NULL;
    PyObject *make = module ? ext_hold(PyObject_GetAttrString(module, maker)) : NULL;
    PyObject *made = make ? ext_hold(PyObject_CallObject(make, arguments)) : NULL;
    return made ? ext_function_constant(builder, made, NULL, shown) : NULL;
}

const Constant *ext_partial_constant(SnapshotScope *scope, PyObject *value, const char *shown)
{
    PyObject *function = ext_hold(PyObject_GetAttrString(value, "func"));
    PyObject *given = ext_hold(PyObject_GetAttrString(value, "args"));
    PyObject *keywords = ext_hold(PyObject_GetAttrString(value, "keywords"));
    PyObject *arguments = function && given && keywords ? PyTuple_Pack(3, function, given, keywords) : NULL;
    return made_function(scope, "captured_partial", arguments, shown);
}

const Constant *ext_class_method_constant(SnapshotScope *scope, PyObject *value, const char *shown)
{
    PyObject *given = ext_hold(PyTuple_Pack(1, PyMethod_GET_SELF(value))), *keywords = ext_hold(PyDict_New());
    PyObject *arguments = given && keywords ? PyTuple_Pack(3, PyMethod_GET_FUNCTION(value), given, keywords) : NULL;
    return made_function(scope, "captured_partial", arguments, shown);
}

/* The function that its class stands for makes a function of the same arguments. */
const Constant *ext_function_object_constant(SnapshotScope *scope, PyObject *value, const char *shown)
{
    SnapshotBuilder *builder = scope->builder;
    int number =
        PyCallable_Check(value) ? ext_intrinsic_of_object(builder->state, (PyObject *)Py_TYPE(value)) : INTRINSIC_NONE;
    const LibraryFunction *function = number > INTRINSIC_NONE ? library_function_by_number(number) : NULL;
    if (!function)
        return NULL;
    builder->library_depth++;
    const Constant *constant =
        made_function(scope, "captured_object", Py_BuildValue("(ssO)", function->module, function->name, value), shown);
    builder->library_depth--;
    return constant;
}

const Constant *ext_intrinsic_constant(SnapshotBuilder *builder, int number, const char *shown)
{
    const LibraryFunction *library = library_function_by_number(number);
    if (library)
        return ext_library_function_constant(builder, library, shown);
    Constant *constant = ext_new_constant(builder, CONSTANT_INTRINSIC, shown);
    constant->intrinsic = (IntrinsicId)number;
    const LibraryFunction *general = library_function_general(constant->intrinsic);
    const Constant *function = general ? ext_library_function_constant(builder, general, shown) : NULL;
    if (general && !function)
        return NULL;
    constant->function = function ? function->function : NULL;
    return constant;
}

PyObject *ext_wrapped_function(const SnapshotBuilder *builder, PyObject *value)
{
    if (!PyCallable_Check(value) || PyType_Check(value))
        return NULL;
    PyObject *function = PyObject_GetAttr(value, builder->state->py_func_name);
    ext_forgive();
    if (function && PyFunction_Check(function))
        return function;
    Py_XDECREF(function);
    return NULL;
}
