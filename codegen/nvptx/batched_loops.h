/* Which loops of a function do several trips at a time on a GPU. */
#ifndef CUJIT_CODEGEN_BATCHED_LOOPS_H
#define CUJIT_CODEGEN_BATCHED_LOOPS_H

#include "codegen/nvptx/load_order.h"

enum { BATCH_TRIPS = 4 };

/* By IrBlock.id: headers of counted loops, by a step that the launch decides, which read memory and write none that could
 * be what they read. The loads of several trips can then be under way at once. In the arena. */
const bool *find_batched_loops(const IrFunc *function, const LoadOrder *order, Arena *arena);

#endif
