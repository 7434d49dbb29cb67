/* Calls, attributes and operators that the program has given implementations by type (cujit.extending). */
#ifndef CUJIT_FRONTEND_LOWER_OVERLOAD_H
#define CUJIT_FRONTEND_LOWER_OVERLOAD_H

#include "frontend/engine.h"

/* A call of an overloaded function. *is_own: there is an implementation, or an error; else what it is otherwise answers. */
bool lower_overloaded_call(Lower *l, const Constant *overloaded, Call *call, Operand *out, bool *is_own);
/* Likewise an attribute of a value; a method becomes one that is bound to it. */
bool lower_overloaded_attribute(Lower *l, Operand object, const char *name, Operand *out, bool *is_own);
bool lower_overloaded_method(Lower *l, Operand receiver, const char *name, const Call *call, Operand *out,
                             bool *is_own);
/* Likewise an operator whose operands have types of the program's own: x, as lower_value has them. */
bool lower_overloaded_operator(Lower *l, const SsaValue *value, const Operand *x, Operand *out, bool *is_own);

#endif
