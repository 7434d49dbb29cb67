/* Functions for certain argument types: making them other than by asking (engine.h). */
#ifndef CUJIT_FRONTEND_INSTANCE_H
#define CUJIT_FRONTEND_INSTANCE_H

#include "frontend/engine.h"

/* Writes out the loops for which `unroll` asks: the instance gets an SSA of its own, of which nothing is known yet. */
bool instance_unroll(Frontend *frontend, Instance *instance);
/* Likewise: the variables (by local) live in memory that nested functions share. */
bool instance_share(Frontend *frontend, Instance *instance, const bool *shared);
/* Which parameter of a kernel is its * parameter, whose items are passed one by one. */
#define NO_PARAMETER UINT32_MAX
uint32_t kernel_rest(const Instance *instance);

#endif
