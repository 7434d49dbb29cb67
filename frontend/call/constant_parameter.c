/* Parameters whose value a function turns out to need while it is compiled (the shape of a shared array, the place in a
 * tuple of different types). Calls pass numbers without what is known of their value, so that one instance serves all;
 * an instance that failed for want of a constant says which parameters lead there, and calls whose arguments are
 * constants take another instance, made for those values. One that failed otherwise may have a type once the values are
 * known and branches with them: then all are taken. */
#include "frontend/call/constant_parameter.h"
#include "frontend/engine.h"

enum { PARAMETER_LIMIT = 64 };

static void mark(Lower *l, const SsaValue *value, bool *seen, uint64_t *wanted)
{
    while (value->replacement)
        value = value->replacement;
    if (seen[value->id])
        return;
    seen[value->id] = true;
    if (value->op == SSA_PARAMETER && value->argument < PARAMETER_LIMIT)
        *wanted |= 1ull << value->argument;
    for (uint32_t i = 0; i < value->count; i++)
        mark(l, value->operands[i], seen, wanted);
}

void want_constants(Lower *l)
{
    bool *seen = ARENA_ARRAY(l->arena, bool, l->instance->ssa->value_count);
    uint64_t before = l->instance->wanted;
    mark(l, l->value, seen, &l->instance->wanted);
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
