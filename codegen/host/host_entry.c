/* The entry of a kernel on the CPU device, around its body: NAME.blocks, where no thread has to be real, runs blocks as
 * loops that LLVM can vectorize; else NAME.thread runs one thread. Parameters are loaded once, outside all loops. A kernel
 * that is one grid-stride loop (stride_loop.c) is run trip by trip: all threads of a block take the first trip, then the
 * next. */
#include <stddef.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/host_emitter.h"
#include "codegen/host/host_entry.h"
#include "codegen/host/host_loop.h"
#include "codegen/host/memory_kinds.h"
#include "codegen/host/private_copy.h"
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/row_bounds.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/host/regions/thread_loop.h"
#include "codegen/ir_to_llvm.h"

enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC, LONGEST_ROW = 4096 /* threads of joined blocks */ };

typedef struct Entry {
    const EmittedFunction *body;
    EmittedFunction trip; /* one trip of the stride loop; llvm NULL: the kernel is none */
    EmittedFunction range; /* which threads of a row have anything to do; llvm NULL: all may have */
    LLVMValueRef *arguments; /* of the body: the thread, then the fields of the parameters; then the trip's number */
    uint32_t argument_count; /* of the body */
    PrivateCopy private;
    LLVMValueRef index[3]; /* of the threads along axes that the runtime runs the entry along; else NULL */
    LLVMValueRef any_trip; /* i1 in memory: whether a thread of the block had the trip */
    /* Where trips raise, in memory: whether a thread of the block has, i1; which ones have, i8 by their place in the block. */
    LLVMValueRef any_raised, raised;
    LLVMValueRef place; /* of the thread in the block, i32 */
} Entry;

static void load_arguments(Emitter *emitter, Entry *entry, LLVMValueRef thread)
{
    LLVMValueRef parameters = LLVMBuildLoad2(emitter->builder, emitter->pointer_type,
                                             host_field(emitter, thread, offsetof(HostThread, parameters)), "");
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, entry->argument_count);
    LLVMGetParamTypes(entry->body->type, types);
    for (uint32_t i = 0; i < emitter->abi->field_count; i++) {
        const AbiField *field = &emitter->abi->fields[i];
        LLVMValueRef address = offset_address(emitter, parameters, field->offset);
        LLVMValueRef value =
            field->kind == ABI_VALUE ? address : LLVMBuildLoad2(emitter->builder, types[i + 1], address, "");
        if (field->kind == ABI_EXTENT)
            set_load_range(emitter, value, 0, KERNEL_ABI_MAX_EXTENT + 1);
        entry->arguments[i + 1] = value;
    }
}

static LLVMValueRef start_entry(Emitter *emitter, const char *suffix, LLVMTypeRef *types, unsigned count)
{
    const char *name = arena_format(emitter->arena, "%s.%s", emitter->entry, suffix);
    LLVMTypeRef type = LLVMFunctionType(emitter->void_type, types, count, false);
    LLVMValueRef function = LLVMAddFunction(emitter->llvm_module, name, type);
    add_function_attribute(emitter, function, "nounwind", 0);
    LLVMAddAttributeAtIndex(function, 1, enum_attribute(emitter, "noalias", 0));
    LLVMAddAttributeAtIndex(function, 1, enum_attribute(emitter, "dereferenceable", sizeof(HostThread)));
    emitter->llvm_function = function;
    emitter->prologue = new_block(emitter);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    return function;
}

static void call_body(Emitter *emitter, Entry *entry, LLVMValueRef thread)
{
    entry->arguments[0] = thread;
    LLVMBuildCall2(emitter->builder, entry->body->type, entry->body->llvm, entry->arguments, entry->argument_count, "");
}

static void emit_thread_entry(Emitter *emitter, Entry *entry)
{
    LLVMValueRef function = start_entry(emitter, "thread", &emitter->pointer_type, 1);
    load_arguments(emitter, entry, LLVMGetParam(function, 0));
    call_body(emitter, entry, LLVMGetParam(function, 0));
    LLVMBuildRetVoid(emitter->builder);
}

/* --- all threads of a range of blocks ----------------------------------------------------------------------------------------------- */

/* What every thread of the launch has alike. */
typedef struct Frame {
    LLVMValueRef block_dim[3], grid_dim[3], cluster_dim[3];
    LLVMValueRef shared, dynamic_shared, dynamic_size, parameters, services, runtime, overflows, context, stack_end,
        private_copy, private_size;
    LLVMValueRef row_length;
    LLVMValueRef thread; /* the alloca that the body sees */
} Frame;

static LLVMValueRef load_extent(Emitter *emitter, LLVMValueRef frame, size_t offset, IntrinsicId row)
{
    LLVMValueRef value = LLVMBuildLoad2(emitter->builder, emitter->i32, host_field(emitter, frame, offset), "");
    set_load_range(emitter, value, intrinsic_info[row].low, intrinsic_info[row].high + 1);
    return value;
}

static LLVMValueRef load_pointer(Emitter *emitter, LLVMValueRef frame, size_t offset)
{
    return LLVMBuildLoad2(emitter->builder, emitter->pointer_type, host_field(emitter, frame, offset), "");
}

static Frame load_frame(Emitter *emitter, const IrFunc *kernel, LLVMValueRef from)
{
    Frame frame = {0};
    for (uint32_t axis = 0; axis < 3; axis++) {
        frame.block_dim[axis] = host_is_single(kernel, axis)
                                    ? const_i32(emitter, 1)
                                    : load_extent(emitter, from, offsetof(HostThread, block_dim) + 4 * axis,
                                                  intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, axis));
        frame.grid_dim[axis] = load_extent(emitter, from, offsetof(HostThread, grid_dim) + 4 * axis,
                                           intrinsic_on_axis(INTRINSIC_CUDA_GRID_DIM, axis));
        LLVMValueRef cluster_dim = host_field(emitter, from, offsetof(HostThread, cluster_dim) + 4 * axis);
        frame.cluster_dim[axis] = LLVMBuildLoad2(emitter->builder, emitter->i32, cluster_dim, "");
    }
    frame.shared = load_pointer(emitter, from, offsetof(HostThread, shared));
    frame.dynamic_shared = load_pointer(emitter, from, offsetof(HostThread, dynamic_shared));
    frame.parameters = load_pointer(emitter, from, offsetof(HostThread, parameters));
    frame.services = load_pointer(emitter, from, offsetof(HostThread, services));
    frame.context = load_pointer(emitter, from, offsetof(HostThread, context));
    frame.stack_end = load_pointer(emitter, from, offsetof(HostThread, stack_end));
    frame.runtime = load_pointer(emitter, from, offsetof(HostThread, runtime));
    frame.overflows = load_pointer(emitter, from, offsetof(HostThread, overflows));
    frame.dynamic_size = LLVMBuildLoad2(emitter->builder, emitter->i64,
                                        host_field(emitter, from, offsetof(HostThread, dynamic_size)), "");
    frame.thread = prologue_alloca(emitter, sizeof(HostThread), _Alignof(HostThread));
    return frame;
}

static void set_field(Emitter *emitter, const Frame *frame, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(emitter->builder, value, host_field(emitter, frame->thread, offset));
}

/* Every field in every iteration: only then do the stores dissolve into values. */
static void fill_thread(Emitter *emitter, const Frame *frame, LLVMValueRef *block, LLVMValueRef *thread)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        set_field(emitter, frame, offsetof(HostThread, block_index) + 4 * axis, block[axis]);
        set_field(emitter, frame, offsetof(HostThread, block_dim) + 4 * axis, frame->block_dim[axis]);
        set_field(emitter, frame, offsetof(HostThread, grid_dim) + 4 * axis, frame->grid_dim[axis]);
        set_field(emitter, frame, offsetof(HostThread, cluster_dim) + 4 * axis, frame->cluster_dim[axis]);
    }
    host_set_thread_index(emitter, frame->thread, thread, frame->block_dim);
    set_field(emitter, frame, offsetof(HostThread, shared), frame->shared);
    set_field(emitter, frame, offsetof(HostThread, dynamic_shared), frame->dynamic_shared);
    set_field(emitter, frame, offsetof(HostThread, dynamic_size), frame->dynamic_size);
    set_field(emitter, frame, offsetof(HostThread, parameters), frame->parameters);
    set_field(emitter, frame, offsetof(HostThread, services), frame->services);
    set_field(emitter, frame, offsetof(HostThread, runtime), frame->runtime);
    set_field(emitter, frame, offsetof(HostThread, overflows), frame->overflows);
    set_field(emitter, frame, offsetof(HostThread, context), frame->context);
    set_field(emitter, frame, offsetof(HostThread, stack_end), frame->stack_end);
    set_field(emitter, frame, offsetof(HostThread, private_copy), frame->private_copy);
    set_field(emitter, frame, offsetof(HostThread, private_size), frame->private_size);
    set_field(emitter, frame, offsetof(HostThread, row_length), frame->row_length);
}

/* Blocks follow each other along the rows, as their threads do. */
static void split_block_number(Emitter *emitter, const Frame *frame, const uint8_t *axes, LLVMValueRef number,
                               LLVMValueRef *block)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef width = LLVMBuildZExt(builder, frame->grid_dim[axes[0]], emitter->i64, "");
    LLVMValueRef height = LLVMBuildZExt(builder, frame->grid_dim[axes[1]], emitter->i64, "");
    LLVMValueRef rows = LLVMBuildUDiv(builder, number, width, "");
    block[axes[0]] = LLVMBuildTrunc(builder, LLVMBuildURem(builder, number, width, ""), emitter->i32, "");
    block[axes[1]] = LLVMBuildTrunc(builder, LLVMBuildURem(builder, rows, height, ""), emitter->i32, "");
    block[axes[2]] = LLVMBuildTrunc(builder, LLVMBuildUDiv(builder, rows, height, ""), emitter->i32, "");
}

/* Asks which threads of a row have something to do; control goes on where some have, else to `none`. */
static void emit_row_bounds(Emitter *emitter, Entry *entry, const Frame *frame, LLVMBasicBlockRef none,
                            LLVMValueRef *first, LLVMValueRef *end)
{
    LLVMBuilderRef builder = emitter->builder;
    entry->arguments[0] = frame->thread;
    LLVMValueRef both = LLVMBuildCall2(builder, entry->range.type, entry->range.llvm, entry->arguments,
                                       LLVMCountParamTypes(entry->range.type), "");
    LLVMValueRef from = LLVMBuildExtractValue(builder, both, 0, ""), to = LLVMBuildExtractValue(builder, both, 1, "");
    LLVMBasicBlockRef some = new_block(emitter);
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntSLT, from, to, ""), some, none);
    LLVMPositionBuilderAtEnd(builder, some);
    *first = LLVMBuildTrunc(builder, from, emitter->i32, "");
    *end = LLVMBuildTrunc(builder, to, emitter->i32, "");
}

static LLVMValueRef place_in_block(Emitter *emitter, const Frame *frame, LLVMValueRef *thread)
{
    LLVMValueRef place = thread[2];
    for (int axis = 1; axis >= 0; axis--)
        place = LLVMBuildAdd(emitter->builder, LLVMBuildMul(emitter->builder, place, frame->block_dim[axis], ""),
                             thread[axis], "");
    return place;
}

/* Runs `run` for all threads of a block, row by row. */
static void emit_thread_loops(Emitter *emitter, Entry *entry, const Frame *frame, LLVMValueRef *block,
                              void (*run)(Emitter *emitter, Entry *entry, LLVMValueRef thread))
{
    const uint8_t *axes = host_loop_axes[entry->body->ir->row_axis];
    LLVMValueRef thread[3], first = const_i32(emitter, 0), end = frame->row_length;
    HostLoop loops[3]; /* the innermost one first */
    for (int i = 2; i > 0; i--) {
        thread[axes[i]] = entry->index[axes[i]];
        if (thread[axes[i]])
            continue;
        loops[i] = host_loop_open(emitter, const_i32(emitter, 0), frame->block_dim[axes[i]]);
        thread[axes[i]] = loops[i].index;
    }
    LLVMBasicBlockRef row_done = new_block(emitter);
    if (entry->range.llvm) {
        thread[axes[0]] = first;
        fill_thread(emitter, frame, block, thread);
        emit_row_bounds(emitter, entry, frame, row_done, &first, &end);
    }
    loops[0] = host_loop_open(emitter, first, end);
    thread[axes[0]] = loops[0].index;
    fill_thread(emitter, frame, block, thread);
    if (entry->raised)
        entry->place = place_in_block(emitter, frame, thread);
    run(emitter, entry, frame->thread);
    host_loop_close(emitter, &loops[0]);
    LLVMBuildBr(emitter->builder, row_done);
    LLVMPositionBuilderAtEnd(emitter->builder, row_done);
    for (int i = 1; i < 3; i++)
        if (!entry->index[axes[i]])
            host_loop_keep_rolled(emitter, host_loop_close(emitter, &loops[i]));
}

/* The body runs all threads of the block by itself, or those of a row, or of a warp. */
static void emit_block_call(Emitter *emitter, Entry *entry, const Frame *frame, LLVMValueRef *block)
{
    const uint8_t *axes = host_loop_axes[entry->body->ir->row_axis];
    bool by_warps = entry->body->ir->by_warps;
    int innermost = by_warps ? 0 : entry->body->ir->by_rows ? 1 : 3;
    LLVMValueRef thread[3] = {const_i32(emitter, 0), const_i32(emitter, 0), const_i32(emitter, 0)};
    HostLoop loops[3];
    for (int i = 2; i >= innermost; i--) {
        if (i > 0 && host_is_single(entry->body->ir, axes[i]))
            continue;
        loops[i] = host_loop_open(emitter, const_i32(emitter, 0), frame->block_dim[axes[i]]);
        thread[axes[i]] = loops[i].index;
    }
    fill_thread(emitter, frame, block, thread);
    call_body(emitter, entry, frame->thread);
    for (int i = innermost; i < 3; i++) {
        if (i > 0 && host_is_single(entry->body->ir, axes[i]))
            continue;
        LLVMValueRef step = const_i32(emitter, i == 0 ? HOST_WARP : 1);
        host_loop_keep_rolled(emitter, host_loop_close_by(emitter, &loops[i], step));
    }
}

/* --- threads that have raised: they have no other trips --------------------------------------------------------------------- */

static void forget_raised(Emitter *emitter, const Entry *entry)
{
    LLVMBuildStore(emitter->builder, LLVMConstNull(emitter->i1), entry->any_raised);
    LLVMBuildMemSet(emitter->builder, entry->raised, LLVMConstNull(emitter->i8),
                    const_i64(emitter, HOST_JOINED_THREADS), 1);
}

/* In the block before. */
static void forget_raised_if_any(Emitter *emitter, const Entry *entry)
{
    LLVMBasicBlockRef some = new_block(emitter), none = new_block(emitter);
    LLVMValueRef any = LLVMBuildLoad2(emitter->builder, emitter->i1, entry->any_raised, "");
    LLVMBuildCondBr(emitter->builder, any, some, none);
    LLVMPositionBuilderAtEnd(emitter->builder, some);
    forget_raised(emitter, entry);
    LLVMBuildBr(emitter->builder, none);
    LLVMPositionBuilderAtEnd(emitter->builder, none);
}

static LLVMValueRef place_of_thread(Emitter *emitter, const Entry *entry)
{
    return LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, entry->raised, (LLVMValueRef[]){entry->place}, 1, "");
}

/* Control goes on where the thread has not raised. Returns the block behind the trip. */
static LLVMBasicBlockRef skip_raised(Emitter *emitter, const Entry *entry)
{
    LLVMBasicBlockRef asks = new_block(emitter), runs = new_block(emitter), done = new_block(emitter);
    LLVMValueRef any = LLVMBuildLoad2(emitter->builder, emitter->i1, entry->any_raised, "");
    LLVMBuildCondBr(emitter->builder, any, asks, runs);
    LLVMPositionBuilderAtEnd(emitter->builder, asks);
    LLVMValueRef own = LLVMBuildLoad2(emitter->builder, emitter->i8, place_of_thread(emitter, entry), "");
    LLVMValueRef has = LLVMBuildICmp(emitter->builder, LLVMIntNE, own, LLVMConstNull(emitter->i8), "");
    LLVMBuildCondBr(emitter->builder, has, done, runs);
    LLVMPositionBuilderAtEnd(emitter->builder, runs);
    return done;
}

static void remember_raised(Emitter *emitter, const Entry *entry, LLVMValueRef has_raised, LLVMBasicBlockRef done)
{
    LLVMBasicBlockRef notes = new_block(emitter);
    LLVMBuildCondBr(emitter->builder, has_raised, notes, done);
    LLVMPositionBuilderAtEnd(emitter->builder, notes);
    LLVMBuildStore(emitter->builder, LLVMConstInt(emitter->i1, 1, false), entry->any_raised);
    LLVMBuildStore(emitter->builder, LLVMConstInt(emitter->i8, 1, false), place_of_thread(emitter, entry));
    LLVMBuildBr(emitter->builder, done);
    LLVMPositionBuilderAtEnd(emitter->builder, done);
}

/* --- trips -------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef is_result(Emitter *emitter, LLVMValueRef result, TripResult wanted)
{
    return LLVMBuildICmp(emitter->builder, LLVMIntEQ, result, LLVMConstInt(emitter->i8, wanted, false), "");
}

/* One trip of one thread; remembers that there was one. */
static void call_trip(Emitter *emitter, Entry *entry, LLVMValueRef thread)
{
    entry->arguments[0] = thread;
    LLVMBasicBlockRef done = entry->raised ? skip_raised(emitter, entry) : NULL;
    LLVMValueRef result = LLVMBuildCall2(emitter->builder, entry->trip.type, entry->trip.llvm, entry->arguments,
                                         entry->argument_count + 1, "");
    LLVMValueRef had = is_result(emitter, result, TRIP_HAD);
    LLVMValueRef before = LLVMBuildLoad2(emitter->builder, emitter->i1, entry->any_trip, "");
    LLVMBuildStore(emitter->builder, LLVMBuildOr(emitter->builder, before, had, ""), entry->any_trip);
    if (entry->raised)
        remember_raised(emitter, entry, is_result(emitter, result, TRIP_RAISED), done);
}

/* Trips of a block's threads, until none of them has one. */
static void emit_trip_loop(Emitter *emitter, Entry *entry, const Frame *frame, LLVMValueRef *block)
{
    LLVMBuilderRef builder = emitter->builder;
    if (entry->raised)
        forget_raised_if_any(emitter, entry);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), body = new_block(emitter), after = new_block(emitter);
    LLVMValueRef zero = const_i64(emitter, 0);
    LLVMBuildBr(builder, body);
    LLVMPositionBuilderAtEnd(builder, body);
    LLVMValueRef trip = LLVMBuildPhi(builder, emitter->i64, "");
    entry->arguments[entry->argument_count] = trip;
    LLVMBuildStore(builder, LLVMConstNull(emitter->i1), entry->any_trip);
    emit_thread_loops(emitter, entry, frame, block, call_trip);
    LLVMValueRef next = LLVMBuildNSWAdd(builder, trip, const_i64(emitter, 1), "");
    LLVMSetNUW(next, true);
    LLVMValueRef any = LLVMBuildLoad2(builder, emitter->i1, entry->any_trip, "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(builder);
    LLVMBuildCondBr(builder, any, body, after);
    LLVMAddIncoming(trip, (LLVMValueRef[]){zero, next}, (LLVMBasicBlockRef[]){before, end}, 2);
    LLVMPositionBuilderAtEnd(builder, after);
}

/* How many blocks may be joined. Where something is kept for each thread there is room for so many of them only. */
static LLVMValueRef most_joined(Emitter *emitter, const Entry *entry, const Frame *frame)
{
    LLVMBuilderRef builder = emitter->builder;
    const uint8_t *axes = host_loop_axes[entry->body->ir->row_axis];
    bool keeps = has_thread_loops(entry->body->ir);
    LLVMValueRef threads = frame->block_dim[axes[0]];
    for (int i = 1; i < 3 && keeps; i++)
        threads = LLVMBuildMul(builder, threads, frame->block_dim[axes[i]], "");
    LLVMValueRef most =
        LLVMBuildUDiv(builder, const_i32(emitter, keeps ? HOST_JOINED_THREADS : LONGEST_ROW), threads, "");
    most = call_llvm(emitter, "llvm.umax", emitter->i32, 2, (LLVMValueRef[]){most, const_i32(emitter, 1)});
    return LLVMBuildZExt(builder, most, emitter->i64, "");
}

/* The block and those behind it in its row of the grid, up to `end`, at most so many. Returns how many. */
static LLVMValueRef join_blocks(Emitter *emitter, const Entry *entry, Frame *frame, const HostLoop *blocks,
                                LLVMValueRef *block, LLVMValueRef most)
{
    LLVMBuilderRef builder = emitter->builder;
    uint8_t axis = entry->body->ir->row_axis;
    LLVMValueRef in_row = LLVMBuildSub(builder, frame->grid_dim[axis], block[axis], "");
    LLVMValueRef left = LLVMBuildSub(builder, blocks->end, blocks->index, "");
    in_row = LLVMBuildZExt(builder, in_row, emitter->i64, "");
    left = call_llvm(emitter, "llvm.umin", emitter->i64, 2, (LLVMValueRef[]){left, in_row});
    left = call_llvm(emitter, "llvm.umin", emitter->i64, 2, (LLVMValueRef[]){left, most});
    LLVMValueRef count = LLVMBuildTrunc(builder, left, emitter->i32, "");
    frame->row_length = LLVMBuildNUWMul(builder, count, frame->block_dim[axis], "");
    LLVMSetNSW(frame->row_length, true);
    return left;
}

static void emit_block_loops(Emitter *emitter, Entry *entry, Frame *frame, LLVMValueRef first, LLVMValueRef end)
{
    LLVMValueRef block[3], step = const_i64(emitter, 1);
    bool joins = entry->body->ir->joins_rows;
    LLVMValueRef most = joins ? most_joined(emitter, entry, frame) : NULL;
    HostLoop blocks = host_loop_open(emitter, first, end);
    split_block_number(emitter, frame, host_loop_axes[entry->body->ir->row_axis], blocks.index, block);
    frame->row_length = frame->block_dim[entry->body->ir->row_axis];
    if (joins)
        step = join_blocks(emitter, entry, frame, &blocks, block, most);
    if (has_thread_loops(entry->body->ir))
        emit_block_call(emitter, entry, frame, block);
    else if (entry->trip.llvm)
        emit_trip_loop(emitter, entry, frame, block);
    else
        emit_thread_loops(emitter, entry, frame, block, call_body);
    host_loop_keep_rolled(emitter, host_loop_close_by(emitter, &blocks, step));
    end_private_copy(emitter, &entry->private);
    LLVMBuildRetVoid(emitter->builder);
}

/* Of so many blocks. */
static LLVMValueRef threads_of(Emitter *emitter, const Frame *frame, LLVMValueRef blocks)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        LLVMValueRef dim = LLVMBuildZExt(emitter->builder, frame->block_dim[axis], emitter->i64, "");
        blocks = LLVMBuildMul(emitter->builder, blocks, dim, "");
    }
    return blocks;
}

/* Loops along these axes would have one trip as a rule, but take as long to compile as others. */
static void leave_repeated_axes(Emitter *emitter, Entry *entry, LLVMValueRef from)
{
    uint32_t axes = has_thread_loops(entry->body->ir) ? 0 : axes_of_alike_threads(emitter->ir);
    emitter->host->repeated_axes = axes;
    for (uint32_t axis = 0; axis < 3; axis++)
        if (axes >> axis & 1)
            entry->index[axis] = load_extent(emitter, from, offsetof(HostThread, thread_index) + 4 * axis,
                                             intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, axis));
}

static void emit_blocks_entry(Emitter *emitter, Entry *entry)
{
    LLVMTypeRef types[3] = {emitter->pointer_type, emitter->i64, emitter->i64};
    LLVMValueRef function = start_entry(emitter, "blocks", types, 3);
    LLVMValueRef from = LLVMGetParam(function, 0), first = LLVMGetParam(function, 1);
    LLVMValueRef count = LLVMGetParam(function, 2);
    LLVMBasicBlockRef some = new_block(emitter), none = new_block(emitter);
    LLVMPositionBuilderAtEnd(emitter->builder, some);
    Frame frame = load_frame(emitter, entry->body->ir, from);
    leave_repeated_axes(emitter, entry, from);
    load_arguments(emitter, entry, from);
    entry->private =
        begin_private_copy(emitter, entry->body->ir, entry->arguments + 1, threads_of(emitter, &frame, count));
    frame.private_copy = entry->private.copy;
    frame.private_size = entry->private.size;
    if (entry->trip.llvm)
        entry->any_trip = prologue_alloca(emitter, 1, 1);
    if (entry->trip.llvm && ir_kernel_raises(emitter->ir, emitter->arena)) {
        entry->any_raised = prologue_alloca(emitter, 1, 1);
        entry->raised = prologue_alloca(emitter, HOST_JOINED_THREADS, 64);
        forget_raised(emitter, entry);
    }
    LLVMValueRef end = LLVMBuildNSWAdd(emitter->builder, first, count, "");
    emit_block_loops(emitter, entry, &frame, first, end);
    LLVMPositionBuilderAtEnd(emitter->builder, none);
    LLVMBuildRetVoid(emitter->builder);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    LLVMValueRef any = LLVMBuildICmp(emitter->builder, LLVMIntSGT, count, const_i64(emitter, 0), "");
    LLVMBuildCondBr(emitter->builder, any, some, none);
}

/* --- the kernel's function ---------------------------------------------------------------------------------------------- */

/* A copy takes as long as a pass, and is as large as what LLVM works on in the first place: larger than the processor's caches
 * from there on. */
void inline_kernel(Emitter *emitter, LLVMValueRef function)
{
    enum { MOST_BLOCKS_OF_COPY = 4096 };
    bool is_copied = emitter->ir->first->block_count <= MOST_BLOCKS_OF_COPY;
    add_function_attribute(emitter, function, is_copied ? "alwaysinline" : "noinline", 0);
}

/* --- one trip ----------------------------------------------------------------------------------------------------------- */

static bool expect_trip(Emitter *emitter, const IrValue *value)
{
    return emitter->emitted->is_trip ||
           diag_fail(emitter->diag, &value->pos, DIAG_IR_INVALID, emitter->function->name, "no kernel of trips");
}

void emit_op_TRIP(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    if (expect_trip(emitter, value))
        out[0] = LLVMGetLastParam(emitter->llvm_function);
}

void emit_op_NEXT_TRIP(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    if (expect_trip(emitter, value))
        LLVMBuildRet(emitter->builder, LLVMConstInt(emitter->i8, TRIP_HAD, false));
}

/* In the place of the kernel's function, one with the trip's number as another parameter. */
static void emit_trip(Emitter *emitter, Entry *entry)
{
    uint32_t count = entry->argument_count;
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    LLVMGetParamTypes(entry->body->type, types);
    types[count] = emitter->i64;
    LLVMTypeRef type = LLVMFunctionType(emitter->i8, types, count + 1, false);
    const char *name = arena_format(emitter->arena, "cujit.%s.trip", emitter->entry);
    entry->trip = (EmittedFunction){.ir = entry->body->ir,
                                    .llvm = LLVMAddFunction(emitter->llvm_module, name, type),
                                    .type = type,
                                    .is_trip = true};
    LLVMSetLinkage(entry->trip.llvm, LLVMInternalLinkage);
    inline_kernel(emitter, entry->trip.llvm);
    add_function_attribute(emitter, entry->trip.llvm, "nounwind", 0);
    LLVMAddAttributeAtIndex(entry->trip.llvm, 1, enum_attribute(emitter, "noalias", 0));
    emit_function_body(emitter, &entry->trip);
    LLVMDeleteFunction(entry->body->llvm);
}

/* --- what a kernel is run by -------------------------------------------------------------------------------------------- */

bool emit_host_kernel(Emitter *emitter, const EmittedFunction *kernel)
{
    if (has_thread_loops(kernel->ir)) {
        emit_block_function(emitter, kernel);
        separate_memory_kinds(emitter, kernel);
    }
    return has_thread_loops(kernel->ir) || is_one_trip(kernel->ir);
}

void emit_host_entries(Emitter *emitter, const EmittedFunction *body)
{
    Entry entry = {.body = body, .argument_count = LLVMCountParamTypes(body->type)};
    entry.arguments = ARENA_ARRAY(emitter->arena, LLVMValueRef, entry.argument_count + 1);
    LLVMAddAttributeAtIndex(body->llvm, 1, enum_attribute(emitter, "noalias", 0));
    if (!check_thread_bounds(emitter, body->ir))
        return;
    if (emitter->effects & WAITS) {
        emit_thread_entry(emitter, &entry);
        return;
    }
    if (is_one_trip(body->ir))
        emit_trip(emitter, &entry);
    if (!has_thread_loops(body->ir) && count_thread_bounds(body->ir->first))
        entry.range = emit_row_bounds_function(emitter, entry.trip.llvm ? &entry.trip : body);
    emit_blocks_entry(emitter, &entry);
}
