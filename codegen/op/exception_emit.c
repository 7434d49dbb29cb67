/* Exceptions: a thread that raises writes the record unless another was first, then every function up to the kernel
 * returns. A device function that may raise says so in one more part of its result; nothing else pays for it. */
#include <stddef.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/exception_emit.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"
#include "core/diagnostic/exception_record.h"

/* --- unwinding ---------------------------------------------------------------------------------------------------------------- */

static void return_raised(Emitter *emitter)
{
    LLVMTypeRef result = LLVMGetReturnType(emitter->emitted->type);
    if (LLVMGetTypeKind(result) != LLVMStructTypeKind) {
        LLVMBuildRet(emitter->builder, LLVMConstInt(emitter->i1, 1, false));
        return;
    }
    LLVMValueRef raised = LLVMConstInt(emitter->i1, 1, false);
    unsigned last = LLVMCountStructElementTypes(result) - 1;
    LLVMValueRef whole = LLVMBuildInsertValue(emitter->builder, LLVMConstNull(result), raised, last, "");
    LLVMBuildRet(emitter->builder, whole);
}

static LLVMBasicBlockRef unwind_block(Emitter *emitter)
{
    if (emitter->unwind)
        return emitter->unwind;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    emitter->unwind = new_block(emitter);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->unwind);
    if (emitter->function->is_kernel) {
        LLVMBuildRetVoid(emitter->builder);
    } else if (emitter->emitted->raises) {
        return_raised(emitter);
    } else {
        emitter->lowering->end_thread(emitter);
        LLVMBuildUnreachable(emitter->builder);
    }
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    return emitter->unwind;
}

void emit_unwind_if(Emitter *emitter, LLVMValueRef raised)
{
    LLVMBasicBlockRef next = new_block(emitter);
    LLVMBuildCondBr(emitter->builder, raised, unwind_block(emitter), next);
    LLVMPositionBuilderAtEnd(emitter->builder, next);
}

/* --- the record ---------------------------------------------------------------------------------------------------------------- */

uint32_t exception_parameters(Emitter *emitter, bool raises, LLVMTypeRef *types)
{
    if (!raises || !emitter->ir->first->reports)
        return 0;
    types[0] = emitter->pointer_type;
    types[1] = emitter->i64;
    return 2;
}

static LLVMValueRef record_field(Emitter *emitter, size_t offset)
{
    return offset_address(emitter, emitter->record, (int64_t)offset);
}

/* Goes to `write` in the thread that takes the record, else to `after`. Where all threads raise, most of them only look: an
 * exchange in the host's memory takes long. */
static void take_record(Emitter *emitter, LLVMBasicBlockRef write, LLVMBasicBlockRef after)
{
    bool is_gpu = emitter->target->kind == TARGET_NVPTX;
    unsigned scope = LLVMGetSyncScopeID(emitter->context, is_gpu ? "device" : "", is_gpu ? 6 : 0);
    LLVMValueRef state = record_field(emitter, offsetof(ExceptionRecord, state));
    LLVMValueRef seen = LLVMBuildLoad2(emitter->builder, emitter->i32, state, "");
    LLVMSetOrdering(seen, LLVMAtomicOrderingMonotonic);
    LLVMSetAtomicSyncScopeID(seen, scope);
    LLVMSetAlignment(seen, 4);
    LLVMBasicBlockRef empty = new_block(emitter);
    LLVMValueRef is_empty = LLVMBuildICmp(emitter->builder, LLVMIntEQ, seen, const_i32(emitter, EXCEPTION_EMPTY), "");
    LLVMBuildCondBr(emitter->builder, is_empty, empty, after);
    LLVMPositionBuilderAtEnd(emitter->builder, empty);
    LLVMValueRef pair = LLVMBuildAtomicCmpXchgSyncScope(
        emitter->builder, state, const_i32(emitter, EXCEPTION_EMPTY), const_i32(emitter, EXCEPTION_TAKEN),
        LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, scope);
    LLVMBuildCondBr(emitter->builder, LLVMBuildExtractValue(emitter->builder, pair, 1, ""), write, after);
}

static void store_field(Emitter *emitter, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(emitter->builder, value, record_field(emitter, offset));
}

void emit_place_in_grid(Emitter *emitter, unsigned axis, LLVMValueRef *thread, LLVMValueRef *block)
{
    const IrFunc *kernel = emitter->ir->first;
    *thread = emitter->lowering->read_register(emitter, intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, axis));
    *block = emitter->lowering->read_register(emitter, intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_IDX, axis));
    if (!kernel->joins_rows || kernel->row_axis != axis)
        return;
    LLVMValueRef dim = emitter->lowering->read_register(emitter, intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, axis));
    *block = LLVMBuildAdd(emitter->builder, *block, LLVMBuildUDiv(emitter->builder, *thread, dim, ""), "");
    *thread = LLVMBuildURem(emitter->builder, *thread, dim, "");
}

static void store_origin(Emitter *emitter, LLVMValueRef code)
{
    store_field(emitter, offsetof(ExceptionRecord, code), code);
    store_field(emitter, offsetof(ExceptionRecord, tag), emitter->tag);
    for (unsigned axis = 0; axis < 3; axis++) {
        LLVMValueRef thread, block;
        emit_place_in_grid(emitter, axis, &thread, &block);
        store_field(emitter, offsetof(ExceptionRecord, thread_index) + 4 * axis, thread);
        store_field(emitter, offsetof(ExceptionRecord, block_index) + 4 * axis, block);
    }
}

/* The host reads the record while other kernels run: it is complete for the whole system. */
static void complete_record(Emitter *emitter)
{
    LLVMValueRef store = LLVMBuildStore(emitter->builder, const_i32(emitter, EXCEPTION_COMPLETE),
                                        record_field(emitter, offsetof(ExceptionRecord, state)));
    LLVMSetOrdering(store, LLVMAtomicOrderingRelease);
    LLVMSetAlignment(store, 4);
}

/* --- without values: one block for all of a function ---------------------------------------------------------------------------- */

static void make_report_block(Emitter *emitter)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder), write = new_block(emitter);
    LLVMBasicBlockRef unwind = unwind_block(emitter);
    emitter->report = new_block(emitter);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->report);
    emitter->report_code = LLVMBuildPhi(emitter->builder, emitter->i32, "");
    take_record(emitter, write, unwind);
    LLVMPositionBuilderAtEnd(emitter->builder, write);
    store_origin(emitter, emitter->report_code);
    complete_record(emitter);
    LLVMBuildBr(emitter->builder, unwind);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
}

static void report_plain(Emitter *emitter, LLVMValueRef code)
{
    if (!emitter->report)
        make_report_block(emitter);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMBuildBr(emitter->builder, emitter->report);
    LLVMAddIncoming(emitter->report_code, &code, &here, 1);
}

/* --- with values ---------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef slot_value(Emitter *emitter, const Type *type, LLVMValueRef part)
{
    if (type->kind == TYPE_FLOAT || type->kind == TYPE_COMPLEX)
        return LLVMBuildBitCast(emitter->builder, float_cast(emitter, part, emitter->f64), emitter->i64, "");
    return LLVMBuildIntCast2(emitter->builder, part, emitter->i64, type->kind == TYPE_INT, "");
}

/* One block for all raises of a function with so many slots: a kernel with a thousand checks has a thousand of them, and
 * what each wrote by itself would live, for LLVM, from the kernel's start to its end. */
typedef struct ValueReport {
    struct ValueReport *next;
    uint32_t count;
    LLVMBasicBlockRef block;
    LLVMValueRef code, slots[EXCEPTION_SLOTS]; /* phis in the block */
} ValueReport;

static ValueReport *make_value_report(Emitter *emitter, uint32_t count)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder), write = new_block(emitter);
    LLVMBasicBlockRef unwind = unwind_block(emitter);
    ValueReport *report = ARENA_NEW(emitter->arena, ValueReport);
    *report = (ValueReport){.next = emitter->value_reports, .count = count, .block = new_block(emitter)};
    emitter->value_reports = report;
    LLVMPositionBuilderAtEnd(emitter->builder, report->block);
    report->code = LLVMBuildPhi(emitter->builder, emitter->i32, "");
    for (uint32_t slot = 0; slot < count; slot++)
        report->slots[slot] = LLVMBuildPhi(emitter->builder, emitter->i64, "");
    take_record(emitter, write, unwind);
    LLVMPositionBuilderAtEnd(emitter->builder, write);
    store_origin(emitter, report->code);
    for (uint32_t slot = 0; slot < count; slot++)
        store_field(emitter, offsetof(ExceptionRecord, slots) + 8 * (size_t)slot, report->slots[slot]);
    complete_record(emitter);
    LLVMBuildBr(emitter->builder, unwind);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    return report;
}

static ValueReport *value_report(Emitter *emitter, uint32_t count)
{
    for (ValueReport *report = emitter->value_reports; report; report = report->next)
        if (report->count == count)
            return report;
    return make_value_report(emitter, count);
}

uint32_t exception_slot_values(Emitter *emitter, const IrValue *value, uint32_t first, LLVMValueRef *slots)
{
    uint32_t slot = 0;
    for (uint32_t i = first; i < value->operand_count; i++) {
        const Type *type = value->operands[i]->type;
        LLVMValueRef *parts = operand_parts(emitter, value, i);
        for (uint32_t part = 0; part < part_count(type); part++, slot++)
            slots[slot] = slot_value(emitter, type, parts[part]);
    }
    return slot;
}

static void report_values(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef slots[EXCEPTION_SLOTS], code = const_i32(emitter, (int32_t)value->index);
    uint32_t count = exception_slot_values(emitter, value, 0, slots);
    ValueReport *report = value_report(emitter, count);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMBuildBr(emitter->builder, report->block);
    LLVMAddIncoming(report->code, &code, &here, 1);
    for (uint32_t slot = 0; slot < count; slot++)
        LLVMAddIncoming(report->slots[slot], &slots[slot], &here, 1);
}

void emit_op_RAISE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    if (!emitter->record || value->hint == IR_SILENT)
        LLVMBuildBr(emitter->builder, unwind_block(emitter));
    else if (value->operand_count)
        report_values(emitter, value);
    else
        report_plain(emitter, const_i32(emitter, (int32_t)value->index));
}
