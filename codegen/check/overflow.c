/* Arithmetic that wraps, shifts by counts outside of the width, divisions by zero, conversions out of range.
 *
 * Operations that the frontend has marked are looked at (IR_CHECKED), and atomic sums. Signed numbers always: nobody counts
 * on their wrapping. Of unsigned ones only differences below zero: sums, products and shifts modulo 2**64 are what hashes
 * and generators of random numbers are made of, and a report of them would be of no use. The same holds for int64
 * arithmetic that an uint64 takes part in: h * 31 is int64 where h is an uint64. */
#include "codegen/check/overflow.h"

typedef __int128 Wide;

enum { MOST_LOOKS = 64 };

/* --- what is looked at ------------------------------------------------------------------------------------------------- */

static bool is_made_of_operands(IrOp op)
{
    switch (op) {
    case IR_PHI:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_NEG:
    case IR_POWI:
    case IR_SHL:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT: return true;
    default: return false;
    }
}

static bool find_unsigned(const IrValue *value, uint32_t *looks)
{
    if (value->op == IR_CONVERT)
        return value->operands[0]->type->kind == TYPE_UINT && value->operands[0]->type->size == 8;
    if (!is_made_of_operands(value->op))
        return false;
    for (uint32_t i = 0; i < value->operand_count && *looks < MOST_LOOKS; i++) {
        ++*looks;
        if (find_unsigned(value->operands[i], looks))
            return true;
    }
    return false;
}

/* Whether an uint64 has become an int64 among what the value is computed of, nearby. */
static bool is_of_unsigned(const IrValue *value)
{
    uint32_t looks = 0;
    return find_unsigned(value, &looks);
}

static bool is_signed(const IrValue *value) { return value->type->kind == TYPE_INT && !is_of_unsigned(value); }

static bool has_range(const Type *type) { return type_is_integer(type); }

static Wide least_of_type(const Type *type) { return type->kind == TYPE_INT ? -((Wide)1 << (8 * type->size - 1)) : 0; }

static Wide most_of_type(const Type *type) { return ((Wide)1 << (8 * type->size - (type->kind == TYPE_INT))) - 1; }

static bool is_constant_between(const IrValue *value, int64_t least, int64_t most)
{
    return value->op == IR_CONST && type_is_integer(value->type) && value->integer >= least && value->integer <= most;
}

/* Whether some value of the one type is none of the other. */
static bool may_not_fit(const Type *from, const Type *to)
{
    if (from->kind == TYPE_FLOAT)
        return has_range(to);
    return has_range(from) && has_range(to) &&
           (least_of_type(from) < least_of_type(to) || most_of_type(from) > most_of_type(to));
}

/* Arithmetic that an uint64 took part in becomes one again. */
static bool comes_back(const IrValue *convert)
{
    return type_equal(convert->type, TYPE_OF(UINT64)) && is_of_unsigned(convert->operands[0]);
}

/* Masks of lanes and the like, which an intrinsic gives as int32, among unsigned numbers of the same width. */
static bool is_mask(const IrValue *convert)
{
    const IrValue *from = convert->operands[0];
    bool is_same_width = type_is_integer(from->type) && from->type->size == convert->type->size;
    if (from->op == IR_GET)
        from = from->operands[0];
    return is_same_width && from->op == IR_INTRINSIC;
}

static unsigned parts_of_division(const IrValue *value)
{
    const IrValue *divisor = value->operands[1];
    bool is_integer = type_is_integer(value->type);
    if (divisor->op == IR_CONST && (is_integer ? divisor->integer > 0 : divisor->real != 0 || divisor->imaginary != 0))
        return 0;
    return value->op == IR_FLOORDIV && value->type->kind == TYPE_INT ? 3 : 1;
}

static unsigned parts_of_shift(const IrValue *value)
{
    unsigned count = is_constant_between(value->operands[1], 0, 8 * value->type->size - 1) ? 0 : 1;
    return count | (value->op == IR_SHL && is_signed(value) ? 2 : 0);
}

/* cujit's own are right. A sum of unsigned numbers may be meant as a difference: cuda.atomic.add(x, i, -1). */
static unsigned parts_of_atomic(const IrValue *value)
{
    const SourceFunction *source = value->block->function->source;
    bool is_looked_at = (value->atomic == IR_ATOMIC_ADD && value->type->kind == TYPE_INT) ||
                        (value->atomic == IR_ATOMIC_SUB && type_is_integer(value->type));
    return is_looked_at && !(source && source->is_library) ? 1 : 0;
}

static bool has_exactness(IrOp op)
{
    IrHintKind kind = ir_op_info[op].hint;
    return kind == IR_HINT_KIND_WRAPS || kind == IR_HINT_KIND_DIVIDES || kind == IR_HINT_KIND_NARROWS;
}

void overflow_drop_marks(IrFunc *function)
{
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrValue *value = block->first; value; value = value->next)
            if (has_exactness(value->op) && value->hint == IR_CHECKED)
                value->hint = IR_MAY_WRAP;
}

unsigned overflow_parts(const IrValue *value)
{
    if (value->op == IR_ATOMIC)
        return parts_of_atomic(value);
    if (!has_exactness(value->op) || value->hint != IR_CHECKED)
        return 0;
    switch (value->op) {
    case IR_SUB: return value->type->kind == TYPE_UINT || is_signed(value);
    case IR_ADD:
    case IR_MUL:
    case IR_NEG:
    case IR_ABS:
    case IR_POWI: return is_signed(value);
    case IR_SHL:
    case IR_SHR: return parts_of_shift(value);
    case IR_DIV:
    case IR_FLOORDIV:
    case IR_MOD: return parts_of_division(value);
    case IR_CONVERT: return may_not_fit(value->operands[0]->type, value->type) && !comes_back(value) && !is_mask(value);
    default: return 0;
    }
}

/* --- what a launch can prove ------------------------------------------------------------------------------------------- */

/* The index is between two bounds. Where they are those of 64 bits, the least number of all does not pass. */
static bool lies_between(Ranges *ranges, RangeTest *test, uint32_t index, Wide least, Wide most)
{
    int64_t extent = most >= INT64_MAX ? INT64_MAX : (int64_t)most + 1;
    test->index = index;
    test->extent = range_between(ranges, TYPE_OF(INT64), extent, extent);
    test->first = least <= INT64_MIN ? INT64_MAX : (int64_t)-least;
    test->last = most >= INT64_MAX ? -1 : 0;
    return true;
}

static uint32_t exact_power(Ranges *ranges, uint32_t base, const IrValue *exponent)
{
    uint32_t node = base;
    if (!is_constant_between(exponent, 1, 8))
        return RANGE_NONE;
    for (int64_t i = 1; i < exponent->integer; i++)
        node = range_exact(ranges, RANGE_MUL, node, base);
    return node;
}

/* The result as it would be with any number of bits; RANGE_NONE: that is not known. */
static uint32_t exact_result(Ranges *ranges, const Context *context, const IrValue *value)
{
    Place place = {value->block, NULL};
    uint32_t nodes[2] = {RANGE_NONE, RANGE_NONE}, one;
    for (uint32_t i = 0; i < value->operand_count && i < 2; i++)
        nodes[i] = range_of(ranges, context, value->operands[i], place);
    switch (value->op) {
    case IR_ADD: return range_exact(ranges, RANGE_ADD, nodes[0], nodes[1]);
    case IR_SUB: return range_exact(ranges, RANGE_SUB, nodes[0], nodes[1]);
    case IR_MUL: return range_exact(ranges, RANGE_MUL, nodes[0], nodes[1]);
    case IR_NEG:
    case IR_ABS:
    case IR_CONVERT: return nodes[0];
    case IR_POWI: return exact_power(ranges, nodes[0], value->operands[1]);
    case IR_SHL:
        one = range_between(ranges, TYPE_OF(INT64), 1, 1);
        one = range_node(ranges, RANGE_SHL, TYPE_OF(INT64), one, nodes[1], RANGE_NONE, 0, 0);
        return range_exact(ranges, RANGE_MUL, nodes[0], one);
    default: return RANGE_NONE;
    }
}

bool overflow_test(Ranges *ranges, const Context *context, const IrValue *value, unsigned part, RangeTest *test)
{
    bool divides = value->op == IR_FLOORDIV || value->op == IR_MOD;
    bool shifts = part == 0 && (value->op == IR_SHL || value->op == IR_SHR);
    if (value->op == IR_ATOMIC || !has_range(value->type) || !has_range(value->operands[0]->type))
        return false;
    if (divides || shifts) {
        uint32_t operand = range_of(ranges, context, value->operands[1], (Place){value->block, NULL});
        return lies_between(ranges, test, operand, divides, shifts ? 8 * value->type->size - 1 : INT64_MAX);
    }
    uint32_t node = exact_result(ranges, context, value);
    Wide least = least_of_type(value->type);
    if (value->op == IR_NEG || value->op == IR_ABS)
        least++;
    return node != RANGE_NONE && lies_between(ranges, test, node, least, most_of_type(value->type));
}

/* --- the tests --------------------------------------------------------------------------------------------------------- */

static IrValue *emit_two(Rewrite *rewrite, IrOp op, const Type *type, IrValue *a, IrValue *b)
{
    return rewrite_emit(rewrite, op, type, 2, (IrValue *[]){a, b});
}

static IrValue *compare(Rewrite *rewrite, IrOp op, IrValue *a, IrValue *b)
{
    return emit_two(rewrite, op, TYPE_OF(BOOL), a, b);
}

static IrValue *compare_to(Rewrite *rewrite, IrOp op, IrValue *a, Wide number)
{
    return compare(rewrite, op, a, rewrite_int(rewrite, a->type, (int64_t)number));
}

static IrValue *compare_to_real(Rewrite *rewrite, IrOp op, IrValue *a, double number)
{
    return compare(rewrite, op, a, ir_const_float(rewrite->block, a->type, number, 0, rewrite->pos));
}

static IrValue *either(Rewrite *rewrite, IrValue *a, IrValue *b)
{
    return a && b ? emit_two(rewrite, IR_OR, TYPE_OF(BOOL), a, b) : a ? a : b;
}

static IrValue *both(Rewrite *rewrite, IrValue *a, IrValue *b)
{
    return emit_two(rewrite, IR_AND, TYPE_OF(BOOL), a, b);
}

/* Whether the signs of a and c differ, and those of b and d. */
static IrValue *signs_differ(Rewrite *rewrite, IrValue *a, IrValue *c, IrValue *b, IrValue *d)
{
    const Type *type = a->type;
    IrValue *first = emit_two(rewrite, IR_XOR, type, a, c), *second = emit_two(rewrite, IR_XOR, type, b, d);
    return compare_to(rewrite, IR_LT, emit_two(rewrite, IR_AND, type, first, second), 0);
}

/* The high half of the product is not the sign of the low one. */
static IrValue *product_wraps(Rewrite *rewrite, IrValue *value)
{
    IrValue *high = rewrite_emit(rewrite, IR_INTRINSIC, value->type, 2, value->operands);
    high->intrinsic = INTRINSIC_CUDA_MULHI;
    IrValue *last = rewrite_int(rewrite, value->type, 8 * value->type->size - 1);
    return compare(rewrite, IR_NE, high, emit_two(rewrite, IR_SHR, value->type, value, last));
}

/* Powers of integers come near to 2**63 by no more than 2**-36 of it, but for those of powers of two, and these are exact
 * in float64. */
static IrValue *power_wraps(Rewrite *rewrite, IrValue *value)
{
    const Type *f64 = TYPE_OF(FLOAT64);
    IrValue *base = rewrite_emit(rewrite, IR_CONVERT, f64, 1, value->operands);
    IrValue *power = emit_two(rewrite, IR_POWI, f64, base, value->operands[1]);
    double end = (double)most_of_type(value->type);
    IrValue *above = compare_to_real(rewrite, IR_GE, power, end);
    IrValue *below = compare_to_real(rewrite, IR_LT, power, (double)least_of_type(value->type));
    IrValue *outside = either(rewrite, above, below);
    return both(rewrite, outside, compare_to(rewrite, IR_GT, value->operands[1], 1));
}

static IrValue *is_outside(Rewrite *rewrite, IrValue *number, const Type *to)
{
    const Type *from = number->type;
    IrValue *below = NULL, *above = NULL;
    if (least_of_type(from) < least_of_type(to))
        below = compare_to(rewrite, IR_LT, number, least_of_type(to));
    if (most_of_type(from) > most_of_type(to))
        above = compare_to(rewrite, IR_GT, number, most_of_type(to));
    return either(rewrite, below, above);
}

/* NaN too. float16 is rounded to the nearest integer, even ones first; others are cut off. */
static IrValue *float_is_outside(Rewrite *rewrite, IrValue *number, const Type *to)
{
    bool is_rounded = number->type->scalar == SCALAR_FLOAT16;
    IrValue *x = type_equal(number->type, TYPE_OF(FLOAT64))
                     ? number
                     : rewrite_emit(rewrite, IR_CONVERT, TYPE_OF(FLOAT64), 1, &number);
    double least = (double)least_of_type(to), most = (double)most_of_type(to);
    IrValue *low = is_rounded      ? compare_to_real(rewrite, IR_GE, x, least - 0.5)
                   : least < -1e15 ? compare_to_real(rewrite, IR_GE, x, least)
                                   : compare_to_real(rewrite, IR_GT, x, least - 1);
    /* the most of 64 bits is rounded up to the power of two behind it */
    IrValue *high = compare_to_real(rewrite, IR_LT, x, is_rounded ? most + 0.5 : to->size == 8 ? most : most + 1);
    IrValue *inside = both(rewrite, low, high);
    return rewrite_emit(rewrite, IR_NOT, TYPE_OF(BOOL), 1, &inside);
}

static IrValue *count_is_outside(Rewrite *rewrite, IrValue *value)
{
    IrValue *count = value->operands[1];
    if (count->type->kind == TYPE_INT)
        count = rewrite_emit(rewrite, IR_BITCAST, TYPE_OF(UINT64), 1, &count);
    return compare_to(rewrite, IR_GE, count, 8 * value->type->size);
}

/* In which no count outside of the width takes part. */
static IrValue *shift_loses(Rewrite *rewrite, IrValue *value)
{
    IrValue *back = emit_two(rewrite, IR_SHR, value->type, value, value->operands[1]);
    IrValue *is_lost = compare(rewrite, IR_NE, back, value->operands[0]);
    IrValue *is_outside = count_is_outside(rewrite, value);
    return both(rewrite, is_lost, rewrite_emit(rewrite, IR_NOT, TYPE_OF(BOOL), 1, &is_outside));
}

/* Complex numbers are equal to 0 where both parts are. */
static IrValue *is_zero(Rewrite *rewrite, IrValue *divisor)
{
    return type_is_integer(divisor->type) ? compare_to(rewrite, IR_EQ, divisor, 0)
                                          : compare_to_real(rewrite, IR_EQ, divisor, 0);
}

static IrValue *atomic_wraps(Rewrite *rewrite, IrValue *old)
{
    IrValue *by = old->operands[old->operand_count - 1];
    bool adds = old->atomic == IR_ATOMIC_ADD;
    if (old->type->kind == TYPE_UINT)
        return compare(rewrite, IR_LT, old, by);
    IrValue *result = emit_two(rewrite, adds ? IR_ADD : IR_SUB, old->type, old, by);
    return adds ? signs_differ(rewrite, old, result, by, result) : signs_differ(rewrite, old, by, old, result);
}

/* Whether the result is not the true one, the value being there. */
static IrValue *goes_wrong(Rewrite *rewrite, IrValue *value, unsigned part)
{
    IrValue *a = value->operands[0], *b = value->operand_count > 1 ? value->operands[1] : NULL;
    switch (value->op) {
    case IR_ATOMIC: return atomic_wraps(rewrite, value);
    case IR_ADD: return signs_differ(rewrite, a, value, b, value);
    case IR_SUB:
        return value->type->kind == TYPE_UINT ? compare(rewrite, IR_LT, a, b) : signs_differ(rewrite, a, b, a, value);
    case IR_MUL: return product_wraps(rewrite, value);
    case IR_POWI: return power_wraps(rewrite, value);
    case IR_NEG:
    case IR_ABS: return compare_to(rewrite, IR_EQ, a, least_of_type(value->type));
    case IR_SHL:
    case IR_SHR: return part ? shift_loses(rewrite, value) : count_is_outside(rewrite, value);
    case IR_CONVERT:
        return a->type->kind == TYPE_FLOAT ? float_is_outside(rewrite, a, value->type)
                                           : is_outside(rewrite, a, value->type);
    default: break;
    }
    if (part == 0)
        return is_zero(rewrite, b);
    IrValue *is_least = compare_to(rewrite, IR_EQ, a, least_of_type(value->type));
    return both(rewrite, is_least, compare_to(rewrite, IR_EQ, b, -1));
}

/* --- the report -------------------------------------------------------------------------------------------------------- */

static const char *operator_of(const IrValue *value)
{
    if (value->op == IR_ATOMIC)
        return value->atomic == IR_ATOMIC_ADD ? "+" : "-";
    switch (value->op) {
    case IR_ADD: return "+";
    case IR_SUB: return "-";
    case IR_MUL: return "*";
    case IR_POWI: return "**";
    case IR_SHL: return "<<";
    case IR_SHR: return ">>";
    case IR_DIV: return "/";
    case IR_MOD: return "%";
    default: return "//";
    }
}

static const char *name_of(Arena *arena, const Type *type)
{
    Buf text = {0};
    type_describe(&text, type);
    const char *name = arena_string(arena, buf_text(&text));
    buf_free(&text);
    return name;
}

/* Python's format of the operands. */
static const char *report_format(Arena *arena, const IrValue *value, unsigned part)
{
    const char *type = name_of(arena, value->type);
    bool shifts = value->op == IR_SHL || value->op == IR_SHR;
    bool divides = value->op == IR_DIV || value->op == IR_FLOORDIV || value->op == IR_MOD;
    switch (value->op) {
    case IR_NEG: return arena_format(arena, "-({}) does not fit %s", type);
    case IR_ABS: return arena_format(arena, "abs({}) does not fit %s", type);
    case IR_CONVERT:
        return arena_format(arena, "%s {} does not fit %s", name_of(arena, value->operands[0]->type), type);
    default: break;
    }
    bool is_complex = value->type->kind == TYPE_COMPLEX;
    const char *what = is_complex ? "complex({}, {}) / 0" : arena_format(arena, "{} %s {}", operator_of(value));
    if (shifts && part == 0)
        return arena_format(arena, "%s of %s: the count is not from 0 to %u", what, type, 8 * value->type->size - 1);
    if (divides && part == 0)
        return arena_format(arena, "%s of %s: division by zero", what, type);
    if (value->op != IR_ATOMIC && value->type->kind == TYPE_UINT)
        return arena_format(arena, "%s is below zero, %s has no such numbers", what, type);
    return arena_format(arena, "%s does not fit %s%s", what, type,
                        value->op == IR_ATOMIC ? ", in an atomic operation" : "");
}

/* As the program has it: before it was made wider. */
static IrValue *written(IrValue *operand)
{
    bool is_integer = operand->op == IR_CONVERT && type_is_integer(operand->operands[0]->type);
    return is_integer && type_is_integer(operand->type) ? operand->operands[0] : operand;
}

/* Of what a complex number is divided by, which is zero, nothing. */
static uint32_t list_parts(Rewrite *rewrite, IrValue *value, IrValue **parts)
{
    const Type *type = value->type->size == 16 ? TYPE_OF(FLOAT64) : TYPE_OF(FLOAT32);
    parts[0] = rewrite_emit(rewrite, IR_REAL, type, 1, value->operands);
    parts[1] = rewrite_emit(rewrite, IR_IMAG, type, 1, value->operands);
    return 2;
}

static uint32_t list_operands(Rewrite *rewrite, IrValue *value, IrValue **operands)
{
    if (value->type->kind == TYPE_COMPLEX)
        return list_parts(rewrite, value, operands);
    uint32_t count = value->op == IR_ATOMIC ? 2 : value->operand_count, first = value->operand_count - count;
    for (uint32_t i = 0; i < count; i++)
        operands[i] = value->op == IR_CONVERT ? value->operands[0] : written(value->operands[first + i]);
    if (value->op == IR_ATOMIC)
        operands[0] = value;
    return count;
}

/* The function of cujit's own is told of where the program calls it. */
static const char *in_library(const Rewrite *rewrite, const char *format)
{
    bool is_inside = rewrite->function->site.function;
    return is_inside ? arena_format(rewrite->module->arena, "%s, inside of this call", format) : format;
}

static void check_part(Rewrite *rewrite, IrValue *value, unsigned part, bool raises)
{
    IrValue *operands[2], *wrong = goes_wrong(rewrite, value, part);
    uint32_t count = list_operands(rewrite, value, operands);
    const char *format = in_library(rewrite, report_format(rewrite->module->arena, value, part));
    bool divides = value->op == IR_DIV || value->op == IR_FLOORDIV || value->op == IR_MOD;
    const char *class = divides && part == 0 ? "ZeroDivisionError" : "OverflowError";
    if (!raises) {
        rewrite_note(rewrite, wrong, class, format, count, operands);
        return;
    }
    IrValue *right = rewrite_emit(rewrite, IR_NOT, TYPE_OF(BOOL), 1, &wrong);
    rewrite_fail(rewrite, rewrite_unless(rewrite, right), class, format, NULL, count, operands);
}

void check_overflow(Rewrite *rewrite, IrValue *value, unsigned parts, bool raises)
{
    rewrite_keep(rewrite, value);
    for (unsigned part = 0; parts >> part; part++)
        if (parts >> part & 1)
            check_part(rewrite, value, part, raises);
}
