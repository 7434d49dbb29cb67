/* Runs a launch's plan: interval arithmetic, node by node, in integers that no product of two 64-bit numbers leaves. */
#include "core/kernel/launch_plan.h"

#include <assert.h>
#include <string.h>

#include "core/base/likely.h"
#include "core/kernel/kernel_abi.h"

typedef __int128 Wide;

typedef LaunchRange Range;

static const Range nothing = {1, 0};

static bool is_empty(Range range) { return range.least > range.most; }
static Wide least_of(Wide a, Wide b) { return a < b ? a : b; }
static Wide most_of(Wide a, Wide b) { return a > b ? a : b; }

static Range whole(const RangeNode *node)
{
    Wide one = 1;
    return node->is_signed ? (Range){-(one << (node->bits - 1)), (one << (node->bits - 1)) - 1}
                           : (Range){0, (one << node->bits) - 1};
}

/* The range in the node's type. */
static Range fit(const RangeNode *node, Wide least, Wide most)
{
    Range all = whole(node);
    return least < all.least || most > all.most ? all : (Range){least, most};
}

/* Around four corners. */
static Range around(const RangeNode *node, Wide a, Wide b, Wide c, Wide d)
{
    return fit(node, least_of(least_of(a, b), least_of(c, d)), most_of(most_of(a, b), most_of(c, d)));
}

/* --- arithmetic ------------------------------------------------------------------------------------------------------- */

static bool is_one_word(Range range) { return range.least == range.most && (int64_t)range.least == range.least; }

static Range multiply(const RangeNode *node, Range a, Range b)
{
    Wide products[4];
    if (is_one_word(a) && is_one_word(b)) { /* most of a launch's */
        products[0] = (Wide)(int64_t)a.least * (int64_t)b.least;
        return fit(node, products[0], products[0]);
    }
    for (int i = 0; i < 4; i++)
        if (__builtin_mul_overflow(i & 1 ? a.most : a.least, i & 2 ? b.most : b.least, &products[i]))
            return whole(node);
    return around(node, products[0], products[1], products[2], products[3]);
}

static Wide floor_divide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* By what is not negative; something divided by 0 is 0. */
static Range divide(const RangeNode *node, Range a, Range b)
{
    if (b.least < 0)
        return whole(node);
    Wide small = most_of(b.least, 1), large = most_of(b.most, 1);
    Range result = around(node, floor_divide(a.least, small), floor_divide(a.least, large), floor_divide(a.most, small),
                          floor_divide(a.most, large));
    return b.least > 0 ? result : (Range){least_of(result.least, 0), most_of(result.most, 0)};
}

static Range remainder_of(const RangeNode *node, Range a, Range b)
{
    if (b.least < 0)
        return whole(node);
    bool is_itself = a.least >= 0 && b.least > a.most;
    if (is_one_word(a) && is_one_word(b) && a.least >= 0 && b.least > 0) {
        int64_t rest = (int64_t)a.least % (int64_t)b.least;
        return (Range){rest, rest};
    }
    return is_itself ? a : (Range){0, most_of(b.most - 1, 0)};
}

static Range shift(const RangeNode *node, Range a, Range by)
{
    if (by.least < 0 || by.most >= node->bits)
        return whole(node);
    int small = (int)by.least, large = (int)by.most;
    if (node->op == RANGE_SHR)
        return around(node, a.least >> small, a.least >> large, a.most >> small, a.most >> large);
    Wide low = (Wide)1 << small, high = (Wide)1 << large;
    return around(node, a.least * low, a.least * high, a.most * low, a.most * high);
}

static Range bits_in_both(const RangeNode *node, Range a, Range b)
{
    if (a.least < 0 && b.least < 0)
        return whole(node);
    return (Range){0, a.least < 0 ? b.most : b.least < 0 ? a.most : least_of(a.most, b.most)};
}

static Range bits_in_either(const RangeNode *node, Range a, Range b)
{
    Wide all = 0, most = most_of(a.most, b.most);
    if (a.least < 0 || b.least < 0)
        return whole(node);
    while (all < most)
        all = 2 * all + 1;
    return (Range){0, all};
}

static Range absolute(const RangeNode *node, Range a)
{
    bool has_zero = a.least <= 0 && a.most >= 0;
    Wide least = a.least < 0 ? -a.least : a.least, most = a.most < 0 ? -a.most : a.most;
    return fit(node, has_zero ? 0 : least_of(least, most), most_of(least, most));
}

static Range unite(Range a, Range b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    return (Range){least_of(a.least, b.least), most_of(a.most, b.most)};
}

/* Negative indices count from the end. */
static Range wrap(const RangeNode *node, Range index, Range extent)
{
    Range inside = {most_of(index.least, 0), index.most};
    Range from_end = {index.least + extent.least, least_of(index.most, -1) + extent.most};
    if (index.least >= 0)
        return index;
    Range both = index.most < 0 ? from_end : unite(inside, from_end);
    return fit(node, both.least, both.most);
}

/* --- what is known ------------------------------------------------------------------------------------------------------ */

/* The bound moved to where a's own is: the comparison is of a + shift or a - shift, which must not have wrapped. */
static bool move(const RangeNode *node, Range a, Range shifted, Range *bound)
{
    Range all = whole(node);
    Range by = node->number == -1 ? (Range){-shifted.most, -shifted.least} : shifted;
    if (a.least + by.least < all.least || a.most + by.most > all.most)
        return false;
    *bound = (Range){bound->least - by.most, bound->most - by.least};
    return true;
}

static Range compared(const RangeNode *node, Range a, Range b)
{
    switch (node->op) {
    case RANGE_LT: return (Range){a.least, least_of(a.most, b.most - 1)};
    case RANGE_LE: return (Range){a.least, least_of(a.most, b.most)};
    case RANGE_GT: return (Range){most_of(a.least, b.least + 1), a.most};
    case RANGE_GE: return (Range){most_of(a.least, b.least), a.most};
    case RANGE_EQ: return (Range){most_of(a.least, b.least), least_of(a.most, b.most)};
    default: break;
    }
    if (b.least != b.most)
        return a;
    return (Range){a.least + (a.least == b.least), a.most - (a.most == b.least)};
}

/* It lies between the quotient's least and most times the divisor, if that is above 0. */
static Range divided(Range a, Range by, Range quotient)
{
    if (by.least < 1)
        return a;
    Wide least = quotient.least * (quotient.least < 0 ? by.most : by.least);
    Wide most = quotient.most * (quotient.most < 0 ? by.least : by.most) + by.most - 1;
    return (Range){most_of(a.least, least), least_of(a.most, most)};
}

static Range loop(const RangeNode *node, Range start, Range assumed, Range next)
{
    if (is_empty(start) || is_empty(next))
        return start;
    bool holds_below = next.least >= assumed.least, holds_above = next.most <= assumed.most;
    bool holds = node->number > 0 ? holds_below : node->number < 0 ? holds_above : holds_below && holds_above;
    return holds ? unite(start, next) : whole(node);
}

static Range assume(const RangeNode *node, Range start)
{
    Range all = whole(node);
    if (is_empty(start))
        return start;
    Wide far = node->number ? (Wide)1 << 60 : 0;
    switch (node->op) {
    case RANGE_RISING: return (Range){start.least, most_of(all.most - far, start.least)};
    case RANGE_FALLING: return (Range){least_of(all.least + far, start.most), start.most};
    default: return (Range){least_of(start.least, 0), most_of(start.most, 0)};
    }
}

/* --- the launch --------------------------------------------------------------------------------------------------------- */

static Wide field(const RangeNode *node, const void *parameters)
{
    uint64_t bits = 0;
    int shift = 64 - node->bits;
    if (node->bits == 64) { /* most of them */
        memcpy(&bits, (const uint8_t *)parameters + node->number, sizeof bits);
        return node->is_signed ? (Wide)(int64_t)bits : (Wide)bits;
    }
    if (node->bits < 8)
        return *((const uint8_t *)parameters + node->number) != 0;
    memcpy(&bits, (const uint8_t *)parameters + node->number, node->bits / 8);
    return node->is_signed ? (Wide)((int64_t)(bits << shift) >> shift) : (Wide)bits;
}

enum { MOST_THREADS = 1024 };
static const Wide most_blocks = 0x7fffffff, most_bytes = 0xffffffff;

static Range of_any_launch(const RangeNode *node, const RangeLimits *limits)
{
    const Wide blocks = limits ? limits->blocks : most_blocks;
    switch (node->op) {
    case RANGE_BETWEEN: return (Range){node->number, node->limit};
    case RANGE_THREAD: return (Range){0, MOST_THREADS - 1};
    case RANGE_BLOCK: return (Range){0, blocks - 1};
    case RANGE_BLOCK_DIM: return (Range){1, MOST_THREADS};
    case RANGE_GRID_DIM: return (Range){1, blocks};
    case RANGE_DYNAMIC_SHARED: return (Range){0, most_bytes};
    default:
        if (node->op != RANGE_FIELD || !node->limit)
            return whole(node);
        return (Range){0, limits ? least_of(limits->extent, node->limit) : node->limit};
    }
}

/* facts NULL: of any within the limits. */
static Range of_launch(const RangeNode *node, const LaunchFacts *facts, const RangeLimits *limits)
{
    Wide one;
    if (!facts)
        return of_any_launch(node, limits);
    switch (node->op) {
    case RANGE_BETWEEN: return (Range){node->number, node->limit};
    case RANGE_THREAD: return (Range){0, (Wide)facts->block[node->number] - 1};
    case RANGE_BLOCK: return (Range){0, (Wide)facts->grid[node->number] - 1};
    case RANGE_FIELD: one = field(node, facts->parameters); break;
    case RANGE_BLOCK_DIM: one = facts->block[node->number]; break;
    case RANGE_GRID_DIM: one = facts->grid[node->number]; break;
    case RANGE_DYNAMIC_SHARED: one = facts->dynamic_shared; break;
    default: return whole(node);
    }
    return (Range){one, one};
}

static Range of_two(const RangeNode *node, Range a, Range b)
{
    switch (node->op) {
    case RANGE_ADD: return fit(node, a.least + b.least, a.most + b.most);
    case RANGE_SUB: return fit(node, a.least - b.most, a.most - b.least);
    case RANGE_MUL: return multiply(node, a, b);
    case RANGE_FLOORDIV: return divide(node, a, b);
    case RANGE_MOD: return remainder_of(node, a, b);
    case RANGE_SHL:
    case RANGE_SHR: return shift(node, a, b);
    case RANGE_AND: return bits_in_both(node, a, b);
    case RANGE_OR: return bits_in_either(node, a, b);
    case RANGE_MIN: return (Range){least_of(a.least, b.least), least_of(a.most, b.most)};
    case RANGE_MAX: return (Range){most_of(a.least, b.least), most_of(a.most, b.most)};
    case RANGE_WRAP: return wrap(node, a, b);
    default: return whole(node);
    }
}

/* Their sizes are the launch's: exact. */
static Range overlap(const RangeNode *node, Range a, Range b, const LaunchFacts *facts)
{
    uint64_t first, second;
    if (!facts)
        return (Range){0, 1};
    memcpy(&first, (const uint8_t *)facts->parameters + node->number, sizeof first);
    memcpy(&second, (const uint8_t *)facts->parameters + node->limit, sizeof second);
    bool is_apart = (Wide)first + a.most <= second || (Wide)second + b.most <= first;
    return is_apart ? (Range){0, 0} : (Range){1, 1};
}

static Range bytes_of_extent(const RangeNode *node, const LaunchFacts *facts)
{
    int64_t extent;
    if (!facts)
        return (Range){0, (Wide)KERNEL_ABI_MAX_EXTENT * node->limit};
    memcpy(&extent, (const uint8_t *)facts->parameters + node->number, sizeof extent);
    return (Range){(Wide)extent * node->limit, (Wide)extent * node->limit};
}

static uint64_t pointer_bits(const RangeNode *node, uint64_t others, const LaunchFacts *facts)
{
    uint64_t pointer;
    memcpy(&pointer, (const uint8_t *)facts->parameters + node->number, sizeof pointer);
    return (pointer & (uint64_t)node->limit) | others;
}

static Range range_of_pointer_bits(const RangeNode *node, Range others, const LaunchFacts *facts)
{
    uint64_t bits = facts ? pointer_bits(node, (uint64_t)others.least, facts) : 0;
    return facts ? (Range){(Wide)bits, (Wide)bits} : (Range){0, node->limit};
}

static Range with_field(const RangeNode *node, Range others, const LaunchFacts *facts, const RangeLimits *limits)
{
    RangeNode field = {.op = RANGE_FIELD, .bits = 64, .is_signed = 1, .number = node->number, .limit = node->limit};
    return unite(others, of_launch(&field, facts, limits));
}

static Range with_grid(const RangeNode *node, Range others, const LaunchFacts *facts, const RangeLimits *limits)
{
    RangeNode blocks = {.op = RANGE_GRID_DIM, .number = node->number};
    Range range = of_launch(&blocks, facts, limits);
    return unite(others, (Range){range.least * node->limit, range.most * node->limit});
}

static Range evaluate(const RangeNode *node, const Range *ranges, const LaunchFacts *facts, const RangeLimits *limits)
{
    if (node->op < RANGE_ADD)
        return of_launch(node, facts, limits);
    if (node->op == RANGE_BYTES)
        return bytes_of_extent(node, facts);
    Range a = ranges[node->a], b = node->b == RANGE_NONE ? a : ranges[node->b];
    if (node->op == RANGE_UNION)
        return unite(a, b);
    if (node->op == RANGE_OVERLAP)
        return unite(node->c == RANGE_NONE ? nothing : ranges[node->c], overlap(node, a, b, facts));
    if (node->op == RANGE_POINTER_BITS)
        return range_of_pointer_bits(node, a, facts);
    if (node->op == RANGE_WITH_FIELD)
        return with_field(node, a, facts, limits);
    if (node->op == RANGE_WITH_GRID)
        return with_grid(node, a, facts, limits);
    if (node->op == RANGE_LOOP)
        return loop(node, a, b, ranges[node->c]);
    if (is_empty(a) || is_empty(b))
        return nothing;
    if (node->op == RANGE_DIVIDED)
        return is_empty(ranges[node->c]) ? nothing : divided(a, b, ranges[node->c]);
    if (node->op >= RANGE_LT && node->op <= RANGE_NE) {
        bool is_moved = node->c == RANGE_NONE || (!is_empty(ranges[node->c]) && move(node, a, ranges[node->c], &b));
        return is_moved ? compared(node, a, b) : a;
    }
    switch (node->op) {
    case RANGE_NEG: return fit(node, -a.most, -a.least);
    case RANGE_ABS: return absolute(node, a);
    case RANGE_CONVERT: return fit(node, a.least, a.most);
    case RANGE_RISING:
    case RANGE_FALLING:
    case RANGE_SHRINKING: return assume(node, a);
    default: return of_two(node, a, b);
    }
}

/* --- in words --------------------------------------------------------------------------------------------------------- */
/* Nearly all plans are made of few kinds of nodes: one for each extent, which joins it to the others. Those of a launch
 * that passes fit words. */
enum { BITS_OF_PRODUCT = 127 }; /* hold any of two words */

typedef struct Words {
    int64_t least, most; /* never empty */
} Words;

static bool is_one(Words range) { return range.least == range.most; }

static Words words_of_both(Words a, Words b)
{
    return (Words){a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most};
}

/* Where they are, and that their bytes are not negative, is not asked of all of a launch: what it has is exact. */
static bool lie_apart(const RangeNode *node, Words a, Words b, const LaunchFacts *facts)
{
    uint64_t first, second;
    memcpy(&first, (const uint8_t *)facts->parameters + node->number, sizeof first);
    memcpy(&second, (const uint8_t *)facts->parameters + node->limit, sizeof second);
    return (second >= first && second - first >= (uint64_t)a.most) ||
           (first >= second && first - second >= (uint64_t)b.most);
}

/* False: the node is of another kind, or its range fits no words. */
static inline bool evaluate_words(const RangeNode *node, const Words *ranges, Words *result, const LaunchFacts *facts)
{
    Words a, b;
    int64_t number;
    switch (node->op) {
    case RANGE_WITH_FIELD:
        memcpy(&number, (const uint8_t *)facts->parameters + node->number, sizeof number);
        *result = words_of_both(ranges[node->a], (Words){number, number});
        return true;
    case RANGE_WITH_GRID:
        if (__builtin_mul_overflow((int64_t)facts->grid[node->number], node->limit, &number))
            return false;
        *result = words_of_both(ranges[node->a], (Words){number, number});
        return true;
    case RANGE_BYTES:
        memcpy(&number, (const uint8_t *)facts->parameters + node->number, sizeof number);
        if (__builtin_mul_overflow(number, node->limit, &number))
            return false;
        *result = (Words){number, number};
        return true;
    case RANGE_FIELD:
        if (node->bits != 64 || !node->is_signed)
            return false;
        memcpy(&result->least, (const uint8_t *)facts->parameters + node->number, sizeof result->least);
        result->most = result->least;
        return true;
    case RANGE_BETWEEN: *result = (Words){node->number, node->limit}; return node->number <= node->limit;
    case RANGE_GRID_DIM: result->least = result->most = facts->grid[node->number]; return true;
    case RANGE_BLOCK_DIM: result->least = result->most = facts->block[node->number]; return true;
    case RANGE_MOD:
        a = ranges[node->a];
        b = ranges[node->b];
        if (!is_one(a) || !is_one(b) || a.least < 0 || b.least <= 0)
            return false;
        result->least = result->most = a.least % b.least;
        return true;
    case RANGE_POINTER_BITS:
        result->least = result->most = (int64_t)pointer_bits(node, (uint64_t)ranges[node->a].least, facts);
        return true;
    case RANGE_MUL: /* of what the launch knows: sizes in bytes, threads of the grid */
        a = ranges[node->a];
        b = ranges[node->b];
        result->most = result->least = 0;
        return node->bits >= BITS_OF_PRODUCT && is_one(a) && is_one(b) &&
               !__builtin_mul_overflow(a.least, b.least, &result->least) && (result->most = result->least, true);
    case RANGE_SUB: /* likewise */
        a = ranges[node->a];
        b = ranges[node->b];
        result->most = result->least = 0;
        return node->bits >= BITS_OF_PRODUCT && is_one(a) && is_one(b) &&
               !__builtin_sub_overflow(a.least, b.least, &result->least) && (result->most = result->least, true);
    case RANGE_UNION: *result = words_of_both(ranges[node->a], ranges[node->b]); return true;
    case RANGE_OVERLAP:
        a = ranges[node->a];
        b = ranges[node->b];
        number = !lie_apart(node, a, b, facts);
        *result = (Words){number, number};
        if (node->c != RANGE_NONE)
            *result = words_of_both(ranges[node->c], *result);
        return a.most >= 0 && b.most >= 0;
    default: return false;
    }
}

static inline bool test_holds_in_words(const RangeTest *test, Words index, int64_t extent)
{
    int64_t least, most, first = 0;
    return !__builtin_add_overflow(index.least, test->first, &least) &&
           !__builtin_add_overflow(index.most, test->last, &most) &&
           !(test->from_end && __builtin_sub_overflow(first, extent, &first)) && least >= first && most < extent;
}

LAUNCH_PATH bool launch_plan_holds_in_words(const LaunchPlan *plan, const LaunchFacts *facts)
{
    Words ranges[LAUNCH_MOST_NODES];
    assert(plan->node_count <= LAUNCH_MOST_NODES);
    for (uint32_t i = 0; i < plan->node_count; i++)
        if (!evaluate_words(&plan->nodes[i], ranges, &ranges[i], facts))
            return false;
    for (uint32_t i = 0; i < plan->test_count; i++)
        if (!test_holds_in_words(&plan->tests[i], ranges[plan->tests[i].index], ranges[plan->tests[i].extent].least))
            return false;
    return true;
}

bool launch_tests_cover(const LaunchTests *whole_set, const LaunchTests *part)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < LAUNCH_MOST_TESTS / 64; i++)
        missing |= part->words[i] & ~whole_set->words[i];
    return !missing;
}

static bool test_holds(const RangeTest *test, const Range *ranges)
{
    Range index = ranges[test->index], extent = ranges[test->extent];
    if (is_empty(index) || is_empty(extent))
        return true;
    return index.least + test->first >= (test->from_end ? -extent.least : 0) && index.most + test->last < extent.least;
}

/* Its ranges take 16 KiB of the stack, which a launch that words tell of does not go down. */
__attribute__((noinline)) bool launch_plan_holds(const LaunchPlan *plan, const LaunchFacts *facts, LaunchTests *failed)
{
    Range ranges[LAUNCH_MOST_NODES];
    bool holds = true;
    assert(plan->node_count <= LAUNCH_MOST_NODES && plan->test_count <= LAUNCH_MOST_TESTS);
    *failed = (LaunchTests){.words = {0}};
    for (uint32_t i = 0; i < plan->node_count; i++)
        ranges[i] = evaluate(&plan->nodes[i], ranges, facts, NULL);
    for (uint32_t i = 0; i < plan->test_count; i++) {
        if (test_holds(&plan->tests[i], ranges))
            continue;
        launch_tests_add(failed, i);
        holds = false;
    }
    return holds;
}

void launch_ranges(const RangeNode *nodes, uint32_t count, const RangeLimits *limits, LaunchRange *ranges)
{
    for (uint32_t i = 0; i < count; i++)
        ranges[i] = evaluate(&nodes[i], ranges, NULL, limits);
}
