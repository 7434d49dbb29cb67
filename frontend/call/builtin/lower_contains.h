/* x in y and x not in y. */
#ifndef CUJIT_FRONTEND_LOWER_CONTAINS_H
#define CUJIT_FRONTEND_LOWER_CONTAINS_H

#include "frontend/engine.h"

bool lower_contains(Lower *l, Operand item, Operand container, bool negated, Operand *out);

#endif
