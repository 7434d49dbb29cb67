/* Places in memory that instructions of tiles take: elements of arrays, and arrays that must be shared (lower_tensor.c). */
#ifndef CUJIT_FRONTEND_LOWER_PLACE_H
#define CUJIT_FRONTEND_LOWER_PLACE_H

#include "frontend/engine.h"

/* A reference to an element: an array without axes. The elements behind it along the last axis are its neighbours. */
bool lower_place(Lower *l, const Call *call, Operand array, Operand index, Operand *out);
/* Arguments of the kernel, arrays of the thread and constants are not in shared memory; of what device functions get it is
 * not known. */
bool lower_check_shared(Lower *l, const Call *call, Operand array, const char *rule);

#endif
