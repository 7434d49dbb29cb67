/* Who uses a value: made once for a function, when someone asks first. */
#include "frontend/ssa/ssa.h"

/* For each operand of each value, by block, phis first. */
typedef void (*UseVisitor)(SsaFunction *function, SsaValue *user, const SsaValue *operand);

static void visit_operands(SsaFunction *function, SsaValue *first, UseVisitor visit)
{
    for (SsaValue *user = first; user; user = user->next)
        for (uint32_t i = 0; i < user->count; i++)
            visit(function, user, user->operands[i]);
}

static void visit_uses(SsaFunction *function, UseVisitor visit)
{
    for (uint32_t i = 0; i < function->block_count; i++) {
        visit_operands(function, function->blocks[i].phis, visit);
        visit_operands(function, function->blocks[i].first, visit);
    }
}

static void count_use(SsaFunction *function, SsaValue *user, const SsaValue *operand)
{
    (void)user;
    function->users[operand->id].capacity++;
}

static void add_use(SsaFunction *function, SsaValue *user, const SsaValue *operand)
{
    SsaUsers *users = &function->users[operand->id];
    if (!users->count || users->items[users->count - 1] != user)
        users->items[users->count++] = user;
}

static void make_users(SsaFunction *function, Arena *arena)
{
    uint32_t uses = 0;
    function->users = ARENA_ARRAY(arena, SsaUsers, function->value_count);
    visit_uses(function, count_use);
    for (uint32_t i = 0; i < function->value_count; i++)
        uses += function->users[i].capacity;
    SsaValue **next = ARENA_ARRAY(arena, SsaValue *, uses + 1);
    for (uint32_t i = 0; i < function->value_count; i++) {
        function->users[i].items = next;
        next += function->users[i].capacity;
    }
    visit_uses(function, add_use);
}

const SsaUsers *ssa_users(SsaFunction *function, const SsaValue *value, Arena *arena)
{
    if (!function->users)
        make_users(function, arena);
    return &function->users[value->id];
}
