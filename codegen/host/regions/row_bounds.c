/* Emits which threads of a row of a block pass the tests that the pass `bounds` has marked. */
#include "codegen/host/regions/row_bounds.h"

#include "codegen/debug_lines.h"
#include "codegen/emit_tools.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/op/value/parts.h"

typedef struct Bounds {
    LLVMValueRef first, end;
} Bounds;

static LLVMValueRef saturating(Emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    return call_llvm(emitter, name, emitter->i64, 2, (LLVMValueRef[]){a, b});
}

/* A comparison with the thread's index at the left, which is `index` for the row's first thread. */
static void narrow(Emitter *emitter, IrOp op, LLVMValueRef index, LLVMValueRef limit, Bounds *bounds)
{
    bool is_upper = op == IR_LT || op == IR_LE;
    LLVMValueRef place = saturating(emitter, "llvm.ssub.sat", limit, index);
    if (op == IR_LE || op == IR_GT)
        place = saturating(emitter, "llvm.sadd.sat", place, const_i64(emitter, 1));
    LLVMValueRef *bound = is_upper ? &bounds->end : &bounds->first;
    *bound = saturating(emitter, is_upper ? "llvm.smin" : "llvm.smax", *bound, place);
}

static IrOp mirrored(IrOp op) { return op == IR_LT ? IR_GT : op == IR_LE ? IR_GE : op == IR_GT ? IR_LT : IR_LE; }

static IrOp negated(IrOp op) { return op == IR_LT ? IR_GE : op == IR_LE ? IR_GT : op == IR_GT ? IR_LE : IR_LT; }

static void apply(Emitter *emitter, const IrValue *condition, bool wanted, Bounds *bounds)
{
    if (is_conjunction(condition, wanted)) {
        apply(emitter, condition->operands[0], wanted, bounds);
        apply(emitter, condition->operands[1], wanted, bounds);
        return;
    }
    if (slope_in_thread(condition) == 0) {
        LLVMValueRef holds = emitter->parts[condition->id][0], none = const_i64(emitter, 0);
        bounds->end =
            LLVMBuildSelect(emitter->builder, holds, wanted ? bounds->end : none, wanted ? none : bounds->end, "");
        return;
    }
    bool is_left = slope_in_thread(condition->operands[0]) == 1;
    IrOp op = wanted ? condition->op : negated(condition->op);
    LLVMValueRef index = operand_scalar(emitter, condition, is_left ? 0 : 1);
    LLVMValueRef limit = operand_scalar(emitter, condition, is_left ? 1 : 0);
    narrow(emitter, is_left ? op : mirrored(op), index, limit, bounds);
}

static EmittedFunction declare_range(Emitter *emitter, const EmittedFunction *body)
{
    LLVMTypeRef both[2] = {emitter->i64, emitter->i64};
    uint32_t count = LLVMCountParamTypes(body->type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count);
    LLVMGetParamTypes(body->type, types);
    LLVMTypeRef result = LLVMStructTypeInContext(emitter->context, both, 2, false);
    EmittedFunction function = {
        .ir = body->ir, .type = LLVMFunctionType(result, types, count, false), .is_trip = body->is_trip};
    function.llvm = LLVMAddFunction(emitter->llvm_module,
                                    arena_format(emitter->arena, "cujit.%s.range", emitter->entry), function.type);
    LLVMSetLinkage(function.llvm, LLVMInternalLinkage);
    add_function_attribute(emitter, function.llvm, "alwaysinline", 0);
    add_function_attribute(emitter, function.llvm, "nounwind", 0);
    return function;
}

uint32_t count_thread_bounds(const IrFunc *kernel)
{
    uint32_t count = 0;
    for (const IrBlock *block = kernel->first; block; block = block->next)
        count += block->last->op == IR_BRANCH && block->last->hint;
    return count;
}

static bool leads_on(const IrBlock *block)
{
    return block->last->op == IR_JUMP || (block->last->op == IR_BRANCH && block->last->hint);
}

EmittedFunction emit_row_bounds_function(Emitter *emitter, const EmittedFunction *body)
{
    EmittedFunction function = declare_range(emitter, body);
    begin_debug_function(emitter, &function);
    begin_ir_function(emitter, &function);
    LLVMValueRef row =
        emitter->lowering->read_register(emitter, intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, body->ir->row_axis));
    Bounds bounds = {const_i64(emitter, 0), LLVMBuildZExt(emitter->builder, row, emitter->i64, "")};
    const IrBlock *block = body->ir->first;
    uint32_t left = count_thread_bounds(body->ir), steps = body->ir->block_count;
    while (left && !diag_failed(emitter->diag)) {
        if (!leads_on(block) || !steps--) {
            diag_fail(emitter->diag, &block->last->pos, DIAG_IR_INVALID, body->ir->name,
                      "a bound that not all threads reach");
            break;
        }
        for (const IrValue *value = block->first; value != block->last; value = value->next)
            emit_ir_value(emitter, value);
        bool is_bound = block->last->op == IR_BRANCH, is_in = block->last->hint != IR_BOUND_OUT;
        if (is_bound)
            apply(emitter, block->last->operands[0], is_in, &bounds);
        left -= is_bound;
        block = block->last->targets[is_in ? 0 : 1];
    }
    LLVMBuildAggregateRet(emitter->builder, (LLVMValueRef[]){bounds.first, bounds.end}, 2);
    end_debug_function(emitter);
    return function;
}
