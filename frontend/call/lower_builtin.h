/* Python's own functions and casts: one handler for each BUILTIN row of intrinsic.def that is not cuda's or math's. */
#ifndef CUJIT_FRONTEND_LOWER_BUILTIN_H
#define CUJIT_FRONTEND_LOWER_BUILTIN_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool lower_type_call(Lower *l, const Type *type, const Call *call, Operand *out);
bool lower_builtin_call(Lower *l, const Call *call, Operand *out);

#endif
