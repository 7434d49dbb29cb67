/* Arrays: elements, attributes, and the indices that lead to elements. */
#ifndef CUJIT_FRONTEND_LOWER_ARRAY_H
#define CUJIT_FRONTEND_LOWER_ARRAY_H

#include "frontend/engine.h"

/* Behind a message that a value is no index. */
const char *lower_index_hint(Lower *l, Operand index);

/* Another array over the same memory: `offset` bytes on, axes in order or reversed. */
Operand lower_same_memory(Lower *l, Operand array, const Type *type, int64_t offset, bool reversed);
bool lower_array_attribute(Lower *l, Operand array, const char *name, Operand *out);
/* Indices of every axis, wrapped, for an integer or a tuple of integers; false with a diagnostic otherwise. */
bool lower_indices(Lower *l, Operand array, Operand index, IrValue **indices);
bool lower_index_value(Lower *l, Operand index, IrValue *extent, IrValue **out);
/* Whether the index selects a view rather than an element. */
bool index_is_view(Operand array, Operand index);
/* array.flat */
bool type_is_flat(const Type *type);

#endif
