/* Finds the tests at a kernel's beginning that compare threadIdx.x, plus what is the same for a row of threads, with what is
 * the same for them; and emits the range of threadIdx.x that passes all of them. */
#include "codegen/debug_lines.h"
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/regions/thread_range.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/op/parts.h"

enum { NOT_LINEAR = -1, LONGEST_START = 64, DEEPEST = 10, ANY_WIDTH = 64, WIDEST_INDEX = 60 /* bits: room for sums */ };

/* --- what a value is of threadIdx.x --------------------------------------------------------------------------------------- */

/* What reserves memory is no such value. */
static bool can_repeat(const IrValue *value)
{
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER;
    return ir_op_info[value->op].flags & IR_FLAG_PURE && value->op != IR_LOCAL && value->op != IR_CELL &&
           value->op != IR_SHARED && value->op != IR_DATA;
}

static int bits_of(uint64_t number)
{
    int bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
}

/* So many bits hold the size of the integer, whatever the launch is. */
static int width_below(const IrValue *value, int depth)
{
    int a, b;
    if (depth > DEEPEST)
        return ANY_WIDTH;
    switch (value->op) {
    case IR_CONST: return bits_of(value->integer < 0 ? -(uint64_t)value->integer : (uint64_t)value->integer);
    case IR_EXTENT: return bits_of(KERNEL_ABI_MAX_EXTENT);
    case IR_INTRINSIC:
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER
                   ? bits_of((uint64_t)intrinsic_info[value->intrinsic].high)
                   : ANY_WIDTH;
    case IR_CONVERT: {
        const IrValue *from = value->operands[0];
        if (!type_is_integer(from->type) || value->type->size <= from->type->size)
            return ANY_WIDTH;
        a = width_below(from, depth + 1);
        return a < (int)type_bits(from->type) ? a : (int)type_bits(from->type);
    }
    case IR_ADD:
    case IR_SUB:
        a = width_below(value->operands[0], depth + 1);
        b = width_below(value->operands[1], depth + 1);
        return (a > b ? a : b) + 1;
    case IR_MUL: return width_below(value->operands[0], depth + 1) + width_below(value->operands[1], depth + 1);
    default: return ANY_WIDTH;
    }
}

static int width(const IrValue *value) { return width_below(value, 0); }

static int slope_below(const ThreadRange *range, const IrValue *value, int depth);

static int slope_of_register(const IrValue *value)
{
    switch (value->intrinsic) {
    case INTRINSIC_CUDA_THREAD_IDX_X: return 1;
    case INTRINSIC_CUDA_THREAD_IDX_Y:
    case INTRINSIC_CUDA_THREAD_IDX_Z:
    case INTRINSIC_CUDA_BLOCK_IDX_X:
    case INTRINSIC_CUDA_BLOCK_IDX_Y:
    case INTRINSIC_CUDA_BLOCK_IDX_Z:
    case INTRINSIC_CUDA_BLOCK_DIM_X:
    case INTRINSIC_CUDA_BLOCK_DIM_Y:
    case INTRINSIC_CUDA_BLOCK_DIM_Z:
    case INTRINSIC_CUDA_GRID_DIM_X:
    case INTRINSIC_CUDA_GRID_DIM_Y:
    case INTRINSIC_CUDA_GRID_DIM_Z: return 0;
    default: return NOT_LINEAR;
    }
}

/* A loop's index in one trip of it. */
static int slope_of_index(const ThreadRange *range, int depth)
{
    const StrideLoop *loop = range->stride;
    bool is_even = loop->cannot_overflow && slope_below(range, loop->step, depth + 1) == 0;
    return is_even ? slope_below(range, loop->start, depth + 1) : NOT_LINEAR;
}

static int slope_below(const ThreadRange *range, const IrValue *value, int depth)
{
    if (range->stride && value == range->stride->index)
        return slope_of_index(range, depth);
    if (value->op == IR_PHI || !can_repeat(value) || depth > DEEPEST)
        return NOT_LINEAR;
    if (value->op == IR_INTRINSIC)
        return slope_of_register(value);
    int sum = 0;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        int part = slope_below(range, value->operands[i], depth + 1);
        if (part == NOT_LINEAR)
            return NOT_LINEAR;
        sum += part;
    }
    if (sum == 0)
        return 0;
    bool is_sum =
        value->op == IR_ADD || (value->op == IR_SUB && slope_below(range, value->operands[1], depth + 1) == 0);
    bool is_wider = value->op == IR_CONVERT && width(value) < (int)type_bits(value->operands[0]->type);
    bool is_exact = value->type->kind == TYPE_INT && width(value) <= WIDEST_INDEX;
    return sum == 1 && is_exact && (is_sum || is_wider) ? 1 : NOT_LINEAR;
}

/* By how much the value grows with threadIdx.x, exactly: 0 or 1; or NOT_LINEAR. */
static int slope(const ThreadRange *range, const IrValue *value) { return slope_below(range, value, 0); }

int slope_in_thread(const IrValue *value) { return slope(&(ThreadRange){0}, value); }

/* --- tests ---------------------------------------------------------------------------------------------------------------------- */

static bool is_comparison(const IrValue *value)
{
    return value->op == IR_LT || value->op == IR_LE || value->op == IR_GT || value->op == IR_GE;
}

static bool is_conjunction(const IrValue *condition, bool wanted)
{
    return condition->op == (wanted ? IR_AND : IR_OR) && condition->type->kind == TYPE_BOOL;
}

/* Whether "the condition is as wanted" holds for a range of threadIdx.x. */
static bool makes_range(const ThreadRange *range, const IrValue *condition, bool wanted)
{
    if (is_conjunction(condition, wanted))
        return makes_range(range, condition->operands[0], wanted) && makes_range(range, condition->operands[1], wanted);
    if (slope(range, condition) == 0)
        return true;
    if (!is_comparison(condition) || condition->operands[0]->type->scalar != SCALAR_INT64)
        return false;
    int left = slope(range, condition->operands[0]), right = slope(range, condition->operands[1]);
    return left + right == 1 && left != NOT_LINEAR && right != NOT_LINEAR;
}

/* How many values the block has in front of its end, all of which can be made again; -1: some cannot. */
static int repeatable(const ThreadRange *range, const IrBlock *block)
{
    int count = 0;
    for (const IrValue *value = block->first; value != block->last; value = value->next, count++)
        if ((value->op == IR_PHI || !can_repeat(value)) && !(range->stride && value == range->stride->index))
            return -1;
    return count;
}

/* Adds the branch at the block's end if it is a guard; false when it is not. */
static bool add_guard(ThreadRange *range, const IrValue *branch)
{
    for (uint32_t i = 0; i < 2; i++)
        if (only_returns(branch->targets[1 - i]) && !only_returns(branch->targets[i]) &&
            makes_range(range, branch->operands[0], i == 0)) {
            range->guards[range->guard_count] = branch;
            range->goes_on[range->guard_count++] = i;
            return true;
        }
    return false;
}

bool find_thread_range(const IrFunc *kernel, const StrideLoop *stride, ThreadRange *out)
{
    *out = (ThreadRange){.kernel = kernel, .stride = stride};
    int length = 0;
    const IrBlock *block = kernel->first;
    while (out->guard_count < MOST_GUARDS) {
        int count = repeatable(out, block);
        bool is_header = stride && block == stride->header;
        if (count < 0 || (length += count) > LONGEST_START ||
            (block != kernel->first && !is_header && block->predecessor_count != 1))
            break;
        const IrValue *end = block->last;
        if (end->op == IR_JUMP)
            block = end->targets[0];
        else if (end->op == IR_BRANCH && add_guard(out, end))
            block = end->targets[out->goes_on[out->guard_count - 1]];
        else
            break;
        if (is_header || block == kernel->first)
            break;
    }
    return out->guard_count > 0;
}

int guard_target(const ThreadRange *range, const IrValue *branch)
{
    for (uint32_t i = 0; range && i < range->guard_count; i++)
        if (range->guards[i] == branch)
            return (int)range->goes_on[i];
    return -1;
}

/* --- emission ------------------------------------------------------------------------------------------------------------------- */

typedef struct Bounds {
    LLVMValueRef first, end;
} Bounds;

static LLVMValueRef saturating(Emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    return call_llvm(emitter, name, emitter->i64, 2, (LLVMValueRef[]){a, b});
}

/* x with threadIdx.x at the left of the comparison, whose value at threadIdx.x 0 is `index`. */
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

static void apply(Emitter *emitter, const ThreadRange *range, const IrValue *condition, bool wanted, Bounds *bounds)
{
    if (is_conjunction(condition, wanted)) {
        apply(emitter, range, condition->operands[0], wanted, bounds);
        apply(emitter, range, condition->operands[1], wanted, bounds);
        return;
    }
    if (slope(range, condition) == 0) {
        LLVMValueRef holds = emitter->parts[condition->id][0], none = const_i64(emitter, 0);
        bounds->end =
            LLVMBuildSelect(emitter->builder, holds, wanted ? bounds->end : none, wanted ? none : bounds->end, "");
        return;
    }
    bool is_left = slope(range, condition->operands[0]) == 1;
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
    EmittedFunction function = {.ir = body->ir, .type = LLVMFunctionType(result, types, count, false)};
    function.llvm =
        LLVMAddFunction(emitter->module, arena_format(emitter->arena, "cujit.%s.range", emitter->entry), function.type);
    LLVMSetLinkage(function.llvm, LLVMInternalLinkage);
    add_function_attribute(emitter, function.llvm, "alwaysinline", 0);
    add_function_attribute(emitter, function.llvm, "nounwind", 0);
    return function;
}

EmittedFunction emit_thread_range(Emitter *emitter, const EmittedFunction *body, const ThreadRange *range)
{
    EmittedFunction function = declare_range(emitter, body);
    begin_debug_function(emitter, &function);
    begin_ir_function(emitter, &function);
    emitter->stride = range->stride;
    emitter->trip = LLVMGetLastParam(function.llvm);
    LLVMValueRef row = emitter->lowering->read_register(emitter, INTRINSIC_CUDA_BLOCK_DIM_X);
    Bounds bounds = {const_i64(emitter, 0), LLVMBuildZExt(emitter->builder, row, emitter->i64, "")};
    const IrBlock *block = range->kernel->first;
    for (uint32_t passed = 0; passed < range->guard_count && !diag_failed(emitter->diag);) {
        for (const IrValue *value = block->first; value != block->last; value = value->next)
            emit_ir_value(emitter, value);
        bool is_guard = range->guards[passed] == block->last;
        uint32_t target = is_guard ? range->goes_on[passed] : 0;
        if (is_guard)
            apply(emitter, range, block->last->operands[0], target == 0, &bounds);
        passed += is_guard;
        block = block->last->targets[target];
    }
    LLVMBuildAggregateRet(emitter->builder, (LLVMValueRef[]){bounds.first, bounds.end}, 2);
    emitter->stride = NULL;
    end_debug_function(emitter);
    return function;
}
