/* The plan that most kernels' launches pass. */
#include <string.h>

#include "codegen/check/narrow.h"
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
    LaunchTests failed;
    const uint32_t grid[3] = {x_blocks, y_blocks, 1}, block[3] = {1, 1, 1};
    LaunchFacts facts = {grid, block, 0, &parameters};
    CHECK(plan_limits(module, &plan, module->arena));
    return launch_plan_holds(&plan, &facts, &failed);
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
    arena_destroy(arena);
}
