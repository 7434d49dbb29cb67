/* Whether a program can tell that a generator is a value here and not an object with a life of its own: it cannot while
 * each is used once, in the loops it was made in. Lists of unknown length must be taken at once, and to their ends, and so
 * must what has one inside: enumerate, zip, reversed, map and filter of a list make none of its items. */
#include <string.h>

#include "frontend/compound/generator.h"
#include "frontend/engine.h"

/* Whether the block is in the loop of that header: from it a back edge is reached without passing the header. */
static bool is_in_loop(Lower *l, uint32_t header, uint32_t block)
{
    const SsaFunction *ssa = l->instance->ssa;
    bool *seen = ARENA_ARRAY(l->arena, bool, ssa->block_count);
    uint32_t *stack = ARENA_ARRAY(l->arena, uint32_t, ssa->block_count), depth = 0;
    seen[block] = true;
    stack[depth++] = block;
    while (depth) {
        const CfgBlock *cfg = ssa->blocks[stack[--depth]].cfg;
        for (uint32_t i = 0; i < cfg->successor_count; i++) {
            uint32_t to = cfg->successors[i];
            if (to == header)
                return cfg_dominates(ssa->cfg, header, block);
            if (!seen[to] && cfg_dominates(ssa->cfg, header, to)) {
                seen[to] = true;
                stack[depth++] = to;
            }
        }
    }
    return false;
}

/* Some loop has the use inside and what is used outside. */
static bool is_repeated(Lower *l, uint32_t made, uint32_t used)
{
    const SsaFunction *ssa = l->instance->ssa;
    if (made == used || !ssa->blocks[used].cfg->loop_depth)
        return false;
    for (uint32_t i = 0; i < ssa->block_count; i++)
        if (ssa->blocks[i].cfg->is_loop_header && cfg_dominates(ssa->cfg, i, used) && is_in_loop(l, i, used) &&
            !(cfg_dominates(ssa->cfg, i, made) && is_in_loop(l, i, made)))
            return true;
    return false;
}

static bool refuse(Lower *l, const SsaValue *at, const Type *type, const char *hint)
{
    l->value = at;
    return lower_fail(l, DIAG_GENERATOR_USE, type_has_list(type) ? "this list" : "this generator", hint);
}

static bool has_effect(const SsaValue *value)
{
    return value->op == SSA_CALL || value->op == SSA_STORE_SUBSCRIPT || value->op == SSA_STORE_ATTRIBUTE ||
           value->op == SSA_ITER_STEP;
}

/* Calls that may stop before the last item. Of a list itself they do not: is_decided_early() in lower_reduce.c. */
static bool may_stop_early(Lower *l, const SsaValue *user, const Type *type)
{
    IntrinsicId callee = user->op == SSA_CALL ? operand_intrinsic(lower_fact(l, user->operands[0])) : INTRINSIC_NONE;
    return !type_is_list(type) &&
           (user->op == SSA_CONTAINS || callee == INTRINSIC_ANY || callee == INTRINSIC_ALL || callee == INTRINSIC_NEXT);
}

/* A list is made at once in Python. Here its items are made when they are used, which must not be later. */
static bool check_list(Lower *l, const SsaValue *list, const SsaValue *user, const Type *type)
{
    static const char hint[] = "; use it at once in sum, min, max, any, all or len, or write (...) for [...]: a "
                               "generator's items come one by one";
    bool is_taken =
        user->op == SSA_CALL || user->op == SSA_CONTAINS || user->op == SSA_SEQUENCE || user->op == SSA_AS_TUPLE;
    if (user->block != list->block || !is_taken || may_stop_early(l, user, type))
        return refuse(l, user, type, hint);
    for (const SsaValue *value = list->next; value && value != user; value = value->next)
        if (has_effect(value))
            return refuse(l, user, type, hint);
    return true;
}

/* Calls that look at the type alone. */
static bool takes_no_item(Lower *l, const SsaValue *user, const Type *type)
{
    IntrinsicId callee = user->op == SSA_CALL ? operand_intrinsic(lower_fact(l, user->operands[0])) : INTRINSIC_NONE;
    return callee == INTRINSIC_ISINSTANCE || callee == INTRINSIC_TYPE ||
           (callee == INTRINSIC_LEN && !type_is_generator(type));
}

static bool is_counted_use(Lower *l, const SsaValue *user, const Type *type)
{
    return user->op != SSA_ITER_STEP && user->op != SSA_ITER_HAS && user->op != SSA_ITER_VALUE &&
           user->op != SSA_ITER_NEXT && user->op != SSA_IS && !takes_no_item(l, user, type);
}

static bool check_user(Lower *l, const SsaValue *value, const SsaValue *user, const Type *type, uint32_t *uses)
{
    for (uint32_t i = 0; i < user->count; i++) {
        if (user->operands[i] != value || !is_counted_use(l, user, type))
            continue;
        uint32_t used = user->op == SSA_PHI ? user->block->cfg->predecessors[i] : user->block->id;
        if (user->op == SSA_PHI && !edge_is_reached(l->instance, used, user->block->id))
            continue;
        if (++*uses > 1 || is_repeated(l, value->block->id, used))
            return refuse(l, user, type, "; call the generator function again for another");
        if (type_has_list(type) && !takes_lists(l->instance) && !check_list(l, value, user, type))
            return false;
    }
    return true;
}

/* Iterators lie on the operand stack only: the loop that made one has it to itself. */
static bool makes_iterator(const SsaValue *value)
{
    return value->op == SSA_ITERATOR || (value->op == SSA_PARAMETER && value->name && strcmp(value->name, ".0") == 0);
}

/* One, or a phi of the stack that may be one. */
static bool is_iterator(Lower *l, const SsaValue *value)
{
    uint32_t count = l->instance->ssa->value_count, depth = 0;
    if (value->op != SSA_PHI || value->name)
        return makes_iterator(value);
    bool *seen = ARENA_ARRAY(l->arena, bool, count);
    const SsaValue **stack = ARENA_ARRAY(l->arena, const SsaValue *, count);
    stack[depth++] = value;
    seen[value->id] = true;
    while (depth) {
        const SsaValue *at = stack[--depth];
        if (makes_iterator(at))
            return true;
        for (uint32_t i = 0; at->op == SSA_PHI && !at->name && i < at->count; i++) {
            if (!seen[at->operands[i]->id])
                stack[depth++] = at->operands[i];
            seen[at->operands[i]->id] = true;
        }
    }
    return false;
}

bool check_generator_use(Lower *l, const SsaValue *value, const Type *type)
{
    uint32_t uses = 0;
    if (value->op == SSA_ITER_START || value->op == SSA_ITER_STEP || value->op == SSA_ITER_NEXT ||
        is_iterator(l, value))
        return true;
    const SsaUsers *users = ssa_users(l->instance->ssa, value, l->arena);
    for (uint32_t i = 0; i < users->count; i++)
        if (l->instance->block_reached[users->items[i]->block->id] &&
            !check_user(l, value, users->items[i], type, &uses))
            return false;
    return true;
}

bool list_is_forgotten(Lower *l, const SsaValue *value, const Type *type)
{
    if (!type_has_list(type))
        return false;
    const SsaUsers *users = ssa_users(l->instance->ssa, value, l->arena);
    for (uint32_t i = 0; i < users->count; i++)
        if (l->instance->block_reached[users->items[i]->block->id] && is_counted_use(l, users->items[i], type))
            return false;
    return true;
}

static bool adds_use(Lower *l, const SsaValue *value, const SsaValue *user, const Type *type, uint32_t *uses)
{
    for (uint32_t i = 0; i < user->count; i++) {
        if (user->operands[i] != value || !is_counted_use(l, user, type))
            continue;
        uint32_t used = user->op == SSA_PHI ? user->block->cfg->predecessors[i] : user->block->id;
        if (++*uses > 1 || is_repeated(l, value->block->id, used))
            return true;
    }
    return false;
}

bool generator_is_shared(Lower *l, const SsaValue *call, const Type *type)
{
    const SsaUsers *users = ssa_users(l->instance->ssa, call, l->arena);
    uint32_t uses = 0;
    for (uint32_t i = 0; i < users->count; i++)
        if (adds_use(l, call, users->items[i], type, &uses))
            return true;
    return false;
}
