/* Iterators that are values: iter(x), generators that next() is asked of or that are used more than once. The position lies in memory, so that all who
 * know the iterator see it move; the optimizer makes registers of it. */
#include "frontend/array/lower_iterate.h"
#include "frontend/array/lower_iterator.h"
#include "frontend/compound/generator.h"
#include "frontend/compound/lower_cell.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"

bool type_is_iterator(const Type *type) { return type_is_tagged(type, TUPLE_ITERATOR); }

static bool make(Lower *l, Operand iterable, Operand *out)
{
    Operand parts[2], position;
    if (!lower_iterator(l, iterable, &parts[0]) || !lower_uniform_iterator(l, parts[0], &parts[0]))
        return false;
    if (type_is_iterator(parts[0].type))
        return *out = parts[0], true;
    if (type_has_list(parts[0].type) && !takes_lists(l->instance)) /* who asks may stop before its last item */
        return lower_fail(l, DIAG_GENERATOR_USE, "a list of unknown length",
                          "; write (...) for [...]: the items of a generator come one by one");
    if (!type_is_generator(parts[0].type) && type_has_generator(parts[0].type))
        return lower_fail(l, DIAG_TYPE_ITERATE, lower_describe(l, iterable.type), " by iter() or next()");
    if (!lower_iter_start(l, parts[0], &position))
        return false;
    if (type_is_generator(parts[0].type))
        position =
            lower_make_tuple(l, (Operand[]){operand_as_argument(l, operand_bool(l, true)), position}, 2, TUPLE_PLAIN);
    parts[1] = lower_make_cell(l, position.type);
    lower_cell_put(l, parts[1], position);
    return *out = lower_make_tuple(l, parts, 2, TUPLE_ITERATOR), true;
}

bool call_iter(Lower *l, const Call *call, Operand *out)
{
    return call_arity(l, call, 1, 1) && make(l, call->arguments[0], out);
}

/* A generator that has ended stays at its end: beside its frame lies whether it goes on. */
static bool generator_step(Lower *l, Operand generator, Operand cell, Operand *out)
{
    Operand position = lower_cell_get(l, cell), parts[2];
    Operand goes_on = lower_tuple_item(l, position, 0), frame = lower_tuple_item(l, position, 1);
    if (!lower_guarded_step(l, goes_on, generator, frame, out))
        return false;
    parts[0] = lower_tuple_item(l, *out, 0);
    parts[1] = lower_tuple_item(l, *out, 2);
    lower_cell_put(l, cell, lower_make_tuple(l, parts, 2, TUPLE_PLAIN));
    return true;
}

bool lower_iterator_step(Lower *l, Operand iterator, Operand *out)
{
    Operand iterable = lower_tuple_item(l, iterator, 0), cell = lower_tuple_item(l, iterator, 1), next;
    if (type_is_generator(iterable.type))
        return generator_step(l, iterable, cell, out);
    if (!lower_iter_step(l, iterable, lower_cell_get(l, cell), out) || !lower_iter_next(l, iterable, *out, &next) ||
        !lower_convert(l, next, cell.type->element, &next))
        return false;
    lower_cell_put(l, cell, next);
    return true;
}

/* The item, or the default where there is none. */
static bool next_or_default(Lower *l, Operand iterable, Operand step, Operand has, Operand other, Operand *out)
{
    Operand item, converted;
    Lower dry = *l;
    dry.emitting = false;
    if (!lower_iter_value(&dry, iterable, step, &item))
        return false;
    const Type *type = lower_join_types(l, item.type, other.type);
    if (!type)
        return lower_fail(l, DIAG_TYPE_UNIFY, lower_describe(l, item.type), lower_describe(l, other.type),
                          " as the item and the default of next()");
    *out = operand_value(type, NULL);
    if (!lower_convert(l, other, type, &converted) || !l->emitting)
        return !diag_failed(l->diag);
    IrBlock *found = emit_block(l), *join = emit_block(l);
    out->ir = ir_phi(join, erased_type(l->arena, type), &l->value->pos, 2);
    emit_phi_edge(l, out->ir, operand_ir(l, converted));
    emit_branch(l, operand_ir(l, has), found, join);
    l->block = found;
    if (!lower_iter_value(l, iterable, step, &item) || !lower_convert(l, item, type, &converted))
        return false;
    emit_phi_edge(l, out->ir, operand_ir(l, converted));
    emit_jump(l, join);
    l->block = join;
    return true;
}

bool call_next(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 2))
        return false;
    Operand iterator = call->arguments[0], step, has;
    if (!type_is_iterator(iterator.type))
        return call_refuse(l, call, "; iter() makes an iterator of it");
    Operand iterable = lower_tuple_item(l, iterator, 0);
    if (!lower_iterator_step(l, iterator, &step) || !lower_iter_has(l, iterable, step, &has))
        return false;
    if (call->count == 2)
        return next_or_default(l, iterable, step, has, call->arguments[1], out);
    if (l->emitting) {
        IrBlock *found = emit_block(l), *ended = emit_block(l);
        emit_branch(l, operand_ir(l, has), found, ended);
        l->block = ended;
        emit_builtin_raise(l, "StopIteration");
        l->block = found;
    }
    return lower_iter_value(l, iterable, step, out);
}

static bool takes_item(Lower *l, const SsaValue *user)
{
    return user->op == SSA_CALL && user->count >= 2 &&
           operand_intrinsic(lower_fact(l, user->operands[0])) == INTRINSIC_NEXT;
}

/* Whether next() takes the value, maybe by way of a variable that is assigned on several paths. */
static bool is_asked(Lower *l, const SsaValue *value)
{
    bool found = false;
    uint32_t depth = 0, capacity = 0;
    const SsaValue **stack = NULL; /* phis that the value comes to */
    Table *seen = table_create();
    for (; value && !found; value = depth ? stack[--depth] : NULL) {
        const SsaUsers *users = ssa_users(l->instance->ssa, value, l->arena);
        for (uint32_t i = 0; i < users->count && !found; i++) {
            SsaValue *user = users->items[i];
            found = takes_item(l, user) && user->operands[1] == value;
            if (user->op != SSA_PHI || table_get(seen, &user, sizeof user))
                continue;
            table_set(seen, &user, sizeof user, user);
            stack = arena_grow(l->arena, stack, depth, &capacity, sizeof *stack);
            stack[depth++] = user;
        }
    }
    table_destroy(seen);
    return found;
}

bool lower_called_iterator(Lower *l, const SsaValue *call, Operand *out)
{
    const Type *type = out->type;
    bool fits = type && (type_is_generator(type) || type_has_trait(type, TRAIT_OF_ITERABLES));
    if (!fits || type_is_list(type))
        return true;
    bool is_shared = type_is_generator(type) && generator_is_shared(l, call, type);
    if (!is_shared && !is_asked(l, call))
        return true;
    return make(l, *out, out);
}
