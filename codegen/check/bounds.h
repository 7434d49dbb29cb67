/* The check `bounds`: every access of an array is inside of it, and what is assigned to all of it has its shape. */
#ifndef CUJIT_CODEGEN_BOUNDS_H
#define CUJIT_CODEGEN_BOUNDS_H

#include "codegen/check/rewrite.h"

/* Whether the accesses of a function are looked at. What belongs to cujit is right by construction, but for arrays that come
 * from a caller who can be told. */
bool is_bounded(const IrFunc *function);
/* The axes of an access by indices, a bit each, but for those where constants show that they are inside. */
unsigned bounded_axes(const IrValue *value);
/* How many neighbours the access takes at once. */
uint32_t bounded_width(const IrValue *value);
/* The extent of an array, or of a tuple, where the source has it; -1: it does not. */
int64_t known_extent(const IrValue *container, uint32_t axis);
/* The extent of what is assigned, along one of the target's axes. */
IrValue *assigned_extent(const IrValue *broadcast, uint32_t axis);
/* Puts tests of these axes in front of the value. */
void check_bounds(Rewrite *rewrite, const IrValue *value, unsigned axes);

#endif
