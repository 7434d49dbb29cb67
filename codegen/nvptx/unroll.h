/* Which loops of a function to write out in full, so that small arrays of the thread are in registers. */
#ifndef CUJIT_CODEGEN_UNROLL_H
#define CUJIT_CODEGEN_UNROLL_H

#include "core/ir/ir.h"

/* By IrBlock.id: headers of counted loops of few trips whose index picks from a small array of the thread, all of whose
 * indices are then constants, or from a tuple. None where that would be too much code. In the arena. */
const bool *find_unrolled_loops(const IrFunc *function, Arena *arena);

#endif
