/* sum, any, all, min and max over arrays, tuples and ranges; isinstance. */
#include "frontend/array/lower_iterate.h"
#include "frontend/call/handlers.h"
#include "frontend/call/builtin/lower_reduce.h"
#include "frontend/compound/generator.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/overflow_marks.h"

/* One step of a reduction: the accumulator with one more item. */
typedef bool (*Step)(Lower *l, const Call *call, Operand accumulator, Operand item, Operand *out);

static bool step_sum(Lower *l, const Call *call, Operand accumulator, Operand item, Operand *out)
{
    (void)call;
    return lower_binary(l, NB_ADD, accumulator, item, out) && (overflow_note(l, *out), true);
}

static bool step_truth(Lower *l, const Call *call, Operand accumulator, Operand item, Operand *out)
{
    Operand truth;
    return lower_truth(l, item, &truth) &&
           lower_binary(l, call->intrinsic == INTRINSIC_ANY ? NB_OR : NB_AND, accumulator, truth, out);
}

static bool reduce_tuple(Lower *l, const Call *call, Operand tuple, Operand start, Step step, Operand *out)
{
    *out = start;
    for (uint32_t i = 0; i < tuple.type->count; i++)
        if (!step(l, call, *out, lower_tuple_item(l, tuple, i), out))
            return false;
    return true;
}

/* The type that the accumulator settles on. */
static const Type *settle(Lower *l, const Call *call, Operand start, Operand item, Step step)
{
    Lower dry = *l;
    dry.emitting = false;
    Operand accumulator = operand_value(start.type, NULL), next;
    item = operand_value(item.type, NULL);
    for (int i = 0; i < 4; i++) {
        if (!step(&dry, call, accumulator, item, &next))
            return NULL;
        const Type *joined = lower_join_types(l, accumulator.type, next.type);
        if (!joined || type_equal(joined, accumulator.type))
            return joined;
        accumulator = operand_value(joined, NULL);
    }
    return NULL;
}

/* The first true item answers any, the first false one all; but all items of a list are made before. */
static bool is_decided_early(const Call *call, Operand iterable)
{
    return (call->intrinsic == INTRINSIC_ANY || call->intrinsic == INTRINSIC_ALL) && !type_is_list(iterable.type);
}

static void leave_early(Lower *l, const Call *call, IrValue *last, IrValue *result, IrBlock *exit)
{
    IrBlock *more = emit_block(l);
    bool leaves_if = call->intrinsic == INTRINSIC_ANY;
    emit_phi_edge(l, last, result);
    emit_branch(l, result, leaves_if ? exit : more, leaves_if ? more : exit);
    l->block = more;
}

/* A loop over anything that iterates. */
static bool reduce_loop(Lower *l, const Call *call, Operand iterable, Operand start, Step step, Operand *out)
{
    Operand position, step_to, has, item, next, result, converted;
    Lower dry = *l;
    dry.emitting = false;
    Operand shape = operand_value(iterable.type, NULL);
    if (!lower_iter_start(&dry, shape, &position) || !lower_iter_step(&dry, shape, position, &step_to) ||
        !lower_iter_value(&dry, shape, step_to, &item))
        return false;
    const Type *type = settle(l, call, start, item, step);
    if (!type)
        return diag_failed(l->diag) ? false : call_refuse(l, call, "");
    if (!l->emitting)
        return *out = operand_value(type, NULL), true;
    if (!lower_convert(l, start, type, &converted) || !lower_iter_start(l, iterable, &position))
        return false;
    IrBlock *header = emit_block(l), *body = emit_block(l), *exit = emit_block(l);
    IrValue *index = ir_phi(header, erased_type(l->arena, position.type), &l->value->pos, 2);
    IrValue *accumulator = ir_phi(header, type, &l->value->pos, 2);
    emit_phi_edge(l, index, operand_ir(l, position));
    emit_phi_edge(l, accumulator, operand_ir(l, converted));
    emit_jump(l, header);
    l->block = header;
    position = operand_value(position.type, index);
    if (!lower_iter_step(l, iterable, position, &step_to) || !lower_iter_has(l, iterable, step_to, &has))
        return false;
    IrValue *last = is_decided_early(call, iterable) ? ir_phi(exit, type, &l->value->pos, 2) : NULL;
    if (last)
        emit_phi_edge(l, last, accumulator);
    emit_branch(l, operand_ir(l, has), body, exit);
    l->block = body;
    if (!lower_iter_value(l, iterable, step_to, &item) ||
        !step(l, call, operand_value(type, accumulator), item, &result) || !lower_convert(l, result, type, &converted))
        return false;
    if (last)
        leave_early(l, call, last, operand_ir(l, converted), exit);
    if (!lower_iter_next(l, iterable, step_to, &next))
        return false;
    emit_phi_edge(l, accumulator, operand_ir(l, converted));
    emit_phi_edge(l, index, operand_ir(l, next));
    emit_jump(l, header);
    l->block = exit;
    return *out = operand_value(type, last ? last : accumulator), true;
}

static bool reduce(Lower *l, const Call *call, Operand source, Operand start, Step step, Operand *out)
{
    if (type_is_plain_tuple(source.type))
        return reduce_tuple(l, call, source, start, step, out);
    Operand iterable;
    return lower_iterator(l, source, &iterable) && lower_uniform_iterator(l, iterable, &iterable) &&
           reduce_loop(l, call, iterable, start, step, out);
}

bool call_sum(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 2))
        return false;
    const Operand *start = call_argument(call, 1, "start");
    return reduce(l, call, call->arguments[0], start ? *start : operand_int(l, 0), step_sum, out);
}

/* arguments: the item that is looked for. */
static bool step_equal(Lower *l, const Call *call, Operand accumulator, Operand item, Operand *out)
{
    Operand same;
    return lower_compare(l, COMPARE_EQ, item, call->arguments[0], &same) &&
           lower_binary(l, NB_OR, accumulator, same, out) && lower_truth(l, *out, out);
}

bool lower_found(Lower *l, Operand x, Operand iterable, Operand *out)
{
    Call call = {.intrinsic = INTRINSIC_ANY, .name = "in", .count = 1, .arguments = &x};
    return reduce(l, &call, iterable, operand_bool(l, false), step_equal, out);
}

static bool step_count(Lower *l, const Call *call, Operand accumulator, Operand item, Operand *out)
{
    (void)call;
    (void)item;
    return lower_binary(l, NB_ADD, accumulator, operand_int(l, 1), out);
}

bool lower_count(Lower *l, Operand iterable, Operand *out)
{
    Call call = {.intrinsic = INTRINSIC_LEN, .name = "len"};
    return reduce_loop(l, &call, iterable, operand_int(l, 0), step_count, out);
}

bool call_any_all(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    return reduce(l, call, call->arguments[0], operand_bool(l, call->intrinsic == INTRINSIC_ALL), step_truth, out);
}

/* --- isinstance ----------------------------------------------------------------------------------------------------- */

static bool is_instance(Operand value, Operand class)
{
    const Type *type = value.type;
    if (operand_is_object(class, CONSTANT_TYPE)) {
        const Type *other = class.constant->type;
        bool has_any_unit = type_is_time(other) && other->unit == TIME_UNIT_GENERIC && other->kind == type->kind;
        return has_any_unit || type_equal(type, other);
    }
    if (operand_is_object(class, CONSTANT_CLASS))
        return (type_is_tagged(type, TUPLE_NAMED) && type->object == class.constant) ||
               (type_class(type) && type_class(type) == type_class(class.constant->type));
    switch (operand_intrinsic(class)) {
    case INTRINSIC_INT: return type_is_integer(type);
    case INTRINSIC_FLOAT: return type->kind == TYPE_FLOAT;
    case INTRINSIC_COMPLEX: return type->kind == TYPE_COMPLEX;
    case INTRINSIC_BOOL: return type->kind == TYPE_BOOL;
    case INTRINSIC_NDARRAY: return type->kind == TYPE_ARRAY;
    case INTRINSIC_STR: return operand_is_text(value);
    case INTRINSIC_TUPLE: return type_is_plain_tuple(type);
    default: return false;
    }
}

/* A tuple of what the pattern captures, or None. */
bool lower_match_class(Lower *l, Operand value, Operand class, bool captures, Operand *out)
{
    if (class.type->kind != TYPE_OBJECT)
        return lower_fail(l, DIAG_TYPE_CALL, lower_describe(l, class.type), "; a pattern names a type");
    if (is_instance(value, class))
        *out = lower_make_tuple(l, &value, captures ? 1 : 0, TUPLE_PLAIN);
    else
        *out = operand_none();
    return true;
}

bool call_isinstance(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 2, 2))
        return false;
    Operand classes = call->arguments[1];
    bool is_tuple = classes.type->kind == TYPE_TUPLE;
    uint32_t count = is_tuple ? classes.type->count : 1;
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        Operand class = is_tuple ? lower_tuple_item(l, classes, i) : classes;
        if (class.type->kind != TYPE_OBJECT)
            return call_refuse(l, call, "; its second argument is a type or a tuple of types");
        found |= is_instance(call->arguments[0], class);
    }
    return *out = operand_bool(l, found), true;
}
