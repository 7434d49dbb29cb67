/* Comprehensions over tuples of different types: each item has a type of its own, so that each is computed by an instance for
 * a tuple of that item alone. */
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_operator.h"

static bool is_mixed(const Type *type)
{
    if (type->kind != TYPE_TUPLE)
        return false;
    switch (type->tag) {
    case TUPLE_PLAIN:
    case TUPLE_NAMED: return !type_is_homogeneous(type);
    case TUPLE_ENUMERATE: return is_mixed(type->items[1]);
    case TUPLE_REVERSED: return is_mixed(type->items[0]);
    case TUPLE_ZIP:
        for (uint32_t i = 0; i < type->count; i++)
            if (is_mixed(type->items[i]))
                return true;
        return false;
    default: return false;
    }
}

static bool item_of(Lower *l, Operand iterable, int64_t index, Operand *out);

static bool zipped(Lower *l, Operand zip, int64_t index, Operand *out)
{
    Operand *parts = ARENA_ARRAY(l->arena, Operand, zip.type->count + 1);
    for (uint32_t i = 0; i < zip.type->count; i++)
        if (!item_of(l, lower_tuple_item(l, zip, i), index, &parts[i]))
            return false;
    return *out = lower_make_tuple(l, parts, zip.type->count, TUPLE_PLAIN), true;
}

static bool numbered(Lower *l, Operand enumeration, int64_t index, Operand *out)
{
    Operand parts[2];
    if (!lower_binary(l, NB_ADD, lower_tuple_item(l, enumeration, 0), operand_int(l, index), &parts[0]) ||
        !item_of(l, lower_tuple_item(l, enumeration, 1), index, &parts[1]))
        return false;
    return *out = lower_make_tuple(l, parts, 2, TUPLE_PLAIN), true;
}

/* What a loop over the iterable would have as its item number `index`. */
static bool item_of(Lower *l, Operand iterable, int64_t index, Operand *out)
{
    const Type *type = iterable.type;
    int64_t count;
    if (type_is_tagged(type, TUPLE_ZIP))
        return zipped(l, iterable, index, out);
    if (type_is_tagged(type, TUPLE_ENUMERATE))
        return numbered(l, iterable, index, out);
    if (type_is_tagged(type, TUPLE_REVERSED))
        return generator_known_count(type->items[0], NULL, &count) &&
               item_of(l, lower_tuple_item(l, iterable, 0), count - 1 - index, out);
    if (type_is_plain_tuple(type))
        return *out = lower_tuple_item(l, iterable, (uint32_t)index), true;
    bool fits = type->kind == TYPE_ARRAY || type_is_tagged(type, TUPLE_RANGE);
    return fits && lower_item_at(l, iterable, operand_int(l, index), out);
}

/* The item that the generator makes of item number `index` of what it runs over. */
static bool made_item(Lower *l, const Instance *all, const Operand *given, int64_t index, Operand *out)
{
    uint32_t count = all->parameter_count;
    Operand *bound = ARENA_ARRAY(l->arena, Operand, count + 1), item;
    for (uint32_t i = 0; i < count; i++)
        bound[i] = given[i];
    if (!item_of(l, bound[0], index, &item))
        return false;
    Operand *known = arena_copy(l->arena, bound, count * sizeof *bound);
    known[0] = lower_make_tuple(l, &item, 1, TUPLE_PLAIN);
    bound[0] = operand_as_argument(l, known[0]);
    Instance *one = lower_instance(l, all->code, all->snapshot, known, bound, count);
    if (!one || !lower_make_generator(l, one, bound, count, out) ||
        (type_is_generator(out->type) && !lower_generator_items(l, *out, 1, out)))
        return false;
    if (out->type)
        *out = lower_tuple_item(l, *out, 0);
    return out->type != NULL;
}

/* Whether one function can give all items: their types have one in common, and none needs memory of its own. */
static bool fit_together(Lower *l, const Operand *items, int64_t count)
{
    const Type *common = items[0].type;
    for (int64_t i = 0; common && i < count; i++)
        common = type_has_cell(items[i].type) ? NULL : lower_join_types(l, common, items[i].type);
    return common != NULL;
}

bool lower_items_apart(Lower *l, const Instance *all, const Operand *given, int64_t count, Operand *out)
{
    if (!all->ssa->is_one_for_one || all->ssa->has_cells || count < 2)
        return false;
    if (!is_mixed(given[0].type) && !(all->result.type && type_has_cell(all->result.type)))
        return false;
    Operand *items = ARENA_ARRAY(l->arena, Operand, count);
    Diag scratch = {0};
    Lower dry = *l;
    dry.emitting = false;
    dry.diag = &scratch;
    bool known = true;
    for (int64_t i = 0; known && i < count; i++)
        known = made_item(&dry, all, given, i, &items[i]);
    diag_clear(&scratch);
    if (!known || fit_together(l, items, count))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!made_item(l, all, given, i, &items[i]))
            return false;
    return *out = lower_make_tuple(l, items, (uint32_t)count, TUPLE_PLAIN), true;
}
