/* Calls of functions over arrays of the host, by a recipe. The CPU device computes in place; for a GPU, calls are made in
 * Python, which copies. */
#include "ext/object/elementwise/elementwise_host.h"

#include "ext/array/element_types.h"
#include "ext/guard.h"

/* --- whether a call is of a kind -------------------------------------------------------------------------------------- */
/* The element type of an array that kernels can use in place; NULL where they cannot. */
static const Type *element_of(ExtState *state, PyObject *value)
{
    PyArrayObject *array = (PyArrayObject *)value;
    if (!PyArray_CheckExact(value) || !PyArray_IS_C_CONTIGUOUS(array) || !PyArray_ISALIGNED(array) ||
        PyArray_NDIM(array) == 0)
        return NULL;
    const Type *element = ext_element_type(state, PyArray_DESCR(array));
    if (!element)
        ext_forgive();
    return element;
}

bool ext_host_call_read(ExtState *state, PyObject *const *args, size_t count, PyObject *given_out, HostCall *call)
{
    if (count > RECIPE_INPUTS)
        return false;
    call->args = args;
    call->shaped = call->out = NULL;
    call->out_element = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_array = PyArray_Check(args[i]);
        call->arrays[i] = is_array ? (PyArrayObject *)args[i] : NULL;
        call->elements[i] = is_array ? element_of(state, args[i]) : NULL;
        if (is_array && !call->elements[i])
            return false;
        if (is_array && !call->shaped)
            call->shaped = call->arrays[i];
    }
    if (given_out && PyArray_Check(given_out)) {
        call->out = (PyArrayObject *)given_out;
        call->out_element = element_of(state, given_out);
    }
    return call->shaped && PyArray_SIZE(call->shaped) > 0 && (!given_out || call->out_element);
}

static bool same_shape(PyArrayObject *a, PyArrayObject *b)
{
    return PyArray_NDIM(a) == PyArray_NDIM(b) &&
           PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

/* Whether writing the one leaves what is still to be read of the other alone. */
static bool is_apart(PyArrayObject *out, PyArrayObject *in)
{
    const char *first = PyArray_BYTES(out), *other = PyArray_BYTES(in);
    bool same = first == other && PyArray_ITEMSIZE(out) == PyArray_ITEMSIZE(in);
    return same || first + PyArray_NBYTES(out) <= other || other + PyArray_NBYTES(in) <= first;
}

bool ext_host_call_fits(const HostCall *call, const Recipe *recipe)
{
    PyArrayObject *out = call->out;
    if (out && (call->out_element != recipe->element || !PyArray_ISWRITEABLE(out) || !same_shape(out, call->shaped)))
        return false;
    for (uint32_t i = 0; i < recipe->count; i++) {
        PyArrayObject *array = call->arrays[i];
        if (call->elements[i] != recipe->elements[i])
            return false;
        if (!array && Py_TYPE(call->args[i]) != recipe->classes[i])
            return false;
        if (array && (!same_shape(array, call->shaped) || (out && !is_apart(out, array))))
            return false;
    }
    return true;
}

/* --- the parameters ------------------------------------------------------------------------------------------------------- */
/* pointers: of each array among the inputs, and of the result. False where a number has to be converted in Python. */
static bool write_parameters(const HostCall *call, const Recipe *recipe, const RtPointer *pointers, int64_t size,
                             uint8_t *parameters)
{
    uint32_t count;
    const Type *const *types = jit_types(recipe->specialization, &count);
    RecipeWriter writer = {jit_abi(recipe->specialization)->fields, parameters};
    for (uint32_t i = 0; i < recipe->count; i++) {
        if (call->arrays[i])
            recipe_write_array(&writer, types[i], pointers[i], size);
        else if (!recipe_write_number(&writer, call->args[i], types[i]))
            return false;
    }
    recipe_write_array(&writer, types[recipe->count], pointers[recipe->count], size);
    return true;
}

static RtPointer address(PyArrayObject *array) { return (RtPointer)(uintptr_t)PyArray_DATA(array); }

/* --- the CPU device --------------------------------------------------------------------------------------------------------- */
static bool run_in_place(const HostCall *call, const Recipe *recipe, PyArrayObject *out)
{
    uint8_t parameters[RECIPE_BYTES];
    RtPointer pointers[RECIPE_INPUTS + 1] = {0};
    for (uint32_t i = 0; i < recipe->count; i++)
        if (call->arrays[i])
            pointers[i] = address(call->arrays[i]);
    pointers[recipe->count] = address(out);
    return write_parameters(call, recipe, pointers, PyArray_SIZE(out), parameters) &&
           recipe_launch(recipe, PyArray_SIZE(out), NULL, parameters);
}

/* --- the call ----------------------------------------------------------------------------------------------------------------- */
static bool is_done_here(const Recipe *recipe)
{
    return rt_device_kind(jit_device(recipe->specialization)) == RT_CPU && !rt_graph_recorded();
}

/* Whether all numbers can be written; parameters that come of it are not used. */
static bool can_write_numbers(const HostCall *call, const Recipe *recipe)
{
    uint8_t parameters[RECIPE_BYTES];
    RtPointer pointers[RECIPE_INPUTS + 1] = {0};
    return write_parameters(call, recipe, pointers, 0, parameters);
}

PyObject *ext_host_call_run(const HostCall *call, const Recipe *recipe)
{
    if (!is_done_here(recipe) || !can_write_numbers(call, recipe))
        return NULL;
    PyObject *out = Py_XNewRef((PyObject *)call->out);
    if (!out)
        out = PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)recipe->dtype),
                                   PyArray_NDIM(call->shaped), PyArray_DIMS(call->shaped), NULL, NULL, 0, NULL);
    if (!out)
        return NULL;
    if (!run_in_place(call, recipe, (PyArrayObject *)out))
        Py_CLEAR(out);
    return out;
}
