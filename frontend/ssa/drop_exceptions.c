/* Where nobody is told of exceptions, what makes them is not lowered: it may be text of anything. */
#include "frontend/ssa/ssa.h"

#include <assert.h>

/* What makes an exception and nothing else is not lowered: only the raise matters. */
static bool is_for_exceptions(const SsaValue *value)
{
    return value->op == SSA_CONSTANT || value->op == SSA_ATTRIBUTE || value->op == SSA_TUPLE ||
           value->op == SSA_BINARY || value->op == SSA_FORMAT || value->op == SSA_TEXT;
}

/* The exception itself may be a call. The stack has room for every use of a value. */
static void drop_exception(SsaValue *exception, SsaValue **stack)
{
    uint32_t depth = 0;
    stack[depth++] = exception;
    while (depth) {
        SsaValue *value = stack[--depth];
        assert(value->use_count > 0);
        bool fits = is_for_exceptions(value) || (value == exception && value->op == SSA_CALL);
        if (--value->use_count > 0 || value->is_dead || !fits)
            continue;
        value->is_dead = true;
        for (uint32_t i = value->count; i-- > 0;)
            stack[depth++] = value->operands[i];
    }
}

void ssa_drop_exceptions(SsaFunction *function, Arena *arena)
{
    uint32_t uses = 1;
    for (uint32_t i = 0; i < function->block_count; i++) {
        SsaBlock *block = &function->blocks[i];
        for (SsaValue *phi = block->phis; phi; phi = phi->next)
            for (uint32_t k = 0; k < phi->count; k++)
                phi->operands[k]->use_count++;
        for (SsaValue *value = block->first; value; value = value->next)
            for (uint32_t k = 0; k < value->count; k++)
                value->operands[k]->use_count++;
        for (const SsaValue *value = block->first; value; value = value->next)
            uses += value->count;
    }
    SsaValue **stack = ARENA_ARRAY(arena, SsaValue *, uses);
    for (uint32_t i = 0; i < function->block_count; i++) {
        SsaValue *last = function->blocks[i].last;
        for (uint32_t k = 0; last && last->op == SSA_RAISE && k < last->count; k++)
            drop_exception(last->operands[k], stack);
    }
}
