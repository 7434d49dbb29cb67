/* Which declared signature a list of arguments fits, and at what cost. What may be passed for what is numba's rule:
 * numbers are cast like C's, except that a fraction or an imaginary part is never dropped. */
#include "jit/jit.h"

enum { COST_SAME = 0, COST_LAYOUT = 1, COST_WIDER = 2, COST_OTHER_KIND = 4, COST_NARROWER = 16, COST_NEVER = -1 };

static int kind_rank(const Type *type)
{
    switch (type->kind) {
    case TYPE_BOOL: return 0;
    case TYPE_INT:
    case TYPE_UINT: return 1;
    case TYPE_FLOAT: return 2;
    default: return 3;
    }
}

static int number_cost(const Type *from, const Type *to)
{
    int from_rank = kind_rank(from), to_rank = kind_rank(to);
    if (from->scalar == to->scalar)
        return COST_SAME;
    if (from_rank > to_rank && to->kind != TYPE_BOOL)
        return COST_NEVER;
    if (to->kind == TYPE_BOOL)
        return from_rank == 1 ? COST_NARROWER : COST_NEVER;
    if (from_rank != to_rank)
        return to->size >= from->size ? COST_OTHER_KIND : COST_OTHER_KIND + COST_NARROWER;
    bool keeps = to->size > from->size && !(from->kind == TYPE_INT && to->kind == TYPE_UINT);
    return keeps ? COST_WIDER : COST_NARROWER;
}

static int array_cost(const Type *from, const Type *to)
{
    bool same = type_equal(from->element, to->element);
    if (from->ndim != to->ndim || !(same || type_is_same_integer(from->element, to->element)))
        return COST_NEVER;
    int cost = from->read_only == to->read_only ? COST_SAME : COST_LAYOUT;
    cost += same ? COST_SAME : COST_NARROWER;
    if (from->layout == to->layout || from->ndim == 0)
        return cost;
    bool dense_vector = from->ndim == 1 && from->layout != LAYOUT_ANY;
    return to->layout == LAYOUT_ANY || dense_vector ? cost + COST_LAYOUT : COST_NEVER;
}

static int tuple_cost(const Type *from, const Type *to)
{
    if (from->count != to->count || from->object != to->object)
        return COST_NEVER;
    int sum = from->tag == to->tag ? COST_SAME : COST_LAYOUT;
    for (uint32_t i = 0; i < from->count; i++) {
        int cost = jit_conversion_cost(from->items[i], to->items[i]);
        if (cost == COST_NEVER)
            return COST_NEVER;
        sum += cost;
    }
    return sum;
}

/* A pointer takes addresses, arrays without gaps, and a void* any pointer. */
static int pointer_cost(const Type *from, const Type *to)
{
    const Type *memory = to->items[0];
    bool takes_all = type_is_tagged(to, TUPLE_VOID_POINTER);
    if (type_equal(from, to))
        return COST_SAME;
    if (type_is_pointer(from))
        return takes_all || type_is_tagged(from, TUPLE_VOID_POINTER) ? COST_LAYOUT : COST_NEVER;
    if (type_is_integer(from))
        return COST_OTHER_KIND;
    bool fits = from->kind == TYPE_ARRAY && (takes_all || type_equal(from->element, memory->element));
    return fits && !from->read_only && (from->layout != LAYOUT_ANY || !from->ndim) ? COST_OTHER_KIND : COST_NEVER;
}

static int optional_cost(const Type *from, const Type *to)
{
    if (from->kind == TYPE_NONE || type_equal(from, to))
        return from->kind == TYPE_NONE ? COST_LAYOUT : COST_SAME;
    int cost = jit_conversion_cost(from, to->items[1]);
    return cost == COST_NEVER ? COST_NEVER : cost + COST_LAYOUT;
}

int jit_conversion_cost(const Type *from, const Type *to)
{
    if (type_is_optional(to))
        return optional_cost(from, to);
    if (type_is_pointer(to))
        return pointer_cost(from, to);
    if (type_is_tagged(from, TUPLE_INT_ENUM) && type_is_scalar(to))
        from = from->items[0];
    if (type_is_scalar(from) && type_is_scalar(to))
        return number_cost(from, to);
    if (from->kind == TYPE_ARRAY && to->kind == TYPE_ARRAY)
        return array_cost(from, to);
    if (from->kind == TYPE_TUPLE && to->kind == TYPE_TUPLE)
        return tuple_cost(from, to);
    return type_equal(from, to) ? COST_SAME : COST_NEVER;
}

static int signature_cost(const JitSignature *signature, const Type *const *types, uint32_t count)
{
    if (signature->count != count)
        return COST_NEVER;
    int sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        int cost = jit_conversion_cost(types[i], signature->arguments[i]);
        if (cost == COST_NEVER)
            return COST_NEVER;
        sum += cost;
    }
    return sum;
}

int jit_choose_signature(const JitSignature *candidates, uint32_t candidate_count, const Type *const *types,
                         uint32_t count, int *second)
{
    int best = -1, best_cost = 0;
    *second = -1;
    for (uint32_t i = 0; i < candidate_count; i++) {
        int cost = signature_cost(&candidates[i], types, count);
        if (cost != COST_NEVER && (best < 0 || cost < best_cost)) {
            best = (int)i;
            best_cost = cost;
            *second = -1;
        } else if (cost != COST_NEVER && cost == best_cost && *second < 0) {
            *second = (int)i;
        }
    }
    return best;
}
