/* The check `bounds`: every access of an array is inside of it. */
#ifndef CUJIT_CODEGEN_BOUNDS_H
#define CUJIT_CODEGEN_BOUNDS_H

#include "codegen/check/rewrite.h"

/* Puts tests in front of the value where it accesses an array by indices. */
void check_bounds(Rewrite *rewrite, const IrValue *value);

#endif
