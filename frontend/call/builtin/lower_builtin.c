/* Python's own functions and casts: handlers of BUILTIN rows of intrinsic.def that are not cuda's or math's. */
#include <stdlib.h>
#include <string.h>

#include "frontend/array/lower_array.h"
#include "frontend/array/lower_iterate.h"
#include "frontend/array/lower_iterator.h"
#include "frontend/array/lower_range.h"
#include "frontend/call/handlers.h"
#include "frontend/call/builtin/lower_builtin.h"
#include "frontend/call/builtin/lower_math.h"
#include "frontend/call/builtin/lower_reduce.h"
#include "frontend/compound/generator.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/kind/lower_text.h"
#include "frontend/value/kind/lower_time.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/kind/lower_vector.h"
#include "frontend/value/operand.h"
#include "frontend/value/overflow_marks.h"

static const Type *i64(void) { return TYPE_OF(INT64); }

static int64_t characters(const char *utf8)
{
    int64_t count = 0;
    for (; *utf8; utf8++)
        count += ((unsigned char)*utf8 & 0xC0) != 0x80;
    return count;
}

bool call_len(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    Operand x = call->arguments[0];
    if (x.type->kind == TYPE_ARRAY && x.type->ndim > 0)
        return *out = operand_value(i64(), emit_extent(l, x, 0)), true;
    if (type_has_trait(x.type, TRAIT_SIZED) || type_is_flat(x.type))
        return lower_length(l, x, out);
    if (type_is_tagged(x.type, TUPLE_DICT))
        return *out = operand_int(l, x.type->count), true;
    if (type_is_list(x.type))
        return lower_count(l, x, out);
    if (operand_is_object(x, CONSTANT_STRING))
        return *out = operand_int(l, characters(x.constant->text)), true;
    return call_refuse(l, call, "");
}

bool call_range(Lower *l, const Call *call, Operand *out)
{
    return call_arity(l, call, 1, 3) && lower_range(l, call->arguments, call->count, out);
}

bool call_abs(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    Operand x = call->arguments[0], converted;
    if (x.type->kind == TYPE_TIMEDELTA)
        return lower_time_absolute(l, x, out);
    const Type *type = type_is_scalar(x.type) ? type_promote(PROMOTION_ABS, x.type, NULL) : NULL;
    if (type && call->intrinsic == INTRINSIC_FABS)
        type = type_promote(PROMOTION_MATH, x.type, NULL);
    else if (type && narrow_alone(l, x))
        type = narrow_alone(l, x);
    if (!type)
        return call_refuse(l, call, "");
    if (x.type->kind == TYPE_COMPLEX) {
        IrValue *value = operand_ir(l, x), *parts[2];
        parts[0] = emit1(l, IR_REAL, type, value);
        parts[1] = emit1(l, IR_IMAG, type, value);
        return *out = operand_value(type, emit_math_function(l, INTRINSIC_HYPOT, type, 2, parts)), true;
    }
    if (!lower_convert(l, x, type, &converted))
        return false;
    if (type->kind == TYPE_UINT)
        return *out = converted, true;
    *out = operand_value(type, emit1(l, IR_ABS, type, operand_ir(l, converted)));
    overflow_note(l, *out);
    return true;
}

static bool is_wide_float(const Type *type) { return type->kind == TYPE_FLOAT && type->size > 2; }

/* The first of the two unless the second is smaller (larger). */
static bool choose_time(Lower *l, bool is_min, Operand a, Operand b, Operand *out)
{
    Operand second, x, y;
    if (!lower_compare(l, is_min ? COMPARE_LT : COMPARE_GT, b, a, &second))
        return false;
    const Type *type = lower_join_types(l, a.type, b.type);
    if (!lower_convert(l, a, type, &x) || !lower_convert(l, b, type, &y))
        return false;
    *out = operand_value(type, emit_of3(l, IR_SELECT, type, second, y, x));
    return true;
}

/* The smaller or larger of two numbers. Of two floats of 32 or 64 bits the number where one is NaN; otherwise the first
 * of the two stays unless the second is smaller (larger): so b comes first in the IR. */
static bool choose_extreme(Lower *l, const Call *call, Operand a, Operand b, Operand *out)
{
    if (type_is_time(a.type) || type_is_time(b.type))
        return choose_time(l, call->intrinsic == INTRINSIC_MIN, a, b, out);
    const Type *type = NULL;
    if (type_is_scalar(a.type) && type_is_scalar(b.type))
        type = promote_pair(l, PROMOTION_MIN_MAX, a, b);
    Operand x, y;
    if (!type)
        return call_refuse(l, call, "");
    bool is_min = call->intrinsic == INTRINSIC_MIN;
    int64_t p, q;
    if (type_equal(type, i64()) && operand_const_int(a, &p) && operand_const_int(b, &q))
        return *out = operand_int(l, is_min == (p < q) ? p : q), true;
    if (!lower_convert(l, a, type, &x) || !lower_convert(l, b, type, &y))
        return false;
    if (is_wide_float(weak_type(a, b)) && is_wide_float(weak_type(b, a))) {
        IrValue *both[2] = {operand_ir(l, x)};
        both[1] = operand_ir(l, y);
        *out = operand_value(type, emit_math_function(l, is_min ? INTRINSIC_FMIN : INTRINSIC_FMAX, type, 2, both));
        return true;
    }
    *out = operand_value(type, emit_of2(l, is_min ? IR_MIN : IR_MAX, type, y, x));
    return true;
}

bool call_extreme(Lower *l, const Call *call, Operand *out)
{
    const Operand *items = call->arguments;
    uint32_t count = call->count;
    if (call->keyword_count)
        return call_refuse(l, call, "; keywords are not supported here");
    if (count == 1 && type_is_plain_tuple(items[0].type)) {
        Operand *unpacked = ARENA_ARRAY(l->arena, Operand, items[0].type->count + 1);
        count = items[0].type->count;
        for (uint32_t i = 0; i < count; i++)
            unpacked[i] = lower_tuple_item(l, items[0], i);
        items = unpacked;
    } else if (count < 2) {
        return call_refuse(l, call, "");
    }
    if (count == 0)
        return call_refuse(l, call, ": the tuple is empty");
    *out = items[0];
    for (uint32_t i = 1; i < count; i++)
        if (!choose_extreme(l, call, *out, items[i], out))
            return false;
    return true;
}

bool call_round(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    Operand x = call->arguments[0], wide;
    const Type *type = type_is_scalar(x.type) ? type_promote(PROMOTION_ROUND, x.type, NULL) : NULL;
    if (!type)
        return call_refuse(l, call, "");
    if (x.type->kind != TYPE_FLOAT && !(x.type->kind == TYPE_UINT && x.type->size == 8))
        return lower_convert(l, x, type, out);
    if (!lower_convert(l, x, TYPE_OF(FLOAT64), &wide)) /* uint64 too: it saturates like a float */
        return false;
    IrValue *value = operand_ir(l, wide);
    IrValue *rounded = emit_math_function(l, INTRINSIC_RINT, TYPE_OF(FLOAT64), 1, &value);
    return overflow_convert(l, operand_value(TYPE_OF(FLOAT64), rounded), type, out);
}

bool call_pow(Lower *l, const Call *call, Operand *out)
{
    return call_arity(l, call, 2, 2) && lower_binary(l, NB_POWER, call->arguments[0], call->arguments[1], out) &&
           (overflow_note(l, *out), true);
}

bool call_divmod(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 2, 2))
        return false;
    Operand a = call->arguments[0], b = call->arguments[1], x, y, parts[2];
    const Type *type = NULL;
    if (type_is_scalar(a.type) && type_is_scalar(b.type))
        type = promote_pair(l, PROMOTION_DIVMOD, a, b);
    if (!type)
        return call_refuse(l, call, "");
    if (!lower_convert(l, a, type, &x) || !lower_convert(l, b, type, &y))
        return false;
    emit_zero_check(l, operand_ir(l, y), "integer division or modulo by zero");
    parts[0] = operand_value(type, emit_of2(l, IR_FLOORDIV, type, x, y));
    overflow_note(l, parts[0]);
    parts[1] = operand_value(type, emit_of2(l, IR_MOD, type, x, y));
    return *out = lower_make_tuple(l, parts, 2, TUPLE_PLAIN), true;
}

bool call_slice(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 3))
        return false;
    Operand parts[3] = {operand_none(), operand_none(), operand_none()};
    if (call->count == 1)
        parts[1] = call->arguments[0];
    for (uint32_t i = 0; call->count > 1 && i < call->count; i++)
        parts[i] = call->arguments[i];
    return *out = lower_make_tuple(l, parts, 3, TUPLE_SLICE), true;
}

bool call_enumerate(Lower *l, const Call *call, Operand *out)
{
    Operand parts[2] = {operand_int(l, 0), {0}};
    if (!call_arity(l, call, 1, 2) || !lower_iterator(l, call->arguments[0], &parts[1]))
        return false;
    const Operand *start = call_argument(call, 1, "start");
    if (start && !lower_convert(l, *start, i64(), &parts[0]))
        return false;
    parts[0] = operand_as_argument(l, parts[0]);
    return *out = lower_make_tuple(l, parts, 2, TUPLE_ENUMERATE), true;
}

bool call_zip(Lower *l, const Call *call, Operand *out)
{
    Operand *parts = ARENA_ARRAY(l->arena, Operand, call->count + 1);
    if (call->keyword_count)
        return call_refuse(l, call, "; keywords are not supported here");
    for (uint32_t i = 0; i < call->count; i++)
        if (!lower_iterator(l, call->arguments[i], &parts[i]))
            return false;
    return *out = lower_make_tuple(l, parts, call->count, TUPLE_ZIP), true;
}

bool call_reversed(Lower *l, const Call *call, Operand *out)
{
    Operand of;
    if (!call_arity(l, call, 1, 1) || !lower_iterator(l, call->arguments[0], &of))
        return false;
    return *out = lower_make_tuple(l, &of, 1, TUPLE_REVERSED), true;
}

/* Marks for numba's typing, which is more careful here in the first place. */
bool call_identity(Lower *l, const Call *call, Operand *out)
{
    return call_arity(l, call, 1, 1) && (*out = call->arguments[0], true);
}

static bool has_fields(const Type *type)
{
    return type->kind == TYPE_TUPLE && (type_is_plain_tuple(type) || type_is_tagged(type, TUPLE_INSTANCE));
}

bool call_fields(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    Operand of = call->arguments[0];
    uint32_t count = has_fields(of.type) ? of.type->count : 0;
    Operand *fields = ARENA_ARRAY(l->arena, Operand, count + 1);
    for (uint32_t i = 0; i < count; i++)
        fields[i] = lower_tuple_item(l, of, i);
    return *out = lower_make_tuple(l, fields, count, TUPLE_PLAIN), true;
}

bool call_tuple(Lower *l, const Call *call, Operand *out)
{
    if (call->count == 0 && call->keyword_count == 0)
        return *out = lower_make_tuple(l, NULL, 0, TUPLE_PLAIN), true;
    if (!call_arity(l, call, 1, 1))
        return false;
    bool is_named = type_is_tagged(call->arguments[0].type, TUPLE_NAMED);
    return is_named ? call_fields(l, call, out) : lower_all_items(l, call->arguments[0], out);
}

bool call_is_one(Lower *l, const Call *call, Operand *out)
{
    const Type *type = call->count ? call->arguments[0].type : NULL;
    return call_arity(l, call, 1, 1) && (*out = operand_bool(l, type->kind != TYPE_ARRAY && !has_fields(type)), true);
}

bool call_is_plain_tuple(Lower *l, const Call *call, Operand *out)
{
    const Type *type = call->count ? call->arguments[0].type : NULL;
    return call_arity(l, call, 1, 1) && (*out = operand_bool(l, type_is_tagged(type, TUPLE_PLAIN)), true);
}

bool call_with_fields(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 2, 2))
        return false;
    const Type *class = call->arguments[0].type, *fields = call->arguments[1].type;
    if (!has_fields(class) || !type_is_plain_tuple(fields) || class->count != fields->count)
        return call_refuse(l, call, "; it takes a value and a tuple of as many items as it has fields");
    Operand *items = ARENA_ARRAY(l->arena, Operand, class->count + 1);
    for (uint32_t i = 0; i < class->count; i++)
        items[i] = lower_tuple_item(l, call->arguments[1], i);
    *out = lower_make_tuple(l, items, class->count, TUPLE_PLAIN);
    out->type = type_with_items(l->arena, class, out->type->items);
    if (out->ir)
        out->ir->type = erased_type(l->arena, out->type);
    return true;
}

bool call_type(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    Constant *constant = ARENA_NEW(l->arena, Constant);
    constant->kind = CONSTANT_TYPE;
    constant->type = call->arguments[0].type;
    return *out = operand_object(l, constant), true;
}

/* Whether there is such an attribute: looked for without saying what is wrong. */
static bool find_attribute(Lower *l, Operand object, const char *name)
{
    Diag scratch = {0};
    Lower dry = *l;
    Operand found;
    dry.diag = &scratch;
    dry.emitting = false;
    return lower_attribute(&dry, object, name, &found);
}

/* operator.attrgetter's names: "a.b" is the attribute b of the attribute a. */
static bool attribute_of_attribute(Lower *l, Operand object, const char *names, Operand *out)
{
    *out = object;
    for (const char *next = names; next; next = strchr(next, '.') ? strchr(next, '.') + 1 : NULL)
        if (!lower_attribute(l, *out, arena_format(l->arena, "%.*s", (int)strcspn(next, "."), next), out))
            return false;
    return true;
}

/* getattr and hasattr: the name is a constant. */
bool call_attribute(Lower *l, const Call *call, Operand *out)
{
    bool gets = call->intrinsic == INTRINSIC_GETATTR;
    if (!call_arity(l, call, 2, gets ? 3 : 2))
        return false;
    if (!operand_is_object(call->arguments[1], CONSTANT_STRING))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the name of an attribute", "");
    const char *name = call->arguments[1].constant->text;
    if (gets && call->count == 2 && l->instance->code->is_library && strchr(name, '.'))
        return attribute_of_attribute(l, call->arguments[0], name, out);
    bool found = find_attribute(l, call->arguments[0], name);
    if (!gets)
        return *out = operand_bool(l, found), true;
    if (!found && call->count == 3)
        return *out = call->arguments[2], true;
    return lower_attribute(l, call->arguments[0], name, out);
}

/* --- casts -------------------------------------------------------------------------------------------------------- */

/* float("nan"), int("12") of constant text. False for what Python takes for no number; 0x and the like are none. */
static bool number_of_text(Lower *l, const Type *type, const char *text, Operand *out)
{
    char *end = NULL;
    if (strpbrk(text, "xXpP(") || (type->kind != TYPE_FLOAT && !type_is_integer(type)))
        return false;
    if (type->kind == TYPE_FLOAT)
        *out = operand_float(l, type, strtod(text, &end));
    else
        *out = operand_int_typed(l, type, strtoll(text, &end, 10));
    bool is_number = end != text;
    return is_number && end[strspn(end, " \t\n\r\f\v")] == '\0';
}

static bool cast_scalar(Lower *l, const Type *type, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    if (operand_is_object(call->arguments[0], CONSTANT_STRING) && type->kind != TYPE_BOOL)
        return number_of_text(l, type, call->arguments[0].constant->text, out) ||
               call_refuse(l, call, "; the text is no number");
    if (type->kind == TYPE_BOOL)
        return lower_truth(l, call->arguments[0], out);
    bool is_count = type_is_time(call->arguments[0].type) && type_equal(type, i64());
    if (!type_is_scalar(call->arguments[0].type) && !is_count)
        return call_refuse(l, call, "");
    bool ok = overflow_cast(l, call->arguments[0], type, out);
    out->weak = 0; /* a type that is asked for is meant */
    return ok;
}

static bool cast_complex(Lower *l, const Type *type, const Call *call, Operand *out)
{
    const Type *part = type->size == 8 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
    Operand x, y;
    if (!call_arity(l, call, 2, 2) || !type_is_real(call->arguments[0].type) || !type_is_real(call->arguments[1].type))
        return diag_failed(l->diag) ? false : call_refuse(l, call, "");
    if (!lower_convert(l, call->arguments[0], part, &x) || !lower_convert(l, call->arguments[1], part, &y))
        return false;
    return *out = operand_value(type, emit_of2(l, IR_COMPLEX, type, x, y)), true;
}

/* int(), float() and complex() of one number depend on its type, as numba has it: int(int8) is int8. */
static bool convert_number(Lower *l, const Call *call, Operand *out)
{
    static const struct {
        IntrinsicId id;
        PromotionId rule;
        ScalarId fallback;
    } rows[] = {
        {INTRINSIC_INT, PROMOTION_INT, SCALAR_INT64},
        {INTRINSIC_FLOAT, PROMOTION_FLOAT, SCALAR_FLOAT64},
        {INTRINSIC_COMPLEX, PROMOTION_COMPLEX, SCALAR_COMPLEX128},
    };
    bool narrow = call->count == 2 && type_equal(call->arguments[0].type, TYPE_OF(FLOAT32)) &&
                  type_equal(call->arguments[1].type, TYPE_OF(FLOAT32));
    if (call->intrinsic == INTRINSIC_COMPLEX && call->count == 2)
        return cast_complex(l, narrow ? TYPE_OF(COMPLEX64) : TYPE_OF(COMPLEX128), call, out);
    for (int i = 0; i < 3; i++)
        if (rows[i].id == call->intrinsic) {
            const Type *type = NULL;
            if (call->count == 1 && type_is_scalar(call->arguments[0].type))
                type = type_promote(rows[i].rule, call->arguments[0].type, NULL);
            return cast_scalar(l, type ? type : &type_scalars[rows[i].fallback], call, out);
        }
    return cast_scalar(l, TYPE_OF(BOOL), call, out);
}

bool call_number(Lower *l, const Call *call, Operand *out)
{
    const Type *type = call->intrinsic == INTRINSIC_INT       ? TYPE_OF(INT64)
                       : call->intrinsic == INTRINSIC_FLOAT   ? TYPE_OF(FLOAT64)
                       : call->intrinsic == INTRINSIC_COMPLEX ? TYPE_OF(COMPLEX128)
                                                              : TYPE_OF(BOOL);
    Operand number;
    bool is_own;
    bool ok = lower_overloaded_number(l, type, call, &number, &is_own);
    if (!is_own)
        return convert_number(l, call, out);
    Call of_number = {.intrinsic = call->intrinsic, .name = call->name, .count = 1, .arguments = &number};
    return ok && convert_number(l, &of_number, out);
}

bool lower_type_call(Lower *l, const Type *type, const Call *call, Operand *out)
{
    Operand number;
    bool is_own;
    bool ok = lower_overloaded_number(l, type, call, &number, &is_own);
    if (is_own)
        return ok && cast_scalar(l, type, &(Call){.name = call->name, .count = 1, .arguments = &number}, out);
    if (type_is_time(type))
        return lower_time_call(l, type, call, out);
    if (type_is_vector(type))
        return lower_vector_call(l, type, call, out);
    if (!type_is_scalar(type))
        return lower_fail(l, DIAG_TYPE_CALL, call->name, "");
    if (type->kind == TYPE_COMPLEX && call->count == 2)
        return cast_complex(l, type, call, out);
    return cast_scalar(l, type, call, out);
}
