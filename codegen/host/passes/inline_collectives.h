/* A kernel with the device functions inlined in which threads meet (regions.h): regions are cut in one function. */
#ifndef CUJIT_CODEGEN_INLINE_COLLECTIVES_H
#define CUJIT_CODEGEN_INLINE_COLLECTIVES_H

#include "core/ir/ir.h"

/* The kernel itself where no function that it calls has a collective; NULL where one cannot be inlined: it calls itself, or there
 * would be too much code. What is made lies in the arena. */
const IrFunc *inline_collectives(const IrModule *module, Arena *arena);

#endif
