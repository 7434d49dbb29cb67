/* What is left to do once SSA is built: phis that stand for one value, and phis that nothing uses. */
#include <assert.h>
#include <string.h>

#include "frontend/ssa/ssa_build.h"

SsaValue *ssa_resolve(SsaValue *value)
{
    while (value && value->replacement)
        value = value->replacement;
    return value;
}

/* Values that are there wherever a generator is resumed. */
static bool is_always_there(const SsaValue *value)
{
    return value->op == SSA_PARAMETER || value->op == SSA_CONSTANT || value->op == SSA_UNDEFINED ||
           value->op == SSA_NULL || value->is_at_entry;
}

SsaValue *ssa_trivial_value(SsaValue *phi)
{
    SsaValue *same = NULL;
    for (uint32_t i = 0; i < phi->count; i++) {
        SsaValue *operand = ssa_resolve(phi->operands[i]);
        if (operand == same || operand == phi)
            continue;
        if (same)
            return NULL;
        same = operand;
    }
    return phi->is_resumed && same && !is_always_there(same) ? NULL : same;
}

static bool remove_trivial_phis(SsaFunction *function)
{
    bool changed = false;
    for (uint32_t i = 0; i < function->block_count; i++)
        for (SsaValue *phi = function->blocks[i].phis; phi; phi = phi->next) {
            SsaValue *same = phi->replacement ? NULL : ssa_trivial_value(phi);
            if (same) {
                phi->replacement = same;
                changed = true;
            }
        }
    return changed;
}

/* Marks the value and the phis behind it, which may be as many as there are, and resolves their operands. */
static void use(SsaValue *value, bool looks, SsaValue **stack)
{
    uint32_t depth = 0;
    stack[depth++] = value;
    while (depth) {
        SsaValue *phi = stack[--depth];
        if (phi->op != SSA_PHI || phi->is_used)
            continue;
        phi->is_used = true;
        phi->is_only_looked_at = looks;
        for (uint32_t i = 0; i < phi->count; i++) {
            SsaValue *operand = phi->operands[i] = ssa_resolve(phi->operands[i]);
            if (operand->op == SSA_PHI && !operand->is_used)
                stack[depth++] = operand;
        }
    }
}

/* Every phi stands in for each of its users once at most. */
static uint32_t phi_operand_count(const SsaFunction *function)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < function->block_count; i++)
        for (const SsaValue *phi = function->blocks[i].phis; phi; phi = phi->next)
            count += phi->count;
    return count;
}

static void keep_used_phis(SsaBlock *block)
{
    assert(block->cfg);
    SsaValue *kept = NULL;
    for (SsaValue *phi = block->phis, *next; phi; phi = next) {
        next = phi->next;
        if (phi->is_used && !phi->replacement) {
            phi->next = kept;
            kept = phi;
        }
    }
    block->phis = kept;
}

/* --- what a generator need not keep ------------------------------------------------------------------------------- */

/* The one parameter or constant that everything which flows into a value is; `several` where there is none. */
static SsaValue *origin_of(const SsaValue *value, SsaValue *const *origins, SsaValue *several)
{
    if (value->op == SSA_PHI)
        return origins[value->id];
    return is_always_there(value) ? (SsaValue *)value : several;
}

static bool update_origin(SsaValue *phi, SsaValue **origins, SsaValue *several)
{
    assert(phi->op == SSA_PHI);
    SsaValue *origin = origins[phi->id];
    for (uint32_t i = 0; i < phi->count && origin != several; i++) {
        SsaValue *from = origin_of(ssa_resolve(phi->operands[i]), origins, several);
        if (from && origin && from != origin)
            origin = several;
        else if (from)
            origin = from;
    }
    bool changed = origin != origins[phi->id];
    origins[phi->id] = origin;
    return changed;
}

/* Functions that need not be kept from one step to the next: where cells lie is known at the entry. */
static void mark_at_entry(SsaFunction *function)
{
    for (uint32_t i = 0; i < function->block_count; i++)
        for (SsaValue *value = function->blocks[i].first; value; value = value->next) {
            bool fits = value->count && (value->op == SSA_TUPLE || value->op == SSA_FUNCTION);
            for (uint32_t k = 0; fits && k < value->count; k++) {
                const SsaValue *operand = ssa_resolve(value->operands[k]);
                fits = operand->op == SSA_CELL || operand->op == SSA_SELF || operand->op == SSA_PARAMETER ||
                       operand->is_at_entry;
            }
            value->is_at_entry = fits;
        }
}

/* A parameter that no path changes is the parameter itself after every yield. */
static void forward_parameters(SsaFunction *function, Arena *arena)
{
    SsaValue several = {.op = SSA_NULL}, **origins = ARENA_ARRAY(arena, SsaValue *, function->value_count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < function->block_count; i++)
            for (SsaValue *phi = function->blocks[i].phis; phi; phi = phi->next)
                changed |= !phi->replacement && update_origin(phi, origins, &several);
    }
    for (uint32_t i = 0; i < function->block_count; i++)
        for (SsaValue *phi = function->blocks[i].phis; phi; phi = phi->next)
            if (!phi->replacement && origins[phi->id] && origins[phi->id] != &several)
                phi->replacement = origins[phi->id];
}

/* --- one item for each of the loop's ------------------------------------------------------------------------------ */

/* Whether control can come from the block to the header without a yield. */
static bool reaches_header(const SsaFunction *function, uint32_t block, uint32_t header, Arena *arena)
{
    uint32_t depth = 0, *stack = ARENA_ARRAY(arena, uint32_t, 2 * function->block_count + 1);
    bool *seen = ARENA_ARRAY(arena, bool, function->block_count);
    stack[depth++] = block;
    while (depth) {
        const SsaBlock *at = &function->blocks[stack[--depth]];
        if (at->id == header)
            return true;
        if (seen[at->id] || (at->last && at->last->op == SSA_YIELD))
            continue;
        seen[at->id] = true;
        for (uint32_t i = 0; i < at->cfg->successor_count; i++)
            stack[depth++] = at->cfg->successors[i];
    }
    return false;
}

/* The only loop is over the function's argument, and it gets no further without the only yield. */
static bool is_one_for_one(const SsaFunction *function, Arena *arena)
{
    uint32_t yields = 0, loops = 0, header = 0;
    for (uint32_t i = 0; i < function->block_count; i++) {
        const SsaValue *last = function->blocks[i].last;
        yields += last && last->op == SSA_YIELD;
        if (!function->blocks[i].cfg->is_loop_header)
            continue;
        loops++;
        header = i;
    }
    bool is_expression = function->code->local_count && strcmp(function->code->local_names[0], ".0") == 0;
    if (yields != 1 || loops != 1 || !is_expression || function->blocks[header].cfg->successor_count != 2)
        return false;
    return !reaches_header(function, function->blocks[header].cfg->successors[0], header, arena);
}

/* --- reads that no assignment reaches ----------------------------------------------------------------------------- */

static bool is_assigned_before(const SsaFunction *function, const char *name, SourcePos pos)
{
    for (const SsaAssignment *each = function->assignments; each; each = each->next)
        if (each->name == name &&
            (each->pos.line < pos.line || (each->pos.line == pos.line && each->pos.column < pos.column)))
            return true;
    return false;
}

/* The value that such reads of the variable have, made at the entry for the first of them. */
static SsaValue *unassigned_value(SsaFunction *function, const char *name, Arena *arena)
{
    SsaBlock *entry = &function->blocks[0];
    for (SsaValue *value = entry->first; value; value = value->next)
        if (value->op == SSA_UNASSIGNED && value->name == name)
            return value;
    SsaValue *value = ARENA_NEW(arena, SsaValue);
    *value = (SsaValue){.op = SSA_UNASSIGNED,
                        .id = function->value_count++,
                        .name = name,
                        .pos = {.function = &function->code->source, .line = function->code->source.first_line},
                        .block = entry,
                        .next = entry->first};
    return entry->first = value;
}

/* An operand of a value that is no phi. A variable that the source assigns only behind the read is an error. */
static SsaValue *operand_to_read(SsaFunction *function, const SsaValue *user, SsaValue *operand, Arena *arena)
{
    operand = ssa_resolve(operand);
    bool reads = operand->op == SSA_UNDEFINED && operand->name && !function->is_generator &&
                 is_assigned_before(function, operand->name, user->pos);
    return reads ? unassigned_value(function, operand->name, arena) : operand;
}

/* Of those values that only look at what a variable is, or of all others. */
static void use_operands(SsaFunction *function, bool of_looks, SsaValue **stack, Arena *arena)
{
    for (uint32_t i = 0; i < function->block_count; i++)
        for (SsaValue *value = function->blocks[i].first; value; value = value->next)
            for (uint32_t k = 0; k < value->count && ssa_looks(value) == of_looks; k++) {
                value->operands[k] = operand_to_read(function, value, value->operands[k], arena);
                use(value->operands[k], of_looks, stack);
            }
}

void ssa_finish(SsaFunction *function, Arena *arena)
{
    function->is_one_for_one = function->is_generator && is_one_for_one(function, arena);
    while (remove_trivial_phis(function)) {
    }
    if (function->is_generator && function->has_cells)
        mark_at_entry(function);
    if (function->is_generator)
        forward_parameters(function, arena);
    SsaValue **stack = ARENA_ARRAY(arena, SsaValue *, phi_operand_count(function));
    use_operands(function, false, stack, arena);
    use_operands(function, true, stack, arena);
    for (uint32_t i = 0; i < function->block_count; i++)
        keep_used_phis(&function->blocks[i]);
    for (SsaAssignment *assignment = function->assignments; assignment; assignment = assignment->next)
        assignment->value = ssa_resolve(assignment->value);
}
