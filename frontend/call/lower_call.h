/* Calls: what is called, binding of arguments to parameters, instances of Python functions, nested functions. */
#ifndef CUJIT_FRONTEND_LOWER_CALL_H
#define CUJIT_FRONTEND_LOWER_CALL_H

#include "frontend/engine.h"

bool lower_call(Lower *l, const SsaValue *call, Operand *out);
/* A nested function, with what it captures. */
bool lower_function(Lower *l, const SsaValue *value, Operand *out);
/* What stands for a nested function among what it captures, and, in the function, itself again. */
Operand operand_self(Lower *l);
Operand operand_of_self(Lower *l, Operand parameter, const Operand *parameters);

#endif
