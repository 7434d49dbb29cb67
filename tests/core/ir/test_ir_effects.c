/* Which parameters are written, and what intrinsics do. */
#include "check.h"
#include "core/ir/ir.h"
#include "core_tests.h"

static void check_written(const char *text, const char *expected, unsigned effects)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    IrModule *module = ir_parse(text, arena, &diag);
    if (CHECK(module) && CHECK(ir_verify(module, &diag))) {
        bool written[80];
        char found[81] = "";
        ir_written_parameters(module, written);
        for (uint32_t i = 0; i < module->first->parameter_count; i++)
            strcat(found, written[i] ? "w" : "-");
        CHECK_TEXT(found, expected);
        CHECK(ir_module_effects(module) == effects);
    }
    if (diag_failed(&diag))
        fprintf(stderr, "%s\n", diag.message);
    arena_destroy(arena);
}

static void test_many_parameters(void)
{
    Buf buf = {0};
    buf_add(&buf, "kernel k(");
    for (int i = 0; i < 70; i++)
        buf_printf(&buf, "%sp%d: f32[1 C]", i ? ", " : "", i);
    buf_add(&buf, ")\nblock 0:\n  %0: i64 = const 0\n  %1: f32 = load p3[%0]\n  store p65[%0], %1\n  return\n");
    char expected[71];
    memset(expected, '-', 70);
    expected[65] = 'w';
    expected[70] = '\0';
    check_written(buf_text(&buf), expected, EFFECT_NONE);
    buf_free(&buf);
}

/* Through calls, of functions that stand before and behind, and not where nobody calls. */
static void test_raising(void)
{
    static const char text[] = "kernel k(c: bool) reports\nblock 0:\n  call outer(c)\n  return\n\n"
                               "device outer(c: bool)\nblock 0:\n  call inner(c)\n  call quiet(c)\n  return\n\n"
                               "device quiet(c: bool)\nblock 0:\n  return\n\n"
                               "device inner(c: bool)\nblock 0:\n  branch c, block 1, block 2\nblock 1:\n  raise 0, c\n"
                               "block 2:\n  return\n";
    Arena *arena = arena_create();
    Diag diag = {0};
    bool raises[4];
    IrModule *module = ir_parse(text, arena, &diag);
    if (CHECK(module) && CHECK(ir_verify(module, &diag))) {
        ir_raising_functions(module, raises);
        CHECK(module->first->reports && raises[0] && raises[1] && !raises[2] && raises[3]);
    }
    arena_destroy(arena);
}

void test_ir_effects(void)
{
    test_raising();
    check_written(
        "kernel k(n: i64, x: f32[1 C], y: f32[1 C])\nblock 0:\n  %0: f32 = load x[n]\n  store y[n], %0\n  return\n",
        "--w", EFFECT_NONE);
    check_written("kernel k(n: i64, x: i32[2 C], v: i32)\nblock 0:\n"
                  "  %0: i32[1 A] = subarray x[n, n], extents [n], strides [n], offset 0\n"
                  "  %1: i32 = atomic max %0[n], v\n  cuda.syncthreads\n  return\n",
                  "-w-", intrinsic_info[INTRINSIC_CUDA_SYNCTHREADS].effects);
    /* Through a loop's phi: the first pass knows only one side. */
    check_written("kernel k(c: bool, n: i64, x: f32[1 C], y: f32[1 C], v: f32)\nblock 0:\n  jump block 1\n"
                  "block 1:\n  %0: f32[1 C] = phi block 0: x, block 1: %1\n  store %0[n], v\n"
                  "  %1: f32[1 C] = select c, %0, y\n  branch c, block 1, block 2\nblock 2:\n  return\n",
                  "--ww-", EFFECT_NONE);
    /* Through tuples, calls and a recursive function that is reached only from below. */
    check_written("kernel k(n: i64, t: (f32[1 C], f32[1 C]), x: f32[1 C], y: f32[1 C], v: f32)\nblock 0:\n"
                  "  %0: f32[1 C] = call first(x, y)\n  call fill(%0, y, n, v)\n  return\n\n"
                  "device first(a: f32[1 C], b: f32[1 C]) -> f32[1 C]\nblock 0:\n  return a\n\n"
                  "device fill(a: f32[1 C], b: f32[1 C], n: i64, v: f32) recursive\nblock 0:\n"
                  "  store a[n], v\n  call fill(a, b, n, v)\n  return\n\n"
                  "device unreached(a: f32[1 C], n: i64, v: f32)\nblock 0:\n  cuda.syncthreads\n  return\n",
                  "--w--", EFFECT_NONE);
    check_written("kernel k(n: i64, t: (f32[1 C], f32[1 C]), v: f32)\nblock 0:\n  %0: f32[1 C] = pick t, n\n"
                  "  store %0[n], v\n  return\n",
                  "-w-", EFFECT_NONE);
    check_written("kernel k(n: i64, x: f32[1 C], v: f32)\nblock 0:\n  %0: f32[1 C] = shared (4)\n  store %0[n], v\n"
                  "  %1: i64 = extent x, 0\n  return\n",
                  "---", EFFECT_NONE);
    check_written("kernel k(b: bool)\nblock 0:\n  call f(b)\n  return\n\n"
                  "device f(b: bool)\nblock 0:\n  print \"%s\", b\n  return\n",
                  "-", EFFECT_PRINTS);
    /* Through memory that a function which is called may read. */
    check_written("kernel k(n: i64, x: f32[1 C], y: f32[1 C], v: f32)\nblock 0:\n  %0: u8[0 C] = cell n\n"
                  "  call f(%0, x)\n  %1: f32 = load y[n]\n  return\n\n"
                  "device f(c: u8[0 C], a: f32[1 C])\nblock 0:\n  cell_store c, a\n  return\n",
                  "-w--", EFFECT_NONE);
    test_many_parameters();
}
