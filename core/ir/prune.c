/* Removes what lowering emitted and nothing uses, so that the typed IR shows what the kernel does. The values keep their
 * numbers; ir_renumber closes the gaps. */
#include "core/ir/ir_graph.h"

#include <assert.h>

/* Marks the value and what it is computed from. Iterative: chains may be long. */
static void mark(bool *live, IrValue *root, IrValue **stack)
{
    uint32_t depth = 0;
    if (live[root->id])
        return;
    live[root->id] = true;
    stack[depth++] = root;
    while (depth > 0) {
        IrValue *value = stack[--depth];
        for (uint32_t i = 0; i < value->operand_count; i++) {
            IrValue *operand = value->operands[i];
            if (operand && !live[operand->id]) {
                live[operand->id] = true;
                stack[depth++] = operand;
            }
        }
    }
}

/* Whether Python might raise there. */
static bool is_checked(const IrValue *value)
{
    switch (ir_op_info[value->op].hint) {
    case IR_HINT_KIND_WRAPS:
    case IR_HINT_KIND_DIVIDES:
    case IR_HINT_KIND_NARROWS: return value->hint == IR_CHECKED;
    default: break;
    }
    bool has_index = value->op == IR_SUBARRAY && value->hint;
    return value->op == IR_LOAD || value->op == IR_PICK || has_index;
}

static void sweep(IrBlock *block, const bool *live)
{
    IrValue **link = &block->first;
    block->last = NULL;
    for (IrValue *value = block->first; value; value = value->next) {
        if (!live[value->id])
            continue;
        *link = value;
        link = &value->next;
        block->last = value;
    }
    *link = NULL;
    assert(ir_is_terminated(block)); /* terminators have effects */
}

void prune(IrFunc *function, bool asks_checks)
{
    Arena *arena = function->module->arena;
    bool *live = ARENA_ARRAY(arena, bool, function->value_count);
    IrValue **stack = ARENA_ARRAY(arena, IrValue *, function->value_count);
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_PARAM || ir_has_effect(value) || (asks_checks && is_checked(value)))
                mark(live, value, stack);
    for (IrBlock *block = function->first; block; block = block->next)
        sweep(block, live);
}
