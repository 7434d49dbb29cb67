/* array.flat[index]: elements by their place in C order. */
#ifndef CUJIT_FRONTEND_LOWER_FLAT_H
#define CUJIT_FRONTEND_LOWER_FLAT_H

#include "frontend/engine.h"

bool lower_flat_item(Lower *l, Operand array, Operand index, Operand *out);
bool lower_store_flat_item(Lower *l, Operand array, Operand index, Operand value);

#endif
