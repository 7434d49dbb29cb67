/* Nested functions that outlive the trip of a loop they were made in: what they captured there is assigned again while they
 * live, so that they must share the variable and not keep its value. Seen by types: a function's type leads to its code. */
#include "frontend/engine.h"
#include "frontend/infer/instance.h"
#include "frontend/infer/loop_capture.h"

static bool has_function(const Type *type, const CodeSnapshot *function)
{
    if (!type || type->kind != TYPE_TUPLE)
        return false;
    bool found = type_is_tagged(type, TUPLE_CLOSURE) && type->object == function;
    for (uint32_t i = 0; !found && i < type->count; i++)
        found = has_function(type->items[i], function);
    return found;
}

/* Whether a later trip of a loop can see the function: by a variable, by what is shared, or because a generator gave it
 * away. */
static bool is_kept(const Instance *instance, const CodeSnapshot *function)
{
    const SsaFunction *ssa = instance->ssa;
    for (uint32_t i = 0; i < ssa->block_count; i++) {
        const SsaBlock *block = &ssa->blocks[i];
        for (const SsaValue *phi = block->phis; phi && block->cfg->is_loop_header; phi = phi->next)
            if (has_function(instance->facts[phi->id].type, function))
                return true;
        for (const SsaValue *value = block->first; value; value = value->next) {
            const SsaValue *given = value->op == SSA_CELL_STORE ? value->operands[1]
                                    : value->op == SSA_YIELD    ? value->operands[0]
                                                                : NULL;
            if (given && has_function(instance->facts[given->id].type, function))
                return true;
        }
    }
    return false;
}

bool share_loop_captures(Frontend *frontend, Instance *instance)
{
    const SsaFunction *ssa = instance->ssa;
    bool *shared = NULL;
    for (uint32_t i = 0; i < ssa->loop_capture_count; i++) {
        const LoopCapture *capture = &ssa->loop_captures[i];
        if (!is_kept(instance, capture->function))
            continue;
        if (!shared)
            shared = ARENA_ARRAY(frontend->arena, bool, ssa->code->local_count);
        for (uint32_t local = 0; ssa->shared && local < ssa->code->local_count; local++)
            shared[local] |= ssa->shared[local];
        shared[capture->local] = true;
    }
    return shared && instance_share(frontend, instance, shared);
}
