/* The performance report: where narrow floats become float64 because of what stands beside them. */
#ifndef CUJIT_FRONTEND_WIDENING_H
#define CUJIT_FRONTEND_WIDENING_H

#include "frontend/engine.h"

/* Why the value computes in float64 (or complex128) although narrower floats go into it; NULL when it does not. In the
 * arena (widening.c). */
const char *widening(Lower *l, const SsaValue *value);
/* Prints every widening of an instance that belongs to the user: "file:line: text". */
void list_widenings(Buf *out, Frontend *frontend, Instance *instance);

#endif
