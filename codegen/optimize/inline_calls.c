/* Inlines device functions into the kernel before the passes that look at one function: what they load, test and compute is
 * then seen beside what the kernel knows of their arguments. What stays is left to LLVM (inlining.c chooses for both):
 * functions that call themselves, and those that are too much code in all copies together. Checks that the runtime makes
 * tell of an access where it is written, in its own function. */
#include "codegen/optimize/inlining.h"
#include "codegen/passes.h"
#include "core/ir/ir_inline.h"

/* Arrays of a thread's own would be the kernel's, each copy's beside the others'. */
static bool has_own_arrays(const IrFunc *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_LOCAL || value->op == IR_CELL)
                return true;
    return false;
}

static bool waits_for_threads(const IrValue *value)
{
    enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC | EFFECT_GRID_SYNC | EFFECT_CLUSTER };
    return value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].effects & WAITS;
}

void inline_calls(IrModule *module)
{
    if (!module->first->is_kernel || module->function_count == 1 || ir_module_effects(module) & EFFECT_WATCHED)
        return;
    Arena *arena = arena_create();
    const Inlining *chosen = choose_inlined(module, arena);
    bool *inlined = ARENA_ARRAY(arena, bool, module->function_count), any = false;
    bool *waits = ARENA_ARRAY(arena, bool, module->function_count);
    ir_functions_with(module, waits_for_threads, waits);
    uint32_t place = 0;
    for (const IrFunc *function = module->first; function; function = function->next, place++) {
        /* The call of one of cujit's own is where threads that wait for ever are told of. */
        bool tells_line = waits[place] && function->source && function->source->is_library;
        inlined[place] = chosen[place].is_inlined && !function->assembly && !function->lacks_body && !tells_line &&
                         (chosen[place].copies <= 1 || !has_own_arrays(function));
        any = any || inlined[place];
    }
    IrFunc *made = any ? ir_inlined_kernel(module, inlined, module->arena) : NULL;
    if (made) {
        ir_replace_kernel(module, made, arena);
        ir_renumber(made);
    }
    arena_destroy(arena);
}
