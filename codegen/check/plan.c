/* Makes the plan of a kernel's launch. An access is the launch's where every index of it has a range that the launch knows,
 * in every context in which its function is called; else the code checks it. What holds of any launch is nobody's. */
#include "codegen/check/plan.h"

#include <string.h>

#include "codegen/check/bounds.h"
#include "codegen/check/ranges.h"

/* An index of an access, and its tests, one for each context. */
typedef struct Item {
    const IrValue *value;
    uint32_t axis, first, count;
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
    uint32_t test_count;
} Planner;

/* --- tests -------------------------------------------------------------------------------------------------------------- */

/* The number of a test, once for each; RANGE_NONE: there is no room. */
static uint32_t number_of(Planner *planner, RangeTest test)
{
    uint32_t i = 0;
    while (i < planner->test_count &&
           (planner->tests[i].index != test.index || planner->tests[i].extent != test.extent))
        i++;
    if (i == LAUNCH_MOST_TESTS)
        return RANGE_NONE;
    if (i == planner->test_count)
        planner->tests[planner->test_count++] = test;
    return i;
}

/* From the first element that is accessed to the last one. */
static uint32_t range_of_access(Ranges *ranges, const Context *context, const IrValue *value, uint32_t axis)
{
    const Type *type = TYPE_OF(INT64);
    uint32_t first = range_of(ranges, context, value->operands[1 + axis], (Place){value->block, NULL});
    uint32_t width = bounded_width(value);
    if (width == 1)
        return first;
    uint32_t behind = range_between(ranges, type, width - 1, width - 1);
    uint32_t last = range_node(ranges, RANGE_ADD, type, first, behind, RANGE_NONE, 0, 0);
    return range_node(ranges, RANGE_UNION, type, first, last, RANGE_NONE, 0, 0);
}

static uint32_t extent_of_access(Ranges *ranges, const Context *context, const IrValue *value, uint32_t axis)
{
    int64_t known = known_extent(value->operands[0], axis);
    return known >= 0 ? range_between(ranges, TYPE_OF(INT64), known, known)
                      : range_of_extent(ranges, context, value->operands[0], axis, (Place){value->block, NULL});
}

static bool add_test(Planner *planner, const Context *context, const Item *item)
{
    Ranges *ranges = planner->ranges;
    const IrValue *value = item->value;
    RangeTest test = {.index = range_of_access(ranges, context, value, item->axis),
                      .extent = extent_of_access(ranges, context, value, item->axis)};
    bool is_known = ranges->known[test.index] == KNOWN && ranges->known[test.extent] & KNOWN_BELOW;
    uint32_t number = is_known && !ranges->is_full ? number_of(planner, test) : RANGE_NONE;
    if (number == RANGE_NONE)
        return false;
    planner->numbers = arena_grow(planner->arena, planner->numbers, planner->number_count, &planner->number_capacity,
                                  sizeof *planner->numbers);
    planner->numbers[planner->number_count++] = number;
    return true;
}

static void plan_item(Planner *planner, const IrFunc *function, const IrValue *value, uint32_t axis)
{
    Item item = {.value = value, .axis = axis, .first = planner->number_count};
    item.is_planned = function->is_kernel || !planner->ranges->lacks_contexts;
    for (const Context *context = planner->ranges->contexts; item.is_planned && context; context = context->next)
        if (context->function == function)
            item.is_planned = add_test(planner, context, &item);
    item.count = planner->number_count - item.first;
    planner->items =
        arena_grow(planner->arena, planner->items, planner->item_count, &planner->item_capacity, sizeof item);
    planner->items[planner->item_count++] = item;
}

static void plan_function(Planner *planner, const IrFunc *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            unsigned axes = bounded_axes(value);
            for (uint32_t axis = 0; axes >> axis; axis++)
                if (axes >> axis & 1)
                    plan_item(planner, function, value, axis);
        }
}

/* --- what is left ------------------------------------------------------------------------------------------------------- */

/* The tests that not every launch passes, under numbers of their own; RANGE_NONE: the others. */
static uint32_t *drop_proven(Planner *planner)
{
    LaunchPlan all = {planner->ranges->nodes, planner->tests, planner->ranges->count, planner->test_count};
    LaunchTests open;
    uint32_t *numbers = ARENA_ARRAY(planner->arena, uint32_t, planner->test_count + 1), count = 0;
    launch_plan_holds(&all, NULL, &open);
    for (uint32_t i = 0; i < planner->test_count; i++) {
        bool is_open = launch_tests_have(&open, i);
        numbers[i] = is_open ? count : RANGE_NONE;
        if (is_open)
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
    for (uint32_t i = 0; i < planner->test_count; i++)
        tests[i] = (RangeTest){places[tests[i].index], places[tests[i].extent]};
    return (LaunchPlan){nodes, tests, count, planner->test_count};
}

static bool needs_check(const Planner *planner, const Item *item, const uint32_t *numbers, const LaunchTests *failed)
{
    for (uint32_t i = 0; i < item->count; i++) {
        uint32_t number = numbers[planner->numbers[item->first + i]];
        if (number != RANGE_NONE && launch_tests_have(failed, number))
            return true;
    }
    return !item->is_planned;
}

static void demand_check(Table *demanded, const Item *item)
{
    uintptr_t axes = (uintptr_t)table_get(demanded, &item->value, sizeof item->value);
    table_set(demanded, &item->value, sizeof item->value, (void *)(axes | (uintptr_t)1 << item->axis));
}

Table *plan_bounds(const IrModule *module, const LaunchTests *failed, LaunchPlan *plan, Arena *arena)
{
    Table *demanded = table_create();
    Planner *planner = ARENA_NEW(arena, Planner);
    planner->arena = arena;
    planner->ranges = ranges_begin(module, arena);
    for (const IrFunc *function = module->first; function; function = function->next)
        if (!function->lacks_body && !(function->source && function->source->is_library))
            plan_function(planner, function);
    const uint32_t *numbers = drop_proven(planner);
    for (uint32_t i = 0; i < planner->item_count; i++)
        if (needs_check(planner, &planner->items[i], numbers, failed))
            demand_check(demanded, &planner->items[i]);
    *plan = compact(planner);
    ranges_end(planner->ranges);
    return demanded;
}
