/* Emits shuffles and votes between the threads of a block, whose values lie in slots: one function for each kind, which goes
 * over all warps. A shuffle by one power of two for all lanes permutes 32 lanes that are loaded at once; others go from lane
 * to lane, in vectors where the processor can gather. A vote compares 32 lanes at once. */
#include "codegen/host/regions/warp_exchange.h"

#include <stddef.h>

#include "codegen/emit_tools.h"
#include "codegen/host/host_loop.h"
#include "core/host_abi.h"

enum { ALIGNMENT = 32 };

/* The parameters of the function that is emitted. */
typedef struct Exchange {
    IntrinsicId operation;
    LLVMTypeRef word; /* of a lane's value */
    LLVMValueRef given, places, asked, going, results, threads; /* places or asked, going: NULL where there are none */
} Exchange;

/* --- lanes one by one ----------------------------------------------------------------------------------------------------- */

static LLVMValueRef item(Emitter *emitter, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef place)
{
    return LLVMBuildInBoundsGEP2(emitter->builder, type, array, &place, 1, "");
}

static LLVMValueRef load_item(Emitter *emitter, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef place)
{
    return LLVMBuildLoad2(emitter->builder, type, item(emitter, type, array, place), "");
}

/* Which thread this one reads, as a place in the block. *is_there: whether its segment has such a lane. */
static LLVMValueRef source_of(Emitter *emitter, IntrinsicId operation, LLVMValueRef thread, LLVMValueRef asked,
                              LLVMValueRef *is_there)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef last_lane = const_i64(emitter, HOST_WARP - 1);
    asked = LLVMBuildZExt(builder, asked, emitter->i64, "");
    LLVMValueRef place = LLVMBuildAnd(builder, asked, last_lane, "");
    LLVMValueRef segment =
        LLVMBuildAnd(builder, LLVMBuildLShr(builder, asked, const_i64(emitter, 8), ""), last_lane, "");
    LLVMValueRef inside = LLVMBuildXor(builder, segment, last_lane, ""); /* bits of a lane within its segment */
    LLVMValueRef lane = LLVMBuildAnd(builder, thread, last_lane, "");
    LLVMValueRef first = LLVMBuildAnd(builder, lane, segment, ""), last = LLVMBuildOr(builder, first, inside, ""), sum;
    switch (operation) {
    case INTRINSIC_CUDA_SHFL_UP_SYNC:
        *is_there = LLVMBuildICmp(builder, LLVMIntUGE, lane, LLVMBuildAdd(builder, first, place, ""), "");
        return LLVMBuildSub(builder, thread, place, "");
    case INTRINSIC_CUDA_SHFL_DOWN_SYNC:
        sum = LLVMBuildAdd(builder, lane, place, "");
        *is_there = LLVMBuildICmp(builder, LLVMIntULE, sum, last, "");
        return LLVMBuildAdd(builder, thread, place, "");
    case INTRINSIC_CUDA_SHFL_XOR_SYNC:
        *is_there = LLVMBuildICmp(builder, LLVMIntULE, LLVMBuildXor(builder, lane, place, ""), last, "");
        return LLVMBuildXor(builder, thread, place, "");
    default:
        *is_there = LLVMConstInt(LLVMInt1TypeInContext(emitter->context), 1, false);
        sum = LLVMBuildOr(builder, first, LLVMBuildAnd(builder, place, inside, ""), "");
        return LLVMBuildOr(builder, LLVMBuildSub(builder, thread, lane, ""), sum, "");
    }
}

/* Threads that read one that has ended, or that is not there, get their own value. */
static void shuffle_thread(Emitter *emitter, const Exchange *exchange, LLVMValueRef thread)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef is_there;
    LLVMValueRef asked =
        exchange->places ? load_item(emitter, emitter->i32, exchange->places, thread) : exchange->asked;
    LLVMValueRef source = source_of(emitter, exchange->operation, thread, asked, &is_there);
    LLVMValueRef is_inside = LLVMBuildICmp(builder, LLVMIntULT, source, exchange->threads, "");
    is_there = LLVMBuildAnd(builder, is_there, is_inside, "");
    LLVMValueRef own = load_item(emitter, exchange->word, exchange->given, thread);
    LLVMBasicBlockRef start = LLVMGetInsertBlock(builder), reads = new_block(emitter), done = new_block(emitter), read;
    LLVMBuildCondBr(builder, is_there, reads, done);
    LLVMPositionBuilderAtEnd(builder, reads);
    LLVMValueRef value = load_item(emitter, exchange->word, exchange->given, source);
    if (exchange->going) {
        LLVMValueRef going = load_item(emitter, emitter->i8, exchange->going, source);
        LLVMValueRef has_ended = LLVMBuildICmp(builder, LLVMIntEQ, going, LLVMConstNull(emitter->i8), "");
        value = LLVMBuildSelect(builder, has_ended, own, value, "");
    }
    read = LLVMGetInsertBlock(builder);
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, done);
    LLVMValueRef result = LLVMBuildPhi(builder, exchange->word, "");
    LLVMAddIncoming(result, (LLVMValueRef[]){own, value}, (LLVMBasicBlockRef[]){start, read}, 2);
    LLVMBuildStore(builder, result, item(emitter, exchange->word, exchange->results, thread));
}

/* Threads from `first` on; there may be none. */
static void shuffle_threads(Emitter *emitter, const Exchange *exchange, LLVMValueRef first)
{
    LLVMBasicBlockRef some = new_block(emitter), done = new_block(emitter);
    LLVMValueRef has_any = LLVMBuildICmp(emitter->builder, LLVMIntULT, first, exchange->threads, "");
    LLVMBuildCondBr(emitter->builder, has_any, some, done);
    LLVMPositionBuilderAtEnd(emitter->builder, some);
    HostLoop loop = host_loop_open(emitter, first, exchange->threads);
    shuffle_thread(emitter, exchange, loop.index);
    host_loop_close(emitter, &loop);
    LLVMBuildBr(emitter->builder, done);
    LLVMPositionBuilderAtEnd(emitter->builder, done);
}

/* --- whole warps ------------------------------------------------------------------------------------------------------------ */

static LLVMValueRef load_warp(Emitter *emitter, const Exchange *exchange, LLVMValueRef first)
{
    LLVMValueRef place = item(emitter, exchange->word, exchange->given, first);
    LLVMValueRef lanes = LLVMBuildLoad2(emitter->builder, LLVMVectorType(exchange->word, HOST_WARP), place, "");
    LLVMSetAlignment(lanes, ALIGNMENT);
    return lanes;
}

static LLVMValueRef true_lanes(Emitter *emitter, LLVMValueRef lanes)
{
    LLVMValueRef holds = LLVMBuildICmp(emitter->builder, LLVMIntNE, lanes, LLVMConstNull(LLVMTypeOf(lanes)), "");
    return LLVMBuildBitCast(emitter->builder, holds, emitter->i32, "");
}

/* Of each lane of the warp, not 0 if it has not ended. */
static LLVMValueRef load_going(Emitter *emitter, const Exchange *exchange, LLVMValueRef first)
{
    LLVMValueRef place = item(emitter, emitter->i8, exchange->going, first);
    LLVMValueRef going = LLVMBuildLoad2(emitter->builder, LLVMVectorType(emitter->i8, HOST_WARP), place, "");
    LLVMSetAlignment(going, ALIGNMENT);
    return going;
}

static void store_warp(Emitter *emitter, const Exchange *exchange, LLVMValueRef first, LLVMValueRef lanes)
{
    LLVMValueRef place = item(emitter, exchange->word, exchange->results, first);
    LLVMSetAlignment(LLVMBuildStore(emitter->builder, lanes, place), ALIGNMENT);
}

static HostLoop open_warps(Emitter *emitter, LLVMValueRef end, LLVMValueRef *first)
{
    LLVMValueRef count = LLVMBuildLShr(emitter->builder, end, const_i64(emitter, 5), "");
    HostLoop loop = host_loop_open(emitter, const_i64(emitter, 0), count);
    *first = LLVMBuildNUWMul(emitter->builder, loop.index, const_i64(emitter, HOST_WARP), "");
    return loop;
}

static LLVMValueRef all_lanes(Emitter *emitter, LLVMValueRef value)
{
    LLVMValueRef lanes = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(value), HOST_WARP));
    lanes = LLVMBuildInsertElement(emitter->builder, lanes, value, const_i64(emitter, 0), "");
    return LLVMBuildShuffleVector(emitter->builder, lanes, LLVMGetPoison(LLVMTypeOf(lanes)),
                                  LLVMConstNull(LLVMVectorType(emitter->i32, HOST_WARP)), "");
}

/* In one segment. */
static uint32_t source_lane(IntrinsicId operation, uint32_t lane, uint32_t distance)
{
    switch (operation) {
    case INTRINSIC_CUDA_SHFL_UP_SYNC: return lane >= distance ? lane - distance : lane;
    case INTRINSIC_CUDA_SHFL_DOWN_SYNC: return lane + distance < HOST_WARP ? lane + distance : lane;
    default: return lane ^ distance;
    }
}

static LLVMValueRef moved(Emitter *emitter, LLVMValueRef lanes, LLVMValueRef *places)
{
    return LLVMBuildShuffleVector(emitter->builder, lanes, LLVMGetPoison(LLVMTypeOf(lanes)),
                                  LLVMConstVector(places, HOST_WARP), "");
}

/* Whether who has ended is told from all lanes at once, and not lane by lane. */
static bool asks_all_lanes(const Emitter *emitter, const Exchange *exchange)
{
    return exchange->going && emitter->function->by_warps;
}

/* Lanes that read one that has ended have their own value. */
static LLVMValueRef keep_own(Emitter *emitter, const Exchange *exchange, LLVMValueRef first, LLVMValueRef own,
                             LLVMValueRef read, LLVMValueRef *places)
{
    if (!asks_all_lanes(emitter, exchange))
        return read;
    LLVMValueRef going = load_going(emitter, exchange, first);
    going = LLVMBuildICmp(emitter->builder, LLVMIntNE, going, LLVMConstNull(LLVMTypeOf(going)), "");
    return LLVMBuildSelect(emitter->builder, moved(emitter, going, places), read, own, "");
}

/* By a constant distance. */
static void move_lanes(Emitter *emitter, const Exchange *exchange, LLVMValueRef end, uint32_t distance)
{
    LLVMValueRef places[HOST_WARP], first;
    for (uint32_t lane = 0; lane < HOST_WARP; lane++)
        places[lane] = const_i32(emitter, (int32_t)source_lane(exchange->operation, lane, distance));
    HostLoop loop = open_warps(emitter, end, &first);
    LLVMValueRef lanes = load_warp(emitter, exchange, first);
    store_warp(emitter, exchange, first,
               keep_own(emitter, exchange, first, lanes, moved(emitter, lanes, places), places));
    host_loop_close(emitter, &loop);
}

/* All lanes get that of one. */
static void spread_lane(Emitter *emitter, const Exchange *exchange, LLVMValueRef end)
{
    LLVMValueRef first, lane = LLVMBuildZExt(emitter->builder, exchange->asked, emitter->i64, "");
    HostLoop loop = open_warps(emitter, end, &first);
    LLVMValueRef source = LLVMBuildAdd(emitter->builder, first, lane, "");
    LLVMValueRef value = load_item(emitter, exchange->word, exchange->given, source), read = all_lanes(emitter, value);
    if (asks_all_lanes(emitter, exchange)) {
        LLVMValueRef going = load_item(emitter, emitter->i8, exchange->going, source);
        LLVMValueRef goes_on = LLVMBuildICmp(emitter->builder, LLVMIntNE, going, LLVMConstNull(emitter->i8), "");
        read = LLVMBuildSelect(emitter->builder, goes_on, read, load_warp(emitter, exchange, first), "");
    }
    store_warp(emitter, exchange, first, read);
    host_loop_close(emitter, &loop);
}

/* Goes on in a new block where the condition holds and there are whole warps; else at `done`. */
static void emit_test_for_warps(Emitter *emitter, LLVMValueRef condition, LLVMValueRef whole, LLVMBasicBlockRef done)
{
    LLVMValueRef has_warps = LLVMBuildICmp(emitter->builder, LLVMIntNE, whole, const_i64(emitter, 0), "");
    LLVMBasicBlockRef some = new_block(emitter);
    LLVMBuildCondBr(emitter->builder, LLVMBuildAnd(emitter->builder, has_warps, condition, ""), some, done);
    LLVMPositionBuilderAtEnd(emitter->builder, some);
}

static void leave_whole_warps(Emitter *emitter, LLVMValueRef first, LLVMValueRef whole, LLVMBasicBlockRef done)
{
    LLVMBasicBlockRef end = LLVMGetInsertBlock(emitter->builder);
    LLVMBuildBr(emitter->builder, done);
    LLVMAddIncoming(first, &whole, &end, 1);
}

/* Goes on in a new block where nobody of these warps has ended; else at `done`, with no thread done. */
static void emit_test_of_ended(Emitter *emitter, const Exchange *exchange, LLVMValueRef whole, LLVMValueRef first,
                               LLVMBasicBlockRef done)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef lanes_type = LLVMVectorType(emitter->i8, HOST_WARP);
    LLVMValueRef warp, none = const_i64(emitter, 0), all = LLVMConstAllOnes(lanes_type);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder);
    HostLoop loop = open_warps(emitter, whole, &warp);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(loop.index));
    LLVMValueRef so_far = LLVMBuildPhi(builder, lanes_type, "");
    LLVMPositionBuilderAtEnd(builder, loop.body);
    LLVMValueRef going = load_going(emitter, exchange, warp), both = LLVMBuildAnd(builder, so_far, going, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(builder), some = new_block(emitter);
    LLVMAddIncoming(so_far, (LLVMValueRef[]){all, both}, (LLVMBasicBlockRef[]){before, latch}, 2);
    host_loop_close(emitter, &loop);
    LLVMValueRef lanes = true_lanes(emitter, both);
    LLVMValueRef all_go_on = LLVMBuildICmp(builder, LLVMIntEQ, lanes, const_i32(emitter, -1), "");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(builder);
    LLVMBuildCondBr(builder, all_go_on, some, done);
    LLVMAddIncoming(first, &none, &end, 1);
    LLVMPositionBuilderAtEnd(builder, some);
}

/* Whole warps in one segment, by the distances that reductions and scans have. Returns the first thread that is left. */
static LLVMValueRef shuffle_whole_warps(Emitter *emitter, const Exchange *exchange)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef whole = LLVMBuildAnd(builder, exchange->threads, const_i64(emitter, -HOST_WARP), "");
    LLVMValueRef none = const_i64(emitter, 0);
    LLVMBasicBlockRef start = LLVMGetInsertBlock(builder), done = new_block(emitter);
    LLVMPositionBuilderAtEnd(builder, done);
    LLVMValueRef first = LLVMBuildPhi(builder, emitter->i64, "");
    LLVMPositionBuilderAtEnd(builder, start);
    LLVMValueRef is_one = LLVMBuildICmp(builder, LLVMIntULT, exchange->asked, const_i32(emitter, HOST_WARP), "");
    emit_test_for_warps(emitter, is_one, whole, done);
    LLVMAddIncoming(first, &none, &start, 1);
    if (exchange->going && !asks_all_lanes(emitter, exchange))
        emit_test_of_ended(emitter, exchange, whole, first, done);
    if (exchange->operation == INTRINSIC_CUDA_SHFL_SYNC) {
        spread_lane(emitter, exchange, whole);
        leave_whole_warps(emitter, first, whole, done);
    } else {
        LLVMBasicBlockRef choose = LLVMGetInsertBlock(builder);
        LLVMValueRef by_distance = LLVMBuildSwitch(builder, exchange->asked, done, 5);
        LLVMAddIncoming(first, &none, &choose, 1);
        for (uint32_t distance = 1; distance < HOST_WARP; distance *= 2) {
            LLVMBasicBlockRef move = new_block(emitter);
            LLVMAddCase(by_distance, const_i32(emitter, (int32_t)distance), move);
            LLVMPositionBuilderAtEnd(builder, move);
            move_lanes(emitter, exchange, whole, distance);
            leave_whole_warps(emitter, first, whole, done);
        }
    }
    LLVMPositionBuilderAtEnd(builder, done);
    return first;
}

static void emit_shuffle(Emitter *emitter, const Exchange *exchange)
{
    shuffle_threads(emitter, exchange,
                    exchange->asked ? shuffle_whole_warps(emitter, exchange) : const_i64(emitter, 0));
}

/* --- votes ------------------------------------------------------------------------------------------------------------------ */

/* A bit for each lane that is there and goes on: the slot has room for a whole warp. */
static LLVMValueRef lanes_there(Emitter *emitter, const Exchange *exchange, LLVMValueRef first)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef left = LLVMBuildTrunc(builder, LLVMBuildSub(builder, exchange->threads, first, ""), emitter->i32, "");
    LLVMValueRef is_whole = LLVMBuildICmp(builder, LLVMIntSGE, left, const_i32(emitter, HOST_WARP), "");
    LLVMValueRef some = LLVMBuildAnd(builder, left, const_i32(emitter, HOST_WARP - 1), "");
    LLVMValueRef below = LLVMBuildNot(builder, LLVMBuildShl(builder, const_i32(emitter, -1), some, ""), "");
    LLVMValueRef there = LLVMBuildSelect(builder, is_whole, const_i32(emitter, -1), below, "");
    if (!exchange->going)
        return there;
    LLVMValueRef going = true_lanes(emitter, load_going(emitter, exchange, first));
    return LLVMBuildAnd(builder, there, going, "");
}

static LLVMValueRef result_of_vote(Emitter *emitter, IntrinsicId operation, LLVMValueRef there, LLVMValueRef holds)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef all = LLVMBuildICmp(builder, LLVMIntEQ, holds, there, "");
    LLVMValueRef none = LLVMBuildICmp(builder, LLVMIntEQ, holds, const_i32(emitter, 0), "");
    switch (operation) {
    case INTRINSIC_CUDA_ALL_SYNC: return all;
    case INTRINSIC_CUDA_ANY_SYNC: return LLVMBuildNot(builder, none, "");
    case INTRINSIC_CUDA_EQ_SYNC: return LLVMBuildOr(builder, all, none, "");
    default: return holds;
    }
}

static void emit_vote(Emitter *emitter, const Exchange *exchange)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef first, up = LLVMBuildAdd(builder, exchange->threads, const_i64(emitter, HOST_WARP - 1), "");
    HostLoop loop = open_warps(emitter, up, &first);
    LLVMValueRef there = lanes_there(emitter, exchange, first);
    LLVMValueRef holds = LLVMBuildAnd(builder, true_lanes(emitter, load_warp(emitter, exchange, first)), there, "");
    LLVMValueRef result = result_of_vote(emitter, exchange->operation, there, holds);
    result = LLVMBuildIntCast2(builder, result, exchange->word, false, "");
    store_warp(emitter, exchange, first, all_lanes(emitter, result));
    host_loop_close(emitter, &loop);
}

/* --- the function ----------------------------------------------------------------------------------------------------------- */

static void emit_body(Emitter *emitter, Exchange *exchange, LLVMValueRef function, const WarpExchange *call)
{
    exchange->given = LLVMGetParam(function, 0);
    exchange->places = call->places ? LLVMGetParam(function, 1) : NULL;
    exchange->asked = call->places ? NULL : LLVMGetParam(function, 2);
    exchange->going = call->going ? LLVMGetParam(function, 3) : NULL;
    exchange->results = LLVMGetParam(function, 4);
    LLVMPositionBuilderAtEnd(emitter->builder, new_block(emitter));
    exchange->threads = LLVMBuildZExt(emitter->builder, LLVMGetParam(function, 5), emitter->i64, "");
    if (intrinsic_info[exchange->operation].family == FAMILY_SHUFFLE)
        emit_shuffle(emitter, exchange);
    else
        emit_vote(emitter, exchange);
    LLVMBuildRetVoid(emitter->builder);
}

/* Beside the function that is being emitted, which goes on where it was. */
static LLVMValueRef emit_function(Emitter *emitter, const char *name, LLVMTypeRef type, const WarpExchange *call)
{
    LLVMValueRef outer = emitter->llvm_function, function = LLVMAddFunction(emitter->llvm_module, name, type);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMMetadataRef position = LLVMGetCurrentDebugLocation2(emitter->builder);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    add_function_attribute(emitter, function, "nounwind", 0);
    if (emitter->function->by_warps)
        add_function_attribute(emitter, function, "alwaysinline", 0);
    for (unsigned i = 1; i <= 5; i++)
        if (i != 3)
            LLVMAddAttributeAtIndex(function, i, enum_attribute(emitter, "noalias", 0));
    LLVMSetCurrentDebugLocation2(emitter->builder, NULL);
    emitter->llvm_function = function;
    Exchange exchange = {.operation = call->operation, .word = call->word};
    emit_body(emitter, &exchange, function, call);
    emitter->llvm_function = outer;
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    LLVMSetCurrentDebugLocation2(emitter->builder, position);
    return function;
}

bool has_warp_exchange(IntrinsicId operation)
{
    return intrinsic_info[operation].family == FAMILY_SHUFFLE || intrinsic_info[operation].family == FAMILY_VOTE;
}

void emit_warp_exchange(Emitter *emitter, const WarpExchange *call)
{
    const char *name =
        arena_format(emitter->arena, "cujit.%s.i%u%s%s", intrinsic_info[call->operation].id,
                     LLVMGetIntTypeWidth(call->word), call->places ? ".places" : "", call->going ? ".going" : "");
    LLVMTypeRef pointer = emitter->pointer_type;
    LLVMTypeRef types[6] = {pointer, pointer, emitter->i32, pointer, pointer, emitter->i32};
    LLVMTypeRef type = LLVMFunctionType(emitter->void_type, types, 6, false);
    LLVMValueRef function = LLVMGetNamedFunction(emitter->llvm_module, name), nothing = LLVMConstNull(pointer);
    if (!function)
        function = emit_function(emitter, name, type, call);
    LLVMValueRef arguments[6] = {call->given,
                                 call->places ? call->places : nothing,
                                 call->asked ? call->asked : const_i32(emitter, 0),
                                 call->going ? call->going : nothing,
                                 call->results,
                                 call->threads};
    LLVMBuildCall2(emitter->builder, type, function, arguments, 6, "");
}
