/* Values of SSA under construction: what is appended to a block, variables, and the operand stack. Phis are placed on demand
 * and trivial ones removed (Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/ssa/ssa_build.h"

static const SourcePos *own_position(const Builder *b) { return b->instruction ? &b->instruction->pos : NULL; }

void ssa_fail(Builder *b, DiagId id, const char *what, const char *hint)
{
    diag_fail(b->diag, own_position(b), id, what, hint);
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

void ssa_spend(Builder *b, size_t bytes)
{
    const size_t most = (size_t)512 << 20;
    b->spent += bytes;
    if (b->spent > most && !b->failed)
        ssa_fail(b, DIAG_MANY_VARIABLES, "", "");
}

/* An operand takes this many bytes here and in the typed IR. */
enum { PHI_OPERAND_BYTES = 96 };

/* What a generator keeps at a yield takes this many more, as it is joined with what it keeps at all others. */
enum { KEPT_BYTES = 1280 };

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
    ssa_spend(b, sizeof *phi + phi->count * PHI_OPERAND_BYTES);
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

/* Locals have places; the others, which are few, have a slot in every block that they were written in. */
static bool is_local(const Builder *b, uint32_t variable) { return variable < b->code->local_count; }

SsaValue *ssa_own_value(const Builder *b, uint32_t variable, uint32_t block)
{
    if (is_local(b, variable)) {
        const VariablePlace *place = ssa_place(b, variable, block);
        return place->block == block ? place->value : NULL;
    }
    const BlockState *state = &b->states[block];
    uint32_t slot = variable - b->code->local_count;
    return slot < state->slot_capacity ? state->slots[slot] : NULL;
}

static void write_slot(Builder *b, uint32_t slot, BlockState *state, SsaValue *value)
{
    if (slot >= state->slot_capacity) {
        SsaValue **slots = ARENA_ARRAY(b->arena, SsaValue *, slot + 1);
        if (state->slot_capacity)
            memcpy(slots, state->slots, state->slot_capacity * sizeof *slots);
        state->slots = slots;
        state->slot_capacity = slot + 1;
        ssa_spend(b, (slot + 1) * sizeof *slots);
    }
    state->slots[slot] = value;
}

void ssa_write_variable(Builder *b, uint32_t variable, uint32_t block, SsaValue *value)
{
    assert(value && variable < variable_count(b) && block < b->cfg->count);
    if (!is_local(b, variable)) {
        write_slot(b, variable - b->code->local_count, &b->states[block], value);
        return;
    }
    VariablePlace *place = ssa_place(b, variable, block);
    assert(place->block == block);
    place->value = value;
}

/* The block whose value the variable still has at the end of this one, as far as it was run. An assignment that was not
 * run yet does not count: what dominates a block was run before it. */
static uint32_t home_of(const Builder *b, uint32_t variable, uint32_t block)
{
    if (!is_local(b, variable))
        return block;
    const VariablePlace *place = ssa_place(b, variable, block);
    if (place->block && !place->joins && !place->value)
        place = ssa_place_above(b, variable, place);
    assert(!place->block || place->joins || place->value);
    return place->block;
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
        ssa_spend(b, KEPT_BYTES);
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
    block = home_of(b, variable, block);
    BlockState *state = &b->states[block];
    SsaValue *value = ssa_own_value(b, variable, block);
    if (value)
        return ssa_resolve(value);
    if (!state->is_sealed) {
        value = new_phi(b, variable, block);
        state->incomplete = arena_grow(b->arena, state->incomplete, state->incomplete_count,
                                       &state->incomplete_capacity, sizeof *state->incomplete);
        state->incomplete[state->incomplete_count++] = (IncompletePhi){.variable = variable, .phi = value};
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

static int by_variable(const void *a, const void *b)
{
    uint32_t x = ((const IncompletePhi *)a)->variable, y = ((const IncompletePhi *)b)->variable;
    return (x > y) - (x < y);
}

void ssa_seal(Builder *b, uint32_t block)
{
    BlockState *state = &b->states[block];
    assert(!state->is_sealed && !state->waits_for);
    state->is_sealed = true;
    if (state->incomplete_count)
        qsort(state->incomplete, state->incomplete_count, sizeof *state->incomplete, by_variable);
    for (uint32_t i = 0; i < state->incomplete_count && !b->failed; i++)
        complete_phi(b, state->incomplete[i].variable, state->incomplete[i].phi);
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
        if (!b->failed)
            diag_fail(b->diag, own_position(b), DIAG_DEEP_STACK, STACK_LIMIT);
        b->failed = true;
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
