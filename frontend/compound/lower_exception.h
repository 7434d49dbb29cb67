/* Exceptions: raise and assert. */
#ifndef CUJIT_FRONTEND_LOWER_EXCEPTION_H
#define CUJIT_FRONTEND_LOWER_EXCEPTION_H

#include "frontend/engine.h"
#include "frontend/value/arguments.h"

bool operand_is_exception_class(Operand operand);
/* A call of a class of exceptions. */
bool lower_exception_call(Lower *l, Operand class, const Call *call, Operand *out);
/* Ends the block by what the statement raises. */
bool lower_raise(Lower *l, const SsaValue *value);

#endif
