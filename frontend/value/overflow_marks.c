/* What is marked, and what is meant to wrap. Generators of random numbers and hashes are made of arithmetic modulo a power
 * of two, which programs write in three ways: with unsigned numbers (codegen/check/overflow.c passes those over), with a
 * conversion to an unsigned type, uint32(h * 31), and with a mask, (h * 31) & 0xffffffff. In the last two the operations
 * below are right in the bits that are kept, whatever they lose: they have no mark. Neither has what cujit's own functions
 * compute, but for those that say so (_kernel_functions/tells_overflow.py): they are told of where the program calls them. */
#include "frontend/value/overflow_marks.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/operand.h"

enum { EXPRESSION_DEPTH = 16 };

bool overflow_is_wanted(const Lower *l)
{
    const CodeSnapshot *code = l->instance->code;
    bool is_told = !code->is_library || (code->tells_overflow && l->instance->raise_site.function);
    return l->frontend->request->checks & CHECKS_OF_OVERFLOW && is_told;
}

/* Whether the low bits of the result depend on the low bits of the operands alone. */
static bool keeps_low_bits(const IrValue *value)
{
    switch (value->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_NEG:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT: return true;
    case IR_SHL: return value->operands[1]->op == IR_CONST;
    case IR_CONVERT: return type_is_integer(value->operands[0]->type);
    default: return false;
    }
}

static bool is_markable(const IrValue *value)
{
    switch (ir_op_info[value->op].hint) {
    case IR_HINT_KIND_WRAPS: return type_is_integer(value->type);
    case IR_HINT_KIND_DIVIDES: return value->type->kind != TYPE_BOOL && type_is_scalar(value->type);
    default: return false;
    }
}

static bool is_before(int32_t line, int32_t column, int32_t other_line, int32_t other_column)
{
    return line < other_line || (line == other_line && column <= other_column);
}

static bool is_within(const SourcePos *inner, const SourcePos *outer)
{
    return inner->function == outer->function && is_before(outer->line, outer->column, inner->line, inner->column) &&
           is_before(inner->end_line, inner->end_column, outer->end_line, outer->end_column);
}

static void allow(const Lower *l, IrValue *value, uint32_t depth)
{
    if (!keeps_low_bits(value) || !is_within(&value->pos, &l->value->pos) || depth == EXPRESSION_DEPTH)
        return;
    if (value->hint == IR_CHECKED)
        value->hint = IR_MAY_WRAP;
    for (uint32_t i = 0; i < value->operand_count; i++)
        allow(l, value->operands[i], depth + 1);
}

void overflow_allow(Lower *l, Operand value)
{
    if (overflow_is_wanted(l) && value.ir && type_is_integer(value.type))
        allow(l, value.ir, 0);
}

static bool is_power_of_two(const IrValue *value)
{
    return value->op == IR_CONST && value->integer > 0 && !(value->integer & (value->integer - 1));
}

/* The operand of which only low bits are taken: x & 0xff, x % 256. NULL: it is no such operation. */
static IrValue *masked_operand(const IrValue *value)
{
    if (value->op == IR_MOD && type_is_integer(value->type) && is_power_of_two(value->operands[1]))
        return value->operands[0];
    for (uint32_t i = 0; i < 2 && value->op == IR_AND; i++)
        if (value->operands[i]->op == IR_CONST)
            return value->operands[1 - i];
    return NULL;
}

void overflow_mark(Lower *l, IrValue *value)
{
    if (overflow_is_wanted(l) && value && is_markable(value))
        value->hint = IR_CHECKED;
}

void overflow_note(Lower *l, Operand result)
{
    IrValue *value = result.ir;
    if (!overflow_is_wanted(l) || !value)
        return;
    if (value->op == IR_CONVERT && value->operands[0]->op == IR_NEG) /* which is computed in its own width */
        value = value->operands[0];
    if (is_markable(value) && value->hint == IR_MAY_WRAP)
        value->hint = IR_CHECKED;
    IrValue *masked = masked_operand(value);
    if (masked)
        allow(l, masked, 0);
}

/* A constant that the type does not have is left to run time, to be told of there. */
static bool is_lost(Operand from, const Type *to, Operand converted)
{
    bool are_integers = type_is_integer(from.type) && type_is_integer(to);
    if (!are_integers || !from.constant || !converted.constant || from.constant->kind != CONSTANT_INT)
        return false;
    bool was_negative = !from.constant->is_unsigned && from.constant->integer < 0;
    bool is_negative = to->kind == TYPE_INT && converted.constant->integer < 0;
    return from.constant->integer != converted.constant->integer || was_negative != is_negative;
}

bool overflow_convert(Lower *l, Operand from, const Type *to, Operand *out)
{
    Operand converted;
    if (!lower_convert(l, from, to, &converted))
        return false;
    if (overflow_is_wanted(l) && is_lost(from, to, converted))
        converted = operand_value(to, emit1(l, IR_CONVERT, to, operand_ir(l, from)));
    IrValue *value = converted.ir;
    if (overflow_is_wanted(l) && value && value->op == IR_CONVERT && type_is_integer(to) && !type_equal(from.type, to))
        value->hint = IR_CHECKED;
    *out = converted;
    return true;
}

bool overflow_cast(Lower *l, Operand from, const Type *to, Operand *out)
{
    if (to->kind != TYPE_UINT || from.type->kind == TYPE_FLOAT)
        return overflow_convert(l, from, to, out);
    overflow_allow(l, from);
    return lower_convert(l, from, to, out);
}
