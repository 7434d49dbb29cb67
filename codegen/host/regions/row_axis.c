/* Chooses along which axis of a block the CPU device's innermost loop over threads runs: a kernel's rows. That is x, as
 * threads are numbered, unless the accesses say that neighbours along x lie far apart and those along another axis next to
 * each other: `i, j = cuda.grid(2)` with `a[i, j]`, where j counts along y. Threads of one region may run in any order; what
 * makes the order visible, or takes warps together, keeps x. The choice is one of speed: steps are guesses. */
#include "codegen/host/regions/regions.h"
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

#include <string.h>

enum { X, AXES = 3, MOST_CALLS = 32, DEEPEST_LOOP = 3, LOOP_TRIPS = 8, SMALL_FACTOR = 8, GAIN = 2 /* to leave x */ };

/* How far a value moves from one thread to its neighbour along an axis; what an access costs that does so. */
typedef enum Step { SAME, NEXT, NEAR, FAR, STEP_COUNT } Step;
static const uint32_t load_costs[STEP_COUNT] = {[SAME] = 0, [NEXT] = 1, [NEAR] = 2, [FAR] = 16};
static const uint32_t write_costs[STEP_COUNT] = {
    [SAME] = 0, [NEXT] = 1, [NEAR] = 2, [FAR] = 40}; /* reads the line, too */

typedef struct Steps {
    uint8_t by_axis[AXES]; /* Step */
} Steps;

typedef struct Costs {
    uint64_t costs[AXES];
    bool has_rows[AXES]; /* an access moves by small steps along it */
    bool is_far[AXES]; /* an access moves by large ones */
    Arena *arena;
    uint32_t calls; /* looked into so far */
} Costs;

/* A function, called with certain arguments. */
typedef struct Instance Instance;
struct Instance {
    const Instance *caller; /* NULL: the kernel */
    const IrValue *call;
    Steps *steps; /* by IrValue.id */
    bool *is_known; /* by IrValue.id: a call that was looked into */
    Steps result;
};

/* --- whether the order of threads shows ----------------------------------------------------------------------------------- */

static bool commutes(const IrValue *atomic)
{
    switch (atomic->atomic) {
    case IR_ATOMIC_ADD:
    case IR_ATOMIC_SUB:
    case IR_ATOMIC_MAX:
    case IR_ATOMIC_MIN:
    case IR_ATOMIC_AND:
    case IR_ATOMIC_OR:
    case IR_ATOMIC_XOR: return type_is_integer(atomic->operands[atomic->operand_count - 1]->type);
    default: return false;
    }
}

static bool meets_in_warps(const IntrinsicInfo *row)
{
    return row->effects & EFFECT_WARP_SYNC && row->family != FAMILY_BLOCK_VOTE;
}

static bool shows_order(const IrValue *value)
{
    switch (value->op) {
    case IR_ATOMIC: return !commutes(value);
    case IR_INTRINSIC: return meets_in_warps(&intrinsic_info[value->intrinsic]);
    case IR_RAISE: return !fails_check(value->block);
    case IR_PRINT:
    case IR_WATCH:
    case IR_OBSERVE:
    case IR_LINE:
    case IR_FOREIGN: return true;
    default: return false;
    }
}

/* Atomics give what they have found, which shows who came before. */
static bool uses_old_value(const IrValue *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (value->operands[i]->op == IR_ATOMIC)
            return true;
    return false;
}

static bool order_shows(const IrModule *module, bool by_additions)
{
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if ((shows_order(value) && (by_additions || !is_float_addition(value))) || uses_old_value(value))
                    return true;
    return false;
}

bool order_of_threads_shows(const IrModule *module) { return order_shows(module, true); }

bool order_shows_but_by_additions(const IrModule *module) { return order_shows(module, false); }

/* --- steps of a value ------------------------------------------------------------------------------------------------------- */

static Step larger(Step a, Step b) { return a > b ? a : b; }

static Step sum_of(Step a, Step b) { return a == NEXT && b == NEXT ? NEAR : larger(a, b); }

static Steps joined(Steps a, Steps b, Step (*join)(Step, Step))
{
    Steps all;
    for (uint32_t axis = 0; axis < AXES; axis++)
        all.by_axis[axis] = (uint8_t)join((Step)a.by_axis[axis], (Step)b.by_axis[axis]);
    return all;
}

/* Where there is any. */
static Steps as_far_as(Steps steps, Step least)
{
    for (uint32_t axis = 0; axis < AXES; axis++)
        if (steps.by_axis[axis] != SAME)
            steps.by_axis[axis] = (uint8_t)larger(least, (Step)steps.by_axis[axis]);
    return steps;
}

static Steps steps_at(const Instance *in, const IrValue *value, uint32_t index)
{
    return in->steps[value->operands[index]->id];
}

static Steps steps_of_all(const Instance *in, const IrValue *value, uint32_t first)
{
    Steps steps = {{SAME}};
    for (uint32_t i = first; i < value->operand_count; i++)
        steps = joined(steps, steps_at(in, value, i), larger);
    return steps;
}

/* An item of a tuple that the function, or who called it, has made. */
static Steps steps_of_item(const Instance *in, const IrValue *get)
{
    const IrValue *tuple = get->operands[0];
    while (tuple->op == IR_PARAM && in->caller) {
        tuple = in->call->operands[tuple->index];
        in = in->caller;
    }
    return tuple->op == IR_TUPLE ? steps_at(in, tuple, get->index) : in->steps[tuple->id];
}

static bool is_small(const IrValue *factor, int64_t limit)
{
    return factor->op == IR_CONST && type_is_integer(factor->type) && factor->integer >= -limit &&
           factor->integer <= limit;
}

static Steps steps_of_product(const Instance *in, const IrValue *value)
{
    for (uint32_t i = 0; i < 2; i++) {
        const IrValue *factor = value->operands[1 - i];
        if (is_small(factor, value->op == IR_SHL ? 3 : SMALL_FACTOR) && (value->op == IR_MUL || i == 0))
            return is_small(factor, 1) && value->op == IR_MUL ? steps_at(in, value, i)
                                                              : as_far_as(steps_at(in, value, i), NEAR);
    }
    return as_far_as(steps_of_all(in, value, 0), FAR);
}

static Steps steps_of_register(const IrValue *value)
{
    int axis = intrinsic_axis(INTRINSIC_CUDA_THREAD_IDX, value->intrinsic);
    if (axis >= 0) {
        Steps steps = {{SAME}};
        steps.by_axis[axis] = NEXT;
        return steps;
    }
    if (value->intrinsic == INTRINSIC_CUDA_LANEID)
        return (Steps){{NEXT, FAR, FAR}};
    return intrinsic_info[value->intrinsic].family == FAMILY_BLOCK_REGISTER ? (Steps){{SAME}}
                                                                            : (Steps){{FAR, FAR, FAR}};
}

/* Where the element, or the part that begins there, lies in memory: a type's last axis is the near one unless its order is
 * Fortran's. */
static Steps steps_of_place(const Instance *in, const IrValue *value)
{
    const Type *array = value->operands[0]->type;
    Steps steps = steps_at(in, value, 0);
    uint32_t near_axis = array->layout == LAYOUT_F ? 0 : array->ndim - 1;
    for (uint32_t i = 0; i < array->ndim; i++) {
        Steps part = steps_at(in, value, 1 + i);
        steps = joined(steps, i == near_axis ? part : as_far_as(part, FAR), sum_of);
    }
    return steps;
}

static Steps steps_of(const Instance *in, const IrValue *value)
{
    switch (value->op) {
    case IR_PARAM: return in->caller ? steps_at(in->caller, in->call, value->index) : (Steps){{SAME}};
    case IR_INTRINSIC:
        return value->operand_count ? as_far_as(steps_of_all(in, value, 0), FAR) : steps_of_register(value);
    case IR_SUB:
    case IR_ADD: return joined(steps_at(in, value, 0), steps_at(in, value, 1), sum_of);
    case IR_MUL:
    case IR_SHL: return steps_of_product(in, value);
    case IR_WRAP: return steps_at(in, value, 0);
    case IR_GET: return steps_of_item(in, value);
    case IR_SUBARRAY: return steps_of_place(in, value);
    case IR_SELECT: return steps_of_all(in, value, 1);
    case IR_PHI:
    case IR_TUPLE:
    case IR_CONVERT:
    case IR_NEG:
    case IR_MIN:
    case IR_MAX: return steps_of_all(in, value, 0);
    case IR_FLOORDIV:
    case IR_MOD:
    case IR_SHR:
    case IR_AND:
    case IR_OR:
    case IR_XOR: {
        Steps divisor = as_far_as(steps_at(in, value, 1), FAR);
        return joined(as_far_as(steps_at(in, value, 0), NEAR), divisor, larger);
    }
    default: return as_far_as(steps_of_all(in, value, 0), FAR);
    }
}

/* --- what the accesses cost ------------------------------------------------------------------------------------------------- */

static uint64_t weight_of(const IrGraph *graph, const IrBlock *block)
{
    uint64_t weight = 1;
    const IrLoop *loop = graph->loop_of[block->id];
    for (uint32_t depth = 0; loop && depth < DEEPEST_LOOP; loop = loop->parent, depth++)
        weight *= LOOP_TRIPS;
    return weight;
}

static void add_access(Costs *costs, const Instance *in, const IrValue *value, uint64_t weight)
{
    Steps steps = steps_of_place(in, value);
    const uint32_t *step_costs = value->op == IR_LOAD ? load_costs : write_costs;
    for (uint32_t axis = 0; axis < AXES; axis++) {
        costs->costs[axis] += weight * step_costs[steps.by_axis[axis]];
        costs->has_rows[axis] |= steps.by_axis[axis] == NEXT || steps.by_axis[axis] == NEAR;
        costs->is_far[axis] |= steps.by_axis[axis] == FAR;
    }
}

static void add_function(Costs *costs, const IrFunc *function, Instance *in, uint64_t weight);

static bool is_looked_into(const Costs *costs, const IrValue *call)
{
    return !call->callee->is_recursive && costs->calls < MOST_CALLS;
}

static Steps add_call(Costs *costs, const Instance *caller, const IrValue *call, uint64_t weight)
{
    Instance in = {.caller = caller, .call = call};
    costs->calls++;
    add_function(costs, call->callee, &in, weight);
    return in.result;
}

static Steps known_steps(const Costs *costs, const Instance *in, const IrValue *value)
{
    if (value->op != IR_CALL)
        return steps_of(in, value);
    return in->is_known[value->id] || is_looked_into(costs, value) ? in->steps[value->id] : (Steps){{FAR, FAR, FAR}};
}

/* Steps grow until nothing changes; calls are looked into once, behind what leads to them. */
static void find_steps_of_function(const Costs *costs, const IrGraph *graph, Instance *in)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < graph->count; i++)
            for (const IrValue *value = graph->order[i]->first; value; value = value->next) {
                Steps steps = known_steps(costs, in, value);
                changed |= memcmp(&steps, &in->steps[value->id], sizeof steps) != 0;
                in->steps[value->id] = steps;
            }
    }
}

static void add_function(Costs *costs, const IrFunc *function, Instance *in, uint64_t weight)
{
    const IrGraph *graph = ir_graph(function, costs->arena);
    in->steps = ARENA_ARRAY(costs->arena, Steps, function->value_count + 1);
    in->is_known = ARENA_ARRAY(costs->arena, bool, function->value_count + 1);
    find_steps_of_function(costs, graph, in);
    for (uint32_t i = 0; i < graph->count; i++) {
        uint64_t times = weight * weight_of(graph, graph->order[i]);
        for (const IrValue *value = graph->order[i]->first; value; value = value->next)
            if (value->op == IR_CALL && is_looked_into(costs, value)) {
                in->steps[value->id] = add_call(costs, in, value, times);
                in->is_known[value->id] = true;
                find_steps_of_function(costs, graph, in);
            } else if (value->op == IR_LOAD || value->op == IR_STORE || value->op == IR_ATOMIC) {
                add_access(costs, in, value, times);
            } else if (value->op == IR_RETURN && value->operand_count) {
                in->result = joined(in->result, steps_at(in, value, 0), larger);
            }
    }
}

/* --- blocks next to each other ---------------------------------------------------------------------------------------------- */

/* blockIdx * blockDim + threadIdx, all of the axis. */
static bool is_widened(const IrValue *value)
{
    return value->op == IR_CONVERT && type_is_integer(value->type) &&
           value->type->size >= value->operands[0]->type->size;
}

static bool is_register(const IrValue *value, IntrinsicId axes, uint32_t axis)
{
    while (is_widened(value))
        value = value->operands[0];
    return value->op == IR_INTRINSIC && value->intrinsic == intrinsic_on_axis(axes, axis);
}

static bool is_first_of_block(const IrValue *value, uint32_t axis)
{
    if (value->op != IR_MUL)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (is_register(value->operands[i], INTRINSIC_CUDA_BLOCK_IDX, axis) &&
            is_register(value->operands[1 - i], INTRINSIC_CUDA_BLOCK_DIM, axis))
            return true;
    return false;
}

static bool is_place_in_grid(const IrValue *value, uint32_t axis)
{
    if (value->op != IR_ADD || value->type->size != 8)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (is_first_of_block(value->operands[i], axis) &&
            is_register(value->operands[1 - i], INTRINSIC_CUDA_THREAD_IDX, axis))
            return true;
    return false;
}

/* Whether the value tells more of a thread than its place in the grid, by what it is made of. */
static bool tells_block(const IrValue *value, uint32_t axis)
{
    bool passes_on = is_widened(value) && value->operands[0]->op != IR_MUL;
    if (passes_on || is_first_of_block(value, axis) || is_place_in_grid(value, axis))
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        const IrValue *operand = value->operands[i];
        if (is_register(operand, INTRINSIC_CUDA_THREAD_IDX, axis) ||
            is_register(operand, INTRINSIC_CUDA_BLOCK_IDX, axis) || is_first_of_block(operand, axis))
            return true;
    }
    return false;
}

/* Of registers these aside, a thread may know its dimensions. Memory of a block is one block's. */
static bool belongs_to_block(const IrValue *value)
{
    if (value->op == IR_SHARED)
        return true;
    if (value->op != IR_INTRINSIC)
        return false;
    const IntrinsicInfo *row = &intrinsic_info[value->intrinsic];
    if (intrinsic_axis(INTRINSIC_CUDA_THREAD_IDX, value->intrinsic) >= 0 ||
        intrinsic_axis(INTRINSIC_CUDA_BLOCK_IDX, value->intrinsic) >= 0)
        return false;
    return row->kind != INTRINSIC_KIND_MATH && row->family != FAMILY_BLOCK_REGISTER;
}

/* Whether threads of the kernel know along the axis where they are in the grid, not in which block. */
static bool knows_no_blocks(const IrModule *module, uint32_t axis)
{
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if (belongs_to_block(value) || tells_block(value, axis))
                    return false;
    return true;
}

uint32_t axes_of_alike_threads(const IrModule *module)
{
    uint32_t row = module->first->row_axis;
    if (order_of_threads_shows(module))
        return 0;
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next) {
                if (belongs_to_block(value))
                    return 0;
                for (uint32_t axis = 0; axis < AXES; axis++)
                    if (axis != row && is_register(value, INTRINSIC_CUDA_THREAD_IDX, axis))
                        return 0;
            }
    return ((1u << AXES) - 1) & ~(1u << row);
}

void choose_row_axis(IrModule *module)
{
    IrFunc *kernel = module->first;
    if (!kernel->is_kernel || order_of_threads_shows(module))
        return;
    Costs costs = {.arena = arena_create()};
    Instance in = {0};
    add_function(&costs, kernel, &in, 1);
    uint8_t best = X;
    for (uint8_t axis = X + 1; axis < AXES; axis++)
        if (costs.has_rows[axis] && costs.costs[axis] < costs.costs[best])
            best = axis;
    if (costs.costs[best] * GAIN < costs.costs[X])
        kernel->row_axis = best;
    kernel->joins_rows = !costs.is_far[kernel->row_axis] && knows_no_blocks(module, kernel->row_axis) &&
                         !(is_one_trip(kernel) && ir_kernel_raises(module, costs.arena));
    arena_destroy(costs.arena);
}
