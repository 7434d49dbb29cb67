/* Variables that may be read before anything is assigned to them. */
#ifndef CUJIT_FRONTEND_UNASSIGNED_H
#define CUJIT_FRONTEND_UNASSIGNED_H

#include "frontend/engine.h"

/* Adds "file:line: text" and a newline for each variable of the instance that is read where some path has not assigned
 * it: its first such read. What belongs to cujit is passed over. */
void list_unassigned(Buf *out, Frontend *frontend, Instance *instance);

/* By SSA value: whether it is a phi that some path reaches without an assignment. NULL: the instance, whose types are known,
 * has no variable that may be read so, or belongs to cujit. */
const bool *unassigned_phis(const Instance *instance, Arena *arena);

#endif
