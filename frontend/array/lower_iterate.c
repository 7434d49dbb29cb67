/* Iteration without iterator objects: an iterable stays what it is, and a position moves along it. A range's position
 * is its current value; a zip's is a tuple of positions; all others count from 0. */
#include "frontend/array/lower_array.h"
#include "frontend/array/lower_flat.h"
#include "frontend/array/lower_iterate.h"
#include "frontend/array/lower_iterator.h"
#include "frontend/array/lower_range.h"
#include "frontend/array/lower_unpack.h"
#include "frontend/compound/generator.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/operand.h"

static bool is_counted(const Type *type) { return type->kind == TYPE_ARRAY || type_is_plain_tuple(type); }

static const Type *i64(void) { return TYPE_OF(INT64); }

/* --- lengths ------------------------------------------------------------------------------------------------------ */

bool lower_length(Lower *l, Operand iterable, Operand *out)
{
    const Type *type = iterable.type;
    if (type->kind == TYPE_ARRAY) {
        *out = operand_value(i64(), emit_extent(l, iterable, 0));
        return true;
    }
    if (is_counted(type)) {
        *out = operand_int(l, type->count);
        return true;
    }
    if (type_is_tagged(type, TUPLE_RANGE))
        return range_length(l, iterable, out);
    if (type_is_flat(type))
        return lower_array_attribute(l, lower_tuple_item(l, iterable, 0), "size", out);
    return lower_fail(l, DIAG_TYPE_ITERATE, lower_describe(l, type), " in reverse");
}

/* The item number `index` of something with a length. */
bool lower_item_at(Lower *l, Operand iterable, Operand index, Operand *out)
{
    if (iterable.type->kind == TYPE_ARRAY)
        return lower_subscript(l, iterable, index, out);
    if (is_counted(iterable.type))
        return lower_tuple_index(l, iterable, index, out);
    if (type_is_flat(iterable.type))
        return lower_flat_item(l, lower_tuple_item(l, iterable, 0), index, out);
    Operand offset;
    return lower_binary(l, NB_MULTIPLY, lower_tuple_item(l, iterable, 2), index, &offset) &&
           lower_binary(l, NB_ADD, lower_tuple_item(l, iterable, 0), offset, out) &&
           lower_convert(l, *out, iterable.type->items[0], out);
}

/* --- all items at once ------------------------------------------------------------------------------------------- */

enum { MOST_ITEMS = 256 }; /* of a range or the like that becomes a tuple */

static bool items_of_range(Lower *l, Operand range, Operand *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!lower_item_at(l, range, operand_int(l, i), &items[i]))
            return false;
    return true;
}

static bool items_of_enumerate(Lower *l, Operand enumerate, Operand *items, int64_t count)
{
    Operand inner, pair[2];
    if (!lower_all_items(l, lower_tuple_item(l, enumerate, 1), &inner))
        return false;
    for (int64_t i = 0; i < count; i++) {
        pair[1] = lower_tuple_item(l, inner, (uint32_t)i);
        if (!lower_binary(l, NB_ADD, lower_tuple_item(l, enumerate, 0), operand_int(l, i), &pair[0]))
            return false;
        items[i] = lower_make_tuple(l, pair, 2, TUPLE_PLAIN);
    }
    return true;
}

static bool items_of_zip(Lower *l, Operand zip, Operand *items, int64_t count)
{
    uint32_t width = zip.type->count;
    Operand *inner = ARENA_ARRAY(l->arena, Operand, width + 1), *row = ARENA_ARRAY(l->arena, Operand, width + 1);
    for (uint32_t k = 0; k < width; k++)
        if (!lower_all_items(l, lower_tuple_item(l, zip, k), &inner[k]))
            return false;
    for (int64_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < width; k++)
            row[k] = lower_tuple_item(l, inner[k], (uint32_t)i);
        items[i] = lower_make_tuple(l, row, width, TUPLE_PLAIN);
    }
    return true;
}

static bool items_of_reversed(Lower *l, Operand reversed, Operand *items, int64_t count)
{
    Operand inner;
    if (!lower_all_items(l, lower_tuple_item(l, reversed, 0), &inner))
        return false;
    for (int64_t i = 0; i < count; i++)
        items[i] = lower_tuple_item(l, inner, (uint32_t)(count - 1 - i));
    return true;
}

bool type_is_lazy(const Type *type) { return type_has_trait(type, TRAIT_LAZY); }

bool lower_all_items(Lower *l, Operand iterable, Operand *out)
{
    int64_t count;
    if (type_is_generator(iterable.type))
        return lower_generator_items(l, iterable, -1, out);
    bool is_known = generator_known_count(iterable.type, iterable.constant, &count) && count <= MOST_ITEMS;
    if (!is_known && type_is_lazy(iterable.type))
        return lower_fail(
            l, DIAG_CONSTANT_REQUIRED,
            arena_format(l->arena, "the number of items of a tuple made of %s", lower_describe(l, iterable.type)),
            "; loop over it instead");
    if (!type_is_lazy(iterable.type) && !type_is_plain_tuple(iterable.type))
        return lower_fail(l, DIAG_TYPE_ITERATE, lower_describe(l, iterable.type),
                          "; a tuple can be made of a tuple, or of what has a known number of items");
    if (type_is_plain_tuple(iterable.type))
        return *out = iterable, true;
    Operand *items = ARENA_ARRAY(l->arena, Operand, count + 1);
    bool done = false;
    switch (iterable.type->tag) {
    case TUPLE_RANGE: done = items_of_range(l, iterable, items, count); break;
    case TUPLE_ENUMERATE: done = items_of_enumerate(l, iterable, items, count); break;
    case TUPLE_ZIP: done = items_of_zip(l, iterable, items, count); break;
    default: done = items_of_reversed(l, iterable, items, count); break;
    }
    return done && (*out = lower_make_tuple(l, items, (uint32_t)count, TUPLE_PLAIN), true);
}

/* --- tuples of items that differ in type -------------------------------------------------------------------------- */

/* A loop over such a tuple is written out once for each item. */
enum { MOST_UNROLLED = 64 };

static bool is_mixed(const Type *type)
{
    if (!type_is_plain_tuple(type) || type->count == 0)
        return false;
    return !type_is_homogeneous(type) || type->items[0]->kind == TYPE_OBJECT || type->items[0]->kind == TYPE_NONE;
}

/* for x in literal_unroll(items) */
static bool is_literal_unroll(Lower *l)
{
    const SsaValue *iterator = l->value->operands[0];
    if (iterator->op != SSA_ITERATOR || iterator->operands[0]->op != SSA_CALL)
        return false;
    return operand_intrinsic(lower_fact(l, iterator->operands[0]->operands[0])) == INTRINSIC_LITERAL_UNROLL;
}

/* Whether the items of the iterator are known one by one: how many there are, 0 if not. */
static uint32_t unrolled_count(Lower *l, Operand it)
{
    const Type *type = type_is_tagged(it.type, TUPLE_REVERSED) ? it.type->items[0] : it.type;
    bool is_tuple = type_is_plain_tuple(type);
    bool is_loop = l->value->op >= SSA_ITER_STEP && l->value->op <= SSA_ITER_NEXT;
    return is_mixed(type) || (is_tuple && is_loop && is_literal_unroll(l)) ? type->count : 0;
}

/* Which item the copy of a loop asks for, as its test or its body. False: that is not known, or not yet. */
static bool unrolled_index(Lower *l, uint32_t count, uint32_t *index)
{
    const SsaValue *value = l->value;
    bool is_loop = value->op >= SSA_ITER_STEP && value->op <= SSA_ITER_NEXT;
    *index = is_loop && value->argument ? (uint32_t)value->argument - 1 : 0;
    if (is_loop && value->argument && (!value->argument2 || *index >= count))
        return true;
    bool is_test = value->op == SSA_ITER_HAS || value->op == SSA_ITER_STEP;
    if (is_test && !l->emitting)
        l->instance->unroll[value->block->id] = count - *index;
    const char *why = l->instance->is_unrollable ? "" : "; writing it out for each of them gives too much code";
    return lower_fail(l, DIAG_UNSUPPORTED,
                      arena_format(l->arena,
                                   "this loop over items of different types is not "
                                   "supported in a kernel%s",
                                   why));
}

static bool join_items(Lower *l, Operand tuple, Operand *out)
{
    const Type *type = tuple.type, *joined = type->items[0];
    for (uint32_t i = 1; joined && i < type->count; i++)
        joined = lower_join_types(l, joined, type->items[i]);
    const Type **items = ARENA_ARRAY(l->arena, const Type *, type->count);
    for (uint32_t i = 0; i < type->count; i++)
        items[i] = joined;
    if (joined && joined->kind != TYPE_OBJECT)
        return lower_convert(l, tuple, type_tuple(l->arena, items, type->count, TUPLE_PLAIN), out);
    const char *hint = type->count > MOST_UNROLLED ? ": its items have different types, and it has more than 64"
                                                   : ": its items have different types";
    return lower_fail(l, DIAG_TYPE_ITERATE, lower_describe(l, type), hint);
}

bool lower_uniform_iterator(Lower *l, Operand it, Operand *out)
{
    if (is_mixed(it.type))
        return join_items(l, it, out);
    *out = it;
    bool has_parts = type_has_trait(it.type, TRAIT_OF_ITERABLES);
    if (!has_parts)
        return true;
    uint32_t first = type_is_tagged(it.type, TUPLE_ENUMERATE) ? 1 : 0;
    Operand *parts = ARENA_ARRAY(l->arena, Operand, it.type->count + 1);
    for (uint32_t i = 0; i < it.type->count; i++) {
        parts[i] = lower_tuple_item(l, it, i);
        if (i >= first && !lower_uniform_iterator(l, parts[i], &parts[i]))
            return false;
    }
    return *out = lower_make_tuple(l, parts, it.type->count, it.type->tag), true;
}

/* --- the five steps ----------------------------------------------------------------------------------------------- */

bool lower_iterator(Lower *l, Operand iterable, Operand *out)
{
    const Type *type = iterable.type;
    bool fits = type->kind == TYPE_ARRAY ? type->ndim > 0 : type_has_trait(type, TRAIT_ITERABLE) || type_is_flat(type);
    if (fits && is_mixed(type) && type->count > MOST_UNROLLED)
        return join_items(l, iterable, out);
    if (!fits)
        return lower_fail(l, DIAG_TYPE_ITERATE, lower_describe(l, type),
                          "; loops run over range(), arrays, tuples, generators, enumerate(), zip() and reversed()");
    *out = iterable;
    return true;
}

bool lower_iter_start(Lower *l, Operand it, Operand *out)
{
    if (type_is_tagged(it.type, TUPLE_ITERATOR))
        return *out = operand_none(), true; /* it has its position */
    if (type_is_tagged(it.type, TUPLE_RANGE)) {
        *out = lower_tuple_item(l, it, 0);
        out->constant = NULL; /* the position moves */
        out->ir = operand_ir(l, lower_tuple_item(l, it, 0));
        return true;
    }
    if (type_is_tagged(it.type, TUPLE_ZIP) || type_is_tagged(it.type, TUPLE_ENUMERATE)) {
        uint32_t first = type_is_tagged(it.type, TUPLE_ENUMERATE) ? 1 : 0, count = it.type->count;
        Operand *positions = ARENA_ARRAY(l->arena, Operand, count);
        for (uint32_t i = 0; i < count; i++)
            if (i < first)
                positions[i] = operand_value(i64(), operand_ir(l, lower_tuple_item(l, it, 0)));
            else if (!lower_iter_start(l, lower_tuple_item(l, it, i), &positions[i]))
                return false;
        *out = lower_make_tuple(l, positions, count, TUPLE_PLAIN);
        return true;
    }
    if (type_is_generator(it.type))
        return lower_generator_start(l, it, out);
    *out = operand_value(i64(), emit_int(l, i64(), 0));
    return true;
}

bool lower_guarded_step(Lower *l, Operand has, Operand it, Operand position, Operand *out)
{
    Operand step;
    if (!l->emitting)
        return lower_iter_step(l, it, position, out);
    IrBlock *taken = emit_block(l), *join = emit_block(l), *before = l->block;
    Lower dry = *l;
    dry.emitting = false;
    if (!lower_iter_step(&dry, it, position, &step))
        return false;
    IrValue *none = emit(l, IR_UNDEFINED, step.type, 0, NULL); /* zero: no item */
    IrValue *phi = ir_phi(join, erased_type(l->arena, step.type), &l->value->pos, 2);
    emit_phi_edge(l, phi, none);
    emit_branch(l, operand_ir(l, has), taken, join);
    l->block = taken;
    if (!lower_iter_step(l, it, position, &step))
        return l->block = before, false;
    emit_phi_edge(l, phi, operand_ir(l, step));
    emit_jump(l, join);
    l->block = join;
    return *out = operand_value(step.type, phi), true;
}

/* Goes from a step of a list to its end. */
static bool finish_list(Lower *l, Operand list, Operand step)
{
    Operand next, has;
    IrBlock *header = emit_block(l), *body = emit_block(l), *exit = emit_block(l);
    IrValue *phi = ir_phi(header, erased_type(l->arena, step.type), &l->value->pos, 2);
    emit_phi_edge(l, phi, operand_ir(l, step));
    emit_jump(l, header);
    l->block = header;
    step = operand_value(step.type, phi);
    if (!lower_iter_has(l, list, step, &has))
        return false;
    emit_branch(l, operand_ir(l, has), body, exit);
    l->block = body;
    if (!lower_iter_next(l, list, step, &next) || !lower_iter_step(l, list, next, &step))
        return false;
    emit_phi_edge(l, phi, operand_ir(l, step));
    emit_jump(l, header);
    l->block = exit;
    return true;
}

/* All items of a list are made, though another iterable ends before. */
static bool finish_lists(Lower *l, Operand it, const Operand *steps, Operand has)
{
    IrBlock *ended = emit_block(l), *join = emit_block(l);
    emit_branch(l, operand_ir(l, has), join, ended);
    l->block = ended;
    for (uint32_t i = 0; i < it.type->count; i++)
        if (type_is_list(it.type->items[i]) && !finish_list(l, lower_tuple_item(l, it, i), steps[i]))
            return false;
    emit_jump(l, join);
    l->block = join;
    return true;
}

/* As in Python, an iterable is not moved where one before it has ended, but for lists, which are made before. */
static bool zip_step(Lower *l, Operand it, Operand position, Operand *out)
{
    uint32_t count = it.type->count;
    Operand *steps = ARENA_ARRAY(l->arena, Operand, count + 1), has = operand_bool(l, true), more;
    for (uint32_t i = 0; i < count; i++) {
        Operand item = lower_tuple_item(l, it, i), at = lower_tuple_item(l, position, i);
        bool is_guarded = type_has_generator(item.type) && !type_is_list(item.type) && !has.constant;
        if (is_guarded ? !lower_guarded_step(l, has, item, at, &steps[i]) : !lower_iter_step(l, item, at, &steps[i]))
            return false;
        if (!lower_iter_has(l, item, steps[i], &more) || !lower_binary(l, NB_AND, has, more, &has) ||
            !lower_truth(l, has, &has))
            return false;
    }
    if (l->emitting && count > 1 && type_has_list(it.type) && !finish_lists(l, it, steps, has))
        return false;
    return *out = lower_make_tuple(l, steps, count, TUPLE_PLAIN), true;
}

bool lower_iter_step(Lower *l, Operand it, Operand position, Operand *out)
{
    if (type_is_iterator(it.type))
        return lower_iterator_step(l, it, out);
    if (type_is_generator(it.type))
        return lower_generator_step(l, it, position, out);
    if (!type_has_generator(it.type) || is_counted(it.type))
        return *out = position, true;
    if (type_is_tagged(it.type, TUPLE_ZIP))
        return zip_step(l, it, position, out);
    if (!type_is_tagged(it.type, TUPLE_ENUMERATE))
        return *out = position, true;
    Operand parts[2] = {lower_tuple_item(l, position, 0), {0}};
    Operand of = lower_tuple_item(l, it, 1), at = lower_tuple_item(l, position, 1);
    return lower_iter_step(l, of, at, &parts[1]) && (*out = lower_make_tuple(l, parts, 2, TUPLE_PLAIN), true);
}

bool lower_iter_has(Lower *l, Operand it, Operand position, Operand *out)
{
    if (type_is_iterator(it.type))
        return lower_iter_has(l, lower_tuple_item(l, it, 0), position, out);
    uint32_t count = unrolled_count(l, it), index;
    if (count)
        return unrolled_index(l, count, &index) && (*out = operand_bool(l, index < count), true);
    if (type_is_tagged(it.type, TUPLE_RANGE))
        return range_has(l, it, position, out);
    if (type_is_tagged(it.type, TUPLE_ENUMERATE)) {
        Operand of = lower_tuple_item(l, it, 1), at = lower_tuple_item(l, position, 1);
        return lower_iter_has(l, of, at, out);
    }
    if (type_is_tagged(it.type, TUPLE_ZIP)) {
        *out = operand_bool(l, it.type->count > 0);
        for (uint32_t i = 0; i < it.type->count; i++) {
            Operand has, of = lower_tuple_item(l, it, i), at = lower_tuple_item(l, position, i);
            if (!lower_iter_has(l, of, at, &has))
                return false;
            if (has.constant && !has.constant->integer)
                return *out = has, true;
            if (!lower_binary(l, NB_AND, *out, has, out))
                return false;
        }
        return true;
    }
    if (type_is_generator(it.type))
        return *out = lower_tuple_item(l, position, 0), true;
    Operand length;
    if (type_is_plain_tuple(it.type) && it.type->count == 0)
        return *out = operand_bool(l, false), true;
    return lower_length(l, type_is_tagged(it.type, TUPLE_REVERSED) ? lower_tuple_item(l, it, 0) : it, &length) &&
           lower_compare(l, COMPARE_LT, position, length, out);
}

static bool reversed_value(Lower *l, Operand it, Operand position, Operand *out)
{
    Operand of = lower_tuple_item(l, it, 0), length, last, index;
    return lower_length(l, of, &length) && lower_binary(l, NB_SUBTRACT, length, operand_int(l, 1), &last) &&
           lower_binary(l, NB_SUBTRACT, last, position, &index) && lower_item_at(l, of, index, out);
}

bool lower_iter_value(Lower *l, Operand it, Operand position, Operand *out)
{
    if (type_is_iterator(it.type))
        return lower_iter_value(l, lower_tuple_item(l, it, 0), position, out);
    if (type_is_tagged(it.type, TUPLE_RANGE)) {
        range_value_sign(l, it, position);
        *out = position;
        out->weak = range_weakness(l, it);
        return true;
    }
    if (type_is_generator(it.type))
        return *out = lower_tuple_item(l, position, 1), true;
    uint32_t count = unrolled_count(l, it), index;
    if (count && !unrolled_index(l, count, &index))
        return false;
    if (count && index < count) {
        bool is_reversed = type_is_tagged(it.type, TUPLE_REVERSED);
        Operand tuple = is_reversed ? lower_tuple_item(l, it, 0) : it;
        return *out = lower_tuple_item(l, tuple, is_reversed ? count - 1 - index : index), true;
    }
    if (type_is_tagged(it.type, TUPLE_REVERSED))
        return reversed_value(l, it, position, out);
    if (type_is_tagged(it.type, TUPLE_ENUMERATE)) {
        Operand pair[2] = {lower_tuple_item(l, position, 0), {0}};
        Operand of = lower_tuple_item(l, it, 1), at = lower_tuple_item(l, position, 1);
        if (!lower_iter_value(l, of, at, &pair[1]))
            return false;
        *out = lower_make_tuple(l, pair, 2, TUPLE_PLAIN);
        return true;
    }
    if (type_is_tagged(it.type, TUPLE_ZIP)) {
        Operand *items = ARENA_ARRAY(l->arena, Operand, it.type->count);
        for (uint32_t i = 0; i < it.type->count; i++) {
            Operand of = lower_tuple_item(l, it, i), at = lower_tuple_item(l, position, i);
            if (!lower_iter_value(l, of, at, &items[i]))
                return false;
        }
        *out = lower_make_tuple(l, items, it.type->count, TUPLE_PLAIN);
        return true;
    }
    if (position.ir && position.ir->op == IR_PHI) /* it counts from 0 */
        position.ir->non_negative = true;
    return lower_item_at(l, it, position, out);
}

bool lower_iter_next(Lower *l, Operand it, Operand position, Operand *out)
{
    if (type_is_iterator(it.type))
        return *out = operand_none(), true;
    if (type_is_tagged(it.type, TUPLE_RANGE))
        return range_next(l, it, position, out);
    if (type_is_tagged(it.type, TUPLE_ZIP) || type_is_tagged(it.type, TUPLE_ENUMERATE)) {
        uint32_t count = it.type->count;
        Operand *next = ARENA_ARRAY(l->arena, Operand, count);
        for (uint32_t i = 0; i < count; i++) {
            Operand old = lower_tuple_item(l, position, i);
            bool is_count = i == 0 && type_is_tagged(it.type, TUPLE_ENUMERATE);
            if (is_count ? !lower_binary(l, NB_ADD, old, operand_int(l, 1), &next[i])
                         : !lower_iter_next(l, lower_tuple_item(l, it, i), old, &next[i]))
                return false;
        }
        *out = lower_make_tuple(l, next, count, TUPLE_PLAIN);
        return true;
    }
    if (type_is_generator(it.type))
        return *out = lower_tuple_item(l, position, 2), true;
    return lower_binary(l, NB_ADD, position, operand_int(l, 1), out);
}
