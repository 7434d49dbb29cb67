/* Signatures, and tuples of Types. */
#ifndef CUJIT_EXT_SIGNATURE_OBJECT_H
#define CUJIT_EXT_SIGNATURE_OBJECT_H

#include "ext/state.h"

PyObject *ext_signature_object(ExtState *state, PyObject *args, PyObject *return_type);
/* A tuple of Types as an array in the arena. False with an exception. */
bool ext_types_of_tuple(ExtState *state, PyObject *tuple, Arena *arena, const Type *const **types, uint32_t *count);
PyObject *ext_tuple_of_types(ExtState *state, const Type *const *types, uint32_t count);

#endif
