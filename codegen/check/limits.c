/* The test of a launch whether it is one of those that most kernels are made for: the most elements of an array, and the
 * most threads on an axis of the grid, in one number. */
#include "codegen/check/narrow.h"

#include "core/kernel/kernel_abi.h"

enum { MOST_THREADS = 1024, BITS_OF_PRODUCT = 127 };

typedef struct Limits {
    RangeNode nodes[LAUNCH_MOST_NODES];
    uint32_t count, all; /* all: the union so far; RANGE_NONE: of nothing */
    bool is_full;
} Limits;

static uint32_t add(Limits *limits, RangeOp op, uint32_t a, uint32_t b, int64_t number, int64_t limit)
{
    if (limits->count == LAUNCH_MOST_NODES) {
        limits->is_full = true;
        return 0;
    }
    limits->nodes[limits->count] = (RangeNode){.op = (uint8_t)op,
                                               .bits = op == RANGE_FIELD ? 64 : BITS_OF_PRODUCT,
                                               .is_signed = 1,
                                               .a = a,
                                               .b = b,
                                               .c = RANGE_NONE,
                                               .number = number,
                                               .limit = limit};
    return limits->count++;
}

static void include(Limits *limits, uint32_t node)
{
    limits->all = limits->all == RANGE_NONE ? node : add(limits, RANGE_UNION, limits->all, node, 0, 0);
}

/* The extents, and how many elements they make; those of an array stand one behind the other. */
static void include_arrays(Limits *limits, const KernelAbi *abi)
{
    uint32_t elements = RANGE_NONE;
    for (uint32_t i = 0; i < abi->field_count; i++) {
        const AbiField *field = &abi->fields[i];
        if (field->kind != ABI_EXTENT)
            continue;
        uint32_t extent = add(limits, RANGE_FIELD, RANGE_NONE, RANGE_NONE, field->offset, KERNEL_ABI_MAX_EXTENT);
        include(limits, extent);
        if (field->axis > 0)
            include(limits, elements = add(limits, RANGE_MUL, elements, extent, 0, 0));
        else
            elements = extent;
    }
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
        uint32_t blocks = add(limits, RANGE_GRID_DIM, RANGE_NONE, RANGE_NONE, axis, 0);
        uint32_t threads = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, MOST_THREADS, MOST_THREADS);
        include(limits, add(limits, RANGE_MUL, blocks, threads, 0, 0));
    }
}

bool plan_limits(const IrModule *module, LaunchPlan *plan, Arena *arena)
{
    const IrFunc *kernel = module->first;
    Limits *limits = ARENA_NEW(arena, Limits);
    limits->all = RANGE_NONE;
    include_arrays(limits, kernel_abi_layout(kernel->parameter_types, kernel->parameter_count, false, arena));
    include_grid(limits, module);
    *plan = (LaunchPlan){0};
    if (limits->all == RANGE_NONE)
        return true;
    uint32_t end = add(limits, RANGE_BETWEEN, RANGE_NONE, RANGE_NONE, LAUNCH_LIMIT_EXTENT + 1, LAUNCH_LIMIT_EXTENT + 1);
    RangeTest *test = ARENA_NEW(arena, RangeTest);
    *test = (RangeTest){.index = limits->all, .extent = end};
    *plan = (LaunchPlan){limits->nodes, test, limits->count, 1};
    return !limits->is_full;
}
