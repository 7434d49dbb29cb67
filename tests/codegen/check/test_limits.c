/* The plan that most kernels' launches pass. */
#include <string.h>

#include "codegen/check/narrow.h"
#include "codegen/check/wide_access.h"
#include "codegen_tests.h"

static const char matrix_ir[] = "kernel fill(n: i64, x: f32[2 C], y: f32[1 A])\n"
                                "block 0:\n"
                                "  %0: i32 = cuda.blockIdx.x\n"
                                "  return\n";

/* Its parameters, as kernel_abi.h lays them out. */
typedef struct Parameters {
    int64_t n;
    void *x;
    int64_t rows, columns;
    void *y;
    int64_t items, stride;
} Parameters;

static bool passes(const IrModule *module, Parameters parameters, uint32_t x_blocks, uint32_t y_blocks)
{
    LaunchPlan plan;
    LimitTests numbers;
    LaunchTests failed;
    const uint32_t grid[3] = {x_blocks, y_blocks, 1}, block[3] = {1, 1, 1};
    LaunchFacts facts = {grid, block, 0, &parameters};
    CHECK(plan_limits(module, parameters_with_wide_access(module), &plan, &numbers, module->arena));
    bool holds = launch_plan_holds(&plan, &facts, &failed);
    CHECK(holds || !launch_plan_holds_in_words(&plan, &facts));
    return holds;
}

static const char copy_ir[] = "kernel copy(x: f32[1 C], y: f64[2 F], z: u8[1 C])\n"
                              "block 0:\n"
                              "  %0: i64 = const 0\n"
                              "  %1: f32 = load x[%0]\n"
                              "  %2: f64 = convert %1\n"
                              "  store y[%0, %0], %2\n"
                              "  return\n";

/* x has 4 items, y 2 times 3, z 5 bytes. */
static bool are_apart(const IrModule *module, uint64_t x, uint64_t y, uint64_t z)
{
    LaunchPlan plan;
    LimitTests numbers;
    LaunchTests failed;
    const uint32_t one[3] = {1, 1, 1};
    uint64_t parameters[] = {x, 4, y, 2, 3, z, 5};
    LaunchFacts facts = {one, one, 0, parameters};
    CHECK(plan_limits(module, parameters_with_wide_access(module), &plan, &numbers, module->arena) &&
          numbers.overlap != RANGE_NONE);
    launch_plan_holds(&plan, &facts, &failed);
    CHECK(!launch_tests_have(&failed, numbers.size));
    return !launch_tests_have(&failed, numbers.overlap);
}

static void test_overlap(Arena *arena)
{
    Diag diag = {.id = DIAG_NONE};
    const IrModule *module = ir_parse(copy_ir, arena, &diag);
    CHECK(module != NULL);
    CHECK(are_apart(module, 1000, 1016, 1064));
    CHECK(are_apart(module, 1064, 1016, 1064)); /* what is only read may be read twice */
    CHECK(!are_apart(module, 1001, 1016, 1064) && !are_apart(module, 1063, 1016, 2000));
    CHECK(!are_apart(module, 1000, 1016, 1063) && !are_apart(module, 1000, 1016, 1012));
    CHECK(!are_apart(module, 1016, 1016, 1064) && !are_apart(module, 1020, 1016, 2000));
    CHECK(are_apart(module, UINT64_MAX - 15, 1016, 2000));
}

static const char sum_ir[] = "kernel sum(x: f32[1 C], y: f64[1 C])\n"
                             "block 0:\n"
                             "  %0: i64 = const 0\n"
                             "  %1: f32 = load x[%0]\n"
                             "  return\n";

static void check_plan(Arena *arena, const char *text, uint32_t nodes, uint32_t tests, bool asks_overlap)
{
    LaunchPlan plan;
    LimitTests numbers;
    Diag diag = {.id = DIAG_NONE};
    const IrModule *module = ir_parse(text, arena, &diag);
    CHECK(module && plan_limits(module, 0, &plan, &numbers, arena));
    CHECK(plan.node_count == nodes && plan.test_count == tests && (numbers.overlap != RANGE_NONE) == asks_overlap);
}

/* Where nothing is written, a launch asks of nothing but the extents: of one, of the other and that, and the limit. */
static void test_nothing_written(Arena *arena) { check_plan(arena, sum_ir, 3, 1, false); }

static const char saxpy_ir[] = "kernel saxpy(a: f64, x: f32[1 C], y: f32[1 C], out: f32[1 C])\n"
                               "block 0:\n"
                               "  %0: i32 = cuda.blockIdx.x\n"
                               "  %1: i64 = convert %0\n"
                               "  %2: f32 = load x[%1]\n"
                               "  %3: f32 = load y[%1]\n"
                               "  %4: f32 = add %2, %3\n"
                               "  store out[%1], %4\n"
                               "  return\n";

/* A launch runs through all nodes: three extents, the grid and the limit, the bytes of three arrays, two that may be in the
 * third, and the 1 that this is below. */
static void test_few_nodes(Arena *arena) { check_plan(arena, saxpy_ir, 11, 2, true); }

static const char pairs_ir[] = "kernel pairs(x: c64[1 C], y: f32[1 C], z: f32[1 C])\n"
                               "block 0:\n"
                               "  %0: i32 = cuda.threadIdx.x\n"
                               "  %1: i64 = convert %0\n"
                               "  %2: i64 = const 2\n"
                               "  %3: i64 = mul %1, %2\n"
                               "  %4: i64 = const 1\n"
                               "  %5: i64 = add %3, %4\n"
                               "  %6: c64 = load x[%1]\n"
                               "  %7: f32 = load y[%3]\n"
                               "  %8: f32 = load y[%5]\n"
                               "  %9: f32 = add %7, %8\n"
                               "  store z[%3], %9\n"
                               "  return\n";

/* x and y have accesses next to each other, z has not. */
static void test_alignment(Arena *arena)
{
    Diag diag = {.id = DIAG_NONE};
    const IrModule *module = ir_parse(pairs_ir, arena, &diag);
    const uint32_t one[3] = {1, 1, 1};
    CHECK(module && parameters_with_wide_access(module) == 3);
    for (int i = 0; i < 8; i++) {
        LaunchPlan plan;
        LimitTests numbers;
        LaunchTests failed;
        uint64_t parameters[] = {
            UINT64_MAX - 1023 + 8 * (i & 1), 4, 4096 + 4 * (i >> 1 & 1), 4, 8192 + 4 * (i >> 2), 4};
        LaunchFacts facts = {one, one, 0, parameters};
        CHECK(plan_limits(module, 3, &plan, &numbers, module->arena) && numbers.alignment != RANGE_NONE);
        launch_plan_holds(&plan, &facts, &failed);
        CHECK(launch_tests_have(&failed, numbers.alignment) == !!(i & 3));
        CHECK(!launch_tests_have(&failed, numbers.size) && !launch_tests_have(&failed, numbers.overlap));
        launch_plan_holds(&plan, NULL, &failed);
        CHECK(launch_tests_have(&failed, numbers.alignment));
    }
}

/* What every launch evaluates, where it passes: a plan with all kinds of tests, and that of a kernel by warps. */
static void test_plans_fit_words(Arena *arena)
{
    LaunchPlan plan = {0};
    LimitTests numbers;
    Diag diag = {.id = DIAG_NONE};
    const IrModule *module = ir_parse(pairs_ir, arena, &diag);
    const uint32_t one[3] = {1, 1, 1}, warps[3] = {96, 2, 1}, others[3] = {48, 1, 1};
    uint64_t parameters[] = {4096, 4, 8192, 4, 16384, 4};
    LaunchFacts facts = {one, one, 0, parameters};
    CHECK(module && plan_limits(module, 3, &plan, &numbers, arena) && plan.test_count == 3);
    CHECK(launch_plan_holds_in_words(&plan, &facts));
    CHECK(plan_whole_warps(&plan, arena) == 3);
    CHECK(!launch_plan_holds_in_words(&plan, &facts));
    facts.block = warps;
    CHECK(launch_plan_holds_in_words(&plan, &facts));
    facts.block = others;
    CHECK(!launch_plan_holds_in_words(&plan, &facts));
    plan = (LaunchPlan){0};
    CHECK(plan_single_axes(&plan, 4, arena) == 0 && launch_plan_holds_in_words(&plan, &facts));
    CHECK(plan_single_axes(&plan, 6, arena) == 1 && launch_plan_holds_in_words(&plan, &facts));
    facts.block = warps;
    CHECK(!launch_plan_holds_in_words(&plan, &facts));
}

/* Extents that are one number each: what is larger, smaller or only another one's does not pass. */
static void test_extents(Arena *arena)
{
    static const char text[] = "kernel k(p: f32[2 C], n: i64, q: u8[3 C])\nblock 0:\n  return\n";
    Diag diag = {.id = DIAG_NONE};
    const IrModule *module = ir_parse(text, arena, &diag);
    uint8_t extents[3 * TYPE_MAX_NDIM] = {0};
    uint64_t parameters[] = {4096, 100, 3, 7, 8192, 10, 20, 4};
    const uint32_t one[3] = {1, 1, 1};
    LaunchFacts facts = {one, one, 0, parameters};
    LaunchPlan plan = {0};
    LaunchTests failed;
    extents[1] = 3;
    extents[2 * TYPE_MAX_NDIM + 2] = 4;
    CHECK(module && plan_extents(&plan, module->first, extents, arena) == 0 && plan.test_count == 1);
    CHECK(launch_plan_holds_in_words(&plan, &facts) && launch_plan_holds(&plan, &facts, &failed));
    for (int i = 0; i < 2; i++) {
        uint64_t *extent = &parameters[i ? 7 : 2], right = *extent;
        static const uint64_t others[] = {0, 1, 2, 5, 1000, (uint64_t)1 << 40};
        for (uint32_t k = 0; k < sizeof others / sizeof *others; k++) {
            *extent = others[k];
            CHECK(!launch_plan_holds_in_words(&plan, &facts) && !launch_plan_holds(&plan, &facts, &failed));
        }
        *extent = right;
    }
    parameters[2] = 4;
    parameters[7] = 3;
    CHECK(!launch_plan_holds_in_words(&plan, &facts) && !launch_plan_holds(&plan, &facts, &failed));
}

void test_limits(void)
{
    Arena *arena = arena_create();
    Diag diag = {.id = DIAG_NONE};
    const IrModule *module = ir_parse(matrix_ir, arena, &diag);
    CHECK(module != NULL);
    const int64_t most = LAUNCH_LIMIT_EXTENT;
    CHECK(passes(module, (Parameters){.n = INT64_MAX, .rows = 1 << 15, .columns = 1 << 15, .items = most, .stride = -8},
                 LAUNCH_LIMIT_BLOCKS, 1));
    CHECK(passes(module, (Parameters){.rows = 0, .columns = most}, 1, 65535));
    CHECK(!passes(module, (Parameters){.rows = 1 << 15, .columns = (1 << 15) + 1}, 1, 1));
    CHECK(!passes(module, (Parameters){.rows = 0, .columns = most + 1}, 1, 1));
    CHECK(!passes(module, (Parameters){.items = most + 1}, 1, 1));
    CHECK(!passes(module, (Parameters){.rows = (int64_t)1 << 57, .columns = (int64_t)1 << 57}, 1, 1));
    CHECK(!passes(module, (Parameters){.rows = 1}, LAUNCH_LIMIT_BLOCKS + 1, 1));
    CHECK(passes(module, (Parameters){.rows = 1}, 1, LAUNCH_LIMIT_BLOCKS + 1)); /* of that axis it knows nothing */
    test_overlap(arena);
    test_nothing_written(arena);
    test_few_nodes(arena);
    test_alignment(arena);
    test_plans_fit_words(arena);
    test_extents(arena);
    arena_destroy(arena);
}
