/* Calls of functions over arrays of the host, by a recipe. */
#ifndef CUJIT_EXT_ELEMENTWISE_HOST_H
#define CUJIT_EXT_ELEMENTWISE_HOST_H

#include "ext/object/elementwise/recipe.h"

/* A call whose arrays are NumPy's. Borrows. */
typedef struct HostCall {
    PyObject *const *args;
    PyArrayObject *arrays[RECIPE_INPUTS]; /* the arguments that are arrays; NULL: numbers */
    const Type *elements[RECIPE_INPUTS];
    PyArrayObject *shaped; /* the first array */
    PyArrayObject *out; /* NULL: the result is to be made */
    const Type *out_element;
} HostCall;

/* False where not all arrays are NumPy's own, or are none that are done here. given_out may be NULL. */
bool ext_host_call_read(ExtState *state, PyObject *const *args, size_t count, PyObject *given_out, HostCall *call);
bool ext_host_call_fits(const HostCall *call, const Recipe *recipe);
/* The result; NULL without an exception where the call has to be made in Python. */
PyObject *ext_host_call_run(const HostCall *call, const Recipe *recipe);

#endif
