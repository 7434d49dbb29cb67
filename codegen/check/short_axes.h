/* Axes of arguments whose extents a kernel's indices tell, as 3 of an image of which it takes [i, j, 0] to [i, j, 2]. */
#ifndef CUJIT_CODEGEN_SHORT_AXES_H
#define CUJIT_CODEGEN_SHORT_AXES_H

#include "core/ir/ir.h"

/* By parameter TYPE_MAX_NDIM extents, 0: not told, as IrFunc.extents has them; NULL: none is. The arena's. */
const uint8_t *find_short_axes(const IrFunc *kernel, Arena *arena);

#endif
