/* The test of a launch whether it is one of those that most kernels are made for: the most elements of an array, and the
 * most threads on an axis of the grid, in one number. */
#include "codegen/check/narrow.h"

#include <string.h>

#include "codegen/check/wide_access.h"
#include "core/host_abi.h"
#include "core/kernel/kernel_abi.h"

enum { MOST_THREADS = 1024, BITS_OF_PRODUCT = 127 };

typedef struct Limits {
    RangeNode nodes[LAUNCH_MOST_NODES];
    uint32_t count, all; /* all: the union so far; RANGE_NONE: of nothing */
    bool is_full;
} Limits;

/* Each content once: a launch runs through them all. */
static uint32_t add_node(Limits *limits, const RangeNode *node)
{
    for (uint32_t i = 0; i < limits->count; i++)
        if (memcmp(&limits->nodes[i], node, sizeof *node) == 0)
            return i;
    if (limits->count == LAUNCH_MOST_NODES) {
        limits->is_full = true;
        return 0;
    }
    limits->nodes[limits->count] = *node;
    return limits->count++;
}

static uint32_t add(Limits *limits, RangeOp op, uint32_t a, uint32_t b, int64_t number, int64_t limit)
{
    RangeNode node = {.op = (uint8_t)op,
                      .bits = op == RANGE_FIELD || op == RANGE_WITH_FIELD ? 64 : BITS_OF_PRODUCT,
                      .is_signed = 1,
                      .a = a,
                      .b = b,
                      .c = RANGE_NONE,
                      .number = number,
                      .limit = limit};
    return add_node(limits, &node);
}

static void include(Limits *limits, uint32_t node)
{
    limits->all = limits->all == RANGE_NONE ? node : add(limits, RANGE_UNION, limits->all, node, 0, 0);
}

/* Of an array with one axis nothing but the union asks for the extent: it is no node of its own. */
static void include_length(Limits *limits, const AbiField *extent)
{
    bool is_first = limits->all == RANGE_NONE;
    limits->all = add(limits, is_first ? RANGE_FIELD : RANGE_WITH_FIELD, limits->all, RANGE_NONE, extent->offset,
                      KERNEL_ABI_MAX_EXTENT);
}

/* The extents, and how many elements they make; those of an array stand behind its pointer. */
static void include_array(Limits *limits, const AbiField *pointer)
{
    uint32_t elements = RANGE_NONE, ndim = pointer->type->ndim;
    if (ndim == 1) {
        include_length(limits, pointer + 1);
        return;
    }
    for (uint32_t axis = 0; axis < ndim; axis++) {
        uint32_t offset = pointer[1 + axis].offset;
        uint32_t extent = add(limits, RANGE_FIELD, RANGE_NONE, RANGE_NONE, offset, KERNEL_ABI_MAX_EXTENT);
        include(limits, extent);
        elements = axis ? add(limits, RANGE_MUL, elements, extent, 0, 0) : extent;
        if (axis)
            include(limits, elements);
    }
}

static void include_arrays(Limits *limits, const KernelAbi *abi)
{
    for (uint32_t i = 0; i < abi->field_count; i++)
        if (abi->fields[i].kind == ABI_POINTER)
            include_array(limits, &abi->fields[i]);
}

static bool uses(const IrModule *module, IntrinsicId id)
{
    for (const IrFunc *function = module->first; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next)
                if (value->op == IR_INTRINSIC && value->intrinsic == id)
                    return true;
    return false;
}

static void include_grid(Limits *limits, const IrModule *module)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (!uses(module, intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_IDX, axis)) &&
            !uses(module, intrinsic_on_axis(INTRINSIC_CUDA_GRID_DIM, axis)))
            continue;
        if (limits->all == RANGE_NONE)
            limits->all = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, 0, 0);
        limits->all = add(limits, RANGE_WITH_GRID, limits->all, RANGE_NONE, axis, MOST_THREADS);
    }
}

/* --- memory of one's own --------------------------------------------------------------------------------------------------- */

/* Memory that is none of the parameters', code of which nobody knows what it reaches, or what a kernel does that waits for
 * writes of others than its own threads: other launches', the host's. */
static bool hides_memory(const IrValue *value)
{
    const unsigned meets_others = EFFECT_GRID_SYNC | EFFECT_CLUSTER | EFFECT_GRID_DEPENDENCY;
    switch (value->op) {
    case IR_ADDRESS:
    case IR_FOREIGN: return true;
    case IR_DATA: return !value->array->data;
    case IR_LOAD: return value->hint == IR_HINT_CV;
    case IR_ATOMIC: return value->order != IR_ORDER_RELAXED || value->scope == IR_SCOPE_SYSTEM;
    case IR_INTRINSIC:
        return intrinsic_info[value->intrinsic].effects & meets_others ||
               value->intrinsic == INTRINSIC_CUDA_THREADFENCE ||
               value->intrinsic == INTRINSIC_CUDA_THREADFENCE_SYSTEM || value->intrinsic == INTRINSIC_CUDA_NANOSLEEP;
    default: return false;
    }
}

static bool function_hides_memory(const IrFunc *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (hides_memory(value))
                return true;
    return function->assembly != NULL;
}

static bool holds_array(const Type *type)
{
    bool holds = type->kind == TYPE_ARRAY;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        holds |= holds_array(type->items[i]);
    return holds;
}

/* How long the memory of each array is, the extents tell. */
static bool has_plain_arrays(const IrModule *module)
{
    const IrFunc *kernel = module->first;
    for (const IrFunc *function = kernel; function; function = function->next)
        if (function_hides_memory(function))
            return false;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const Type *type = kernel->parameter_types[i];
        bool is_plain = type->kind == TYPE_ARRAY && type->layout != LAYOUT_ANY;
        if (holds_array(type) && !is_plain)
            return false;
    }
    return true;
}

static uint32_t bytes_of(Limits *limits, const AbiField *pointer)
{
    int64_t size = pointer->type->element->size;
    if (!pointer->type->ndim)
        return add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, size, size);
    uint32_t bytes = add(limits, RANGE_BYTES, RANGE_NONE, RANGE_NONE, pointer[1].offset, size);
    for (uint32_t axis = 1; axis < pointer->type->ndim; axis++) {
        uint32_t offset = pointer[1 + axis].offset;
        uint32_t extent = add(limits, RANGE_FIELD, RANGE_NONE, RANGE_NONE, offset, KERNEL_ABI_MAX_EXTENT);
        bytes = add(limits, RANGE_MUL, bytes, extent, 0, 0);
    }
    return bytes;
}

/* Whether an array that is written has memory in common with one that is only read: a node of 0 or 1. RANGE_NONE: nobody
 * knows, or there is nothing to ask. Of arrays that are written nothing can be said to LLVM: other threads write them,
 * too, and what is one's own a barrier would not change. */
static uint32_t overlap_of_arrays(Limits *limits, const IrModule *module, const KernelAbi *abi, Arena *arena)
{
    enum { MOST_ARRAYS = 16 };
    const AbiField *pointers[MOST_ARRAYS];
    uint32_t count = 0, written_count = 0, node = RANGE_NONE;
    bool *written = ARENA_ARRAY(arena, bool, module->first->parameter_count + 1);
    if (!has_plain_arrays(module))
        return RANGE_NONE;
    ir_written_parameters(module, written);
    for (uint32_t i = 0; i < abi->field_count; i++)
        if (abi->fields[i].kind == ABI_POINTER) {
            if (count == MOST_ARRAYS)
                return RANGE_NONE;
            written_count += written[abi->fields[i].parameter];
            pointers[count++] = &abi->fields[i];
        }
    for (uint32_t i = 0; written_count && i < count; i++)
        for (uint32_t k = 0; k < i; k++) {
            if (written[pointers[i]->parameter] == written[pointers[k]->parameter])
                continue;
            uint32_t first = bytes_of(limits, pointers[i]), second = bytes_of(limits, pointers[k]);
            RangeNode both = {.op = RANGE_OVERLAP,
                              .bits = BITS_OF_PRODUCT,
                              .is_signed = 1,
                              .a = first,
                              .b = second,
                              .c = node,
                              .number = pointers[i]->offset,
                              .limit = pointers[k]->offset};
            node = add_node(limits, &both);
        }
    return node;
}

/* --- where arrays begin ------------------------------------------------------------------------------------------------------ */

/* What the addresses of the arrays have beside multiples of a wide access: a node. RANGE_NONE: no array has one. */
static uint32_t beginnings_of_arrays(Limits *limits, const KernelAbi *abi, uint64_t wide)
{
    uint32_t node = RANGE_NONE;
    for (uint32_t i = 0; i < abi->field_count; i++) {
        const AbiField *field = &abi->fields[i];
        if (field->kind != ABI_POINTER || field->parameter >= WIDE_ACCESS_MOST || !(wide >> field->parameter & 1))
            continue;
        if (node == RANGE_NONE)
            node = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, 0, 0);
        node = add(limits, RANGE_POINTER_BITS, node, RANGE_NONE, field->offset, WIDE_ACCESS_BYTES - 1);
    }
    return node;
}

/* --- the plan ------------------------------------------------------------------------------------------------------------- */

static void add_test(LaunchPlan *plan, RangeTest *tests, Limits *limits, uint32_t index, int64_t end)
{
    uint32_t extent = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, end, end);
    tests[plan->test_count++] = (RangeTest){.index = index, .extent = extent};
}

bool plan_limits(const IrModule *module, uint64_t wide, LaunchPlan *plan, LimitTests *numbers, Arena *arena)
{
    const IrFunc *kernel = module->first;
    Limits *limits = ARENA_NEW(arena, Limits);
    RangeTest *tests = ARENA_ARRAY(arena, RangeTest, 3);
    const KernelAbi *abi = kernel_abi_layout(kernel->parameter_types, kernel->parameter_count, false, arena);
    limits->all = RANGE_NONE;
    *plan = (LaunchPlan){.nodes = limits->nodes, .tests = tests};
    *numbers = (LimitTests){RANGE_NONE, RANGE_NONE, RANGE_NONE};
    include_arrays(limits, abi);
    include_grid(limits, module);
    if (limits->all != RANGE_NONE) {
        numbers->size = plan->test_count;
        add_test(plan, tests, limits, limits->all, LAUNCH_LIMIT_EXTENT + 1);
    }
    uint32_t overlap = overlap_of_arrays(limits, module, abi, arena);
    if (overlap != RANGE_NONE) {
        numbers->overlap = plan->test_count;
        add_test(plan, tests, limits, overlap, 1);
    }
    uint32_t beginnings = beginnings_of_arrays(limits, abi, wide);
    if (beginnings != RANGE_NONE) {
        numbers->alignment = plan->test_count;
        add_test(plan, tests, limits, beginnings, 1);
    }
    plan->node_count = limits->count;
    return !limits->is_full;
}

/* Behind the plan's nodes and tests: that all of the index is below the end. Returns the test's number; RANGE_NONE: there is no
 * room. */
static uint32_t append_test(LaunchPlan *plan, Limits *limits, uint32_t index, int64_t end, Arena *arena)
{
    uint32_t extent = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, end, end), first = plan->node_count;
    if (first + limits->count > LAUNCH_MOST_NODES || plan->test_count == LAUNCH_MOST_TESTS)
        return RANGE_NONE;
    RangeNode *nodes = ARENA_ARRAY(arena, RangeNode, first + limits->count);
    RangeTest *tests = ARENA_ARRAY(arena, RangeTest, plan->test_count + 1);
    if (first)
        memcpy(nodes, plan->nodes, first * sizeof *nodes);
    if (plan->test_count)
        memcpy(tests, plan->tests, plan->test_count * sizeof *tests);
    for (uint32_t i = 0; i < limits->count; i++) {
        RangeNode node = limits->nodes[i];
        node.a += node.a == RANGE_NONE ? 0 : first;
        node.b += node.b == RANGE_NONE ? 0 : first;
        node.c += node.c == RANGE_NONE ? 0 : first;
        nodes[first + i] = node;
    }
    tests[plan->test_count] = (RangeTest){.index = first + index, .extent = first + extent};
    *plan = (LaunchPlan){nodes, tests, first + limits->count, plan->test_count + 1};
    return plan->test_count - 1;
}

uint32_t plan_whole_warps(LaunchPlan *plan, Arena *arena)
{
    Limits *limits = ARENA_NEW(arena, Limits);
    uint32_t threads = add(limits, RANGE_BLOCK_DIM, RANGE_NONE, RANGE_NONE, 0, 0);
    uint32_t warp = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, HOST_WARP, HOST_WARP);
    return append_test(plan, limits, add(limits, RANGE_MOD, threads, warp, 0, 0), 1, arena);
}

uint32_t plan_single_axes(LaunchPlan *plan, uint32_t axes, Arena *arena)
{
    Limits *limits = ARENA_NEW(arena, Limits);
    limits->all = RANGE_NONE;
    for (uint32_t axis = 0; axis < 3; axis++)
        if (axes >> axis & 1)
            include(limits, add(limits, RANGE_BLOCK_DIM, RANGE_NONE, RANGE_NONE, axis, 0));
    return append_test(plan, limits, limits->all, 2, arena);
}

uint32_t plan_extents(LaunchPlan *plan, const IrFunc *kernel, const uint8_t *extents, Arena *arena)
{
    Limits *limits = ARENA_NEW(arena, Limits);
    const KernelAbi *abi = kernel_abi_layout(kernel->parameter_types, kernel->parameter_count, false, arena);
    limits->all = RANGE_NONE;
    for (uint32_t i = 0; i < abi->field_count; i++) {
        const AbiField *field = &abi->fields[i];
        int64_t extent = field->kind == ABI_EXTENT ? extents[field->parameter * TYPE_MAX_NDIM + field->axis] : 0;
        if (!extent)
            continue;
        uint32_t given = add(limits, RANGE_FIELD, RANGE_NONE, RANGE_NONE, field->offset, KERNEL_ABI_MAX_EXTENT);
        uint32_t known = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, extent, extent);
        include(limits, add(limits, RANGE_SUB, given, known, 0, 0));
    }
    return append_test(plan, limits, limits->all, 1, arena);
}

uint32_t axes_without_index(const IrModule *module)
{
    uint32_t axes = 0;
    for (uint32_t axis = 0; axis < 3; axis++)
        axes |= (uint32_t)!uses(module, intrinsic_on_axis(INTRINSIC_CUDA_THREAD_IDX, axis)) << axis;
    return axes;
}
