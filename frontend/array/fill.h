/* Shared by the two files that assign arrays to arrays: lower_fill.c, element by element, and lower_overlap.c, where
 * source and target overlap and run differently. */
#ifndef CUJIT_FRONTEND_FILL_H
#define CUJIT_FRONTEND_FILL_H

#include "frontend/engine.h"

enum { NO_OPERATOR = -1 };

typedef struct Fill {
    Operand target, source; /* source: an array, or one value for all elements */
    int32_t number; /* of the operator between element and value; NO_OPERATOR: the value takes the element's place */
} Fill;

/* Index of the source's axis that lies under axis `axis` of the target, or -1 where it has none. */
int fill_source_axis(const Fill *fill, uint32_t axis);
/* The source's element for the target's at these indices; records and text as an array without axes. */
Operand fill_item(Lower *l, const Fill *fill, IrValue *const *indices);
/* Puts an item, or the operator's result with it, into the target at these indices. */
bool fill_store(Lower *l, const Fill *fill, IrValue *const *indices, Operand item);

/* lower_overlap.c, while emitting. Whether both could be parts of one memory. */
bool fill_may_overlap(const Fill *fill);
/* Whether, at run time, the source of such a fill must be read in an order of its own. NULL: never. */
IrValue *fill_is_tangled(Lower *l, const Fill *fill);
/* The assignment as if the source had been copied before. */
bool fill_tangled(Lower *l, const Fill *fill);

#endif
