/* Marks loops that a GPU's code has written out, or does several trips at a time, and takes arrays apart whose elements the
 * program chooses. */
#include "codegen/nvptx/element_choice.h"
#include "codegen/passes.h"

static void mark_in_function(IrFunc *function, const UnrollLimits *limits, Arena *arena)
{
    const IrGraph *graph = ir_graph(function, arena);
    UnrolledLoops loops;
    if (!choose_unrolled(graph, limits, arena, &loops))
        return;
    for (uint32_t i = 0; i < graph->loop_count; i++)
        if (loops.is_chosen[i])
            graph->loops[i].header->loop = IR_LOOP_UNROLL;
        else if (loops.is_batched[i])
            graph->loops[i].header->loop = IR_LOOP_BATCH;
    choose_elements(function, loops.choices);
}

void mark_unrolled_loops(IrModule *module)
{
    /* accumulators of wgmma are many, and of no use in memory */
    bool has_wgmma = ir_module_effects(module) & EFFECT_SPECIFIC;
    const UnrollLimits limits = {.trips = 128, .values = has_wgmma ? 65536 : 8192, .small = 768, .scaled = true};
    Arena *arena = arena_create();
    for (IrFunc *function = module->first; function; function = function->next)
        mark_in_function(function, &limits, arena);
    arena_destroy(arena);
}
