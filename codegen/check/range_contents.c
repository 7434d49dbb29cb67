/* What integers a thread's local arrays and a block's shared ones hold: the rows of tables that are filled in an order.
 *
 *     row[j] = min(row[j] + 1, row[j - 1] + 1, corner + (a[i] != b[j]))      # 24 x 24 times, from 0 to 24
 *
 * No interval stays the same here, but all that is written is at most 1 above something that was there. An array and the
 * variables of loops that hold what came from it are cells; each way something gets into one (a site) writes at most `rise`
 * above the highest of them, or what has nothing to do with them. A site runs so often as the trips of its loops say, so
 * none of the cells ever holds more than the highest that came from outside, and the rises of all sites times their trips.
 *
 * Elements that nothing has been written to are left out: who reads those gets what happens to lie there. Values whose
 * range depends on that are marked, and nothing is promised to LLVM of them: they must be numbers even then. */
#include <assert.h>

#include "codegen/check/ranges.h"

enum { MOST_CELLS = 12, DEEPEST = 24, MOST_THREADS = 1024, MOST_LOOKS_AT = 256 };

typedef __int128 Wide;

static const Wide FAR = (Wide)1 << 40;

/* How far the value is from cells at most, and the union of what it may be that comes from elsewhere. */
typedef struct Growth {
    Wide rise, fall;
    bool has_base, has_cell;
    LaunchRange base;
} Growth;

typedef struct Cells {
    Ranges *ranges;
    const RangeLimits *limits;
    const Context *context;
    const IrValue *cells[MOST_CELLS]; /* LOCAL, SHARED, or a phi of a loop's header */
    uint32_t count, looks;
    bool failed;
    LaunchRange least_type; /* that no conversion on the way changes */
} Cells;

static bool fail(Cells *cells) { return cells->failed = true, false; }

/* --- numbers ---------------------------------------------------------------------------------------------------------- */

static LaunchRange range_at(const Cells *cells, const IrValue *value, const IrBlock *block)
{
    Ranges *ranges = cells->ranges;
    uint32_t node = range_of(ranges, cells->context, value, (Place){block, NULL});
    LaunchRange *found = ARENA_ARRAY(ranges->arena, LaunchRange, ranges->count);
    launch_ranges(ranges->nodes, ranges->count, cells->limits, found);
    return found[node];
}

static LaunchRange of_type(const Type *type)
{
    unsigned bits = 8u * type->size;
    return type->kind == TYPE_UINT ? (LaunchRange){0, ((Wide)1 << bits) - 1}
                                   : (LaunchRange){-((Wide)1 << (bits - 1)), ((Wide)1 << (bits - 1)) - 1};
}

static void pass_through(Cells *cells, const Type *type)
{
    LaunchRange range = of_type(type);
    if (range.least > cells->least_type.least)
        cells->least_type.least = range.least;
    if (range.most < cells->least_type.most)
        cells->least_type.most = range.most;
}

/* --- values ----------------------------------------------------------------------------------------------------------- */

static bool is_array(const IrValue *value)
{
    return (value->op == IR_LOCAL || value->op == IR_SHARED) && type_is_integer(value->type->element) &&
           !value->storage->dynamic;
}

static void add_cell(Cells *cells, const IrValue *value)
{
    for (uint32_t i = 0; i < cells->count; i++)
        if (cells->cells[i] == value)
            return;
    if (cells->count == MOST_CELLS)
        fail(cells);
    else
        cells->cells[cells->count++] = value;
}

static bool is_header_phi(const Cells *cells, const IrValue *value)
{
    const IrLoop *loop = cells->context->graph->loop_of[value->block->id];
    return value->op == IR_PHI && loop && loop->header == value->block;
}

static bool is_counter(const Cells *cells, const IrValue *phi)
{
    IrInduction counts;
    const IrLoop *loop = cells->context->graph->loop_of[phi->block->id];
    return ir_induction(cells->context->graph, loop, &counts) && counts.variable == phi;
}

/* Whether the value has nothing to do with arrays and variables of loops, but for those that count. */
static bool is_outside(Cells *cells, const IrValue *value, int depth)
{
    if (value->op == IR_LOAD)
        return !is_array(value->operands[0]);
    if (is_header_phi(cells, value))
        return is_counter(cells, value);
    if (depth == 0 || ++cells->looks > MOST_LOOKS_AT)
        return fail(cells);
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (type_is_scalar(value->operands[i]->type) && !is_outside(cells, value->operands[i], depth - 1))
            return false;
    return true;
}

static Growth either(Growth a, Growth b)
{
    if (b.rise > a.rise)
        a.rise = b.rise;
    if (b.fall > a.fall)
        a.fall = b.fall;
    if (b.has_base && (!a.has_base || b.base.least < a.base.least))
        a.base.least = b.base.least;
    if (b.has_base && (!a.has_base || b.base.most > a.base.most))
        a.base.most = b.base.most;
    a.has_base |= b.has_base;
    a.has_cell |= b.has_cell;
    return a;
}

static Growth moved(Growth growth, LaunchRange by)
{
    Wide up = by.most > 0 ? by.most : 0, down = by.least < 0 ? -by.least : 0;
    growth.rise += up;
    growth.fall += down;
    growth.base.most += growth.has_base ? up : 0;
    growth.base.least -= growth.has_base ? down : 0;
    return growth;
}

static Growth growth_of(Cells *cells, const IrValue *value, const IrBlock *block, int depth);

static Growth of_operands(Cells *cells, const IrValue *value, const IrBlock *block, int depth)
{
    Growth growth = {0};
    for (uint32_t i = value->op == IR_SELECT; i < value->operand_count && !cells->failed; i++)
        growth = either(growth, growth_of(cells, value->operands[i],
                                          value->op == IR_PHI ? value->block->predecessors[i] : block, depth - 1));
    return growth;
}

/* A sum with something apart. */
static Growth of_sum(Cells *cells, const IrValue *value, const IrBlock *block, int depth)
{
    bool is_first_apart = value->op == IR_ADD && is_outside(cells, value->operands[0], DEEPEST);
    const IrValue *by = value->operands[!is_first_apart];
    if (cells->failed || (!is_first_apart && !is_outside(cells, by, DEEPEST)) || value->hint == IR_SATURATES)
        return fail(cells), (Growth){0};
    LaunchRange range = range_at(cells, by, block);
    if (range.least > range.most || range.least < -FAR || range.most > FAR)
        return fail(cells), (Growth){0};
    pass_through(cells, value->type);
    LaunchRange negative = {-range.most, -range.least};
    return moved(growth_of(cells, value->operands[is_first_apart], block, depth - 1),
                 value->op == IR_SUB ? negative : range);
}

static Growth of_cell(Cells *cells, const IrValue *cell)
{
    add_cell(cells, cell);
    return (Growth){.has_cell = true};
}

static Growth growth_of(Cells *cells, const IrValue *value, const IrBlock *block, int depth)
{
    if (cells->failed || depth == 0 || ++cells->looks > MOST_LOOKS_AT || !type_is_integer(value->type))
        return fail(cells), (Growth){0};
    if (value->op == IR_LOAD && is_array(value->operands[0]))
        return of_cell(cells, value->operands[0]);
    if (is_outside(cells, value, DEEPEST))
        return (Growth){.has_base = true, .base = range_at(cells, value, block)};
    if (is_header_phi(cells, value))
        return of_cell(cells, value);
    switch (value->op) {
    case IR_CONVERT:
        if (!type_is_integer(value->operands[0]->type))
            break;
        pass_through(cells, value->type);
        return growth_of(cells, value->operands[0], block, depth - 1);
    case IR_PHI:
    case IR_SELECT:
    case IR_MIN:
    case IR_MAX: return of_operands(cells, value, block, depth);
    case IR_ADD:
    case IR_SUB: return of_sum(cells, value, block, depth);
    default: break;
    }
    return fail(cells), (Growth){0};
}

/* --- sites ------------------------------------------------------------------------------------------------------------ */

/* How often a thread comes to the block at most; 0: nobody knows. */
static Wide trips_of(Cells *cells, const IrBlock *block)
{
    Wide trips = 1;
    const IrGraph *graph = cells->context->graph;
    for (const IrLoop *loop = graph->loop_of[block->id]; loop; loop = loop->parent) {
        IrInduction counts;
        if (!ir_induction(graph, loop, &counts) || counts.exit != 1 ||
            (counts.comparison != IR_LT && counts.comparison != IR_GT))
            return 0;
        LaunchRange start = range_at(cells, counts.start, loop->header),
                    step = range_at(cells, counts.step, loop->header),
                    bound = range_at(cells, counts.bound, loop->header);
        bool rises = counts.comparison == IR_LT;
        if (rises ? step.least < 1 : step.most > -1)
            return 0;
        if (rises ? (Wide)bound.most + step.most > INT64_MAX : (Wide)bound.least + step.least < INT64_MIN)
            return 0; /* it wraps around, and goes on */
        Wide distance = rises ? bound.most - start.least : start.most - bound.least;
        Wide size = rises ? step.least : -step.most;
        trips *= distance > 0 ? distance / size + 2 : 1; /* the header once more */
        if (trips > FAR)
            return 0;
    }
    return trips;
}

/* Of all ways into a cell: the union of what comes from elsewhere, and the rises and falls of all trips. */
static void add_site(Cells *cells, Growth *all, const IrValue *value, const IrBlock *block)
{
    Growth one = growth_of(cells, value, block, DEEPEST);
    Wide trips = one.rise || one.fall ? trips_of(cells, block) : 1;
    if (!trips)
        fail(cells);
    if (cells->failed)
        return;
    Wide rise = all->rise + one.rise * trips, fall = all->fall + one.fall * trips;
    *all = either(*all, one);
    all->rise = rise;
    all->fall = fall;
    if (rise > FAR || fall > FAR)
        fail(cells);
}

/* All that is done to the array is to read and to write single elements. */
static void add_stores(Cells *cells, Growth *all, const IrValue *array)
{
    for (const IrBlock *block = cells->context->function->first; block; block = block->next)
        for (const IrValue *use = block->first; use && !cells->failed; use = use->next)
            for (uint32_t i = 0; i < use->operand_count; i++) {
                if (use->operands[i] != array)
                    continue;
                bool is_plain = i == 0 && (use->op == IR_LOAD || use->op == IR_STORE || use->op == IR_EXTENT ||
                                           use->op == IR_STRIDE);
                if (!is_plain)
                    fail(cells);
                else if (use->op == IR_STORE)
                    add_site(cells, all, use->operands[use->operand_count - 1], block);
            }
    pass_through(cells, array->type->element);
}

static void add_ways(Cells *cells, Growth *all, const IrValue *phi)
{
    for (uint32_t i = 0; i < phi->operand_count && !cells->failed; i++)
        add_site(cells, all, phi->operands[i], phi->block->predecessors[i]);
    pass_through(cells, phi->type);
}

/* A thread goes on with what another one left in shared memory: in its variables, too. */
static Wide count_threads(const Cells *cells)
{
    for (uint32_t i = 0; i < cells->count; i++)
        if (cells->cells[i]->op == IR_SHARED)
            return MOST_THREADS;
    return 1;
}

static void find_contents_of(Ranges *ranges, const RangeLimits *limits, const Context *context, const IrValue *array)
{
    Cells cells = {.ranges = ranges, .limits = limits, .context = context, .cells = {array}, .count = 1};
    cells.least_type = of_type(TYPE_OF(INT64));
    Growth all = {0};
    for (uint32_t i = 0; i < cells.count && !cells.failed; i++)
        if (cells.cells[i]->op == IR_PHI)
            add_ways(&cells, &all, cells.cells[i]);
        else
            add_stores(&cells, &all, cells.cells[i]);
    if (cells.failed || !all.has_base)
        return;
    LaunchRange *contents = ARENA_NEW(ranges->arena, LaunchRange);
    Wide threads = count_threads(&cells);
    *contents = (LaunchRange){all.base.least - all.fall * threads, all.base.most + all.rise * threads};
    if (contents->least >= cells.least_type.least && contents->most <= cells.least_type.most)
        table_set(ranges->contents, &array, sizeof array, contents);
}

void ranges_find_contents(Ranges *ranges, const RangeLimits *limits)
{
    assert(!ranges->assumption && !ranges->contents);
    ranges->contents = table_create();
    for (const Context *context = ranges->contexts; context; context = context->next)
        if (!context->caller)
            for (const IrBlock *block = context->function->first; block; block = block->next)
                for (const IrValue *value = block->first; value; value = value->next)
                    if (is_array(value))
                        find_contents_of(ranges, limits, context, value);
    /* what was found out before knows nothing of contents */
    table_destroy(ranges->found);
    ranges->found = table_create();
}

uint32_t range_of_contents(Ranges *ranges, const IrValue *load)
{
    const IrValue *array = load->operands[0];
    const LaunchRange *contents = ranges->contents ? table_get(ranges->contents, &array, sizeof array) : NULL;
    if (!contents)
        return range_whole(ranges, load->type);
    return range_from_memory(ranges, load->type, (int64_t)contents->least, (int64_t)contents->most);
}
