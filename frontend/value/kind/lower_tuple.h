/* Tuples: making them, and their items. */
#ifndef CUJIT_FRONTEND_LOWER_TUPLE_H
#define CUJIT_FRONTEND_LOWER_TUPLE_H

#include "frontend/engine.h"

Operand lower_make_tuple(Lower *l, const Operand *items, uint32_t count, TupleTag tag);
Operand lower_tuple_item(Lower *l, Operand tuple, uint32_t index);

#endif
