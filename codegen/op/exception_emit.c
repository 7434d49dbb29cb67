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
    if (emitter->emitted->is_trip) {
        LLVMBuildRet(emitter->builder, LLVMConstInt(emitter->i8, TRIP_RAISED, false));
    } else if (emitter->function->is_kernel) {
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

/* --- reports ---------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef slot_value(Emitter *emitter, const Type *type, LLVMValueRef part)
{
    if (type->kind == TYPE_FLOAT || type->kind == TYPE_COMPLEX)
        return LLVMBuildBitCast(emitter->builder, float_cast(emitter, part, emitter->f64), emitter->i64, "");
    return LLVMBuildIntCast2(emitter->builder, part, emitter->i64, type->kind == TYPE_INT, "");
}

/* Where raises meet: phis for what differs between them. */
typedef struct Meeting {
    LLVMBasicBlockRef block;
    LLVMValueRef code, slots[EXCEPTION_SLOTS];
    uint32_t raises;
} Meeting;

/* One block for all raises of a function with so many slots: a kernel with a thousand checks has a thousand of them, and
 * what each wrote by itself would live, for LLVM, from the kernel's start to its end. LLVM's fast instruction selection looks
 * through a phi for each block that leads to it, so that no more than so many do: those after the first ones meet in blocks of
 * their own, which lead there. */
typedef struct Report {
    struct Report *next;
    uint32_t count;
    Meeting all, last;
} Report;

enum { MOST_RAISES = 1024 };

/* Leaves the builder in the block. */
static Meeting make_meeting(Emitter *emitter, uint32_t count)
{
    Meeting meeting = {.block = new_block(emitter)};
    LLVMPositionBuilderAtEnd(emitter->builder, meeting.block);
    meeting.code = LLVMBuildPhi(emitter->builder, emitter->i32, "");
    for (uint32_t slot = 0; slot < count; slot++)
        meeting.slots[slot] = LLVMBuildPhi(emitter->builder, emitter->i64, "");
    return meeting;
}

static void meet(Emitter *emitter, Meeting *meeting, uint32_t count, LLVMValueRef code, LLVMValueRef *slots)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMBuildBr(emitter->builder, meeting->block);
    LLVMAddIncoming(meeting->code, &code, &here, 1);
    for (uint32_t slot = 0; slot < count; slot++)
        LLVMAddIncoming(meeting->slots[slot], &slots[slot], &here, 1);
    meeting->raises++;
}

static Report *make_report(Emitter *emitter, uint32_t count)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder), write = new_block(emitter);
    LLVMBasicBlockRef unwind = unwind_block(emitter);
    Report *report = ARENA_NEW(emitter->arena, Report);
    *report = (Report){.next = emitter->reports, .count = count, .all = make_meeting(emitter, count)};
    report->last = report->all;
    emitter->reports = report;
    take_record(emitter, write, unwind);
    LLVMPositionBuilderAtEnd(emitter->builder, write);
    store_origin(emitter, report->all.code);
    for (uint32_t slot = 0; slot < count; slot++)
        store_field(emitter, offsetof(ExceptionRecord, slots) + 8 * (size_t)slot, report->all.slots[slot]);
    complete_record(emitter);
    LLVMBuildBr(emitter->builder, unwind);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    return report;
}

static Report *report_of(Emitter *emitter, uint32_t count)
{
    for (Report *report = emitter->reports; report; report = report->next)
        if (report->count == count)
            return report;
    return make_report(emitter, count);
}

static void report_raise(Emitter *emitter, LLVMValueRef code, uint32_t count, LLVMValueRef *slots)
{
    Report *report = report_of(emitter, count);
    if (report->last.raises == MOST_RAISES) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
        report->last = make_meeting(emitter, count);
        meet(emitter, &report->all, count, report->last.code, report->last.slots);
        LLVMPositionBuilderAtEnd(emitter->builder, here);
    }
    meet(emitter, &report->last, count, code, slots);
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

void emit_op_RAISE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef slots[EXCEPTION_SLOTS];
    (void)out;
    if (!emitter->record || value->hint == IR_SILENT) {
        LLVMBuildBr(emitter->builder, unwind_block(emitter));
        return;
    }
    uint32_t count = exception_slot_values(emitter, value, 0, slots);
    report_raise(emitter, const_i32(emitter, (int32_t)value->index), count, slots);
}
