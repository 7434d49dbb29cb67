/* Parameters whose value a function turns out to need while it is compiled (the shape of a shared array, the place in a
 * tuple of different types). */
#ifndef CUJIT_FRONTEND_CONSTANT_PARAMETER_H
#define CUJIT_FRONTEND_CONSTANT_PARAMETER_H

#include "frontend/engine.h"

/* The value being handled failed for want of a constant: notes the parameters of the instance that it depends on. */
void want_constants(Lower *l);
/* Gives the facts of a call the constants that the instance wants. False if there are none; then what the call depends
 * on is wanted of the instance that calls. */
bool keep_constants(Lower *l, const Instance *instance, const Operand *given, uint32_t count, Operand *facts);

#endif
