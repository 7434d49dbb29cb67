/* Marks the tests at a kernel's beginning that compare threadIdx along its rows (row_axis.c), mostly .x, plus what is the
 * same for a row of threads, with what is the same for them, such as `if i < n:` around all of it or the test of a
 * grid-stride loop: the loop over threads runs those that pass only, and nothing has to be masked in it. So does the loop of
 * a parallel region that begins with such a test, as `if i < half:` between two barriers. */
#include "codegen/host/regions/thread_bounds.h"

#include "codegen/host/regions/regions.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"
#include "core/kernel/kernel_abi.h"

enum {
    NOT_LINEAR = -1,
    MOST_GUARDS = 8,
    LONGEST_START = 64,
    DEEPEST = 10,
    MOST_STEPS = 48,
    ANY_WIDTH = 64,
    WIDEST_INDEX = 60 /* bits: room for sums */
};

/* --- what a value is of threadIdx ------------------------------------------------------------------------------------------ */

/* Not what reserves memory. */
static bool can_repeat(const IrValue *value)
{
    if (value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].kind != INTRINSIC_KIND_REGISTER)
        return false;
    return ir_is_repeatable(value) && value->op != IR_SHARED && value->op != IR_DATA;
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
        if (!type_is_integer(from->type) || !type_is_integer(value->type))
            return ANY_WIDTH;
        a = width_below(from, depth + 1);
        a = a < (int)type_bits(from->type) ? a : (int)type_bits(from->type);
        bool is_wider = value->type->size > from->type->size;
        bool is_signed = value->type->kind == TYPE_INT || is_never_below(from, 0);
        return is_wider || (is_signed && a < (int)type_bits(value->type)) ? a : ANY_WIDTH;
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

bool has_bits(const IrValue *value, int bits) { return width(value) <= bits; }

static int slope_of_register(const IrValue *value, uint32_t axis)
{
    if (value->intrinsic == intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, axis))
        return 1;
    switch (value->intrinsic) {
    case INTRINSIC_CUDA_LANEID: return value->block->function->by_warps ? axis == 0 : NOT_LINEAR;
    case INTRINSIC_CUDA_THREAD_IDX_X:
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

static bool leads_on(const IrBlock *block)
{
    return block->last->op == IR_JUMP || (block->last->op == IR_BRANCH && block->last->hint);
}

const IrBlock *next_bounded_block(const IrBlock *block)
{
    return leads_on(block) ? block->last->targets[block->last->hint == IR_BOUND_OUT] : NULL;
}

/* Of what a region's first blocks use, the rest is made outside of all loops over threads. */
static bool is_made_outside(const IrBlock *region, const IrValue *value)
{
    if (!region)
        return false;
    uint32_t left = region->function->block_count;
    for (const IrBlock *block = region; block && left--; block = next_bounded_block(block))
        if (block == value->block)
            return false;
    return true;
}

/* For which threads a value's growth is asked. */
typedef struct Row {
    const IrBlock *region; /* NULL: there are none */
    const IrBlock *first; /* the block that all of them come to; NULL: those that come where the value is */
    uint32_t axis;
} Row;

/* Whether all threads of the row make the value, none of which is kept out in front of it. */
static bool is_of_all(const Row *row, const IrValue *value)
{
    uint32_t left = value->block->function->block_count;
    const IrBlock *block = row->first;
    while (block && block != value->block && block->last->op == IR_JUMP && left--)
        block = block->last->targets[0];
    return !row->first || block == value->block;
}

static int slope_below(const Row *row, const IrValue *value, int depth)
{
    bool by_warps = value->block->function->by_warps;
    if (is_made_outside(row->region, value))
        return 0;
    if (depth > DEEPEST || !(can_repeat(value) || (by_warps && is_of_constant_argument(value))))
        return NOT_LINEAR;
    if (value->op == IR_INTRINSIC)
        return slope_of_register(value, row->axis);
    if (value->op == IR_WARP_START)
        return by_warps ? 0 : NOT_LINEAR;
    int sum = 0;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        int part = slope_below(row, value->operands[i], depth + 1);
        if (part == NOT_LINEAR)
            return NOT_LINEAR;
        sum += part;
    }
    if (sum == 0)
        return 0;
    if (value->op == IR_LOAD)
        return NOT_LINEAR;
    bool is_sum = value->op == IR_ADD || (value->op == IR_SUB && slope_below(row, value->operands[1], depth + 1) == 0);
    bool is_same = value->op == IR_CONVERT && width(value) < (int)type_bits(value->operands[0]->type);
    int widest = value->type->size == 8 ? WIDEST_INDEX : (int)type_bits(value->type) - 1;
    bool may_wrap = width(value) > widest && !(value->op == IR_ADD && value->hint == IR_EXACT && is_of_all(row, value));
    bool is_exact = (value->type->kind == TYPE_INT || is_never_below(value, 0)) && !may_wrap;
    return sum == 1 && is_exact && (is_sum || is_same) ? 1 : NOT_LINEAR;
}

int slope_in_thread(const IrBlock *region, const IrValue *value)
{
    return slope_below(&(Row){.region = region, .axis = value->block->function->row_axis}, value, 0);
}

int slope_along(uint32_t axis, const IrValue *value) { return slope_below(&(Row){.axis = axis}, value, 0); }

void forget_exactness(IrValue *copy)
{
    IrHintKind kind = ir_op_info[copy->op].hint;
    if ((kind == IR_HINT_KIND_WRAPS || kind == IR_HINT_KIND_DIVIDES) && copy->hint == IR_EXACT)
        copy->hint = IR_MAY_WRAP;
}

static int slope_of_low_bits(const bool *is_inside, const IrValue *value, int depth)
{
    if (!is_inside[value->block->id])
        return 0;
    if (depth > DEEPEST || !can_repeat(value))
        return NOT_LINEAR;
    if (value->op == IR_INTRINSIC)
        return slope_of_register(value, value->block->function->row_axis);
    int slopes[2] = {0}, sum = 0;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        int slope = slope_of_low_bits(is_inside, value->operands[i], depth + 1);
        if (slope == NOT_LINEAR)
            return NOT_LINEAR;
        slopes[i & 1] = slope;
        sum += slope;
    }
    if (sum == 0)
        return 0;
    if (sum > 1 || !type_is_integer(value->type))
        return NOT_LINEAR;
    bool is_sum = value->op == IR_ADD && value->hint != IR_SATURATES;
    bool is_difference = value->op == IR_SUB && slopes[1] == 0;
    bool keeps_bits = value->op == IR_CONVERT && type_is_integer(value->operands[0]->type);
    return is_sum || is_difference || keeps_bits ? 1 : NOT_LINEAR;
}

int slope_of_bits(const bool *is_inside, const IrValue *value) { return slope_of_low_bits(is_inside, value, 0); }

static bool is_number(const IrValue *value, int64_t number)
{
    return value->op == IR_CONST && value->integer == number;
}

IrValue *of_first_thread(IrBlock *block, IrValue *value, uint32_t axis)
{
    IrValue *operands[2];
    if (slope_along(axis, value) == 0)
        return value;
    if (value->op == IR_INTRINSIC && value->intrinsic == INTRINSIC_CUDA_THREAD_IDX_X && block->function->by_warps)
        return ir_append(block, IR_WARP_START, TYPE_OF(INT32), &value->pos, 0, NULL);
    if (value->op == IR_INTRINSIC)
        return ir_const_int(block, value->type, 0, &value->pos);
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = of_first_thread(block, value->operands[i], axis);
    if (value->op == IR_CONVERT && operands[0]->op == IR_CONST)
        return ir_const_int(block, value->type, operands[0]->integer, &value->pos);
    if (value->op == IR_ADD && is_number(operands[1], 0))
        return operands[0];
    if (value->op == IR_ADD && is_number(operands[0], 0))
        return operands[1];
    return ir_copy_value(block, value, operands);
}

static bool never_below(const IrValue *value, int64_t least, int *steps)
{
    if (!type_is_integer(value->type) || --*steps < 0)
        return false;
    switch (value->op) {
    case IR_CONST: return value->integer >= least;
    case IR_INTRINSIC:
        return intrinsic_info[value->intrinsic].kind == INTRINSIC_KIND_REGISTER &&
               intrinsic_info[value->intrinsic].low >= least;
    case IR_CONVERT: {
        const Type *from = value->operands[0]->type;
        return type_is_integer(from) && value->type->size >= from->size &&
               never_below(value->operands[0], least, steps);
    }
    case IR_MUL:
    case IR_ADD: return never_below(value->operands[0], least, steps) && never_below(value->operands[1], least, steps);
    default: return false;
    }
}

bool is_never_below(const IrValue *value, int64_t least)
{
    int steps = MOST_STEPS;
    return never_below(value, least, &steps);
}

bool is_moderate_bound(const IrValue *end)
{
    return end->op == IR_EXTENT || (end->op == IR_CONST && end->integer < (int64_t)1 << 57) ||
           (end->op == IR_CONVERT && type_is_integer(end->operands[0]->type) && end->operands[0]->type->size <= 4);
}

/* --- tests ---------------------------------------------------------------------------------------------------------------------- */

static bool is_comparison(const IrValue *value, bool wanted)
{
    return ir_is_comparison(value->op) && value->op != (wanted ? IR_NE : IR_EQ);
}

bool is_conjunction(const IrValue *condition, bool wanted)
{
    return condition->op == (wanted ? IR_AND : IR_OR) && condition->type->kind == TYPE_BOOL;
}

/* Whether what does not grow with the thread is a constant. Only then is a loop over a warp's lanes bounded: all 32 are a
 * vector or two, with what they keep in registers, and as many as the kernel finds out first are not. So is one of a block's
 * threads that takes what they have kept, as `if thread == 0: out[block] = total`: whole vectors under a mask were faster
 * than a remainder at the end of each row. */
static bool has_constant_bound(const IrValue *condition, int left)
{
    return condition->operands[left == 1]->op == IR_CONST;
}

/* Whether "the condition is as wanted" holds for a range of threads of a row. What it is made of is at the kernel's beginning,
 * which is not LONGEST_START long. */
static bool makes_range(const Row *row, const IrValue *condition, bool wanted, bool is_constant)
{
    if (is_conjunction(condition, wanted))
        return makes_range(row, condition->operands[0], wanted, is_constant) &&
               makes_range(row, condition->operands[1], wanted, is_constant);
    if (slope_below(row, condition, 0) == 0)
        return true;
    ScalarId scalar = condition->operands[0]->type->scalar;
    if (!is_comparison(condition, wanted) || (scalar != SCALAR_INT64 && scalar != SCALAR_INT32))
        return false;
    int left = slope_below(row, condition->operands[0], 0);
    int right = slope_below(row, condition->operands[1], 0);
    if (is_constant && !has_constant_bound(condition, left))
        return false;
    return left + right == 1 && left != NOT_LINEAR && right != NOT_LINEAR;
}

bool only_returns(const IrBlock *block)
{
    for (int jumps = 0; jumps < 8; jumps++) {
        if (block->first->op == IR_RETURN)
            return true;
        if (block->first->op != IR_JUMP)
            return false;
        block = block->first->targets[0];
    }
    return false;
}

/* How many values the block has in front of its end, all of which can be made again; -1: some cannot. What a thread has kept
 * from another region is for what comes behind the tests: takes_kept says that there is some. */
static int repeatable(const IrBlock *block, bool *takes_kept)
{
    int count = 0;
    for (const IrValue *value = block->first; value != block->last; value = value->next, count++) {
        *takes_kept |= value->op == IR_SLOT_LOAD;
        if (!can_repeat(value) && value->op != IR_SLOT_LOAD)
            return -1;
    }
    return count;
}

bool leads_nowhere(const IrBlock *block, const IrBlock *loop)
{
    if (!loop)
        return only_returns(block);
    for (int jumps = 0; jumps < 8 && block != loop && block->first->op == IR_JUMP; jumps++)
        block = block->first->targets[0];
    return block == loop;
}

/* Marks the branch if it is a guard. Returns where the threads that pass go on; NULL: it is none. */
static IrBlock *pass_guard(const Row *row, IrValue *branch, const IrBlock *loop, bool is_constant)
{
    for (uint32_t i = 0; i < 2; i++)
        if (leads_nowhere(branch->targets[1 - i], loop) && !leads_nowhere(branch->targets[i], loop) &&
            makes_range(row, branch->operands[0], i == 0, is_constant)) {
            branch->hint = i == 0 ? IR_BOUND_IN : IR_BOUND_OUT;
            return branch->targets[i];
        }
    return NULL;
}

/* From the block on. loop: that of the region that begins there; NULL: it is the kernel's first. */
static void mark_bounds(IrBlock *first, const IrBlock *loop)
{
    int length = 0, guards = 0;
    bool is_constant = first->function->by_warps;
    Row row = {.region = loop ? first : NULL, .first = first, .axis = first->function->row_axis};
    for (IrBlock *block = first; block && block != loop && guards < MOST_GUARDS;) {
        int count = repeatable(block, &is_constant);
        if (count < 0 || (length += count) > LONGEST_START || (block != first && block->predecessor_count != 1))
            return;
        IrValue *end = block->last;
        block = end->op == IR_JUMP     ? end->targets[0]
                : end->op == IR_BRANCH ? pass_guard(&row, end, loop, is_constant)
                                       : NULL;
        guards += end->op == IR_BRANCH;
    }
}

void mark_thread_bounds(IrModule *module)
{
    enum { WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };
    IrFunc *kernel = module->first;
    if (kernel->is_kernel && !(ir_module_effects(module) & WAITS))
        mark_bounds(kernel->first, NULL);
}

bool may_have_bounds(const IrValue *thread_loop) { return !(thread_loop->hint & IR_THREADS_BEGIN); }

void mark_region_bounds(IrModule *module)
{
    for (IrBlock *block = module->first->first; block; block = block->next)
        if (block->last->op == IR_THREAD_LOOP && may_have_bounds(block->last))
            mark_bounds(block->last->targets[1], block);
}
