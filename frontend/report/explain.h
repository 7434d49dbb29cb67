/* Notes to a failure of typing: where each operand's type comes from, which branches do not fit, who calls the
 * function. */
#ifndef CUJIT_FRONTEND_EXPLAIN_H
#define CUJIT_FRONTEND_EXPLAIN_H

#include "frontend/engine.h"

/* Adds to a failure where the types of the value's operands come from, and from where the function is called
 * (explain.c). */
void explain_failure(Lower *l, const SsaValue *value);
/* Adds to a failure where the type of a variable comes from that is assigned on several paths. */
void explain_phi(Lower *l, const SsaValue *phi);
/* The variable that a value is assigned to, the parameter or the global that it is; NULL for other expressions. */
const char *variable_name(Lower *l, const SsaValue *value);
/* The line of an assignment that leads to the phi. */
int assignment_line(Lower *l, const SsaValue *phi);
/* Adds to a failure another return, whose result does not fit `result`. */
void explain_returns(Lower *l, const Type *result);

#endif
