/* Makes the plan of a kernel's launch. An access is the launch's where every index of it has a range that the launch knows,
 * in every context in which its function is called; else the code checks it. What holds of any launch is nobody's. */
#include "codegen/check/plan.h"

#include <assert.h>

#include "codegen/check/bounds.h"
#include "codegen/check/overflow.h"
#include "codegen/check/ranges.h"

/* An index of an access or a part of an operation, and its tests, one for each context. */
typedef struct Item {
    const IrValue *value;
    uint32_t axis, first, count; /* axis: the bit that stands for it */
    bool is_planned;
} Item;

typedef struct Planner {
    Ranges *ranges;
    Arena *arena;
    Item *items;
    uint32_t item_count, item_capacity;
    uint32_t *numbers; /* of tests, those of an item one after another */
    uint32_t number_count, number_capacity;
    RangeTest tests[LAUNCH_MOST_TESTS];
    uint32_t test_count, first_of_operations;
} Planner;

/* --- tests -------------------------------------------------------------------------------------------------------------- */

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* The number of a test, one for all that differ in the constants only; RANGE_NONE: there is no room. */
static uint32_t number_of(Planner *planner, RangeTest test)
{
    for (uint32_t i = 0; i < planner->test_count; i++) {
        RangeTest *other = &planner->tests[i];
        if (other->index != test.index || other->extent != test.extent || other->from_end != test.from_end)
            continue;
        other->first = least_of(other->first, test.first);
        other->last = most_of(other->last, test.last);
        return i;
    }
    if (planner->test_count == LAUNCH_MOST_TESTS)
        return RANGE_NONE;
    planner->tests[planner->test_count] = test;
    return planner->test_count++;
}

static bool counts_from_end_of(const IrValue *index, const IrValue *array, uint32_t axis)
{
    return index->op == IR_WRAP && index->operands[1]->op == IR_EXTENT && index->operands[1]->operands[0] == array &&
           index->operands[1]->index == axis;
}

enum { FARTHEST = 1 << 30 }; /* of elements that have one test */

/* Whether a constant is added to the value or taken from it. */
static bool is_moved(const IrValue *value)
{
    bool is_sum = value->op == IR_ADD || value->op == IR_SUB;
    return is_sum && value->operands[1]->op == IR_CONST && value->operands[1]->integer >= -FARTHEST &&
           value->operands[1]->integer <= FARTHEST;
}

static const IrValue *without_constant(const IrValue *index, RangeTest *test)
{
    if (!is_moved(index))
        return index;
    test->first = index->op == IR_ADD ? index->operands[1]->integer : -index->operands[1]->integer;
    return index->operands[0];
}

/* The index without such a constant, and before a negative one was counted from the end. Where the sum leaves its 64 bits,
 * it does not pass the test either: those have more bits, and an extent has fewer. */
static const IrValue *split_index(const IrValue *value, uint32_t axis, RangeTest *test)
{
    const IrValue *index = value->operands[1 + axis];
    if (counts_from_end_of(index, value->operands[0], axis)) {
        assert(bounded_width(value) == 1); /* neighbours do not go on from the last element to the first */
        index = index->operands[0];
        test->from_end = true;
    }
    index = without_constant(index, test);
    test->last = test->first + bounded_width(value) - 1;
    return index;
}

static uint32_t extent_of_access(Ranges *ranges, const Context *context, const IrValue *value, uint32_t axis)
{
    int64_t known = known_extent(value->operands[0], axis);
    return known >= 0 ? range_between(ranges, TYPE_OF(INT64), known, known)
                      : range_of_extent(ranges, context, value->operands[0], axis, (Place){value->block, NULL});
}

static bool keep_test(Planner *planner, RangeTest test)
{
    uint32_t number = planner->ranges->is_full ? RANGE_NONE : number_of(planner, test);
    if (number == RANGE_NONE)
        return false;
    planner->numbers = arena_grow(planner->arena, planner->numbers, planner->number_count, &planner->number_capacity,
                                  sizeof *planner->numbers);
    planner->numbers[planner->number_count++] = number;
    return true;
}

static bool add_test(Planner *planner, RangeTest test)
{
    const Ranges *ranges = planner->ranges;
    bool is_known = ranges->known[test.index] == KNOWN && ranges->known[test.extent] & KNOWN_BELOW;
    return is_known && keep_test(planner, test);
}

static bool add_test_of_access(Planner *planner, const Context *context, const Item *item)
{
    const IrValue *value = item->value;
    RangeTest test = {.extent = extent_of_access(planner->ranges, context, value, item->axis)};
    const IrValue *index = split_index(value, item->axis, &test);
    test.index = range_of(planner->ranges, context, index, (Place){value->block, NULL});
    return add_test(planner, test);
}

/* The last element of either is an element of the other. Launches in which an extent of 1 is repeated do not pass, nor do
 * those with empty arrays: the code checks them. */
static bool add_tests_of_broadcast(Planner *planner, const Context *context, const Item *item)
{
    const IrValue *value = item->value;
    uint32_t target = extent_of_access(planner->ranges, context, value, item->axis);
    uint32_t given =
        range_of(planner->ranges, context, assigned_extent(value, item->axis), (Place){value->block, NULL});
    return add_test(planner, (RangeTest){.index = given, .extent = target, .first = -1, .last = -1}) &&
           add_test(planner, (RangeTest){.index = target, .extent = given, .first = -1, .last = -1});
}

static bool add_test_of_operation(Planner *planner, const Context *context, const Item *item)
{
    RangeTest test = {0};
    unsigned part = item->axis - FIRST_OVERFLOW_PART;
    return overflow_test(planner->ranges, context, item->value, part, &test) && keep_test(planner, test);
}

/* The index is 0 or more. */
static bool add_test_of_wrap(Planner *planner, const Context *context, const Item *item)
{
    const IrValue *index = item->value->operands[0];
    RangeTest test = {.extent = range_between(planner->ranges, TYPE_OF(INT64), INT64_MAX, INT64_MAX)};
    index = without_constant(index, &test);
    test.last = test.first;
    test.index = range_of(planner->ranges, context, index, (Place){item->value->block, NULL});
    return add_test(planner, test);
}

static bool add_tests(Planner *planner, const Context *context, const Item *item)
{
    if (item->axis == NEVER_FROM_END)
        return add_test_of_wrap(planner, context, item);
    if (item->axis >= FIRST_OVERFLOW_PART)
        return add_test_of_operation(planner, context, item);
    return item->value->op == IR_BROADCAST ? add_tests_of_broadcast(planner, context, item)
                                           : add_test_of_access(planner, context, item);
}

static void plan_item(Planner *planner, const IrFunc *function, const IrValue *value, uint32_t axis)
{
    Item item = {.value = value, .axis = axis, .first = planner->number_count};
    item.is_planned = function->is_kernel || !planner->ranges->lacks_contexts;
    for (const Context *context = planner->ranges->contexts; item.is_planned && context; context = context->next)
        if (context->function == function)
            item.is_planned = add_tests(planner, context, &item);
    item.count = planner->number_count - item.first;
    planner->items =
        arena_grow(planner->arena, planner->items, planner->item_count, &planner->item_capacity, sizeof item);
    planner->items[planner->item_count++] = item;
}

static unsigned operation_bits(const IrValue *value) { return overflow_parts(value) << FIRST_OVERFLOW_PART; }

static unsigned wrap_bits(const IrValue *value) { return value->op == IR_WRAP ? 1u << NEVER_FROM_END : 0; }

static void plan_function(Planner *planner, const IrFunc *function, unsigned (*bits_of)(const IrValue *value))
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            unsigned bits = bits_of(value);
            for (uint32_t bit = 0; bit < 32 && bits >> bit; bit++)
                if (bits >> bit & 1)
                    plan_item(planner, function, value, bit);
        }
}

static void plan_functions(Planner *planner, const IrModule *module, unsigned (*bits_of)(const IrValue *value))
{
    for (const IrFunc *function = module->first; function; function = function->next)
        if (is_bounded(function))
            plan_function(planner, function, bits_of);
}

/* --- what is left ------------------------------------------------------------------------------------------------------- */

enum { TEST_OF_CODE = RANGE_NONE - 1 };

/* Those that a small launch does not pass: what they are of comes from memory. */
static LaunchTests hopeless_tests(const Planner *planner, const LaunchPlan *all)
{
    static const uint32_t grid[3] = {2, 2, 2}, block[3] = {32, 8, 4};
    const Ranges *ranges = planner->ranges;
    LaunchTests hopeless;
    uint8_t *parameters = ARENA_ARRAY(planner->arena, uint8_t, ranges->abi->size + 8);
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ranges->nodes[i].op == RANGE_FIELD)
            parameters[ranges->nodes[i].number] = 16;
    LaunchFacts facts = {.grid = grid, .block = block, .dynamic_shared = 1024, .parameters = parameters};
    launch_plan_holds(all, &facts, &hopeless);
    return hopeless;
}

/* The tests that some launches pass, under numbers of their own; RANGE_NONE: all launches pass it. */
static uint32_t *drop_proven(Planner *planner)
{
    LaunchPlan all = {planner->ranges->nodes, planner->tests, planner->ranges->count, planner->test_count};
    LaunchTests open, hopeless = hopeless_tests(planner, &all);
    uint32_t *numbers = ARENA_ARRAY(planner->arena, uint32_t, planner->test_count + 1), count = 0;
    launch_plan_holds(&all, NULL, &open);
    for (uint32_t i = 0; i < planner->test_count; i++) {
        bool is_open = launch_tests_have(&open, i),
             is_of_code = is_open && i >= planner->first_of_operations && launch_tests_have(&hopeless, i);
        numbers[i] = is_of_code ? TEST_OF_CODE : is_open ? count : RANGE_NONE;
        if (is_open && !is_of_code)
            planner->tests[count++] = planner->tests[i];
    }
    planner->test_count = count;
    return numbers;
}

static void mark_used(const RangeNode *nodes, uint32_t count, bool *used)
{
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t operands[] = {nodes[i].a, nodes[i].b, nodes[i].c};
        for (int k = 0; k < 3 && used[i]; k++)
            if (operands[k] != RANGE_NONE)
                used[operands[k]] = true;
    }
}

static uint32_t moved(const uint32_t *places, uint32_t node) { return node == RANGE_NONE ? node : places[node]; }

/* The plan with the nodes that its tests need. */
static LaunchPlan compact(const Planner *planner)
{
    const Ranges *ranges = planner->ranges;
    bool *used = ARENA_ARRAY(planner->arena, bool, ranges->count);
    uint32_t *places = ARENA_ARRAY(planner->arena, uint32_t, ranges->count), count = 0;
    RangeNode *nodes = ARENA_ARRAY(planner->arena, RangeNode, ranges->count);
    RangeTest *tests = arena_copy(planner->arena, planner->tests, planner->test_count * sizeof *tests);
    for (uint32_t i = 0; i < planner->test_count; i++)
        used[tests[i].index] = used[tests[i].extent] = true;
    mark_used(ranges->nodes, ranges->count, used);
    for (uint32_t i = 0; i < ranges->count; i++) {
        if (!used[i])
            continue;
        places[i] = count;
        nodes[count] = ranges->nodes[i];
        nodes[count].a = moved(places, nodes[count].a);
        nodes[count].b = moved(places, nodes[count].b);
        nodes[count].c = moved(places, nodes[count].c);
        count++;
    }
    for (uint32_t i = 0; i < planner->test_count; i++) {
        tests[i].index = places[tests[i].index];
        tests[i].extent = places[tests[i].extent];
    }
    return (LaunchPlan){nodes, tests, count, planner->test_count};
}

static bool needs_check(const Planner *planner, const Item *item, const uint32_t *numbers, const LaunchTests *failed)
{
    for (uint32_t i = 0; i < item->count; i++) {
        uint32_t number = numbers[planner->numbers[item->first + i]];
        if (number == TEST_OF_CODE)
            return true;
        if (number != RANGE_NONE && launch_tests_have(failed, number))
            return true;
    }
    return !item->is_planned;
}

static void set_bit(Table *demanded, const Item *item)
{
    uintptr_t axes = (uintptr_t)table_get(demanded, &item->value, sizeof item->value);
    table_set(demanded, &item->value, sizeof item->value, (void *)(axes | (uintptr_t)1 << item->axis));
}

Table *plan_checks(const IrModule *module, CheckSet wanted, const LaunchTests *failed, LaunchPlan *plan, Arena *arena)
{
    Table *demanded = table_create();
    Planner *planner = ARENA_NEW(arena, Planner);
    planner->arena = arena;
    planner->ranges = ranges_begin(module, LAUNCH_MOST_NODES, arena);
    if (wanted & CHECK_BOUNDS)
        plan_functions(planner, module, bounded_axes);
    planner->first_of_operations = planner->test_count;
    if (wanted & CHECKS_OF_OVERFLOW)
        plan_functions(planner, module, operation_bits);
    plan_functions(planner, module, wrap_bits);
    const uint32_t *numbers = drop_proven(planner);
    for (uint32_t i = 0; i < planner->item_count; i++) {
        const Item *item = &planner->items[i];
        if (needs_check(planner, item, numbers, failed) != (item->axis == NEVER_FROM_END))
            set_bit(demanded, item);
    }
    *plan = compact(planner);
    ranges_end(planner->ranges);
    return demanded;
}
