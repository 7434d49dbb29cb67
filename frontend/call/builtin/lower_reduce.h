/* sum, any, all, min and max over arrays, tuples and ranges. */
#ifndef CUJIT_FRONTEND_LOWER_REDUCE_H
#define CUJIT_FRONTEND_LOWER_REDUCE_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool lower_match_class(Lower *l, Operand value, Operand class, bool captures, Operand *out);
/* How many items there are, by going through them. */
bool lower_count(Lower *l, Operand iterable, Operand *out);
/* Whether an item of the iterable equals x. */
bool lower_found(Lower *l, Operand x, Operand iterable, Operand *out);

#endif
