/* Ranges of a launch's plan, beside all numbers of small types: what an operation makes of numbers in its operands' ranges
 * is in the range that the plan has for it. */
#include "core/kernel/launch_plan.h"

#include <stdint.h>
#include <string.h>

#include "check.h"
#include "core_tests.h"

enum { BITS = 4, FAR = 80, MOST_NODES = 8 };

typedef struct Known {
    int64_t least, most;
    bool is_empty;
} Known;

typedef struct Sketch {
    RangeNode nodes[MOST_NODES];
    uint32_t count;
} Sketch;

static uint32_t add(Sketch *sketch, RangeNode node)
{
    CHECK(sketch->count < MOST_NODES);
    sketch->nodes[sketch->count] = node;
    return sketch->count++;
}

static RangeNode between(int64_t low, int64_t high)
{
    return (RangeNode){.op = RANGE_BETWEEN,
                       .bits = 64,
                       .is_signed = 1,
                       .a = RANGE_NONE,
                       .b = RANGE_NONE,
                       .c = RANGE_NONE,
                       .number = low,
                       .limit = high};
}

static RangeNode operation(RangeOp op, bool is_signed, uint32_t a, uint32_t b, uint32_t c, int64_t number)
{
    return (RangeNode){
        .op = (uint8_t)op, .bits = BITS, .is_signed = is_signed, .a = a, .b = b, .c = c, .number = number};
}

/* Whether the node's range, moved by `distance`, lies between 0 and below extent. */
static bool lies(const Sketch *sketch, uint32_t node, const LaunchFacts *facts, int64_t distance, int64_t extent)
{
    Sketch all = *sketch;
    uint32_t end = add(&all, between(extent, extent));
    RangeTest test = {.index = node, .extent = end, .first = distance, .last = distance};
    LaunchTests failed;
    LaunchPlan plan = {all.nodes, &test, all.count, 1};
    bool holds = launch_plan_holds(&plan, facts, &failed);
    CHECK(holds == !launch_tests_have(&failed, 0));
    return holds;
}

static Known range_of(const Sketch *sketch, uint32_t node, const LaunchFacts *facts)
{
    Known known = {.least = -FAR, .most = FAR};
    if (lies(sketch, node, facts, -1000000, 1))
        return (Known){.is_empty = true};
    while (known.least < FAR && lies(sketch, node, facts, -known.least - 1, INT64_MAX))
        known.least++;
    while (known.most > -FAR && lies(sketch, node, facts, FAR, known.most + FAR))
        known.most--;
    return known;
}

static bool has(Known range, int64_t value) { return !range.is_empty && value >= range.least && value <= range.most; }

static int64_t in_type(bool is_signed, int64_t value)
{
    int64_t bits = value & ((1 << BITS) - 1);
    return is_signed && bits >> (BITS - 1) ? bits - (1 << BITS) : bits;
}

static int64_t floor_divided(int64_t a, int64_t b) { return b ? a / b - (a % b != 0 && (a < 0) != (b < 0)) : 0; }

static int64_t result_of(RangeOp op, bool is_signed, int64_t a, int64_t b)
{
    int64_t result = 0;
    switch (op) {
    case RANGE_ADD: result = a + b; break;
    case RANGE_SUB: result = a - b; break;
    case RANGE_MUL: result = a * b; break;
    case RANGE_FLOORDIV: result = floor_divided(a, b); break;
    case RANGE_MOD: result = b ? a - floor_divided(a, b) * b : 0; break;
    case RANGE_SHL: result = a * (1 << (b & (BITS - 1))); break;
    case RANGE_SHR: result = a >> (b & (BITS - 1)); break;
    case RANGE_AND: result = a & b; break;
    case RANGE_OR: result = a | b; break;
    case RANGE_MIN: result = a < b ? a : b; break;
    case RANGE_MAX: result = a > b ? a : b; break;
    case RANGE_WRAP: result = a < 0 ? a + b : a; break;
    case RANGE_NEG: result = -a; break;
    case RANGE_ABS: result = a < 0 ? -a : a; break;
    default: CHECK(!"an operation that this test knows");
    }
    return in_type(is_signed, result);
}

static bool compares(RangeOp op, int64_t a, int64_t b)
{
    switch (op) {
    case RANGE_LT: return a < b;
    case RANGE_LE: return a <= b;
    case RANGE_GT: return a > b;
    case RANGE_GE: return a >= b;
    case RANGE_EQ: return a == b;
    default: return a != b;
    }
}

/* Two numbers of the type in order, other ones each time. */
static void draw(uint64_t *state, bool is_signed, int64_t *low, int64_t *high)
{
    for (int i = 0; i < 2; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        *(i ? high : low) = in_type(is_signed, (int64_t)(*state >> 60));
    }
    if (*low > *high) {
        int64_t kept = *low;
        *low = *high;
        *high = kept;
    }
}

static void operations(bool is_signed, uint64_t *state)
{
    static const RangeOp ops[] = {RANGE_ADD, RANGE_SUB, RANGE_MUL, RANGE_FLOORDIV, RANGE_MOD,  RANGE_SHL, RANGE_SHR,
                                  RANGE_AND, RANGE_OR,  RANGE_MIN, RANGE_MAX,      RANGE_WRAP, RANGE_NEG, RANGE_ABS};
    int64_t a, b, c, d;
    draw(state, is_signed, &a, &b);
    draw(state, is_signed, &c, &d);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        Sketch sketch = {0};
        bool has_one = ops[i] == RANGE_NEG || ops[i] == RANGE_ABS;
        uint32_t x = add(&sketch, between(a, b)), y = add(&sketch, between(c, d));
        uint32_t node = add(&sketch, operation(ops[i], is_signed, x, has_one ? RANGE_NONE : y, RANGE_NONE, 0));
        Known range = range_of(&sketch, node, NULL);
        bool is_inside = true;
        for (int64_t left = a; left <= b; left++)
            for (int64_t right = c; right <= d; right++)
                is_inside &= has(range, result_of(ops[i], is_signed, left, right));
        if (!CHECK(is_inside))
            fprintf(stderr, "  operation %d of %d to %d and %d to %d\n", (int)ops[i], (int)a, (int)b, (int)c, (int)d);
    }
}

/* number: of the node, 0 where nothing is added to what is compared. */
static void comparison(RangeOp op, bool is_signed, int64_t number, uint64_t *state)
{
    int64_t a, b, c, d, e, f;
    Sketch sketch = {0};
    draw(state, is_signed, &a, &b);
    draw(state, is_signed, &c, &d);
    draw(state, is_signed, &e, &f);
    uint32_t x = add(&sketch, between(a, b)), y = add(&sketch, between(c, d)), z = add(&sketch, between(e, f));
    uint32_t node = add(&sketch, operation(op, is_signed, x, y, number ? z : RANGE_NONE, number));
    Known range = range_of(&sketch, node, NULL);
    bool is_inside = true;
    for (int64_t left = a; left <= b; left++)
        for (int64_t right = c; right <= d; right++)
            for (int64_t more = number ? e : 0; more <= (number ? f : 0); more++) {
                int64_t compared = in_type(is_signed, left + (number == -1 ? -more : more));
                is_inside &= !compares(op, compared, right) || has(range, left);
            }
    if (!CHECK(is_inside))
        fprintf(stderr, "  comparison %d, %d\n", (int)op, (int)number);
}

static bool is_range(const Sketch *sketch, uint32_t node, const LaunchFacts *facts, int64_t least, int64_t most)
{
    Known range = range_of(sketch, node, facts);
    return CHECK(!range.is_empty && range.least == least && range.most == most);
}

/* What has such a quotient. */
static void quotients(bool is_signed, uint64_t *state)
{
    int64_t a, b, c, d, e, f;
    Sketch sketch = {0};
    draw(state, is_signed, &a, &b);
    draw(state, is_signed, &c, &d);
    draw(state, is_signed, &e, &f);
    uint32_t x = add(&sketch, between(a, b)), y = add(&sketch, between(c, d)), z = add(&sketch, between(e, f));
    Known range = range_of(&sketch, add(&sketch, operation(RANGE_DIVIDED, is_signed, x, y, z, 0)), NULL);
    bool is_inside = true;
    for (int64_t value = a; value <= b; value++)
        for (int64_t by = c; by <= d; by++) {
            int64_t quotient = floor_divided(value, by);
            is_inside &= by == 0 || quotient < e || quotient > f || has(range, value);
        }
    CHECK(is_inside);
}

/* Where both are known it is as narrow as can be. */
static void quotients_that_are_known(void)
{
    Sketch sketch = {0};
    uint32_t all = add(&sketch, between(-8, 7)), three = add(&sketch, between(3, 3));
    uint32_t one = add(&sketch, between(1, 1)), below = add(&sketch, between(-2, -1));
    is_range(&sketch, add(&sketch, operation(RANGE_DIVIDED, true, all, three, one, 0)), NULL, 3, 5);
    is_range(&sketch, add(&sketch, operation(RANGE_DIVIDED, true, all, three, below, 0)), NULL, -6, -1);
    is_range(&sketch, add(&sketch, operation(RANGE_DIVIDED, true, all, all, one, 0)), NULL, -8, 7);
}

static void conversions(uint64_t *state)
{
    for (int is_signed = 0; is_signed < 2; is_signed++)
        for (int from = 0; from < 2; from++) {
            Sketch sketch = {0};
            int64_t a, b;
            draw(state, from, &a, &b);
            uint32_t x = add(&sketch, between(3 * a, 3 * b));
            Known range = range_of(
                &sketch, add(&sketch, operation(RANGE_CONVERT, is_signed, x, RANGE_NONE, RANGE_NONE, 0)), NULL);
            bool is_inside = true;
            for (int64_t value = 3 * a; value <= 3 * b; value++)
                is_inside &= has(range, in_type(is_signed, value));
            CHECK(is_inside);
        }
}

static void loops(void)
{
    Sketch sketch = {0};
    uint32_t start = add(&sketch, between(2, 3)), next = RANGE_NONE;
    uint32_t rising = add(&sketch, operation(RANGE_RISING, true, start, RANGE_NONE, RANGE_NONE, 0));
    is_range(&sketch, rising, NULL, 2, 7);
    is_range(&sketch, add(&sketch, operation(RANGE_FALLING, true, start, RANGE_NONE, RANGE_NONE, 0)), NULL, -8, 3);
    is_range(&sketch, add(&sketch, operation(RANGE_SHRINKING, true, start, RANGE_NONE, RANGE_NONE, 0)), NULL, 0, 3);
    next = add(&sketch, between(3, 6)); /* after a trip: inside of what was taken for granted */
    is_range(&sketch, add(&sketch, operation(RANGE_LOOP, true, start, rising, next, 0)), NULL, 2, 6);
    sketch.count--;
    sketch.nodes[next] = between(1, 6); /* it falls */
    is_range(&sketch, add(&sketch, operation(RANGE_LOOP, true, start, rising, next, 0)), NULL, -8, 7);
}

static void launches(void)
{
    struct {
        int32_t number;
        uint8_t small, truth;
        uint16_t unused;
    } parameters = {-7, 200 - 150, 1, 0};
    const uint32_t grid[3] = {5, 6, 7}, block[3] = {8, 9, 10};
    const LaunchFacts facts = {grid, block, 48, &parameters};
    const struct {
        RangeNode node;
        int64_t least, most;
    } rows[] = {{{.op = RANGE_THREAD, .number = 1}, 0, 8},
                {{.op = RANGE_BLOCK, .number = 2}, 0, 6},
                {{.op = RANGE_BLOCK_DIM, .number = 0}, 8, 8},
                {{.op = RANGE_GRID_DIM, .number = 1}, 6, 6},
                {{.op = RANGE_DYNAMIC_SHARED}, 48, 48},
                {{.op = RANGE_FIELD, .bits = 32, .is_signed = 1, .number = 0}, -7, -7},
                {{.op = RANGE_FIELD, .bits = 8, .number = 4}, 50, 50},
                {{.op = RANGE_FIELD, .bits = 1, .number = 5}, 1, 1},
                {{.op = RANGE_WHOLE, .bits = BITS, .is_signed = 1}, -8, 7}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Sketch sketch = {.nodes = {rows[i].node}, .count = 1};
        is_range(&sketch, 0, &facts, rows[i].least, rows[i].most);
    }
    int64_t lengths[] = {70, 3};
    const LaunchFacts of_lengths = {grid, block, 0, lengths};
    Sketch joined = {.nodes = {{.op = RANGE_FIELD, .bits = 64, .is_signed = 1, .limit = 1 << 20},
                               {.op = RANGE_WITH_FIELD,
                                .bits = 64,
                                .is_signed = 1,
                                .a = 0,
                                .b = RANGE_NONE,
                                .number = 8,
                                .limit = 1 << 30}},
                     .count = 2};
    is_range(&joined, 1, &of_lengths, 3, 70);
    CHECK(lies(&joined, 1, NULL, 0, (1 << 30) + 1) && !lies(&joined, 1, NULL, 0, 1 << 30));
    Sketch with_grid = {.nodes = {{.op = RANGE_FIELD, .bits = 64, .is_signed = 1, .limit = 1 << 20},
                                  {.op = RANGE_WITH_GRID, .a = 0, .b = RANGE_NONE, .number = 1, .limit = 10}},
                        .count = 2};
    is_range(&with_grid, 1, &of_lengths, 60, 70);
    CHECK(!lies(&with_grid, 1, NULL, 0, (int64_t)10 * INT32_MAX) && lies(&with_grid, 1, NULL, 1, INT64_MAX));
    Sketch bytes = {.nodes = {{.op = RANGE_BYTES, .number = 8, .limit = 4}}, .count = 1};
    is_range(&bytes, 0, &of_lengths, 12, 12);
    CHECK(!lies(&bytes, 0, NULL, 0, 1 << 30) && lies(&bytes, 0, NULL, 0, INT64_MAX));
    Sketch sketch = {.nodes = {{.op = RANGE_THREAD}}, .count = 1};
    CHECK(lies(&sketch, 0, NULL, 0, 1024) && !lies(&sketch, 0, NULL, 0, 1023)); /* of any launch */
}

/* Threads that do not come to a place pass every test; negative indices may count from the end. */
static void tests(void)
{
    Sketch sketch = {0};
    uint32_t index = add(&sketch, between(-4, 2)), extent = add(&sketch, between(4, 9)), never = 0;
    uint32_t five = add(&sketch, between(5, 5));
    never =
        add(&sketch, (RangeNode){.op = RANGE_LT, .bits = 64, .is_signed = 1, .a = five, .b = index, .c = RANGE_NONE});
    const RangeTest all[] = {{.index = index, .extent = extent},
                             {.index = index, .extent = extent, .from_end = 1},
                             {.index = index, .extent = extent, .from_end = 1, .first = -1, .last = -1},
                             {.index = index, .extent = extent, .first = 4, .last = 5},
                             {.index = never, .extent = extent}};
    LaunchPlan plan = {sketch.nodes, all, sketch.count, 5};
    LaunchTests failed, some = {.words = {0}};
    CHECK(!launch_plan_holds(&plan, NULL, &failed) && failed.words[0] == (1 | 1 << 2 | 1 << 3));
    CHECK(launch_tests_cover(&failed, &some));
    launch_tests_add(&some, 2);
    CHECK(launch_tests_cover(&failed, &some) && !launch_tests_cover(&some, &failed));
    launch_tests_add(&some, LAUNCH_MOST_TESTS - 1);
    CHECK(launch_tests_have(&some, LAUNCH_MOST_TESTS - 1) && !launch_tests_cover(&failed, &some));
}

/* A number that is small, near a limit of launches, or anything. */
static int64_t draw_word(uint64_t *state)
{
    static const int64_t near[] = {0, 1, LAUNCH_LIMIT_EXTENT, LAUNCH_LIMIT_BLOCKS, INT64_MAX, INT64_MIN, -1, 1 << 15};
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    int64_t step = (int64_t)(*state >> 40 & 3) - 1;
    switch (*state >> 60) {
    case 0: return (int64_t)(*state << 3);
    case 1:
    case 2: return (int64_t)(*state >> 33 & 63);
    default: return (int64_t)((uint64_t)near[*state >> 50 & 7] + (uint64_t)step);
    }
}

/* Plans whose nodes fit words, beside the same ones in full. */
static void words(uint64_t *state)
{
    enum { FIELDS = 4, ALL = 14, ROUNDS = 20000 };
    int64_t parameters[FIELDS];
    uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, held = 0, told = 0;
    RangeNode nodes[ALL] = {0};
    for (uint32_t i = 0; i < FIELDS; i++)
        nodes[i] = (RangeNode){.op = RANGE_FIELD, .bits = 64, .is_signed = 1, .number = 8 * i};
    nodes[4] = (RangeNode){.op = RANGE_GRID_DIM, .bits = 127, .is_signed = 1};
    nodes[5] = (RangeNode){.op = RANGE_MUL, .bits = 127, .is_signed = 1, .a = 0, .b = 1};
    nodes[6] = (RangeNode){.op = RANGE_UNION, .bits = 127, .is_signed = 1, .a = 0, .b = 5};
    nodes[7] = (RangeNode){.op = RANGE_UNION, .bits = 127, .is_signed = 1, .a = 4, .b = 6};
    nodes[10] = (RangeNode){.op = RANGE_WITH_FIELD, .bits = 64, .is_signed = 1, .a = 7, .b = RANGE_NONE, .number = 24};
    nodes[11] = (RangeNode){.op = RANGE_WITH_GRID, .a = 10, .b = RANGE_NONE, .number = 0, .limit = 1024};
    nodes[12] = (RangeNode){.op = RANGE_BYTES, .number = 8, .limit = 16};
    for (uint32_t i = 0; i < 2; i++) /* of two arrays, and of two pairs */
        nodes[i ? 13 : 8] = (RangeNode){.op = RANGE_OVERLAP,
                                        .bits = 127,
                                        .is_signed = 1,
                                        .a = 0,
                                        .b = i ? 12 : 1,
                                        .c = i ? 8 : RANGE_NONE,
                                        .number = 16,
                                        .limit = 24};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < FIELDS; i++)
            parameters[i] = draw_word(state);
        grid[0] = (uint32_t)draw_word(state) & INT32_MAX;
        int64_t end = draw_word(state);
        nodes[9] = (RangeNode){.op = RANGE_BETWEEN, .bits = 127, .is_signed = 1, .number = 1, .limit = end};
        RangeTest tests[] = {{.index = round & 4 ? (round & 8 ? 11 : 10) : 7,
                              .extent = 9,
                              .first = draw_word(state),
                              .last = draw_word(state)},
                             {.index = round & 1 ? 5 : 6, .extent = 9, .from_end = round >> 1 & 1},
                             {.index = round & 4 ? 8 : 13, .extent = 4}};
        LaunchFacts facts = {grid, block, 0, parameters};
        LaunchTests failed;
        LaunchPlan plan = {nodes, tests + round % 3, ALL, 1 + (round % 3 == 0)};
        bool holds = launch_plan_holds(&plan, &facts, &failed), in_words = launch_plan_holds_in_words(&plan, &facts);
        CHECK(holds || !in_words);
        held += holds;
        told += in_words;
    }
    CHECK(held > ROUNDS / 20 && held < ROUNDS - ROUNDS / 20 && told > ROUNDS / 20);
}

void test_launch_plan(void)
{
    uint64_t state = 7;
    words(&state);
    for (int round = 0; round < 60; round++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            operations(is_signed, &state);
            for (RangeOp op = RANGE_LT; op <= RANGE_NE; op++)
                for (int64_t number = -1; number <= 1; number++)
                    comparison(op, is_signed, number, &state);
            quotients(is_signed, &state);
            conversions(&state);
        }
    quotients_that_are_known();
    loops();
    launches();
    tests();
}
