/* Views: array[index] where the index has slices, an ellipsis, None, or fewer integers than the array has axes. */
#ifndef CUJIT_FRONTEND_LOWER_SLICE_H
#define CUJIT_FRONTEND_LOWER_SLICE_H

#include "frontend/engine.h"

bool lower_view(Lower *l, Operand array, Operand index, Operand *out);
/* slice.indices(length) */
bool lower_slice_indices(Lower *l, Operand slice, Operand length, Operand *out);

#endif
