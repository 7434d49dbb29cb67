/* Parameters whose value a function turns out to need while it is compiled (the shape of a shared array, the place in a
 * tuple of different types). Calls pass numbers without what is known of their value, so that one instance serves all;
 * an instance that failed for want of a constant says which parameters lead there, and calls whose arguments are
 * constants take another instance, made for those values. One that failed otherwise may have a type once the values are
 * known and branches with them: then all are taken. */
#include "frontend/call/constant_parameter.h"
#include "frontend/engine.h"

enum { PARAMETER_LIMIT = 64 };

typedef struct Search {
    bool *seen; /* by SsaValue.id */
    const SsaValue **stack;
    uint32_t depth;
} Search;

static void visit(Search *search, const SsaValue *value)
{
    while (value->replacement)
        value = value->replacement;
    if (search->seen[value->id])
        return;
    search->seen[value->id] = true;
    search->stack[search->depth++] = value;
}

void want_constants(Lower *l)
{
    uint32_t count = l->instance->ssa->value_count;
    Search search = {.seen = ARENA_ARRAY(l->arena, bool, count),
                     .stack = ARENA_ARRAY(l->arena, const SsaValue *, count)};
    uint64_t before = l->instance->wanted;
    visit(&search, l->value);
    while (search.depth) {
        const SsaValue *value = search.stack[--search.depth];
        if (value->op == SSA_PARAMETER && value->argument < PARAMETER_LIMIT)
            l->instance->wanted |= 1ull << value->argument;
        for (uint32_t i = 0; i < value->count; i++)
            visit(&search, value->operands[i]);
    }
    l->changed |= before != l->instance->wanted;
}

bool keep_constants(Lower *l, const Instance *instance, const Operand *given, uint32_t count, Operand *facts)
{
    bool keeps = false, lacks = false, tries = instance->fails && !instance->is_recursive;
    for (uint32_t i = 0; i < count && i < PARAMETER_LIMIT; i++) {
        bool is_wanted = instance->wanted >> i & 1;
        if ((!is_wanted && !tries) || facts[i].constant)
            continue;
        facts[i].constant = given[i].constant;
        keeps |= given[i].constant != NULL;
        lacks |= is_wanted && given[i].constant == NULL;
    }
    if (lacks && !l->emitting)
        want_constants(l);
    return keeps;
}
