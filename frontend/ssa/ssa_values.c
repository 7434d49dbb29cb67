/* Values of SSA under construction: what is appended to a block, variables, and the operand stack. Phis are placed on demand
 * and trivial ones removed (Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013). */
#include <assert.h>
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
    assert(b->block && (operands || !count));
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

/* What variables have in each block takes room, and time, in proportion to both numbers. */
static void spend(Builder *b, size_t bytes)
{
    const size_t most = (size_t)512 << 20;
    b->spent += bytes;
    if (b->spent > most && !b->failed)
        ssa_fail(b, DIAG_MANY_VARIABLES, "", "");
}

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
    spend(b, sizeof *phi + phi->count * sizeof *phi->operands);
    return phi;
}

/* The phi's operands are there: the phi, or the value that it stands for. */
static SsaValue *finish_phi(SsaValue *phi)
{
    assert(!phi->replacement);
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

void ssa_write_variable(Builder *b, uint32_t variable, uint32_t block, SsaValue *value)
{
    assert(value && variable < variable_count(b) && block < b->cfg->count);
    BlockState *state = &b->states[block];
    if (variable >= state->capacity) {
        uint32_t capacity = variable <= b->code->local_count ? b->code->local_count + 1 : variable + 1;
        SsaValue **variables = ARENA_ARRAY(b->arena, SsaValue *, capacity);
        if (state->capacity)
            memcpy(variables, state->variables, state->capacity * sizeof *variables);
        state->variables = variables;
        state->capacity = capacity;
        spend(b, capacity * sizeof *variables);
    }
    state->variables[variable] = value;
}

/* A new phi where control comes from several blocks. What is read behind a yield lies in the generator's frame: it is a
 * value of its own there. */
static SsaValue *phi_for_reading(Builder *b, uint32_t variable, uint32_t block)
{
    const CfgBlock *cfg = &b->cfg->blocks[block];
    bool is_resumed = ssa_is_resumed_block(b, cfg);
    if (!is_resumed && cfg->predecessor_count == 1)
        return NULL;
    SsaValue *phi = new_phi(b, variable, block);
    if (is_resumed) {
        phi->is_resumed = true;
        phi->argument = (int32_t)variable;
    } else {
        ssa_write_variable(b, variable, block, phi); /* loops come back to it */
    }
    return phi;
}

/* The variable's value at the end of the block if it is known there; NULL: it is that of the block's predecessors, which
 * are to be read first. */
static SsaValue *begin_reading(Builder *b, uint32_t variable, uint32_t block)
{
    BlockState *state = &b->states[block];
    SsaValue *value = ssa_own_value(b, variable, block);
    if (value)
        return ssa_resolve(value);
    if (!state->is_sealed) {
        if (!state->incomplete) {
            state->incomplete = ARENA_ARRAY(b->arena, SsaValue *, variable_count(b));
            spend(b, variable_count(b) * sizeof *state->incomplete);
        }
        value = state->incomplete[variable] = new_phi(b, variable, block);
    } else if (b->cfg->blocks[block].predecessor_count == 0) {
        value = ssa_undefined_value(b, variable);
    } else {
        b->readings = arena_grow(b->arena, b->readings, b->reading_count, &b->reading_capacity, sizeof *b->readings);
        b->readings[b->reading_count++] = (Reading){.block = block, .phi = phi_for_reading(b, variable, block)};
        return NULL;
    }
    ssa_write_variable(b, variable, block, value);
    return value;
}

static SsaValue *finish_reading(Builder *b, uint32_t variable)
{
    assert(b->reading_count > 0);
    const Reading *reading = &b->readings[--b->reading_count];
    SsaValue *value = reading->phi ? finish_phi(reading->phi) : reading->value;
    ssa_write_variable(b, variable, reading->block, value);
    return value;
}

/* The way back to a variable's assignment may be as long as the function, so it has a stack of its own. */
SsaValue *ssa_read_variable(Builder *b, uint32_t variable, uint32_t block)
{
    assert(!b->reading_count); /* one at a time */
    SsaValue *value = begin_reading(b, variable, block);
    while (b->reading_count) {
        Reading *reading = &b->readings[b->reading_count - 1];
        const CfgBlock *cfg = &b->cfg->blocks[reading->block];
        if (value) {
            *(reading->phi ? &reading->phi->operands[reading->next] : &reading->value) = value;
            reading->next++;
        }
        value = reading->next < cfg->predecessor_count ? begin_reading(b, variable, cfg->predecessors[reading->next])
                                                       : finish_reading(b, variable);
    }
    return value;
}

static void complete_phi(Builder *b, uint32_t variable, SsaValue *phi)
{
    assert(phi->op == SSA_PHI && phi->count == phi->block->cfg->predecessor_count);
    const CfgBlock *cfg = phi->block->cfg;
    for (uint32_t i = 0; i < cfg->predecessor_count; i++)
        phi->operands[i] = ssa_read_variable(b, variable, cfg->predecessors[i]);
    finish_phi(phi);
}

void ssa_seal(Builder *b, uint32_t block)
{
    BlockState *state = &b->states[block];
    assert(!state->is_sealed && !state->waits_for);
    state->is_sealed = true;
    for (uint32_t variable = 0; state->incomplete && variable < variable_count(b) && !b->failed; variable++)
        if (state->incomplete[variable])
            complete_phi(b, variable, state->incomplete[variable]);
}

/* In the order of the blocks. */
void ssa_seal_successors(Builder *b, uint32_t block)
{
    const CfgBlock *cfg = &b->cfg->blocks[block];
    uint32_t first = cfg->successor_count == 2 && cfg->successors[1] < cfg->successors[0];
    for (uint32_t i = 0; i < cfg->successor_count; i++) {
        uint32_t to = cfg->successors[i ^ first];
        assert(b->states[to].waits_for > 0 && !b->states[to].is_sealed);
        if (!--b->states[to].waits_for)
            ssa_seal(b, to);
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
