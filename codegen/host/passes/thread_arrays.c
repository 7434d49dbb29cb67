/* Marks loops of a thread to write out in full, by which its small arrays are in registers: then threads next to each other
 * can be vectors. LLVM does so by itself only where loops are short. Regions have chosen theirs (loop_places.c). */
#include "codegen/host/regions/loop_body.h"
#include "codegen/passes.h"
#include "codegen/unroll.h"

static const UnrollLimits limits = {.trips = 64, .values = 2304, .small = 0};

static void mark_in_function(IrFunc *function, Arena *arena)
{
    const IrGraph *graph = ir_graph(function, arena);
    const bool *is_chosen = choose_unrolled_loops(graph, &limits, arena);
    for (uint32_t i = 0; is_chosen && i < graph->loop_count; i++)
        if (is_chosen[i])
            graph->loops[i].header->loop = IR_LOOP_UNROLL;
}

void mark_loops_of_arrays(IrModule *module)
{
    if (has_thread_loops(module->first))
        return;
    Arena *arena = arena_create();
    for (IrFunc *function = module->first; function; function = function->next)
        if (!function->lacks_body && !function->assembly)
            mark_in_function(function, arena);
    arena_destroy(arena);
}
