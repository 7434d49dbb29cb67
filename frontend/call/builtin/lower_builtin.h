/* Calls of types. */
#ifndef CUJIT_FRONTEND_LOWER_BUILTIN_H
#define CUJIT_FRONTEND_LOWER_BUILTIN_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool lower_type_call(Lower *l, const Type *type, const Call *call, Operand *out);

#endif
