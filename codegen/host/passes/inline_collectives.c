/* Inlines the device functions in which threads meet, and those that call such functions, into a copy of the kernel; and
 * those that give memory which they make, so that it is the kernel's, where each thread has its own. */
#include "codegen/host/passes/inline_collectives.h"

#include "core/ir/ir_inline.h"

enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };

static bool is_collective(const IrValue *value)
{
    return value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].effects & WAITS;
}

const IrFunc *inline_collectives(const IrModule *module, Arena *arena)
{
    bool *inlined = ARENA_ARRAY(arena, bool, module->function_count);
    bool *gives_memory = ARENA_ARRAY(arena, bool, module->function_count);
    ir_functions_with(module, is_collective, inlined);
    ir_memory_givers(module, gives_memory);
    bool any = false;
    uint32_t place = 1;
    for (const IrFunc *function = module->first->next; function; function = function->next, place++) {
        inlined[place] = inlined[place] || gives_memory[place];
        any = any || inlined[place];
        if (inlined[place] && function->is_recursive)
            return NULL;
    }
    return any ? ir_inlined_kernel(module, inlined, arena) : module->first;
}
