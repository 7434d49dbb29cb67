/* Indexing, slicing and unpacking of tuples. */
#ifndef CUJIT_FRONTEND_LOWER_UNPACK_H
#define CUJIT_FRONTEND_LOWER_UNPACK_H

#include "frontend/engine.h"

bool lower_tuple_index(Lower *l, Operand tuple, Operand index, Operand *out);
bool lower_unpack(Lower *l, Operand source, uint32_t index, uint32_t count, Operand *out);

#endif
