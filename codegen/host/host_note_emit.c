/* What a NOTE is on the CPU device: where its condition holds, which is seldom, a call of the service of that name. */
#include <stddef.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/target_host.h"
#include "codegen/op/exception_emit.h"
#include "codegen/op/value/parts.h"
#include "core/diagnostic/exception_record.h"
#include "core/diagnostic/overflow_record.h"

static void store_field(Emitter *emitter, LLVMValueRef at, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(emitter->builder, value, offset_address(emitter, at, (int64_t)offset));
}

static LLVMValueRef store_case(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef slots[EXCEPTION_SLOTS];
    LLVMValueRef occurrence = prologue_alloca(emitter, sizeof(OverflowCase), _Alignof(OverflowCase));
    uint32_t count = exception_slot_values(emitter, value, 1, slots);
    for (unsigned axis = 0; axis < 3; axis++) {
        LLVMValueRef thread, block;
        emit_place_in_grid(emitter, axis, &thread, &block);
        store_field(emitter, occurrence, offsetof(OverflowCase, thread_index) + 4 * axis, thread);
        store_field(emitter, occurrence, offsetof(OverflowCase, block_index) + 4 * axis, block);
    }
    for (uint32_t slot = 0; slot < count; slot++)
        store_field(emitter, occurrence, offsetof(OverflowCase, slots) + 8 * (size_t)slot, slots[slot]);
    return occurrence;
}

static LLVMValueRef thread_pointer(Emitter *emitter, size_t offset)
{
    LLVMValueRef field = offset_address(emitter, emitter->thread, (int64_t)offset);
    return LLVMBuildLoad2(emitter->builder, emitter->pointer_type, field, "");
}

/* It reads and writes nothing else, so that what the loop around it knows of memory stays known. */
static void call_note(Emitter *emitter, LLVMValueRef record, LLVMValueRef occurrence)
{
    enum { ARGUMENTS_AND_UNSEEN = 15 };
    LLVMTypeRef types[2] = {emitter->pointer_type, emitter->pointer_type};
    LLVMValueRef arguments[2] = {record, occurrence};
    LLVMValueRef services = thread_pointer(emitter, offsetof(HostThread, services));
    LLVMValueRef service = LLVMBuildLoad2(emitter->builder, emitter->pointer_type,
                                          offset_address(emitter, services, offsetof(HostServices, note)), "");
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, LLVMFunctionType(emitter->void_type, types, 2, false), service,
                                       arguments, 2, "");
    LLVMAttributeIndex function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMAddCallSiteAttribute(call, function, enum_attribute(emitter, "nounwind", 0));
    LLVMAddCallSiteAttribute(call, function, enum_attribute(emitter, "cold", 0));
    LLVMAddCallSiteAttribute(call, function, enum_attribute(emitter, "memory", ARGUMENTS_AND_UNSEEN));
}

void emit_op_NOTE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    if (emitter->target->kind != TARGET_HOST) {
        diag_fail(emitter->diag, &value->pos, DIAG_IR_INVALID, emitter->function->name, "note is the CPU device's");
        return;
    }
    LLVMBasicBlockRef note = new_block(emitter), after = new_block(emitter);
    LLVMBuildCondBr(emitter->builder, operand_scalar(emitter, value, 0), note, after);
    LLVMPositionBuilderAtEnd(emitter->builder, note);
    LLVMValueRef records = thread_pointer(emitter, offsetof(HostThread, overflows));
    LLVMValueRef record = offset_address(emitter, records, (int64_t)(value->index * sizeof(OverflowRecord)));
    call_note(emitter, record, store_case(emitter, value));
    LLVMBuildBr(emitter->builder, after);
    LLVMPositionBuilderAtEnd(emitter->builder, after);
}
