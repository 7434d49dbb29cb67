/* Assignment to a slice: array[slice] = scalar, record or array, element by element, with NumPy's broadcasting. */
#ifndef CUJIT_FRONTEND_LOWER_FILL_H
#define CUJIT_FRONTEND_LOWER_FILL_H

#include "frontend/engine.h"

/* array += scalar or array */
bool lower_update(Lower *l, int32_t number, Operand target, Operand source, Operand *out);

#endif
