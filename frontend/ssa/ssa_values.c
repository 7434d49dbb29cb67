/* Values of SSA under construction: what is appended to a block, variables, and the operand stack. Phis are placed on demand
 * and trivial ones removed (Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013). */
#include <string.h>

#include "frontend/ssa/ssa_build.h"

void ssa_fail(Builder *b, DiagId id, const char *what, const char *hint)
{
    const SourcePos *pos = b->instruction ? &b->instruction->pos : NULL;
    diag_fail(b->diag, pos, id, what, hint);
    b->failed = true;
}

void ssa_fail_broken(Builder *b, const char *what) { ssa_fail(b, DIAG_BYTECODE_BROKEN, b->code->source.name, what); }

static SsaValue *new_value(Builder *b, SsaOp op, uint32_t count)
{
    SsaValue *value = ARENA_NEW(b->arena, SsaValue);
    value->op = op;
    value->id = b->function->value_count++;
    value->count = count;
    value->operands = ARENA_ARRAY(b->arena, SsaValue *, count);
    value->block = b->block;
    if (b->instruction)
        value->pos = b->instruction->pos;
    else
        value->pos = (SourcePos){.function = &b->code->source, .line = b->code->source.first_line};
    return value;
}

SsaValue *ssa_append(Builder *b, SsaOp op, uint32_t count, SsaValue *const *operands)
{
    SsaValue *value = new_value(b, op, count);
    if (count)
        memcpy(value->operands, operands, count * sizeof *operands);
    if (b->block->last)
        b->block->last->next = value;
    else
        b->block->first = value;
    b->block->last = value;
    return value;
}

SsaValue *ssa_append1(Builder *b, SsaOp op, SsaValue *x) { return ssa_append(b, op, 1, &x); }

SsaValue *ssa_append2(Builder *b, SsaOp op, SsaValue *x, SsaValue *y)
{
    return ssa_append(b, op, 2, (SsaValue *[]){x, y});
}

SsaValue *ssa_append_constant(Builder *b, const Constant *constant)
{
    SsaValue *value = ssa_append(b, SSA_CONSTANT, 0, NULL);
    value->constant = constant;
    return value;
}

/* --- variables ---------------------------------------------------------------------------------------------------- */

static SsaValue *new_phi(Builder *b, uint32_t variable, uint32_t block)
{
    SsaBlock *home = &b->function->blocks[block];
    SsaValue *phi = new_value(b, SSA_PHI, home->cfg->predecessor_count);
    phi->block = home;
    phi->next = home->phis;
    home->phis = phi;
    const CfgBlock *cfg = home->cfg;
    if (cfg->first < cfg->end)
        phi->pos = b->instructions->items[cfg->first].pos;
    phi->name = variable < b->code->local_count ? b->code->local_names[variable] : NULL;
    return phi;
}

static SsaValue *add_phi_operands(Builder *b, uint32_t variable, SsaValue *phi)
{
    const CfgBlock *cfg = phi->block->cfg;
    for (uint32_t i = 0; i < cfg->predecessor_count; i++)
        phi->operands[i] = ssa_read_variable(b, variable, cfg->predecessors[i]);
    SsaValue *same = ssa_trivial_value(phi);
    if (!same)
        return phi;
    phi->replacement = same;
    return ssa_resolve(same);
}

const Instruction *ssa_last_instruction(const Builder *b, const CfgBlock *cfg)
{
    return cfg->first < cfg->end ? &b->instructions->items[cfg->end - 1] : NULL;
}

bool ssa_is_resumed_block(const Builder *b, const CfgBlock *cfg)
{
    if (cfg->predecessor_count != 1)
        return false;
    const Instruction *last = ssa_last_instruction(b, &b->cfg->blocks[cfg->predecessors[0]]);
    return last && last->op == BYTECODE_YIELD;
}

/* What is read behind a yield lies in the generator's frame: it is a value of its own there. */
static SsaValue *resumed_value(Builder *b, uint32_t variable, uint32_t block)
{
    SsaValue *phi = new_phi(b, variable, block);
    phi->is_resumed = true;
    phi->argument = (int32_t)variable;
    return add_phi_operands(b, variable, phi);
}

SsaValue *ssa_undefined_value(Builder *b, uint32_t variable)
{
    SsaBlock *saved = b->block;
    b->block = &b->function->blocks[0];
    SsaValue *value = new_value(b, SSA_UNDEFINED, 0);
    value->name = variable < b->code->local_count ? b->code->local_names[variable] : NULL;
    value->next = b->block->first;
    b->block->first = value;
    if (!b->block->last)
        b->block->last = value;
    b->block = saved;
    return value;
}

static SsaValue *read_from_predecessors(Builder *b, uint32_t variable, uint32_t block)
{
    BlockState *state = &b->states[block];
    const CfgBlock *cfg = &b->cfg->blocks[block];
    SsaValue *value;
    if (!state->is_sealed) {
        value = new_phi(b, variable, block);
        state->incomplete[variable] = value;
    } else if (cfg->predecessor_count == 0) {
        value = ssa_undefined_value(b, variable);
    } else if (ssa_is_resumed_block(b, cfg)) {
        value = resumed_value(b, variable, block);
    } else if (cfg->predecessor_count == 1) {
        value = ssa_read_variable(b, variable, cfg->predecessors[0]);
    } else {
        SsaValue *phi = new_phi(b, variable, block);
        ssa_write_variable(b, variable, block, phi); /* ends the recursion around loops */
        value = add_phi_operands(b, variable, phi);
    }
    ssa_write_variable(b, variable, block, value);
    return value;
}

SsaValue *ssa_read_variable(Builder *b, uint32_t variable, uint32_t block)
{
    SsaValue *value = b->states[block].variables[variable];
    return value ? ssa_resolve(value) : read_from_predecessors(b, variable, block);
}

void ssa_seal(Builder *b, uint32_t block)
{
    BlockState *state = &b->states[block];
    state->is_sealed = true;
    for (uint32_t variable = 0; variable < variable_count(b); variable++)
        if (state->incomplete && state->incomplete[variable])
            add_phi_operands(b, variable, state->incomplete[variable]);
}

void ssa_seal_ready_blocks(Builder *b)
{
    for (uint32_t i = 0; i < b->cfg->count; i++) {
        const CfgBlock *cfg = &b->cfg->blocks[i];
        bool ready = !b->states[i].is_sealed;
        for (uint32_t k = 0; ready && k < cfg->predecessor_count; k++)
            ready = b->states[cfg->predecessors[k]].is_filled;
        if (ready)
            ssa_seal(b, i);
    }
}

/* --- the stack ---------------------------------------------------------------------------------------------------- */

void ssa_push(Builder *b, SsaValue *value)
{
    if (b->depth >= STACK_LIMIT) {
        ssa_fail_broken(b, "the operand stack is too deep");
        return;
    }
    b->stack[b->depth++] = value;
}

SsaValue *ssa_pop(Builder *b)
{
    if (b->depth > 0)
        return b->stack[--b->depth];
    if (!b->failed)
        ssa_fail_broken(b, "the operand stack is empty");
    return ssa_append(b, SSA_NULL, 0, NULL);
}

SsaValue **ssa_pop_many(Builder *b, uint32_t count)
{
    SsaValue **values = ARENA_ARRAY(b->arena, SsaValue *, count + 1);
    for (uint32_t i = count; i-- > 0 && !b->failed;)
        values[i] = ssa_pop(b);
    return values;
}

SsaValue **ssa_peek(Builder *b, int32_t n)
{
    if (n >= 1 && n <= b->depth)
        return &b->stack[b->depth - n];
    ssa_fail_broken(b, "an instruction reaches below the operand stack");
    return &b->stack[0];
}
