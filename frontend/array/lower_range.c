/* Ranges: made, how long they are, where they end, and what is in them. */
#include "frontend/array/lower_range.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"

static const Type *i64(void) { return TYPE_OF(INT64); }

/* Numba takes floats for the integers that they are nearest to on the side of zero: range(math.ceil(n / 32)). */
static bool integer_bound(Lower *l, Operand *bound)
{
    return !bound->type || bound->type->kind != TYPE_FLOAT || lower_convert(l, *bound, i64(), bound);
}

bool lower_range(Lower *l, const Operand *arguments, uint32_t count, Operand *out)
{
    Operand parts[3] = {operand_int(l, 0), {0}, operand_int(l, 1)};
    if (count == 1)
        parts[1] = arguments[0];
    for (uint32_t i = 0; count > 1 && i < count; i++)
        parts[i] = arguments[i];
    bool all_unsigned = true;
    for (uint32_t i = 0; i < 3; i++) {
        if (!integer_bound(l, &parts[i]))
            return false;
        if (!parts[i].type || parts[i].type->kind > TYPE_UINT || parts[i].type->kind < TYPE_BOOL)
            return lower_fail(l, DIAG_TYPE_ARGUMENTS, "range", lower_describe_all(l, arguments, count), "");
        int64_t constant;
        bool fits = operand_const_int(parts[i], &constant) && constant >= 0;
        all_unsigned &= fits || (parts[i].type->kind == TYPE_UINT && parts[i].type->size == 8);
    }
    bool any_unsigned = (parts[1].type->kind == TYPE_UINT && parts[1].type->size == 8);
    const Type *type = all_unsigned && any_unsigned ? TYPE_OF(UINT64) : i64();
    for (uint32_t i = 0; i < 3; i++)
        if (!lower_convert(l, parts[i], type, &parts[i]))
            return false;
    int64_t step;
    if (operand_const_int(parts[2], &step) && step == 0)
        return lower_fail(l, DIAG_CONSTANT_RANGE, "range() step must not be zero");
    if (l->emitting && type->kind == TYPE_INT && !parts[2].constant && lower_checks(l)) {
        IrValue *is_zero = emit2(l, IR_EQ, TYPE_OF(BOOL), operand_ir(l, parts[2]), emit_int(l, type, 0));
        emit_check(l, is_zero, "ValueError", "range() arg 3 must not be zero");
    }
    *out = lower_make_tuple(l, parts, 3, TUPLE_RANGE);
    return true;
}

/* 1 up, -1 down, 0 known at run time only. */
static int step_sign(Lower *l, Operand range)
{
    Operand step = lower_tuple_item(l, range, 2);
    int64_t constant, low, high;
    if (step.type->kind == TYPE_UINT)
        return 1;
    if (operand_const_int(step, &constant))
        return constant > 0 ? 1 : -1;
    if (!l->emitting || !step.ir)
        return 0;
    lower_interval(step.ir, &low, &high);
    return low >= 0 ? 1 : 0;
}

/* Whether a position is before the end of a range whose step may be 0: such a range is empty, not endless. */
static bool range_moves(Lower *l, Operand step, Operand has, Operand *out)
{
    *out = has;
    if (!l->emitting || step.constant || value_is_never_zero(operand_ir(l, step)))
        return true;
    IrValue *moves = emit2(l, IR_NE, TYPE_OF(BOOL), operand_ir(l, step), emit_int(l, step.type, 0));
    *out = operand_value(TYPE_OF(BOOL), emit2(l, IR_AND, TYPE_OF(BOOL), operand_ir(l, has), moves));
    return true;
}

bool range_has(Lower *l, Operand range, Operand position, Operand *out)
{
    Operand stop = lower_tuple_item(l, range, 1), step = lower_tuple_item(l, range, 2), has;
    int sign = step_sign(l, range);
    if (sign != 0)
        return lower_compare(l, sign > 0 ? COMPARE_LT : COMPARE_GT, position, stop, &has) &&
               range_moves(l, step, has, out);
    Operand below, above, rising;
    if (!lower_compare(l, COMPARE_LT, position, stop, &below) ||
        !lower_compare(l, COMPARE_GT, position, stop, &above) ||
        !lower_compare(l, COMPARE_GT, step, operand_int(l, 0), &rising))
        return false;
    has = operand_value(TYPE_OF(BOOL), emit3(l, IR_SELECT, TYPE_OF(BOOL), operand_ir(l, rising), operand_ir(l, below),
                                             operand_ir(l, above)));
    return range_moves(l, step, has, out);
}

bool range_length(Lower *l, Operand range, Operand *out)
{
    Operand start = lower_tuple_item(l, range, 0), stop = lower_tuple_item(l, range, 1);
    Operand step = lower_tuple_item(l, range, 2), distance, rounding, sum, length, zero = operand_int(l, 0), negative;
    Operand one = operand_int(l, 1);
    if (!lower_binary(l, NB_SUBTRACT, stop, start, &distance))
        return false;
    int sign = step_sign(l, range);
    if (sign > 0) {
        if (!lower_binary(l, NB_SUBTRACT, step, one, &rounding))
            return false;
    } else if (sign < 0) {
        if (!lower_binary(l, NB_ADD, step, one, &rounding))
            return false;
    } else {
        Operand down, up;
        if (!lower_binary(l, NB_ADD, step, one, &down) || !lower_binary(l, NB_SUBTRACT, step, one, &up) ||
            !lower_compare(l, COMPARE_LT, step, zero, &negative))
            return false;
        rounding = operand_value(
            i64(), emit3(l, IR_SELECT, i64(), operand_ir(l, negative), operand_ir(l, down), operand_ir(l, up)));
    }
    if (!lower_binary(l, NB_ADD, distance, rounding, &sum) || !lower_binary(l, NB_FLOOR_DIVIDE, sum, step, &length) ||
        !lower_convert(l, length, i64(), &length))
        return false;
    *out = operand_value(i64(), emit2(l, IR_MAX, i64(), operand_ir(l, length), operand_ir(l, zero)));
    return true;
}

/* start <= x < stop (or the other way round), and a whole number of steps from start. */
bool lower_in_range(Lower *l, Operand x, Operand range, Operand *out)
{
    Operand start = lower_tuple_item(l, range, 0), stop = lower_tuple_item(l, range, 1);
    Operand step = lower_tuple_item(l, range, 2), zero = operand_int(l, 0), from, over, rest, rising, up[2], down[2],
            in;
    if (!lower_compare(l, COMPARE_GT, step, zero, &rising) || !lower_compare(l, COMPARE_GE, x, start, &up[0]) ||
        !lower_compare(l, COMPARE_LT, x, stop, &up[1]) || !lower_compare(l, COMPARE_LE, x, start, &down[0]) ||
        !lower_compare(l, COMPARE_GT, x, stop, &down[1]) || !lower_binary(l, NB_AND, up[0], up[1], &up[0]) ||
        !lower_binary(l, NB_AND, down[0], down[1], &down[0]) || !lower_binary(l, NB_SUBTRACT, x, start, &from) ||
        !lower_binary(l, NB_REMAINDER, from, step, &over) || !lower_compare(l, COMPARE_EQ, over, zero, &rest))
        return false;
    const Type *boolean = TYPE_OF(BOOL);
    in = operand_value(
        boolean, emit3(l, IR_SELECT, boolean, operand_ir(l, rising), operand_ir(l, up[0]), operand_ir(l, down[0])));
    return lower_binary(l, NB_AND, in, rest, out);
}

/* A range that starts at 0 or above and rises gives no negative values: their use as indices needs no wrapping. */
void range_value_sign(Lower *l, Operand range, Operand position)
{
    int64_t low = -1, high;
    Operand start = lower_tuple_item(l, range, 0);
    if (!l->emitting || !position.ir || position.ir->op != IR_PHI || step_sign(l, range) <= 0)
        return;
    if (!operand_const_int(start, &low) && start.ir)
        lower_interval(start.ir, &low, &high);
    position.ir->non_negative = low >= 0;
}
