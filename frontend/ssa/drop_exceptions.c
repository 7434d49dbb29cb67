/* Where nobody is told of exceptions, what makes them is not lowered: it may be text of anything. */
#include "frontend/ssa/ssa.h"

/* What makes an exception and nothing else is not lowered: only the raise matters. */
static void drop_exception(SsaValue *value, bool is_direct)
{
    bool is_simple = value->op == SSA_CONSTANT || value->op == SSA_ATTRIBUTE || value->op == SSA_TUPLE ||
                     value->op == SSA_BINARY || value->op == SSA_FORMAT || value->op == SSA_TEXT;
    if (--value->use_count > 0 || value->is_dead || !(is_simple || (is_direct && value->op == SSA_CALL)))
        return;
    value->is_dead = true;
    for (uint32_t i = 0; i < value->count; i++)
        drop_exception(value->operands[i], false);
}

void ssa_drop_exceptions(SsaFunction *function)
{
    for (uint32_t i = 0; i < function->block_count; i++) {
        SsaBlock *block = &function->blocks[i];
        for (SsaValue *phi = block->phis; phi; phi = phi->next)
            for (uint32_t k = 0; k < phi->count; k++)
                phi->operands[k]->use_count++;
        for (SsaValue *value = block->first; value; value = value->next)
            for (uint32_t k = 0; k < value->count; k++)
                value->operands[k]->use_count++;
    }
    for (uint32_t i = 0; i < function->block_count; i++) {
        SsaValue *last = function->blocks[i].last;
        for (uint32_t k = 0; last && last->op == SSA_RAISE && k < last->count; k++)
            drop_exception(last->operands[k], true);
    }
}
