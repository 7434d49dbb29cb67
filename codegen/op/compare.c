/* Comparisons, minimum and maximum. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

typedef struct Predicates {
    LLVMIntPredicate for_signed, for_unsigned;
    LLVMRealPredicate for_float;
} Predicates;

static LLVMValueRef compare_parts(Emitter *emitter, const Type *type, const Predicates *predicates, LLVMValueRef a,
                                  LLVMValueRef b)
{
    if (type->scalar == SCALAR_BFLOAT16) {
        a = float_cast(emitter, a, emitter->f32);
        b = float_cast(emitter, b, emitter->f32);
    }
    if (type->kind == TYPE_FLOAT || type->kind == TYPE_COMPLEX)
        return with_flags(LLVMBuildFCmp(emitter->builder, predicates->for_float, a, b, ""), emitter->comparison_flags);
    LLVMIntPredicate predicate = type->kind == TYPE_INT ? predicates->for_signed : predicates->for_unsigned;
    return LLVMBuildICmp(emitter->builder, predicate, a, b, "");
}

static LLVMValueRef compare(Emitter *emitter, const IrValue *value, const Predicates *predicates)
{
    return compare_parts(emitter, value->operands[0]->type, predicates, operand_scalar(emitter, value, 0),
                         operand_scalar(emitter, value, 1));
}

static LLVMValueRef all_equal(Emitter *emitter, const IrValue *value)
{
    static const Predicates equal = {LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ};
    LLVMValueRef result = compare(emitter, value, &equal);
    if (value->operands[0]->type->kind != TYPE_COMPLEX)
        return result;
    LLVMValueRef imaginary = compare_parts(emitter, value->operands[0]->type, &equal,
                                           operand_parts(emitter, value, 0)[1], operand_parts(emitter, value, 1)[1]);
    return LLVMBuildAnd(emitter->builder, result, imaginary, "");
}

void emit_op_EQ(Emitter *emitter, const IrValue *value, LLVMValueRef *out) { out[0] = all_equal(emitter, value); }

void emit_op_NE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = LLVMBuildNot(emitter->builder, all_equal(emitter, value), "");
}

void emit_op_LT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = compare(emitter, value, &(Predicates){LLVMIntSLT, LLVMIntULT, LLVMRealOLT});
}

void emit_op_LE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = compare(emitter, value, &(Predicates){LLVMIntSLE, LLVMIntULE, LLVMRealOLE});
}

void emit_op_GT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = compare(emitter, value, &(Predicates){LLVMIntSGT, LLVMIntUGT, LLVMRealOGT});
}

void emit_op_GE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = compare(emitter, value, &(Predicates){LLVMIntSGE, LLVMIntUGE, LLVMRealOGE});
}

static void emit_choice(Emitter *emitter, const IrValue *value, const Predicates *predicates, LLVMValueRef *out)
{
    LLVMValueRef choice = LLVMBuildSelect(emitter->builder, compare(emitter, value, predicates),
                                          operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1), "");
    out[0] = with_flags(choice, emitter->comparison_flags);
}

void emit_op_MIN(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    emit_choice(emitter, value, &(Predicates){LLVMIntSLT, LLVMIntULT, LLVMRealOLT}, out);
}

void emit_op_MAX(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    emit_choice(emitter, value, &(Predicates){LLVMIntSGT, LLVMIntUGT, LLVMRealOGT}, out);
}
