/* A record is an array without axes, and its parameter a pointer. A launch whose record lies on the host writes the bytes behind
 * the parameters and 0 for the pointer: nothing is copied to the device, and threads read constant memory. */
#include "codegen/check/records.h"

#include "core/kernel/kernel_abi.h"

static uint32_t size_with(const IrFunc *kernel, const uint8_t *passed, Arena *arena)
{
    uint32_t count = kernel->parameter_count;
    return kernel_abi_with_values(kernel->parameter_types, count, passed, count, true, arena)->size;
}

/* The kernel's parameters whose addresses are compared, given away, or loaded from in another way than others: bytes among the parameters have none that others know, and
 * LLVM's inference of address spaces (22) ends the process where one is compared with an address of another kind. */
static void mark_addressed(const IrModule *module, bool *addressed)
{
    const IrFunc *kernel = module->first;
    for (const IrFunc *function = kernel; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrValue *value = block->first; value; value = value->next) {
                bool is_hinted = value->op == IR_LOAD && value->hint; /* PTX has no such loads of parameters */
                bool is_asked = value->op == IR_ADDRESS || is_hinted;
                const IrValue *memory = is_asked ? ir_memory_of(value->operands[0]) : NULL;
                for (uint32_t i = 0; memory && i < kernel->parameter_count; i++)
                    addressed[i] |= memory->op != IR_PARAM || function != kernel || memory->index == i;
            }
}

/* Those that the kernel only reads, as long as there is room; returns how many. */
static uint32_t pick(const IrModule *module, uint32_t most, uint8_t *passed, Arena *arena)
{
    const IrFunc *kernel = module->first;
    bool *written = ARENA_ARRAY(arena, bool, kernel->parameter_count + 1);
    bool *addressed = ARENA_ARRAY(arena, bool, kernel->parameter_count + 1);
    uint32_t count = 0;
    ir_written_parameters(module, written);
    mark_addressed(module, addressed);
    for (uint32_t i = 0; i < kernel->parameter_count && count < most; i++) {
        if (written[i] || addressed[i] || !type_is_record_parameter(kernel->parameter_types[i]))
            continue;
        passed[i] = PASSED_BY_VALUE;
        bool fits = size_with(kernel, passed, arena) <= KERNEL_ABI_SMALL_SIZE;
        passed[i] = fits ? PASSED_BY_VALUE : PASSED_BY_POINTER;
        count += fits;
    }
    return count;
}

static RangeNode node(RangeOp op, int64_t number, int64_t limit)
{
    return (RangeNode){.op = (uint8_t)op,
                       .bits = 64,
                       .is_signed = 1,
                       .a = RANGE_NONE,
                       .b = RANGE_NONE,
                       .c = RANGE_NONE,
                       .number = number,
                       .limit = limit};
}

/* The plan with a test of each of `count` records more: that its pointer is below 1. */
static void add_tests(const IrModule *module, const uint8_t *passed, uint32_t count, LaunchPlan *plan)
{
    Arena *arena = module->arena;
    const IrFunc *kernel = module->first;
    const KernelAbi *abi = kernel_abi_layout(kernel->parameter_types, kernel->parameter_count, false, arena);
    RangeNode *nodes = ARENA_ARRAY(arena, RangeNode, plan->node_count + count + 1);
    RangeTest *tests = ARENA_ARRAY(arena, RangeTest, plan->test_count + count);
    for (uint32_t i = 0; i < plan->node_count; i++)
        nodes[i] = plan->nodes[i];
    for (uint32_t i = 0; i < plan->test_count; i++)
        tests[i] = plan->tests[i];
    uint32_t one = plan->node_count++;
    nodes[one] = node(RANGE_BETWEEN, 1, 1);
    for (uint32_t i = 0; i < abi->field_count; i++) {
        if (passed[abi->fields[i].parameter] == PASSED_BY_POINTER)
            continue;
        tests[plan->test_count++] = (RangeTest){.index = plan->node_count, .extent = one};
        nodes[plan->node_count++] = node(RANGE_FIELD, abi->fields[i].offset, 0);
    }
    plan->nodes = nodes;
    plan->tests = tests;
}

/* How many records a plan has room for: nodes for their pointers and for the 1, and tests. */
static uint32_t room(const LaunchPlan *plan)
{
    uint32_t nodes = LAUNCH_MOST_NODES - plan->node_count, tests = LAUNCH_MOST_TESTS - plan->test_count;
    return nodes == 0 ? 0 : nodes - 1 < tests ? nodes - 1 : tests;
}

void pass_records(IrModule *module, const LaunchTests *failed, LaunchPlan *plan)
{
    uint32_t parameters = module->first->parameter_count, test = plan->test_count;
    uint8_t *passed = ARENA_ARRAY(module->arena, uint8_t, parameters + 1);
    uint32_t count = pick(module, room(plan), passed, module->arena);
    if (!count)
        return;
    add_tests(module, passed, count, plan);
    for (uint32_t i = 0; i < parameters; i++)
        if (passed[i] == PASSED_BY_VALUE)
            passed[i] = failed->finds_any_records           ? PASSED_ANYWHERE
                        : launch_tests_have(failed, test++) ? PASSED_BESIDE_VALUE
                                                            : PASSED_BY_VALUE;
    module->first->passed = passed;
}
