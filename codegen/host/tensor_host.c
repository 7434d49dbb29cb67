/* Tensor cores and asynchronous copies on the CPU device: lanes meet with the addresses of their fragments, and the runtime
 * multiplies; copies are made at once. */
#include <stddef.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/target_host.h"
#include "codegen/host/tensor_host.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"
#include "core/host_abi.h"
#include "core/host_tensor.h"

enum { BUFFER_ALIGNMENT = 16 };

static void meet_with(Emitter *emitter, const IrValue *value, LLVMValueRef buffer)
{
    LLVMValueRef line = host_line(emitter, value);
    LLVMValueRef arguments[5] = {const_i32(emitter, (int32_t)value->intrinsic), const_i32(emitter, -1),
                                 LLVMBuildPtrToInt(emitter->builder, buffer, emitter->i64, ""), const_i32(emitter, 0),
                                 line};
    LLVMValueRef call = call_host_service(emitter, offsetof(HostServices, meet), emitter->i64, 5, arguments);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "convergent", 0));
}

static void store_elements(Emitter *emitter, LLVMValueRef buffer, uint32_t offset, const Type *tuple,
                           const LLVMValueRef *elements)
{
    for (uint32_t i = 0; i < tuple->count; i++, offset += tuple->items[i - 1]->size)
        store_parts(emitter, tuple->items[i], offset_address(emitter, buffer, offset), tuple->items[i]->size,
                    elements + i);
}

static void load_elements(Emitter *emitter, LLVMValueRef buffer, uint32_t offset, const Type *tuple, LLVMValueRef *out)
{
    for (uint32_t i = 0; i < tuple->count; i++, offset += tuple->items[i - 1]->size)
        load_parts(emitter, tuple->items[i], offset_address(emitter, buffer, offset), tuple->items[i]->size, out + i);
}

static void emit_mma(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    HostFragments f = host_fragments(&intrinsic_info[value->intrinsic].mma);
    LLVMValueRef buffer = prologue_alloca(emitter, f.size, BUFFER_ALIGNMENT);
    const uint32_t offsets[3] = {0, f.b, f.c};
    for (uint32_t i = 0; i < 3; i++)
        store_elements(emitter, buffer, offsets[i], value->operands[i]->type, operand_parts(emitter, value, i));
    meet_with(emitter, value, buffer);
    load_elements(emitter, buffer, f.d, value->type, out);
}

static void emit_ldmatrix(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef buffer = prologue_alloca(emitter, sizeof(HostMatrixRows), BUFFER_ALIGNMENT);
    LLVMBuildStore(emitter->builder, element_address(emitter, value, 1), buffer);
    meet_with(emitter, value, buffer);
    load_elements(emitter, buffer, offsetof(HostMatrixRows, elements), value->type, out);
}

static void emit_copy(Emitter *emitter, const IrValue *value, uint32_t size)
{
    uint32_t alignment = type_element_alignment(value->operands[0]->type);
    LLVMBuildMemCpy(emitter->builder, element_address(emitter, value, 1), alignment, operand_scalar(emitter, value, 1),
                    alignment, const_i64(emitter, size));
}

bool emit_tensor_host(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const IntrinsicInfo *info = &intrinsic_info[value->intrinsic];
    switch (info->family) {
    case FAMILY_MMA: emit_mma(emitter, value, out); return true;
    case FAMILY_LDMATRIX: emit_ldmatrix(emitter, value, out); return true;
    case FAMILY_COPY: emit_copy(emitter, value, info->bytes); return true;
    case FAMILY_COPY_GROUP: return true;
    default: return false;
    }
}
