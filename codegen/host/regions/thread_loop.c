/* Emits the operations of a function that runs all threads of a block: loops over the threads, the slots in which each
 * keeps what outlasts a loop, and exchanges between them. A slot is an array with an item for each thread, in memory that
 * the runtime gives to the block, so that neighbouring threads read and write neighbouring items. */
#include "codegen/host/regions/thread_loop.h"

#include <stddef.h>
#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/host/host_emitter.h"
#include "codegen/host/host_loop.h"
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/row_bounds.h"
#include "codegen/host/regions/row_parts.h"
#include "codegen/host/regions/warp_exchange.h"
#include "codegen/host/regions/warp_slots.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/parts.h"
#include "core/base/table.h"

/* A loop whose iterations do not depend on each other. */
typedef struct IndependentLoop IndependentLoop;
struct IndependentLoop {
    IndependentLoop *next;
    LLVMBasicBlockRef first, latch;
    LLVMValueRef branch; /* back to the first block */
    LLVMValueRef thread; /* the function's HostThread */
    bool is_of_warp;
};

struct BlockFrame {
    LLVMValueRef block_dim[3], row, thread_count; /* row: along it, of joined blocks; NULL: not read so far */
    LLVMValueRef context, stride; /* of a slot's first byte to that of the next slot, for each byte of a thread */
    LLVMValueRef index[3]; /* threadIdx of a function that runs one row or one warp, but along it */
    LLVMValueRef first; /* along it, of a warp's first thread; NULL: the function does not run a warp */
    WarpSlots *slots; /* of such a function */
    LLVMValueRef thread_number; /* i64, in a loop over threads; NULL before the first */
};

/* --- the frame ---------------------------------------------------------------------------------------------------------- */

void emit_block_function(Emitter *emitter, const EmittedFunction *function)
{
    emitter->host->frame = ARENA_NEW(emitter->arena, BlockFrame);
    emitter->host->row_parts = NULL;
    emit_function_body(emitter, function);
    emitter->host->frame = NULL;
    emitter->host->row_parts = NULL;
}

static void read_block(Emitter *emitter, BlockFrame *frame)
{
    LLVMBuilderRef builder = emitter->builder;
    for (uint32_t axis = 0; axis < 3; axis++)
        frame->block_dim[axis] =
            host_is_single(emitter->function, axis)
                ? const_i32(emitter, 1)
                : emitter->lowering->read_register(emitter, intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, axis));
    const uint8_t *axes = host_loop_axes[emitter->function->row_axis];
    frame->thread_count = frame->row = host_row_length(emitter);
    bool by_warps = emitter->function->by_warps;
    if (by_warps) {
        frame->slots = warp_slots_create(emitter);
        frame->first = LLVMBuildLoad2(builder, emitter->i32,
                                      host_field(emitter, emitter->thread, offsetof(HostThread, thread_index)), "");
    }
    for (uint32_t i = 1; i < 3; i++)
        if (emitter->function->by_rows || by_warps)
            frame->index[axes[i]] =
                emitter->lowering->read_register(emitter, intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, axes[i]));
        else
            frame->thread_count = LLVMBuildNUWMul(builder, frame->thread_count, frame->block_dim[axes[i]], "");
    if (by_warps) {
        frame->stride = const_i64(emitter, HOST_WARP);
        return;
    }
    LLVMValueRef up = LLVMBuildNUWAdd(builder, frame->thread_count, const_i32(emitter, HOST_CONTEXT_STEP - 1), "");
    LLVMValueRef stride = LLVMBuildAnd(builder, up, const_i32(emitter, ~(HOST_CONTEXT_STEP - 1)), "");
    frame->stride = LLVMBuildZExt(builder, stride, emitter->i64, "");
    frame->context = LLVMBuildLoad2(builder, emitter->pointer_type,
                                    host_field(emitter, emitter->thread, offsetof(HostThread, context)), "");
}

static bool has_frame(const Emitter *emitter) { return emitter->host && emitter->host->frame; }

/* The frame of the function being emitted; NULL with a diagnostic where it is none of a block, or not on the CPU device. */
static BlockFrame *frame_of(Emitter *emitter, const IrValue *value)
{
    if (!has_frame(emitter)) {
        diag_fail(emitter->diag, &value->pos, DIAG_IR_INVALID, emitter->function->name, "a slot without a thread_loop");
        return NULL;
    }
    BlockFrame *frame = emitter->host->frame;
    if (frame->thread_count)
        return frame;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    read_block(emitter, frame);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    return frame;
}

/* Likewise inside of a loop over threads. */
static BlockFrame *frame_in_loop(Emitter *emitter, const IrValue *value)
{
    BlockFrame *frame = frame_of(emitter, value);
    if (frame && !frame->thread_number)
        diag_fail(emitter->diag, &value->pos, DIAG_IR_INVALID, emitter->function->name,
                  "a thread's slot outside of a thread_loop");
    return frame && frame->thread_number ? frame : NULL;
}

/* --- slots -------------------------------------------------------------------------------------------------------------- */

/* So many bytes for each thread of the block. Of a warp it is the function's own memory: LLVM makes registers of it where all
 * loops over the warp's threads become vectors. */
static LLVMValueRef new_slot(Emitter *emitter, const BlockFrame *frame, uint64_t size)
{
    if (frame->first)
        return warp_slot(emitter, size);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    LLVMValueRef offset =
        LLVMBuildNUWMul(emitter->builder, frame->stride, const_i64(emitter, emitter->host->context_size), "");
    LLVMValueRef slot = LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, frame->context, &offset, 1, "");
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    emitter->host->context_size += (uint32_t)size;
    return slot;
}

static LLVMTypeRef type_in_slot(Emitter *emitter, LLVMTypeRef part) { return part == emitter->i1 ? emitter->i8 : part; }

static LLVMValueRef place_in_slot(Emitter *emitter, LLVMTypeRef type, LLVMValueRef slot)
{
    return LLVMBuildInBoundsGEP2(emitter->builder, type, slot, &emitter->host->frame->thread_number, 1, "");
}

/* Where a thread's value of the slot is. */
static LLVMValueRef place_of(Emitter *emitter, const IrValue *slot, uint32_t part, LLVMTypeRef type)
{
    const BlockFrame *frame = emitter->host->frame;
    return frame->slots ? warp_slot_place(emitter, frame->slots, slot, part, type, frame->thread_number)
                        : place_in_slot(emitter, type, emitter->parts[slot->id][part]);
}

static uint64_t size_in_slot(uint64_t size, uint32_t alignment)
{
    uint64_t whole = alignment < 16 ? 16 : alignment;
    return (size + whole - 1) / whole * whole;
}

LLVMValueRef host_thread_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment)
{
    bool is_of_loop = value->op == IR_LOCAL && value->hint == IR_IN_TURN;
    BlockFrame *frame = has_frame(emitter) && !is_of_loop ? frame_of(emitter, value) : NULL;
    if (!frame || (value->op != IR_LOCAL && !frame->thread_number))
        return NULL;
    size = size_in_slot(size, alignment);
    LLVMValueRef slot = new_slot(emitter, frame, size);
    emitter->local_size += (uint32_t)size;
    return value->op == IR_LOCAL ? slot : place_in_slot(emitter, LLVMArrayType2(emitter->i8, size), slot);
}

void emit_op_WARP_START(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const BlockFrame *frame = has_frame(emitter) ? frame_of(emitter, value) : NULL;
    LLVMValueRef place = host_field(emitter, emitter->thread, offsetof(HostThread, thread_index));
    out[0] = frame ? frame->first : NULL;
    if (!out[0])
        out[0] = LLVMBuildAnd(emitter->builder, LLVMBuildLoad2(emitter->builder, emitter->i32, place, ""),
                              const_i32(emitter, -HOST_WARP), "");
}

/* Where each part begins. */
void emit_op_SLOT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const BlockFrame *frame = frame_of(emitter, value);
    uint32_t count = part_count(value->type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    part_types(emitter, value->type, types);
    for (uint32_t i = 0; i < count && frame; i++) {
        uint64_t size = LLVMABISizeOfType(emitter->data_layout, type_in_slot(emitter, types[i]));
        out[i] = new_slot(emitter, frame, size);
    }
}

/* The elements of one thread are as far apart as the slots of so many bytes, with those of the others in between. */
static void load_spread(Emitter *emitter, const IrValue *local, LLVMValueRef *out)
{
    const Type *type = local->type;
    memcpy(out, emitter->parts[local->id], part_count(type) * sizeof *out);
    out[0] = place_in_slot(emitter, LLVMArrayType2(emitter->i8, size_in_memory(type->element)), out[0]);
    for (uint32_t axis = 0; axis < type->ndim; axis++) {
        LLVMValueRef packed = array_stride(emitter, type, emitter->parts[local->id], axis);
        out[1 + type->ndim + axis] = LLVMBuildNUWMul(emitter->builder, emitter->host->frame->stride, packed, "");
    }
}

static void load_local(Emitter *emitter, const IrValue *local, LLVMValueRef *out)
{
    uint32_t alignment = storage_alignment(local);
    uint64_t size = size_in_slot(local_array_size(local) - alignment, alignment);
    memcpy(out, emitter->parts[local->id], part_count(local->type) * sizeof *out);
    out[0] = place_in_slot(emitter, LLVMArrayType2(emitter->i8, size), out[0]);
}

void emit_op_SLOT_LOAD(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const IrValue *slot = value->operands[0];
    if (!frame_in_loop(emitter, value))
        return;
    if (slot->op == IR_LOCAL) {
        bool is_spread = value->type->layout == LAYOUT_ANY && slot->type->layout != LAYOUT_ANY;
        (is_spread ? load_spread : load_local)(emitter, slot, out);
        return;
    }
    uint32_t count = part_count(value->type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    part_types(emitter, value->type, types);
    for (uint32_t i = 0; i < count; i++) {
        LLVMTypeRef in_slot = type_in_slot(emitter, types[i]);
        LLVMValueRef place = place_of(emitter, slot, i, in_slot);
        out[i] = LLVMBuildLoad2(emitter->builder, in_slot, place, "");
        if (in_slot != types[i])
            out[i] = LLVMBuildTrunc(emitter->builder, out[i], types[i], "");
    }
}

void emit_op_SLOT_STORE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    const LLVMValueRef *parts = operand_parts(emitter, value, 1);
    if (!frame_in_loop(emitter, value))
        return;
    for (uint32_t i = 0; i < part_count(value->operands[1]->type); i++) {
        LLVMTypeRef in_slot = type_in_slot(emitter, LLVMTypeOf(parts[i]));
        LLVMValueRef part = parts[i];
        if (in_slot != LLVMTypeOf(part))
            part = LLVMBuildZExt(emitter->builder, part, in_slot, "");
        LLVMBuildStore(emitter->builder, part, place_of(emitter, value->operands[0], i, in_slot));
    }
}

/* --- exchanges ---------------------------------------------------------------------------------------------------------- */

/* Of those that take no thread. */
static void call_block_service(Emitter *emitter, size_t service, uint32_t count, LLVMValueRef *arguments)
{
    LLVMTypeRef types[8];
    LLVMBuilderRef builder = emitter->builder;
    for (uint32_t i = 0; i < count; i++)
        types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(emitter->void_type, types, count, false);
    LLVMValueRef services = LLVMBuildLoad2(builder, emitter->pointer_type,
                                           host_field(emitter, emitter->thread, offsetof(HostThread, services)), "");
    LLVMValueRef function = LLVMBuildLoad2(builder, emitter->pointer_type, host_field(emitter, services, service), "");
    LLVMValueRef call = LLVMBuildCall2(builder, type, function, arguments, count, "");
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "nounwind", 0));
}

static void exchange_in_warps(Emitter *emitter, const IrValue *value, const BlockFrame *frame)
{
    uint32_t last = value->operand_count - 1, next = 1;
    WarpExchange exchange = {.operation = value->intrinsic,
                             .word = part_type(emitter, value->operands[last]->type),
                             .given = operand_parts(emitter, value, 0)[0],
                             .results = operand_parts(emitter, value, last)[0],
                             .threads = frame->thread_count};
    if (intrinsic_info[value->intrinsic].family == FAMILY_SHUFFLE) {
        bool is_slot = value->operands[next]->op == IR_SLOT;
        *(is_slot ? &exchange.places : &exchange.asked) = operand_parts(emitter, value, next)[0];
        next++;
    }
    exchange.going = next < last ? operand_parts(emitter, value, next)[0] : NULL;
    emit_warp_exchange(emitter, &exchange);
}

/* The verifier knows which slots there are, in which order. */
void emit_op_EXCHANGE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const BlockFrame *frame = frame_of(emitter, value);
    LLVMValueRef nothing = LLVMConstNull(emitter->pointer_type), going = NULL, result = NULL;
    if (!frame)
        return;
    if (has_warp_exchange(value->intrinsic)) {
        exchange_in_warps(emitter, value, frame);
        return;
    }
    for (uint32_t i = 1; i < value->operand_count; i++)
        *(value->operands[i]->type->kind == TYPE_BOOL ? &going : &result) = operand_parts(emitter, value, i)[0];
    if (!result)
        result = prologue_alloca(emitter, sizeof(uint64_t), sizeof(uint64_t));
    LLVMValueRef arguments[5] = {const_i32(emitter, (int32_t)value->intrinsic), frame->thread_count,
                                 operand_parts(emitter, value, 0)[0], going ? going : nothing, result};
    call_block_service(emitter, offsetof(HostServices, exchange), 5, arguments);
    if (!part_count(value->type))
        return;
    LLVMValueRef bits = LLVMBuildLoad2(emitter->builder, emitter->i64, result, "");
    out[0] = LLVMBuildIntCast2(emitter->builder, bits, part_type(emitter, value->type), false, "");
}

/* --- additions ----------------------------------------------------------------------------------------------------------------- */

static void call_add(Emitter *emitter, LLVMValueRef additions, uint32_t count, LLVMValueRef threads, uint32_t size)
{
    LLVMValueRef arguments[4] = {additions, const_i32(emitter, (int32_t)count), threads,
                                 const_i32(emitter, (int32_t)size)};
    emitter->takes_turns = true;
    call_block_service(emitter, offsetof(HostServices, add), 4, arguments);
}

void emit_op_ADDITIONS(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    const BlockFrame *frame = frame_of(emitter, value);
    if (!frame || frame->slots) {
        if (frame)
            diag_fail(emitter->diag, &value->pos, DIAG_IR_INVALID, emitter->function->name, "additions of one warp");
        return;
    }
    uint32_t count = value->operand_count / 2;
    LLVMValueRef additions = prologue_alloca(emitter, count * sizeof(HostAddition), _Alignof(HostAddition));
    for (uint32_t i = 0; i < count; i++) {
        size_t at = i * sizeof(HostAddition);
        LLVMBuildStore(emitter->builder, operand_parts(emitter, value, 2 * i)[0],
                       host_field(emitter, additions, at + offsetof(HostAddition, places)));
        LLVMBuildStore(emitter->builder, operand_parts(emitter, value, 2 * i + 1)[0],
                       host_field(emitter, additions, at + offsetof(HostAddition, values)));
    }
    call_add(emitter, additions, count, frame->thread_count, value->operands[1]->type->size);
}

/* --- loops over threads ------------------------------------------------------------------------------------------------- */

/* Control goes on in threads that take part. */
static void emit_who_takes_part(Emitter *emitter, const IrValue *loop, LLVMBasicBlockRef latch)
{
    LLVMValueRef place = place_of(emitter, loop->operands[0], 0, emitter->i8);
    if (loop->hint & IR_THREADS_BEGIN) {
        LLVMBuildStore(emitter->builder, LLVMConstInt(emitter->i8, 1, false), place);
        return;
    }
    LLVMBasicBlockRef goes_on = new_block(emitter);
    LLVMValueRef going = LLVMBuildLoad2(emitter->builder, emitter->i8, place, "");
    LLVMValueRef has_ended = LLVMBuildICmp(emitter->builder, LLVMIntEQ, going, LLVMConstNull(emitter->i8), "");
    LLVMBuildCondBr(emitter->builder, has_ended, latch, goes_on);
    LLVMPositionBuilderAtEnd(emitter->builder, goes_on);
}

/* Where a thread goes that an exception ends. */
static LLVMBasicBlockRef emit_thread_end(Emitter *emitter, const IrValue *loop, LLVMBasicBlockRef latch)
{
    if (!loop->operand_count)
        return latch;
    LLVMBuilderRef builder = emitter->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder), end = new_block(emitter);
    LLVMPositionBuilderAtEnd(builder, end);
    LLVMBuildStore(builder, LLVMConstNull(emitter->i8), place_of(emitter, loop->operands[0], 0, emitter->i8));
    LLVMValueRef cell = operand_parts(emitter, loop, 1)[0];
    LLVMValueRef count = LLVMBuildLoad2(builder, emitter->i32, cell, "");
    LLVMBuildStore(builder, LLVMBuildAdd(builder, count, const_i32(emitter, 1), ""), cell);
    LLVMBuildBr(builder, latch);
    LLVMPositionBuilderAtEnd(builder, here);
    return end;
}

/* Threads are numbered along the rows, so that neighbours in a row have neighbouring places in slots. */
static void emit_thread_index(Emitter *emitter, BlockFrame *frame, LLVMValueRef *index)
{
    LLVMBuilderRef builder = emitter->builder;
    const uint8_t *axes = host_loop_axes[emitter->function->row_axis];
    if (frame->first) {
        LLVMValueRef lane = index[0],
                     in_block[3] = {LLVMBuildNUWAdd(builder, frame->first, lane, ""), index[1], index[2]};
        host_set_thread_index(emitter, emitter->thread, in_block, frame->block_dim);
        LLVMBuildStore(builder, lane, host_field(emitter, emitter->thread, offsetof(HostThread, lane)));
        frame->thread_number = LLVMBuildZExt(builder, lane, emitter->i64, "");
        return;
    }
    host_set_thread_index(emitter, emitter->thread, index, frame->block_dim);
    frame->thread_number = LLVMBuildZExt(builder, index[axes[0]], emitter->i64, "");
    if (emitter->function->by_rows)
        return;
    LLVMValueRef row = LLVMBuildNUWMul(builder, index[axes[2]], frame->block_dim[axes[1]], "");
    row = LLVMBuildNUWMul(builder, LLVMBuildNUWAdd(builder, row, index[axes[1]], ""), frame->row, "");
    frame->thread_number =
        LLVMBuildNUWAdd(builder, LLVMBuildZExt(builder, row, emitter->i64, ""), frame->thread_number, "");
    LLVMSetNSW(frame->thread_number, true);
}

/* The first thread and the end of the loop over a row, where tests bound it. Control goes on where there are any, else to
 * `none`. */
static void emit_bounds(Emitter *emitter, BlockFrame *frame, const IrBlock *body, LLVMValueRef *index,
                        LLVMBasicBlockRef none, LLVMValueRef *first, LLVMValueRef *end)
{
    LLVMBuilderRef builder = emitter->builder;
    index[host_loop_axes[emitter->function->row_axis][0]] = const_i32(emitter, 0);
    emit_thread_index(emitter, frame, index);
    RowBounds bounds = emit_region_bounds(emitter, body);
    LLVMBasicBlockRef some = new_block(emitter);
    LLVMValueRef any = LLVMBuildICmp(builder, LLVMIntSLT, bounds.first, bounds.end, "");
    LLVMBuildCondBr(builder, any, some, none);
    LLVMPositionBuilderAtEnd(builder, some);
    *first = LLVMBuildTrunc(builder, bounds.first, emitter->i32, "");
    *end = LLVMBuildTrunc(builder, bounds.end, emitter->i32, "");
}

/* --- loops without indices ------------------------------------------------------------------------------------------------ */

/* What a thread needs of its place in the block for, but for its slots; a NOTE says it. Marked tests are made by loops over
 * rows. */
static bool asks_for_place(const IrValue *value)
{
    if (value->op == IR_BRANCH && value->hint != IR_BOUND_NONE)
        return true;
    if (value->op == IR_INTRINSIC) {
        const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
        return row->kind != INTRINSIC_KIND_MATH && row->family != FAMILY_BLOCK_REGISTER;
    }
    unsigned flags = ir_op_info[value->op].flags;
    bool is_known = flags & (IR_FLAG_PURE | IR_FLAG_READS | IR_FLAG_WRITES) || value->op == IR_JUMP ||
                    value->op == IR_BRANCH || value->op == IR_RETURN;
    return !is_known || value->op == IR_CALL || value->op == IR_CELL || value->op == IR_LOCAL || value->op == IR_NOTE;
}

/* Whether threads may be counted through, since none of them asks where it is. */
static bool is_flat(Emitter *emitter, const IrValue *loop)
{
    LoopBody body = find_loop_body(loop, emitter->arena);
    for (uint32_t i = 0; i < body.count; i++)
        for (const IrValue *value = body.blocks[i]->first; value; value = value->next)
            if (asks_for_place(value))
                return false;
    return true;
}

/* --- loops by rows -------------------------------------------------------------------------------------------------------- */

static void keep_independent(Emitter *emitter, const IrValue *value, const HostLoop *loop, LLVMBasicBlockRef latch,
                             LLVMValueRef branch)
{
    IndependentLoop *kept = ARENA_NEW(emitter->arena, IndependentLoop);
    if (!(value->hint & IR_THREADS_INDEPENDENT))
        return;
    *kept = (IndependentLoop){emitter->host->independent_loops, loop->body, latch, branch, emitter->thread,
                              emitter->function->by_warps};
    emitter->host->independent_loops = kept;
}

/* From the innermost loop to the body. Returns where it comes back to. */
static LLVMBasicBlockRef emit_way_to_body(Emitter *emitter, const IrValue *value)
{
    const BlockFrame *frame = emitter->host->frame;
    LLVMBasicBlockRef latch = new_block(emitter);
    if (frame->slots)
        warp_slots_open(emitter, frame->slots, frame->thread_number);
    if (value->operand_count)
        emit_who_takes_part(emitter, value, latch);
    emitter->unwind = emit_thread_end(emitter, value, latch);
    emitter->reports = NULL;
    LLVMBuildBr(emitter->builder, emitter->block_start[value->targets[1]->id]);
    LLVMPositionBuilderAtEnd(emitter->builder, latch);
    if (frame->slots)
        warp_slots_close(emitter, frame->slots, frame->thread_number);
    return latch;
}

/* A loop over a warp's threads is for the vectorizer, which leaves one trip of it or two: these are written out. */
static unsigned warp_loop_properties(Emitter *emitter, LLVMMetadataRef *properties)
{
    LLVMMetadataRef plain = loop_property(emitter, "llvm.loop.mustprogress", NULL);
    properties[0] = loop_property(emitter, "llvm.loop.unroll.disable", NULL);
    properties[1] = loop_property(emitter, "llvm.loop.vectorize.followup_vectorized", plain);
    return 2;
}

static void keep_warp_loop(Emitter *emitter, LLVMValueRef branch)
{
    LLVMMetadataRef properties[2];
    if (!emitter->function->by_warps)
        return;
    unsigned count = warp_loop_properties(emitter, properties);
    set_loop_node(emitter, branch, loop_node(emitter, properties, count));
}

/* Goes on behind the loop. Its own block then stands for where an iteration ends. */
static void leave_loop(Emitter *emitter, const IrValue *value, const BlockFrame *frame, LLVMBasicBlockRef latch)
{
    if (frame->slots)
        warp_slots_end(emitter, frame->slots);
    LLVMBuildBr(emitter->builder, emitter->block_start[value->targets[0]->id]);
    emitter->block_start[value->block->id] = latch;
}

static void emit_flat_loop(Emitter *emitter, const IrValue *value, BlockFrame *frame)
{
    HostLoop loop = host_loop_open(emitter, const_i32(emitter, 0), frame->thread_count);
    frame->thread_number = LLVMBuildZExt(emitter->builder, loop.index, emitter->i64, "");
    LLVMBasicBlockRef latch = emit_way_to_body(emitter, value);
    LLVMValueRef branch = host_loop_close(emitter, &loop);
    keep_warp_loop(emitter, branch);
    keep_independent(emitter, value, &loop, latch, branch);
    leave_loop(emitter, value, frame, latch);
}

/* A loop over parts of the row: returns it, with the first thread of a part and how many it has. */
static HostLoop open_row_parts(Emitter *emitter, BlockFrame *frame, RowParts *parts, LLVMValueRef *index,
                               LLVMValueRef first, LLVMValueRef end, LLVMValueRef *count)
{
    HostLoop loop = host_loop_open(emitter, first, end);
    index[host_loop_axes[emitter->function->row_axis][0]] = loop.index;
    emit_thread_index(emitter, frame, index);
    LLVMValueRef both[2] = {emit_row_part(emitter, parts)};
    both[1] = LLVMBuildNUWSub(emitter->builder, end, loop.index, "");
    *count = call_llvm(emitter, "llvm.umin", emitter->i32, 2, both);
    return loop;
}

/* The body comes back to the loop's block, which then stands for the end of an iteration: the block before the loop is
 * emitted already, and nothing else leads there. The body's own blocks are emitted next. */
static void emit_row_loops(Emitter *emitter, const IrValue *value, BlockFrame *frame)
{
    const uint8_t *axes = host_loop_axes[emitter->function->row_axis];
    bool is_one = emitter->function->by_rows || emitter->function->by_warps;
    LLVMValueRef index[3] = {frame->index[0], frame->index[1], frame->index[2]}, first = const_i32(emitter, 0),
                 end = frame->row;
    HostLoop loops[3]; /* the innermost one first */
    for (int i = 2; i > 0 && !is_one; i--) {
        index[axes[i]] = const_i32(emitter, 0);
        if (host_is_single(emitter->function, axes[i]))
            continue;
        loops[i] = host_loop_open(emitter, const_i32(emitter, 0), frame->block_dim[axes[i]]);
        index[axes[i]] = loops[i].index;
    }
    LLVMBasicBlockRef row_done = new_block(emitter);
    if (count_thread_bounds(value->targets[1]))
        emit_bounds(emitter, frame, value->targets[1], index, row_done, &first, &end);
    bool is_down = value->hint & IR_THREADS_DOWN;
    RowParts *parts = frame->slots || is_down ? NULL : find_row_parts(emitter, value);
    HostLoop part;
    LLVMValueRef count = NULL;
    if (parts) {
        part = open_row_parts(emitter, frame, parts, index, first, end, &count);
        first = part.index;
        end = LLVMBuildNUWAdd(emitter->builder, first, count, "");
    }
    loops[0] = is_down ? host_loop_open_down(emitter, first, end) : host_loop_open(emitter, first, end);
    index[axes[0]] = loops[0].index;
    emit_thread_index(emitter, frame, index);
    if (parts)
        enter_row_part(emitter, parts, LLVMBuildNUWSub(emitter->builder, loops[0].index, first, ""));
    LLVMBasicBlockRef latch = emit_way_to_body(emitter, value);
    LLVMValueRef branch = is_down ? host_loop_close_down(emitter, &loops[0]) : host_loop_close(emitter, &loops[0]);
    keep_warp_loop(emitter, branch);
    if (parts)
        host_loop_keep_rolled(emitter, host_loop_close_by(emitter, &part, count));
    LLVMBuildBr(emitter->builder, row_done);
    LLVMPositionBuilderAtEnd(emitter->builder, row_done);
    keep_independent(emitter, value, &loops[0], latch, branch);
    for (int i = 1; i < 3 && !is_one; i++)
        if (!host_is_single(emitter->function, axes[i]))
            host_loop_keep_rolled(emitter, host_loop_close(emitter, &loops[i]));
    leave_loop(emitter, value, frame, latch);
}

void emit_op_THREAD_LOOP(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    BlockFrame *frame = frame_of(emitter, value);
    if (frame && frame->slots)
        warp_slots_begin(emitter, frame->slots, value);
    if (frame && !(value->hint & IR_THREADS_DOWN) && is_flat(emitter, value))
        emit_flat_loop(emitter, value, frame);
    else if (frame)
        emit_row_loops(emitter, value, frame);
}

/* --- independence ------------------------------------------------------------------------------------------------------- */

/* Memory of the function's own, which all iterations share. Slots of a warp are such, too, but each lane has its own place,
 * which is no constant. */
static bool is_own_memory(const IndependentLoop *loop, LLVMValueRef pointer)
{
    bool is_of_lane = false;
    for (; LLVMIsAGetElementPtrInst(pointer); pointer = LLVMGetOperand(pointer, 0))
        is_of_lane |= !LLVMIsConstant(LLVMGetOperand(pointer, (unsigned)LLVMGetNumOperands(pointer) - 1));
    return (LLVMIsAAllocaInst(pointer) && !(loop->is_of_warp && is_of_lane)) || pointer == loop->thread;
}

/* What LLVM is told of threads that pass a test counts as an access of memory. */
static bool is_assumption(LLVMValueRef call)
{
    size_t length;
    static const char name[] = "llvm.assume";
    const char *callee = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
    return length == sizeof name - 1 && !memcmp(callee, name, length);
}

static void mark_accesses(Emitter *emitter, const IndependentLoop *loop, LLVMBasicBlockRef block, LLVMValueRef node)
{
    unsigned access = LLVMGetMDKindIDInContext(emitter->context, "llvm.mem.parallel_loop_access", 29);
    for (LLVMValueRef value = LLVMGetFirstInstruction(block); value; value = LLVMGetNextInstruction(value)) {
        LLVMOpcode code = LLVMGetInstructionOpcode(value);
        bool is_access = (code == LLVMLoad || code == LLVMStore) && !LLVMGetVolatile(value) &&
                         !is_own_memory(loop, LLVMGetOperand(value, code == LLVMStore));
        if (is_access || (code == LLVMCall && is_assumption(value)))
            LLVMSetMetadata(value, access, node);
    }
}

/* Every block from the first one to the latch. */
static void mark_body(Emitter *emitter, const IndependentLoop *loop, LLVMValueRef node)
{
    uint32_t depth = 0, most = LLVMCountBasicBlocks(LLVMGetBasicBlockParent(loop->first));
    LLVMBasicBlockRef *stack = ARENA_ARRAY(emitter->arena, LLVMBasicBlockRef, most + 1);
    Table *seen = table_create();
    table_set(seen, &loop->latch, sizeof loop->latch, loop->latch);
    table_set(seen, &loop->first, sizeof loop->first, loop->first);
    stack[depth++] = loop->first;
    while (depth) {
        LLVMBasicBlockRef block = stack[--depth];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        mark_accesses(emitter, loop, block, node);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
            if (table_get(seen, &next, sizeof next))
                continue;
            table_set(seen, &next, sizeof next, next);
            stack[depth++] = next;
        }
    }
    table_destroy(seen);
}

void mark_independent_loops(Emitter *emitter)
{
    for (const IndependentLoop *loop = emitter->host->independent_loops; loop; loop = loop->next) {
        LLVMMetadataRef properties[2] = {loop_property(emitter, "llvm.loop.mustprogress", NULL)};
        LLVMValueRef node =
            loop_node(emitter, properties, loop->is_of_warp ? warp_loop_properties(emitter, properties) : 1);
        set_loop_node(emitter, loop->branch, node);
        mark_body(emitter, loop, node);
    }
}
