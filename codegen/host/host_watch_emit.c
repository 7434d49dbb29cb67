/* What a WATCH is on the CPU device: a call of the service of that name. */
#include <stddef.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/target_host.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"
#include "core/watch_kind.h"

typedef struct Told {
    LLVMValueRef address, size, value, indices;
    uint32_t ndim;
    bool has_value;
} Told;

/* The bits of a number that fits 8 bytes. */
static bool bits_of(Emitter *emitter, const Type *type, const LLVMValueRef *parts, LLVMValueRef *bits)
{
    if (!type_is_scalar(type) || type->kind == TYPE_COMPLEX || type->size > 8)
        return false;
    LLVMTypeRef whole = LLVMIntTypeInContext(emitter->context, type->kind == TYPE_BOOL ? 1 : type->size * 8);
    *bits = LLVMBuildBitCast(emitter->builder, parts[0], whole, "");
    *bits = LLVMBuildZExt(emitter->builder, *bits, emitter->i64, "");
    return true;
}

static void tell_element(Emitter *emitter, const IrValue *watch, Told *told)
{
    const Type *array = watch->operands[0]->type;
    uint32_t next = 1u + array->ndim;
    told->address = element_address(emitter, watch, 1);
    told->size = const_i64(emitter, (int64_t)size_in_memory(array->element));
    told->ndim = array->ndim;
    if (array->ndim)
        told->indices = prologue_alloca(emitter, 8 * (uint64_t)array->ndim, 8);
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        LLVMBuildStore(emitter->builder, operand_scalar(emitter, watch, 1 + axis),
                       offset_address(emitter, told->indices, 8 * (int64_t)axis));
    if (watch->operand_count > next)
        told->has_value = bits_of(emitter, array->element, operand_parts(emitter, watch, next), &told->value);
}

/* From the first element on, as if there were no gaps; or as many bytes as a copy has. */
static void tell_array(Emitter *emitter, const IrValue *watch, Told *told)
{
    const Type *array = watch->operands[0]->type;
    const LLVMValueRef *parts = operand_parts(emitter, watch, 0);
    told->address = parts[0];
    told->size = const_i64(emitter, (int64_t)size_in_memory(array->element));
    for (uint32_t axis = 0; axis < array->ndim; axis++)
        told->size = LLVMBuildMul(emitter->builder, told->size, parts[part_of_extent(axis)], "");
    if (watch->hint == WATCH_TOUCH && watch->index)
        told->size = const_i64(emitter, watch->index);
}

void emit_op_WATCH(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    LLVMValueRef null = LLVMConstNull(emitter->pointer_type), zero = const_i64(emitter, 0);
    Told told = {.address = null, .size = zero, .value = zero, .indices = null};
    if (emitter->target->kind != TARGET_HOST) {
        diag_fail(emitter->diag, &value->pos, DIAG_IR_INVALID, emitter->function->name, "watch is the CPU device's");
        return;
    }
    if (ir_watches_access(value))
        tell_element(emitter, value, &told);
    else if (value->operand_count)
        tell_array(emitter, value, &told);
    int32_t what = (int32_t)(value->hint | (uint32_t)told.has_value << 8 | told.ndim << 16);
    LLVMValueRef arguments[6] = {const_i32(emitter, what),
                                 const_i32(emitter, (int32_t)value->index),
                                 told.address,
                                 told.size,
                                 told.value,
                                 told.indices};
    call_host_service(emitter, offsetof(HostServices, watch), emitter->void_type, 6, arguments);
}
