/* What rules of operations say of a value's operands and result, with a message that names the value. */
#include "core/ir/ir_verify.h"

#include <stdio.h>

static bool is_int64(const Type *type) { return type_is_scalar(type) && type->scalar == SCALAR_INT64; }

bool fail_type(Diag *diag, const IrValue *value, const char *what, const Type *type, const char *rule)
{
    Buf text = {0};
    type_print(&text, type);
    verify_fail(diag, value, "%s has type %.200s, which is not %s", what, buf_text(&text), rule);
    buf_free(&text);
    return false;
}

bool fail_operand(Diag *diag, const IrValue *value, uint32_t i, const char *rule)
{
    char what[32];
    snprintf(what, sizeof what, "operand %u", i);
    return fail_type(diag, value, what, value->operands[i]->type, rule);
}

bool expect_operand(Diag *diag, const IrValue *value, uint32_t i, const Type *type)
{
    if (type_equal(value->operands[i]->type, type))
        return true;
    Buf rule = {0};
    type_print(&rule, type);
    fail_operand(diag, value, i, buf_text(&rule));
    buf_free(&rule);
    return false;
}

bool expect_result(Diag *diag, const IrValue *value, const Type *type)
{
    if (type_equal(value->type, type))
        return true;
    Buf rule = {0};
    type_print(&rule, type);
    fail_type(diag, value, "the result", value->type, buf_text(&rule));
    buf_free(&rule);
    return false;
}

bool expect_count(Diag *diag, const IrValue *value, uint32_t count)
{
    return value->operand_count == count ||
           verify_fail(diag, value, "%u operands instead of %u", value->operand_count, count);
}

bool expect_int64(Diag *diag, const IrValue *value, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (!is_int64(value->operands[i]->type))
            return fail_operand(diag, value, i, "i64");
    return true;
}

bool expect_all(Diag *diag, const IrValue *value, const Type *type)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!expect_operand(diag, value, i, type))
            return false;
    return true;
}
