/* Emits which threads of a row of a block pass the tests that the pass `bounds` has marked. */
#include "codegen/host/regions/row_bounds.h"

#include "codegen/debug_lines.h"
#include "codegen/emit_tools.h"
#include "codegen/host/host_loop.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/op/value/parts.h"

static LLVMValueRef saturating(Emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    return call_llvm(emitter, name, emitter->i64, 2, (LLVMValueRef[]){a, b});
}

static void no_lower_than(Emitter *emitter, LLVMValueRef place, RowBounds *bounds)
{
    bounds->first = saturating(emitter, "llvm.smax", bounds->first, place);
}

static void lower_than(Emitter *emitter, LLVMValueRef place, RowBounds *bounds)
{
    bounds->end = saturating(emitter, "llvm.smin", bounds->end, place);
}

/* A comparison with the thread's index at the left, which is `index` for the row's first thread. */
static void narrow(Emitter *emitter, IrOp op, LLVMValueRef index, LLVMValueRef limit, RowBounds *bounds)
{
    limit = LLVMBuildIntCast2(emitter->builder, limit, emitter->i64, true, "");
    index = LLVMBuildIntCast2(emitter->builder, index, emitter->i64, true, "");
    LLVMValueRef place = saturating(emitter, "llvm.ssub.sat", limit, index);
    LLVMValueRef behind = saturating(emitter, "llvm.sadd.sat", place, const_i64(emitter, 1));
    if (op == IR_GE || op == IR_GT || op == IR_EQ)
        no_lower_than(emitter, op == IR_GT ? behind : place, bounds);
    if (op == IR_LT || op == IR_LE || op == IR_EQ)
        lower_than(emitter, op == IR_LT ? place : behind, bounds);
}

static void apply(Emitter *emitter, const IrBlock *region, const IrValue *condition, bool wanted, RowBounds *bounds)
{
    if (is_conjunction(condition, wanted)) {
        apply(emitter, region, condition->operands[0], wanted, bounds);
        apply(emitter, region, condition->operands[1], wanted, bounds);
        return;
    }
    if (slope_in_thread(region, condition) == 0) {
        LLVMValueRef holds = emitter->parts[condition->id][0], none = const_i64(emitter, 0);
        bounds->end =
            LLVMBuildSelect(emitter->builder, holds, wanted ? bounds->end : none, wanted ? none : bounds->end, "");
        return;
    }
    bool is_left = slope_in_thread(region, condition->operands[0]) == 1;
    IrOp op = wanted ? condition->op : ir_negated(condition->op);
    LLVMValueRef index = operand_scalar(emitter, condition, is_left ? 0 : 1);
    LLVMValueRef limit = operand_scalar(emitter, condition, is_left ? 1 : 0);
    narrow(emitter, is_left ? op : ir_mirrored(op), index, limit, bounds);
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

uint32_t count_thread_bounds(const IrBlock *first)
{
    uint32_t count = 0, left = first->function->block_count;
    for (const IrBlock *block = first; block && left--; block = next_bounded_block(block))
        count += block->last->op == IR_BRANCH && block->last->hint;
    return count;
}

static const IrValue *last_mark(const IrFunc *kernel, uint32_t *count)
{
    const IrValue *mark = NULL;
    for (const IrBlock *block = kernel->first; block; block = block->next)
        if (block->last->op == IR_BRANCH && block->last->hint) {
            mark = block->last;
            ++*count;
        }
    return mark;
}

bool check_thread_bounds(Emitter *emitter, const IrFunc *kernel)
{
    uint32_t marked = 0, reached = 0;
    const IrValue *mark = last_mark(kernel, &marked);
    bool has_loops = false;
    for (const IrBlock *block = kernel->first; block; block = block->next)
        if (block->last->op == IR_THREAD_LOOP) {
            has_loops = true;
            reached += may_have_bounds(block->last) ? count_thread_bounds(block->last->targets[1]) : 0;
        }
    if (!has_loops)
        reached = count_thread_bounds(kernel->first);
    return marked == reached ||
           diag_fail(emitter->diag, &mark->pos, DIAG_IR_INVALID, kernel->name, "a bound that not all threads reach");
}

static RowBounds whole_row(Emitter *emitter)
{
    LLVMValueRef length = LLVMBuildZExt(emitter->builder, host_row_length(emitter), emitter->i64, "");
    return (RowBounds){const_i64(emitter, 0), length};
}

void emit_for_any_thread(Emitter *emitter, const IrValue *value)
{
    IrValue copy = *value;
    forget_exactness(&copy);
    emit_ir_value(emitter, &copy);
}

static RowBounds bounds_from(Emitter *emitter, const IrBlock *first, const IrBlock *region)
{
    RowBounds bounds = whole_row(emitter);
    const IrBlock *block = first;
    for (uint32_t left = count_thread_bounds(first); left && !diag_failed(emitter->diag);) {
        for (const IrValue *value = block->first; value != block->last; value = value->next)
            emit_for_any_thread(emitter, value);
        if (block->last->op == IR_BRANCH) {
            apply(emitter, region, block->last->operands[0], block->last->hint != IR_BOUND_OUT, &bounds);
            left--;
        }
        block = next_bounded_block(block);
    }
    return bounds;
}

RowBounds emit_region_bounds(Emitter *emitter, const IrBlock *first) { return bounds_from(emitter, first, first); }

EmittedFunction emit_row_bounds_function(Emitter *emitter, const EmittedFunction *body)
{
    EmittedFunction function = declare_range(emitter, body);
    begin_debug_function(emitter, &function);
    begin_ir_function(emitter, &function);
    RowBounds bounds = bounds_from(emitter, body->ir->first, NULL);
    LLVMBuildAggregateRet(emitter->builder, (LLVMValueRef[]){bounds.first, bounds.end}, 2);
    end_debug_function(emitter);
    return function;
}
