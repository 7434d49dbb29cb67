/* Which loops of a kernel are around the loops over a block's threads, and which are inside of them. */
#ifndef CUJIT_CODEGEN_LOOP_PLACES_H
#define CUJIT_CODEGEN_LOOP_PLACES_H

#include "core/ir/ir_graph.h"
#include "codegen/host/regions/regions.h"

typedef struct LoopPlaces {
    const IrGraph *graph;
    bool *is_own; /* by IrValue.id: a condition on which threads branch each by itself, though they may have it alike */
    bool *is_around; /* by place in graph->loops */
    const bool *is_unrolled; /* likewise; NULL: none */
    bool *is_whole; /* by IrValue.id: a thread's array that lies in one piece */
} LoopPlaces;

/* Whether threads meet in the loop. */
bool is_met_in(const IrLoop *loop);
/* Of a kernel whose threads meet: all loops that they run alike are around, but small ones in which they do not meet. */
void place_loops_of_meeting(const IrFunc *kernel, Arena *arena, LoopPlaces *out);
/* Of one whose threads do not meet; false: their order shows. */
bool place_loops(const IrModule *module, Arena *arena, LoopPlaces *out);
bool has_loops_around(const LoopPlaces *places);
/* None is around. */
void keep_loops_inside(LoopPlaces *places);
/* Whether a load or store is of another part of memory than that of the next thread in its row, as far as is known where there
 * are no regions. */
bool is_far_access(const IrValue *access);
/* Whether the regions that were found with these places are worth it: some loop is around, and the threads that run it
 * together are next to each other in memory. */
bool gains_by_places(const LoopPlaces *places, const Regions *regions, Arena *arena);

#endif
