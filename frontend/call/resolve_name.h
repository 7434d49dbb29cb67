/* Attributes: of modules and other compile-time objects, of arrays, numbers and tuples. */
#ifndef CUJIT_FRONTEND_RESOLVE_NAME_H
#define CUJIT_FRONTEND_RESOLVE_NAME_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

/* The method call receiver.name(arguments). */
bool lower_method_call(Lower *l, Operand receiver, const char *name, const Call *call, Operand *out);
/* receiver.name, to be called. */
Operand operand_bound_method(Lower *l, Operand receiver, const char *name);

#endif
