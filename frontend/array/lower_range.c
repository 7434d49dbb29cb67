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
        IrValue *is_zero = emit_of2(l, IR_EQ, TYPE_OF(BOOL), parts[2], operand_int_typed(l, type, 0));
        emit_check(l, is_zero, "ValueError", "range() arg 3 must not be zero");
    }
    *out = lower_make_tuple(l, parts, 3, TUPLE_RANGE);
    return true;
}

unsigned char range_weakness(Lower *l, Operand range)
{
    int64_t number;
    for (uint32_t i = 0; i < 3; i++)
        if (!operand_const_int(lower_tuple_item(l, range, i), &number) || number < INT32_MIN || number > INT32_MAX)
            return 0;
    return ints_are_weak(l) ? WEAK_BESIDE_INTS : 0;
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
    IrValue *moves = emit_of2(l, IR_NE, TYPE_OF(BOOL), step, operand_int_typed(l, step.type, 0));
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
    has = operand_value(TYPE_OF(BOOL), emit_of3(l, IR_SELECT, TYPE_OF(BOOL), rising, below, above));
    return range_moves(l, step, has, out);
}

/* --- the ends of the type ---------------------------------------------------------------------------------------- */

typedef __int128 Wide;

/* What is plain to see of start, stop and step. */
typedef struct Bounds {
    Wide low[3], high[3], least, most; /* the last two: of the type */
} Bounds;

enum { START, STOP, STEP };

static void find_bounds(Lower *l, Operand range, Bounds *out)
{
    const Type *type = range.type->items[0];
    bool is_unsigned = type->kind == TYPE_UINT;
    out->least = is_unsigned ? 0 : INT64_MIN;
    out->most = is_unsigned ? (Wide)UINT64_MAX : INT64_MAX;
    for (uint32_t i = 0; i < 3; i++) {
        Operand part = lower_tuple_item(l, range, i);
        int64_t low = INT64_MIN, high = INT64_MAX;
        if (operand_const_int(part, &low))
            high = low;
        else if (l->emitting && part.ir)
            lower_interval(part.ir, &low, &high);
        bool is_known = !is_unsigned || (low >= 0 && high < INT64_MAX);
        out->low[i] = is_known ? low : 0;
        out->high[i] = is_known ? high : out->most;
        if (is_unsigned && part.constant)
            out->low[i] = out->high[i] = (Wide)(uint64_t)low;
    }
}

/* Made of what the launch is: numbers of threads and blocks. */
static bool is_of_launch(const IrValue *value, int depth)
{
    bool is_arithmetic = value->op == IR_CONVERT || value->op == IR_ADD || value->op == IR_MUL;
    if (value->op == IR_CONST)
        return true;
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER;
    for (uint32_t i = 0; is_arithmetic && i < value->operand_count; i++)
        is_arithmetic = depth > 0 && is_of_launch(value->operands[i], depth - 1);
    return is_arithmetic;
}

/* Whether so many trips lie between where a loop starts and the end of the type that none gets there: those of days. Where
 * the step is how many threads there are, the launch has 2^62 trips to make, most of them of threads beside this one. */
static bool is_far(Lower *l, Operand range, Wide distance, Wide step)
{
    enum { DEEPEST = 8 };
    const Wide trips = (Wide)1 << 48, threads = (Wide)1 << 48, most = (Wide)1 << 62;
    Operand by = lower_tuple_item(l, range, 2);
    bool is_stride = l->emitting && by.ir && !by.constant && is_of_launch(by.ir, DEEPEST);
    return distance / step >= trips || (is_stride && step <= threads && distance >= most);
}

static bool may_pass_the_end(Lower *l, Operand range)
{
    Bounds b;
    find_bounds(l, range, &b);
    bool rises = b.high[STEP] > 0 && b.high[STOP] - 1 + b.high[STEP] > b.most;
    bool falls = b.low[STEP] < 0 && b.low[STOP] + 1 + b.low[STEP] < b.least;
    return (rises && !is_far(l, range, b.most - b.high[START], b.high[STEP])) ||
           (falls && !is_far(l, range, b.low[START] - b.least, -b.low[STEP]));
}

bool range_next(Lower *l, Operand range, Operand position, Operand *out)
{
    if (!lower_binary(l, NB_ADD, position, lower_tuple_item(l, range, 2), out))
        return false;
    if (l->emitting && out->ir && out->ir->op == IR_ADD && may_pass_the_end(l, range))
        out->ir->hint = IR_SATURATES;
    return true;
}

/* Whether all three are known; start, stop and step then. */
static bool read_constants(Lower *l, Operand range, Wide parts[3])
{
    int64_t number;
    for (uint32_t i = 0; i < 3; i++) {
        Operand part = lower_tuple_item(l, range, i);
        if (!operand_const_int(part, &number))
            return false;
        parts[i] = part.type->kind == TYPE_UINT ? (Wide)(uint64_t)number : number;
    }
    return true;
}

static int64_t constant_length(const Wide parts[3])
{
    Wide step = parts[STEP] > 0 ? parts[STEP] : -parts[STEP];
    Wide distance = parts[STEP] > 0 ? parts[STOP] - parts[START] : parts[START] - parts[STOP];
    Wide length = distance <= 0 ? 0 : (distance - 1) / step + 1;
    return length > INT64_MAX ? INT64_MAX : (int64_t)length;
}

/* Whether the distance from start to stop, and what is added to it for rounding, fits the type. */
static bool is_narrow(Lower *l, Operand range)
{
    Bounds b;
    find_bounds(l, range, &b);
    Wide up = b.high[STOP] - b.low[START], down = b.high[START] - b.low[STOP];
    Wide step = b.high[STEP] > -b.low[STEP] ? b.high[STEP] : -b.low[STEP];
    return up + step <= b.most && down + step <= b.most;
}

static IrValue *as_unsigned(Lower *l, Operand number)
{
    IrValue *value = operand_ir(l, number);
    return number.type->kind == TYPE_UINT ? value : emit1(l, IR_CONVERT, TYPE_OF(UINT64), value);
}

/* Of any distance: in unsigned numbers, which hold it. */
static IrValue *wide_length(Lower *l, Operand range)
{
    const Type *word = TYPE_OF(UINT64), *boolean = TYPE_OF(BOOL);
    Operand start = lower_tuple_item(l, range, 0), stop = lower_tuple_item(l, range, 1);
    Operand step = lower_tuple_item(l, range, 2);
    IrValue *from = as_unsigned(l, start), *to = as_unsigned(l, stop), *by = as_unsigned(l, step);
    IrValue *none = emit_int(l, word, 0), *one = emit_int(l, word, 1);
    IrValue *rises = emit_of2(l, IR_GT, boolean, step, operand_int_typed(l, step.type, 0));
    IrValue *up = emit2(l, IR_SUB, word, to, from), *down = emit2(l, IR_SUB, word, from, to);
    IrValue *has_up = emit_of2(l, IR_LT, boolean, start, stop);
    IrValue *has_down = emit_of2(l, IR_GT, boolean, start, stop);
    IrValue *distance = emit3(l, IR_SELECT, word, rises, up, down);
    IrValue *has = emit3(l, IR_SELECT, boolean, rises, has_up, has_down);
    by = emit3(l, IR_SELECT, word, rises, by, emit2(l, IR_SUB, word, none, by));
    IrValue *length = emit2(l, IR_FLOORDIV, word, emit2(l, IR_SUB, word, distance, one), by);
    length = emit2(l, IR_MIN, word, length, emit_int(l, word, INT64_MAX - 1));
    length = emit3(l, IR_SELECT, word, has, emit2(l, IR_ADD, word, length, one), none);
    return emit1(l, IR_CONVERT, i64(), length);
}

/* Where the distance is plainly a number of the type: fewer operations, and constants stay constants. */
static bool narrow_length(Lower *l, Operand range, Operand *out)
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
        rounding = operand_value(i64(), emit_of3(l, IR_SELECT, i64(), negative, down, up));
    }
    if (!lower_binary(l, NB_ADD, distance, rounding, &sum) || !lower_binary(l, NB_FLOOR_DIVIDE, sum, step, &length) ||
        !lower_convert(l, length, i64(), &length))
        return false;
    *out = operand_value(i64(), emit_of2(l, IR_MAX, i64(), length, zero));
    return true;
}

bool range_length(Lower *l, Operand range, Operand *out)
{
    Wide parts[3];
    if (read_constants(l, range, parts))
        return *out = operand_int(l, constant_length(parts)), true;
    if (!l->emitting)
        return *out = operand_value(i64(), NULL), true;
    if (is_narrow(l, range))
        return narrow_length(l, range, out);
    return *out = operand_value(i64(), wide_length(l, range)), true;
}

/* Whether x is a whole number of steps from start. The difference of two remainders does not leave the type. */
static bool is_on_a_step(Lower *l, Operand x, Operand range, Operand *out)
{
    Operand start = lower_tuple_item(l, range, 0), step = lower_tuple_item(l, range, 2), from, rest;
    if (l->emitting && !is_narrow(l, range))
        return lower_binary(l, NB_REMAINDER, x, step, &from) && lower_binary(l, NB_REMAINDER, start, step, &rest) &&
               lower_compare(l, COMPARE_EQ, from, rest, out);
    return lower_binary(l, NB_SUBTRACT, x, start, &from) && lower_binary(l, NB_REMAINDER, from, step, &rest) &&
           lower_compare(l, COMPARE_EQ, rest, operand_int(l, 0), out);
}

/* start <= x < stop (or the other way round), and a whole number of steps from start. */
bool lower_in_range(Lower *l, Operand x, Operand range, Operand *out)
{
    Operand start = lower_tuple_item(l, range, 0), stop = lower_tuple_item(l, range, 1);
    Operand step = lower_tuple_item(l, range, 2), zero = operand_int(l, 0), rest, rising, up[2], down[2], in;
    if (!lower_compare(l, COMPARE_GT, step, zero, &rising) || !lower_compare(l, COMPARE_GE, x, start, &up[0]) ||
        !lower_compare(l, COMPARE_LT, x, stop, &up[1]) || !lower_compare(l, COMPARE_LE, x, start, &down[0]) ||
        !lower_compare(l, COMPARE_GT, x, stop, &down[1]) || !lower_binary(l, NB_AND, up[0], up[1], &up[0]) ||
        !lower_binary(l, NB_AND, down[0], down[1], &down[0]) || !is_on_a_step(l, x, range, &rest))
        return false;
    const Type *boolean = TYPE_OF(BOOL);
    in = operand_value(boolean, emit_of3(l, IR_SELECT, boolean, rising, up[0], down[0]));
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
