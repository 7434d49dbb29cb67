/* Counted loops of the CPU device's entries, and the index of a thread in its HostThread. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/host_loop.h"

#include <stddef.h>

const uint8_t host_loop_axes[3][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}};

HostLoop host_loop_open(Emitter *emitter, LLVMValueRef start, LLVMValueRef end)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(emitter->builder);
    HostLoop loop = {.body = new_block(emitter), .end = end};
    LLVMBuildBr(emitter->builder, loop.body);
    LLVMPositionBuilderAtEnd(emitter->builder, loop.body);
    loop.index = LLVMBuildPhi(emitter->builder, LLVMTypeOf(start), "");
    LLVMAddIncoming(loop.index, &start, &before, 1);
    return loop;
}

LLVMValueRef host_loop_close(Emitter *emitter, HostLoop *loop)
{
    return host_loop_close_by(emitter, loop, LLVMConstInt(LLVMTypeOf(loop->index), 1, false));
}

LLVMValueRef host_row_length(Emitter *emitter)
{
    if (emitter->function->by_warps)
        return const_i32(emitter, HOST_WARP);
    if (!emitter->function->joins_rows)
        return emitter->lowering->read_register(
            emitter, intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, emitter->function->row_axis));
    return LLVMBuildLoad2(emitter->builder, emitter->i32,
                          host_field(emitter, emitter->thread, offsetof(HostThread, row_length)), "");
}

static LLVMValueRef close_loop(Emitter *emitter, HostLoop *loop, LLVMValueRef next, LLVMValueRef has_more)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(emitter->builder), after = new_block(emitter);
    LLVMValueRef branch = LLVMBuildCondBr(emitter->builder, has_more, loop->body, after);
    LLVMAddIncoming(loop->index, &next, &from, 1);
    mark_host_loop(emitter, branch);
    LLVMPositionBuilderAtEnd(emitter->builder, after);
    return branch;
}

LLVMValueRef host_loop_close_by(Emitter *emitter, HostLoop *loop, LLVMValueRef step)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef next = LLVMBuildAdd(builder, loop->index, step, "");
    LLVMSetNSW(next, true);
    LLVMSetNUW(next, true);
    return close_loop(emitter, loop, next, LLVMBuildICmp(builder, LLVMIntSLT, next, loop->end, ""));
}

HostLoop host_loop_open_down(Emitter *emitter, LLVMValueRef start, LLVMValueRef end)
{
    LLVMValueRef last = LLVMBuildNSWSub(emitter->builder, end, LLVMConstInt(LLVMTypeOf(end), 1, false), "");
    return host_loop_open(emitter, last, start);
}

LLVMValueRef host_loop_close_down(Emitter *emitter, HostLoop *loop)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef next = LLVMBuildNSWSub(builder, loop->index, LLVMConstInt(LLVMTypeOf(loop->index), 1, false), "");
    LLVMValueRef has_more = LLVMBuildICmp(builder, LLVMIntSGT, loop->index, loop->end, "");
    return close_loop(emitter, loop, next, has_more);
}

void host_loop_keep_rolled(Emitter *emitter, LLVMValueRef branch)
{
    LLVMMetadataRef property = loop_property(emitter, "llvm.loop.unroll.disable", NULL);
    set_loop_node(emitter, branch, loop_node(emitter, &property, 1));
}

LLVMValueRef host_field(Emitter *emitter, LLVMValueRef thread, size_t offset)
{
    return offset_address(emitter, thread, (int64_t)offset);
}

LLVMValueRef host_set_thread_index(Emitter *emitter, LLVMValueRef thread, LLVMValueRef *index,
                                   const LLVMValueRef *block_dim)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef row = LLVMBuildAdd(builder, LLVMBuildMul(builder, index[2], block_dim[1], ""), index[1], "");
    LLVMValueRef linear = LLVMBuildAdd(builder, LLVMBuildMul(builder, row, block_dim[0], ""), index[0], "");
    LLVMValueRef lane = LLVMBuildAnd(builder, linear, const_i32(emitter, 31), "");
    for (uint32_t axis = 0; axis < 3; axis++)
        LLVMBuildStore(builder, index[axis],
                       host_field(emitter, thread, offsetof(HostThread, thread_index) + 4 * axis));
    LLVMBuildStore(builder, linear, host_field(emitter, thread, offsetof(HostThread, linear_thread)));
    LLVMBuildStore(builder, lane, host_field(emitter, thread, offsetof(HostThread, lane)));
    return linear;
}
