/* The performance report: where narrow floats become float64 because of what stands beside them, and narrow integers int64. */
#ifndef CUJIT_FRONTEND_WIDENING_H
#define CUJIT_FRONTEND_WIDENING_H

#include "frontend/engine.h"

/* Why the value computes in float64 (or complex128) although narrower floats go into it; NULL when it does not. In the
 * arena (widening.c). */
const char *widening(Lower *l, const SsaValue *value);
/* Likewise of integers of at most 32 bits that become int64 or uint64 since numba's do. What is made of numbers of threads and
 * blocks is left out: it is computed in 32 bits where it fits. */
const char *widening_of_integers(Lower *l, const SsaValue *value);
/* Prints every widening of an instance that belongs to the user: "file:line: text". Those of integers where the request asks. */
void list_widenings(Buf *out, Frontend *frontend, Instance *instance);

#endif
