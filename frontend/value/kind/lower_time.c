/* datetime64 and timedelta64: counts of a unit in an int64, the least of which is NaT. The backend sees the int64s. */
#include <math.h>
#include <string.h>

#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_time.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/overflow_marks.h"

static const Type *i64(void) { return TYPE_OF(INT64); }
static const Type *f64(void) { return TYPE_OF(FLOAT64); }
static const Type *boolean(void) { return TYPE_OF(BOOL); }

static IrValue *nat(Lower *l) { return emit_int(l, i64(), INT64_MIN); }
static IrValue *number(Lower *l, int64_t value) { return emit_int(l, i64(), value); }
static IrValue *is_nat(Lower *l, IrValue *x) { return emit2(l, IR_EQ, boolean(), x, nat(l)); }
static IrValue *either(Lower *l, IrValue *a, IrValue *b) { return emit2(l, IR_OR, boolean(), a, b); }

static IrValue *choose(Lower *l, IrValue *condition, IrValue *yes, IrValue *no)
{
    return emit3(l, IR_SELECT, i64(), condition, yes, no);
}

static IrValue *unless_nat(Lower *l, IrValue *x, IrValue *result)
{
    IrValue *none = is_nat(l, x);
    return choose(l, none, nat(l), result);
}

static IrValue *zero_if_nat(Lower *l, IrValue *x)
{
    IrValue *none = is_nat(l, x);
    return choose(l, none, number(l, 0), x);
}

static IrValue *either_is_nat(Lower *l, IrValue *const *counts)
{
    IrValue *first = is_nat(l, counts[0]), *second = is_nat(l, counts[1]);
    return either(l, first, second);
}

/* --- units -------------------------------------------------------------------------------------------------------- */

static bool is_calendar(const Type *type) { return type->unit == TIME_UNIT_YEAR || type->unit == TIME_UNIT_MONTH; }

static IrValue *whole(Lower *l, IrOp op, IrValue *x, int64_t by) { return emit2(l, op, i64(), x, number(l, by)); }

/* Days from 1970-01-01 to the first day of a month, given as months from 1970-01. Years begin in March: then the day
 * that comes and goes is the last of its year. */
static IrValue *days_of_month(Lower *l, IrValue *month)
{
    IrValue *since_march = whole(l, IR_ADD, month, 1970 * 12 - 2);
    IrValue *year = whole(l, IR_FLOORDIV, since_march, 12), *place = whole(l, IR_MOD, since_march, 12);
    IrValue *of_year = whole(l, IR_FLOORDIV, whole(l, IR_ADD, whole(l, IR_MUL, place, 153), 2), 5);
    IrValue *days = emit2(l, IR_ADD, i64(), whole(l, IR_MUL, year, 365), of_year);
    days = emit2(l, IR_ADD, i64(), days, whole(l, IR_FLOORDIV, year, 4));
    days = emit2(l, IR_SUB, i64(), days, whole(l, IR_FLOORDIV, year, 100));
    days = emit2(l, IR_ADD, i64(), days, whole(l, IR_FLOORDIV, year, 400));
    return whole(l, IR_SUB, days, 719468);
}

/* The value, which is computed from the count, or NaT where that is NaT or beyond a limit. Where operators are checked,
 * OverflowError for one that is beyond it. */
static IrValue *within(Lower *l, IrValue *count, int64_t limit, IrValue *value)
{
    IrValue *is_below = emit2(l, IR_LT, boolean(), count, number(l, -limit));
    IrValue *is_above = emit2(l, IR_GT, boolean(), count, number(l, limit)), *is_beyond = either(l, is_below, is_above);
    if (l->emitting && lower_checks(l)) {
        IrValue *is_time = emit2(l, IR_NE, boolean(), count, nat(l));
        emit_check(l, emit2(l, IR_AND, boolean(), is_beyond, is_time), "OverflowError",
                   "a time in a finer unit is beyond int64");
    }
    return choose(l, is_beyond, nat(l), value);
}

/* The count times the ratio, of which check mode tells where it wraps; NaT has no count. */
static IrValue *in_finer_unit(Lower *l, IrValue *count, int64_t ratio)
{
    if (overflow_is_wanted(l))
        count = zero_if_nat(l, count);
    IrValue *product = whole(l, IR_MUL, count, ratio);
    overflow_mark(l, product);
    return product;
}

static bool refuse_unit(Lower *l, const Type *from, const Type *to)
{
    return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, from), lower_describe(l, to),
                      ": the units have no fixed ratio");
}

/* The count in another unit: exactly in a finer one, rounded down in a coarser one. NaT where it does not fit. */
static bool change_unit(Lower *l, IrValue *count, const Type *from, const Type *to, IrValue **out)
{
    int64_t up, down;
    TimeUnit unit = from->unit;
    uint32_t multiple = from->multiple;
    IrValue *value = count;
    if (from->unit == TIME_UNIT_GENERIC || to->unit == TIME_UNIT_GENERIC)
        return *out = count, true;
    if (is_calendar(from) && !is_calendar(to) && from->kind == TYPE_DATETIME) {
        int64_t months = (int64_t)multiple * (unit == TIME_UNIT_YEAR ? 12 : 1);
        value = within(l, count, INT64_MAX / (months * 31), days_of_month(l, whole(l, IR_MUL, count, months)));
        unit = TIME_UNIT_DAY;
        multiple = 1;
    }
    bool is_finer = time_factor(unit, to->unit, &up);
    bool is_coarser = !is_finer && time_factor(to->unit, unit, &down);
    if (!is_finer && !is_coarser)
        return refuse_unit(l, from, to);
    if (__builtin_mul_overflow(is_finer ? up : 1, (int64_t)multiple, &up) ||
        __builtin_mul_overflow(is_coarser ? down : 1, (int64_t)to->multiple, &down))
        return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, from), lower_describe(l, to),
                          ": the ratio of the units is beyond int64");
    if (up % down == 0) {
        up /= down;
        down = 1;
    }
    value = up == 1 ? value : within(l, value, INT64_MAX / up, in_finer_unit(l, value, up));
    *out = down == 1 ? value : unless_nat(l, value, whole(l, IR_FLOORDIV, value, down));
    return true;
}

bool lower_time_convert(Lower *l, Operand from, const Type *to, Operand *out)
{
    IrValue *value = operand_ir(l, from);
    bool is_count = type_is_integer(from.type) && type_is_time(to);
    if (is_count || (type_is_time(from.type) && type_equal(to, i64()))) {
        Operand wide;
        if (is_count && !lower_convert(l, from, i64(), &wide))
            return false;
        return *out = operand_value(to, is_count ? operand_ir(l, wide) : value), true;
    }
    if (from.type->kind != to->kind)
        return lower_fail(l, DIAG_TYPE_CONVERT, lower_describe(l, from.type), lower_describe(l, to),
                          type_is_time(from.type) ? "; int() gives its count" : "");
    if (!change_unit(l, value, from.type, to, &value))
        return false;
    return *out = operand_value(to, value), true;
}

/* --- operators ---------------------------------------------------------------------------------------------------- */

static bool refuse(Lower *l, const char *text, Operand a, Operand b)
{
    Operand both[] = {a, b};
    return lower_fail(l, DIAG_TYPE_OPERANDS, text, lower_describe_all(l, both, 2), "");
}

/* Both counts in the unit that holds them exactly; *type: of this kind in that unit. An integer is a duration. */
static bool to_common(Lower *l, const char *text, Operand a, Operand b, TypeKind kind, const Type **type,
                      IrValue **counts)
{
    Operand sides[] = {a, b};
    for (int i = 0; i < 2; i++) {
        const Type *plain = type_time(l->arena, TYPE_TIMEDELTA, TIME_UNIT_GENERIC, 1);
        if (type_is_integer(sides[i].type) && !lower_time_convert(l, sides[i], plain, &sides[i]))
            return false;
    }
    *type = type_join_times(l->arena, sides[0].type, sides[1].type, kind);
    if (!*type)
        return refuse(l, text, a, b);
    for (int i = 0; i < 2; i++) {
        Operand converted;
        const Type *own = type_time(l->arena, sides[i].type->kind, (*type)->unit, (*type)->multiple);
        if (!lower_time_convert(l, sides[i], own, &converted))
            return false;
        counts[i] = operand_ir(l, converted);
    }
    return true;
}

static bool add_or_subtract(Lower *l, bool subtract, Operand a, Operand b, Operand *out)
{
    const char *text = subtract ? "-" : "+";
    bool date_a = a.type->kind == TYPE_DATETIME, date_b = b.type->kind == TYPE_DATETIME;
    if (date_b && (!subtract ? date_a : !date_a))
        return refuse(l, text, a, b);
    const Type *type;
    IrValue *counts[2];
    if (!to_common(l, text, a, b, date_a != date_b ? TYPE_DATETIME : TYPE_TIMEDELTA, &type, counts))
        return false;
    IrValue *sum = emit2(l, subtract ? IR_SUB : IR_ADD, i64(), counts[0], counts[1]);
    IrValue *none = either_is_nat(l, counts);
    return *out = operand_value(type, choose(l, none, nat(l), sum)), true;
}

/* A float as a count: towards zero, NaT where it is none. */
static IrValue *count_of_float(Lower *l, IrValue *value)
{
    IrValue *size = emit1(l, IR_ABS, f64(), value);
    Operand limit = operand_float(l, f64(), HUGE_VAL);
    IrValue *finite = emit2(l, IR_LT, boolean(), size, operand_ir(l, limit));
    IrValue *count = emit1(l, IR_CONVERT, i64(), value);
    return choose(l, finite, count, nat(l));
}

/* Division of a count by an integer, towards zero: NumPy does that for / and //. */
static IrValue *divide_towards_zero(Lower *l, IrValue *a, IrValue *b)
{
    IrValue *zero = number(l, 0);
    IrValue *size_a = emit1(l, IR_ABS, i64(), a), *size_b = emit1(l, IR_ABS, i64(), b);
    IrValue *size = emit2(l, IR_FLOORDIV, i64(), size_a, size_b);
    IrValue *negative_a = emit2(l, IR_LT, boolean(), a, zero), *negative_b = emit2(l, IR_LT, boolean(), b, zero);
    IrValue *opposite = emit2(l, IR_XOR, boolean(), negative_a, negative_b);
    return choose(l, opposite, emit1(l, IR_NEG, i64(), size), size);
}

/* A duration times or divided by a number. */
static bool scale(Lower *l, int32_t operation, Operand duration, Operand by, Operand *out)
{
    bool by_float = by.type->kind == TYPE_FLOAT, multiply = operation == NB_MULTIPLY;
    Operand factor;
    if (!lower_convert(l, by, by_float ? f64() : i64(), &factor))
        return false;
    IrValue *count = operand_ir(l, duration), *number_of = operand_ir(l, factor), *result, *none = is_nat(l, count);
    if (by_float) {
        IrValue *wide = emit1(l, IR_CONVERT, f64(), count);
        result = count_of_float(l, emit2(l, multiply ? IR_MUL : IR_DIV, f64(), wide, number_of));
    } else if (multiply) {
        result = emit2(l, IR_MUL, i64(), count, number_of);
    } else {
        result = divide_towards_zero(l, count, number_of);
        none = either(l, none, emit2(l, IR_EQ, boolean(), number_of, number(l, 0)));
    }
    return *out = operand_value(duration.type, choose(l, none, nat(l), result)), true;
}

static IrValue *ratio(Lower *l, IrValue *const *counts, IrValue *none)
{
    IrValue *x = emit1(l, IR_CONVERT, f64(), counts[0]), *y = emit1(l, IR_CONVERT, f64(), counts[1]);
    IrValue *nothing = operand_ir(l, operand_float(l, f64(), NAN));
    return emit3(l, IR_SELECT, f64(), none, nothing, emit2(l, IR_DIV, f64(), x, y));
}

/* A duration by a duration: / a float, // an integer, % a duration. */
static bool divide(Lower *l, int32_t operation, const char *text, Operand a, Operand b, Operand *out)
{
    const Type *type;
    IrValue *counts[2];
    if (!to_common(l, text, a, b, TYPE_TIMEDELTA, &type, counts))
        return false;
    IrValue *none = either_is_nat(l, counts);
    if (operation == NB_TRUE_DIVIDE)
        return *out = operand_value(f64(), ratio(l, counts, none)), true;
    none = either(l, none, emit2(l, IR_EQ, boolean(), counts[1], number(l, 0)));
    bool is_rest = operation == NB_REMAINDER;
    IrValue *result = emit2(l, is_rest ? IR_MOD : IR_FLOORDIV, i64(), counts[0], counts[1]);
    IrValue *instead = is_rest ? nat(l) : number(l, 0);
    return *out = operand_value(is_rest ? type : i64(), choose(l, none, instead, result)), true;
}

bool lower_time_binary(Lower *l, int32_t operation, const char *text, Operand a, Operand b, Operand *out)
{
    bool duration_a = a.type->kind == TYPE_TIMEDELTA, duration_b = b.type->kind == TYPE_TIMEDELTA;
    bool number_a = type_is_real(a.type), number_b = type_is_real(b.type);
    bool count_a = type_is_time(a.type) || type_is_integer(a.type);
    bool count_b = type_is_time(b.type) || type_is_integer(b.type);
    if ((operation == NB_ADD || operation == NB_SUBTRACT) && count_a && count_b)
        return add_or_subtract(l, operation == NB_SUBTRACT, a, b, out);
    if (operation == NB_MULTIPLY && duration_b && number_a)
        return scale(l, operation, b, a, out);
    bool divides = operation == NB_TRUE_DIVIDE || operation == NB_FLOOR_DIVIDE;
    if ((operation == NB_MULTIPLY || divides) && duration_a && number_b)
        return scale(l, operation, a, b, out);
    if ((divides || operation == NB_REMAINDER) && duration_a && duration_b)
        return divide(l, operation, text, a, b, out);
    return refuse(l, text, a, b);
}

bool lower_time_compare(Lower *l, int32_t operation, const char *text, IrOp op, Operand a, Operand b, Operand *out)
{
    const Type *type;
    IrValue *counts[2];
    if (a.type->kind != b.type->kind)
        return refuse(l, text, a, b);
    if (!to_common(l, text, a, b, a.type->kind, &type, counts))
        return false;
    bool differ = operation == COMPARE_NE;
    IrValue *result = emit2(l, op, boolean(), counts[0], counts[1]);
    IrValue *none = either_is_nat(l, counts);
    result = differ ? either(l, none, result) : emit2(l, IR_AND, boolean(), emit1(l, IR_NOT, boolean(), none), result);
    return *out = operand_value(boolean(), result), true;
}

bool lower_time_unary(Lower *l, SsaOp op, Operand a, Operand *out)
{
    IrValue *count = operand_ir(l, a);
    if (op == SSA_POSITIVE)
        return *out = a, true;
    return *out = operand_value(a.type, unless_nat(l, count, emit1(l, IR_NEG, i64(), count))), true;
}

bool lower_time_absolute(Lower *l, Operand a, Operand *out)
{
    IrValue *count = operand_ir(l, a);
    IrValue *size = zero_if_nat(l, count);
    return *out = operand_value(a.type, unless_nat(l, count, emit1(l, IR_ABS, i64(), size))), true;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

bool call_isnat(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    if (!type_is_time(call->arguments[0].type))
        return call_refuse(l, call, "");
    return *out = operand_value(boolean(), is_nat(l, operand_ir(l, call->arguments[0]))), true;
}

/* A date as text, which is known where it is compiled. */
static bool read_text(Lower *l, const Call *call, Operand *value)
{
    TimeUnit unit;
    int64_t count;
    if (!time_of_text(value->constant->text, &count, &unit))
        return call_refuse(l, call, "; its text is a date such as \"2000-01-31T12:30\"");
    return *value = operand_value(type_time(l->arena, TYPE_DATETIME, unit, 1), number(l, count)), true;
}

/* np.timedelta64(count, "s"), np.datetime64(value, "ms"), np.datetime64("2000-01-31"), np.datetime64("NaT"). */
bool lower_time_call(Lower *l, const Type *type, const Call *call, Operand *out)
{
    TimeUnit unit = type->unit;
    if (!call_arity(l, call, 1, 2))
        return false;
    if (call->count == 2) {
        Operand name = call->arguments[1];
        const char *text = operand_is_object(name, CONSTANT_STRING) ? name.constant->text : "";
        if (!time_unit_by_name(text, strlen(text), &unit))
            return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the unit", ", such as \"s\" or \"ms\"");
        type = type_time(l->arena, type->kind, unit, 1);
    }
    Operand value = call->arguments[0];
    if (operand_is_object(value, CONSTANT_STRING) && strcmp(value.constant->text, "NaT") == 0)
        return *out = operand_value(type, nat(l)), true;
    if (operand_is_object(value, CONSTANT_STRING) && type->kind == TYPE_DATETIME && !read_text(l, call, &value))
        return false;
    if (!type_is_integer(value.type) && value.type->kind != type->kind)
        return call_refuse(l, call, "; it takes a count and a unit");
    if (unit == TIME_UNIT_GENERIC && value.type->kind == type->kind)
        return *out = value, true;
    return lower_time_convert(l, value, type, out);
}

/* x.view(np.int64), x.astype("m8[ms]") */
bool lower_time_method(Lower *l, Operand time, const Call *call, Operand *out)
{
    const Type *type = call->count == 1 ? operand_dtype(l, call->arguments[0]) : NULL;
    if (!type || !(type_is_time(type) || type_equal(type, i64())))
        return call_refuse(l, call, "");
    if (type_is_time(type) && strcmp(call->name, "view") == 0)
        return *out = operand_value(type, operand_ir(l, time)), true;
    return lower_time_convert(l, time, type, out);
}
