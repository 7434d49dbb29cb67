/* Conversions between numbers, and reinterpreted bits. Floats saturate into integers, NaN becomes 0. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/value/convert.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

static LLVMValueRef to_bool(Emitter *emitter, const Type *from, const LLVMValueRef *in)
{
    LLVMValueRef first = from->scalar == SCALAR_BFLOAT16 ? float_cast(emitter, in[0], emitter->f32) : in[0];
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(first));
    if (type_is_integer(from))
        return LLVMBuildICmp(emitter->builder, LLVMIntNE, first, zero, "");
    LLVMValueRef result = LLVMBuildFCmp(emitter->builder, LLVMRealUNE, first, zero, "");
    if (from->kind != TYPE_COMPLEX)
        return result;
    return LLVMBuildOr(emitter->builder, result, LLVMBuildFCmp(emitter->builder, LLVMRealUNE, in[1], zero, ""), "");
}

/* What is below the integers, and NaN, is converted as the least of them, which processors have one instruction for. What is
 * above is converted to whatever, and chosen behind it, as 0 is for NaN where the least integer is another one. Where it is 0,
 * LLVM would take a choice for none whose `in` is another choice that leaves only NaN to it, and convert NaN to whatever. */
static LLVMValueRef convert_by_tests(Emitter *emitter, const Type *to, LLVMValueRef in)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef floats = LLVMTypeOf(in), integers = part_type(emitter, to);
    bool is_signed = to->kind == TYPE_INT;
    uint64_t half = UINT64_C(1) << (type_bits(to) - 1);
    LLVMValueRef high = LLVMConstReal(floats, is_signed ? (double)half : 2 * (double)half);
    LLVMValueRef most = LLVMConstInt(integers, is_signed ? half - 1 : half - 1 + half, false);
    LLVMValueRef is_above = LLVMBuildFCmp(builder, LLVMRealOGE, in, high, "");
    if (!is_signed) {
        LLVMValueRef from =
            call_llvm(emitter, "llvm.maximumnum", floats, 2, (LLVMValueRef[]){in, LLVMConstNull(floats)});
        return LLVMBuildSelect(builder, is_above, most, LLVMBuildFPToUI(builder, from, integers, ""), "");
    }
    LLVMValueRef low = LLVMConstReal(floats, -(double)half);
    LLVMValueRef from = LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealOGT, in, low, ""), in, low, "");
    LLVMValueRef result = LLVMBuildSelect(builder, is_above, most, LLVMBuildFPToSI(builder, from, integers, ""), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(builder, LLVMRealUNO, in, LLVMConstNull(floats), "");
    return LLVMBuildSelect(builder, is_nan, LLVMConstNull(integers), result, "");
}

/* float16 is rounded to the nearest integer, as numba does with the GPU's instruction for it; others are truncated. */
static LLVMValueRef float_to_integer(Emitter *emitter, const Type *from, const Type *to, LLVMValueRef in)
{
    if (type_is_half(from))
        in = float_cast(emitter, in, emitter->f32);
    if (from->scalar == SCALAR_FLOAT16)
        in = call_llvm(emitter, "llvm.rint", emitter->f32, 1, &in);
    if (emitter->lowering->converts_by_tests)
        return convert_by_tests(emitter, to, in);
    LLVMTypeRef overloads[2] = {part_type(emitter, to), LLVMTypeOf(in)};
    const char *name = to->kind == TYPE_INT ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    return call_llvm_overloaded(emitter, name, overloads, 2, 1, &in);
}

static LLVMValueRef to_float(Emitter *emitter, const Type *from, LLVMTypeRef to, LLVMValueRef in)
{
    if (from->kind == TYPE_FLOAT || from->kind == TYPE_COMPLEX)
        return float_cast(emitter, in, to);
    return integer_to_float(emitter, in, from->kind == TYPE_INT, to);
}

void convert_parts(Emitter *emitter, const Type *from, const Type *to, const LLVMValueRef *in, LLVMValueRef *out)
{
    bool from_integer = type_is_integer(from) || from->kind == TYPE_BOOL;
    if (type_equal(from, to)) {
        for (uint32_t i = 0; i < part_count(to); i++)
            out[i] = in[i];
    } else if (to->kind == TYPE_BOOL) {
        out[0] = to_bool(emitter, from, in);
    } else if (type_is_integer(to)) {
        out[0] = from_integer
                     ? LLVMBuildIntCast2(emitter->builder, in[0], part_type(emitter, to), from->kind == TYPE_INT, "")
                     : float_to_integer(emitter, from, to, in[0]);
    } else {
        out[0] = to_float(emitter, from, part_type(emitter, to), in[0]);
        if (to->kind == TYPE_COMPLEX)
            out[1] = from->kind == TYPE_COMPLEX ? to_float(emitter, from, part_type(emitter, to), in[1])
                                                : LLVMConstNull(part_type(emitter, to));
    }
}

void emit_op_CONVERT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    convert_parts(emitter, value->operands[0]->type, value->type, operand_parts(emitter, value, 0), out);
}

void emit_op_BITCAST(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const Type *from = value->operands[0]->type;
    if (part_count(from) == 1 && part_count(value->type) == 1 && from->kind != TYPE_BOOL &&
        value->type->kind != TYPE_BOOL && type_is_scalar(from)) {
        out[0] =
            LLVMBuildBitCast(emitter->builder, operand_scalar(emitter, value, 0), part_type(emitter, value->type), "");
        return;
    }
    LLVMValueRef memory = prologue_alloca(emitter, size_in_memory(from), 16);
    store_parts(emitter, from, memory, 16, operand_parts(emitter, value, 0));
    load_parts(emitter, value->type, memory, 16, out);
}
