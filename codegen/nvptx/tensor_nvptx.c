/* Tensor cores and asynchronous copies in PTX: elements of fragments packed into the registers that the instructions
 * take. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/nvptx/tensor_nvptx.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"

static LLVMTypeRef vector_of(LLVMTypeRef element, uint32_t count) { return LLVMVectorType(element, count); }

static LLVMValueRef pack(Emitter *emitter, const LLVMValueRef *elements, uint32_t count)
{
    LLVMValueRef vector = LLVMGetUndef(vector_of(LLVMTypeOf(elements[0]), count));
    for (uint32_t i = 0; i < count; i++)
        vector = LLVMBuildInsertElement(emitter->builder, vector, elements[i], const_i32(emitter, (int32_t)i), "");
    return vector;
}

static void unpack(Emitter *emitter, LLVMValueRef vector, uint32_t count, LLVMValueRef *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = LLVMBuildExtractElement(emitter->builder, vector, const_i32(emitter, (int32_t)i), "");
}

/* Elements of one register: two halves, four bytes, or one of 32 or 64 bits. */
static uint32_t per_register(const Type *element) { return element->size < 4 ? 4 / element->size : 1; }

/* Operands a and b: pairs of float16 as vectors, all else but float64 as 32 bits; c: as its type is. */
static uint32_t pack_fragment(Emitter *emitter, const IrValue *value, uint32_t index, bool is_input, LLVMValueRef *out)
{
    const Type *type = value->operands[index]->type, *element = type->items[0];
    const LLVMValueRef *elements = operand_parts(emitter, value, index);
    uint32_t each = per_register(element), count = type->count / each;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = each == 1 ? elements[i] : pack(emitter, elements + i * each, each);
        bool as_bits = is_input && element->size != 8 && element->scalar != SCALAR_FLOAT16;
        if (as_bits)
            out[i] = LLVMBuildBitCast(emitter->builder, out[i], emitter->i32, "");
    }
    return count;
}

static void emit_mma(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[12];
    uint32_t count = 0, each = per_register(value->type->items[0]);
    for (uint32_t i = 0; i < 3; i++)
        count += pack_fragment(emitter, value, i, i < 2, arguments + count);
    LLVMValueRef result = call_llvm(emitter, intrinsic_info[value->intrinsic].nvptx, NULL, count, arguments);
    for (uint32_t i = 0; i < value->type->count / each; i++) {
        LLVMValueRef word = LLVMBuildExtractValue(emitter->builder, result, i, "");
        if (each == 1)
            out[i] = word;
        else
            unpack(emitter, word, each, out + i * each);
    }
}

static LLVMValueRef in_space(Emitter *emitter, LLVMValueRef address, unsigned space)
{
    return LLVMBuildAddrSpaceCast(emitter->builder, address, LLVMPointerTypeInContext(emitter->context, space), "");
}

/* The array must be shared memory. */
static void emit_ldmatrix(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef address = in_space(emitter, element_address(emitter, value, 1), ADDRESS_SHARED);
    LLVMValueRef result = call_llvm(emitter, intrinsic_info[value->intrinsic].nvptx, LLVMTypeOf(address), 1, &address);
    uint32_t words = value->type->count / 2;
    LLVMTypeRef pair = vector_of(part_type(emitter, value->type->items[0]), 2);
    for (uint32_t i = 0; i < words; i++) {
        LLVMValueRef word = words == 1 ? result : LLVMBuildExtractValue(emitter->builder, result, i, "");
        unpack(emitter, LLVMBuildBitCast(emitter->builder, word, pair, ""), 2, out + 2 * i);
    }
}

static void emit_copy(Emitter *emitter, const IrValue *value, uint32_t size)
{
    LLVMValueRef to = element_address(emitter, value, 1), from = operand_scalar(emitter, value, 1);
    if (emitter->target->gpu->sm < 80) {
        LLVMTypeRef type = size == 4 ? emitter->i32 : vector_of(emitter->i32, size / 4);
        LLVMValueRef bits = LLVMBuildLoad2(emitter->builder, type, from, "");
        LLVMSetAlignment(bits, size);
        LLVMSetAlignment(LLVMBuildStore(emitter->builder, bits, to), size);
        return;
    }
    LLVMValueRef places[2] = {in_space(emitter, to, ADDRESS_SHARED)};
    places[1] = in_space(emitter, from, ADDRESS_GLOBAL);
    call_llvm(emitter, intrinsic_info[value->intrinsic].nvptx, NULL, 2, places);
}

/* Nothing is under way where copies are made at once. */
static void emit_copy_group(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef arguments[1];
    for (uint32_t i = 0; i < value->operand_count; i++)
        arguments[i] = operand_scalar(emitter, value, i);
    if (emitter->target->gpu->sm >= 80)
        call_llvm(emitter, intrinsic_info[value->intrinsic].nvptx, NULL, value->operand_count, arguments);
}

bool emit_tensor_nvptx(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const IntrinsicInfo *info = &intrinsic_info[value->intrinsic];
    switch (info->family) {
    case FAMILY_MMA: emit_mma(emitter, value, out); return true;
    case FAMILY_LDMATRIX: emit_ldmatrix(emitter, value, out); return true;
    case FAMILY_COPY: emit_copy(emitter, value, info->bytes); return true;
    case FAMILY_COPY_GROUP: emit_copy_group(emitter, value); return true;
    default: return false;
    }
}
