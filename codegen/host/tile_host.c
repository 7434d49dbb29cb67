/* Barriers in shared memory, copies of tiles, and multiplication by four warps on the CPU device: the runtime does them. */
#include <stddef.h>

#include "codegen/emit_tools.h"
#include "codegen/host/target_host.h"
#include "codegen/host/tile_host.h"
#include "codegen/op/value/parts.h"
#include "core/host_abi.h"
#include "core/host_tile_call.h"

enum { ALL_LANES = -1 };

static LLVMValueRef meet(Emitter *emitter, const IrValue *value, LLVMValueRef mask, LLVMValueRef address,
                         LLVMValueRef place)
{
    LLVMValueRef arguments[5] = {const_i32(emitter, (int32_t)value->intrinsic), mask, address, place,
                                 host_line(emitter, value)};
    LLVMValueRef call = call_host_service(emitter, offsetof(HostServices, meet), emitter->i64, 5, arguments);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "convergent", 0));
    return call;
}

static LLVMValueRef address_of(Emitter *emitter, LLVMValueRef pointer)
{
    return LLVMBuildPtrToInt(emitter->builder, pointer, emitter->i64, "");
}

/* A place goes as the value; what follows it, or stands alone, as mask and place. */
static void emit_row(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    LLVMValueRef words[2] = {const_i32(emitter, 0), const_i32(emitter, 0)}, address = const_i64(emitter, 0);
    for (uint32_t i = 0, next = 0; i < value->operand_count; i++)
        if (row->shape[1 + i] == 'p')
            address = address_of(emitter, operand_scalar(emitter, value, i));
        else
            words[next++] = operand_scalar(emitter, value, i);
    LLVMValueRef result = meet(emitter, value, words[0], address, words[1]);
    if (row->shape[0] != 'n')
        out[0] = LLVMBuildICmp(emitter->builder, LLVMIntNE, result, const_i64(emitter, 0), "");
}

/* --- structs ---------------------------------------------------------------------------------------------------------------- */

static void put(Emitter *emitter, LLVMValueRef memory, size_t offset, LLVMValueRef field)
{
    LLVMBuildStore(emitter->builder, field, offset_address(emitter, memory, (int64_t)offset));
}

static void put_pointer(Emitter *emitter, LLVMValueRef memory, size_t offset, const IrValue *value, uint32_t operand)
{
    put(emitter, memory, offset, operand_parts(emitter, value, operand)[0]);
}

static void put_number(Emitter *emitter, LLVMValueRef memory, size_t offset, uint32_t number)
{
    put(emitter, memory, offset, const_i32(emitter, (int32_t)number));
}

static LLVMValueRef bytes_of_array(Emitter *emitter, const IrValue *value, uint32_t operand)
{
    const Type *type = value->operands[operand]->type;
    LLVMValueRef *parts = operand_parts(emitter, value, operand), bytes = const_i64(emitter, type->element->size);
    for (uint32_t axis = 0; axis < type->ndim; axis++)
        bytes = LLVMBuildMul(emitter->builder, bytes, parts[part_of_extent(axis)], "");
    return bytes;
}

/* Operands: tile, map, of a load barrier and mask, then the index. */
static void emit_copy(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef copy = prologue_alloca(emitter, sizeof(HostTileCopy), _Alignof(HostTileCopy));
    bool is_load = value->intrinsic != INTRINSIC_TMA_STORE;
    uint32_t first = is_load ? 4 : 2;
    put_pointer(emitter, copy, offsetof(HostTileCopy, tile), value, 0);
    put(emitter, copy, offsetof(HostTileCopy, tile_bytes), bytes_of_array(emitter, value, 0));
    put_pointer(emitter, copy, offsetof(HostTileCopy, map), value, 1);
    if (is_load)
        put_pointer(emitter, copy, offsetof(HostTileCopy, barrier), value, 2);
    put(emitter, copy, offsetof(HostTileCopy, ranks),
        is_load ? operand_scalar(emitter, value, 3) : const_i32(emitter, 0));
    put_number(emitter, copy, offsetof(HostTileCopy, axes), value->operand_count - first);
    put_number(emitter, copy, offsetof(HostTileCopy, swizzle), value->operands[0]->type->swizzle);
    for (uint32_t i = first; i < value->operand_count; i++)
        put(emitter, copy, offsetof(HostTileCopy, index) + 4 * (i - first), operand_scalar(emitter, value, i));
    meet(emitter, value, const_i32(emitter, 0), address_of(emitter, copy), const_i32(emitter, 0));
}

static void emit_mma(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef call = prologue_alloca(emitter, sizeof(HostWgmma), _Alignof(HostWgmma));
    put_pointer(emitter, call, offsetof(HostWgmma, c), value, WGMMA_C);
    put_pointer(emitter, call, offsetof(HostWgmma, a), value, WGMMA_A);
    put_pointer(emitter, call, offsetof(HostWgmma, b), value, WGMMA_B);
    put(emitter, call, offsetof(HostWgmma, c_bytes), bytes_of_array(emitter, value, WGMMA_C));
    put(emitter, call, offsetof(HostWgmma, a_bytes), bytes_of_array(emitter, value, WGMMA_A));
    put(emitter, call, offsetof(HostWgmma, a_step), operand_scalar(emitter, value, WGMMA_A_STEP));
    put(emitter, call, offsetof(HostWgmma, b_step), operand_scalar(emitter, value, WGMMA_B_STEP));
    put_number(emitter, call, offsetof(HostWgmma, a_swizzle), value->operands[WGMMA_A]->type->swizzle);
    put_number(emitter, call, offsetof(HostWgmma, b_swizzle), value->operands[WGMMA_B]->type->swizzle);
    put(emitter, call, offsetof(HostWgmma, kind), operand_scalar(emitter, value, WGMMA_ELEMENTS));
    put(emitter, call, offsetof(HostWgmma, columns), operand_scalar(emitter, value, WGMMA_COLUMNS));
    put(emitter, call, offsetof(HostWgmma, transposed), operand_scalar(emitter, value, WGMMA_TRANSPOSED));
    put(emitter, call, offsetof(HostWgmma, accumulates),
        LLVMBuildZExt(emitter->builder, operand_scalar(emitter, value, WGMMA_ACCUMULATE), emitter->i32, ""));
    meet(emitter, value, const_i32(emitter, ALL_LANES), address_of(emitter, call), const_i32(emitter, 0));
}

bool emit_tile_host(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    if (row->assembly) {
        emit_row(emitter, value, out);
        return true;
    }
    switch (value->intrinsic) {
    case INTRINSIC_TMA_PREFETCH: return true; /* nothing is far away */
    case INTRINSIC_TMA_LOAD:
    case INTRINSIC_TMA_LOAD_MULTICAST:
    case INTRINSIC_TMA_STORE: emit_copy(emitter, value); return true;
    case INTRINSIC_WGMMA_MMA: emit_mma(emitter, value); return true;
    case INTRINSIC_WGMMA_FENCE:
        meet(emitter, value, const_i32(emitter, 0), const_i64(emitter, 0), const_i32(emitter, 0));
        return true;
    case INTRINSIC_WGMMA_WAIT:
        meet(emitter, value, operand_scalar(emitter, value, 0), const_i64(emitter, 0), const_i32(emitter, 0));
        return true;
    default: return false;
    }
}
