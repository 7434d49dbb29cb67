/* Conversions between types, truth values, and what is plain to see of an integer's range. */
#ifndef CUJIT_FRONTEND_LOWER_CONVERT_H
#define CUJIT_FRONTEND_LOWER_CONVERT_H

#include "frontend/engine.h"

/* The operand as that type: scalars by value, arrays to a layout that is less definite, tuples item by item. */
bool lower_convert(Lower *l, Operand from, const Type *to, Operand *out);
/* Truth of an operand as a bool. */
bool lower_truth(Lower *l, Operand operand, Operand *out);
/* The smallest and largest value that an i64 or smaller integer in IR can have, as far as is plain to see. */
void lower_interval(const IrValue *value, int64_t *low, int64_t *high);

#endif
