/* The types that values have as kernel arguments. */
#ifndef CUJIT_EXT_ARGUMENT_TYPES_H
#define CUJIT_EXT_ARGUMENT_TYPES_H

#include "ext/state.h"

/* The type of any value as an argument. NULL with TypeError or OverflowError. */
const Type *ext_argument_type(ExtState *state, PyObject *value, Arena *arena);
/* Likewise, but NULL without an exception for a value of a kind that kernels do not take. */
const Type *ext_known_argument_type(ExtState *state, PyObject *value, Arena *arena);
/* (address, type) of a pointer of ctypes, None for any other value. NULL with an exception. */
PyObject *ext_ctypes_pointer(PyObject *value);

#endif
