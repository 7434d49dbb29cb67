/* Arrays, tuples, records, functions and control flow on the CPU device. */
#include <stdlib.h>

#include "codegen_tests.h"

static void check_layouts(void)
{
    static const char ir[] = "kernel k(c: i32[2 C], f: i32[2 F], a: i32[2 A], out: i64[1 C])\n"
                             "block 0:\n"
                             "  %0: i64 = const 1\n"
                             "  %1: i64 = const 2\n"
                             "  %2: i32 = load c[%0, %1]\n"
                             "  %3: i32 = load f[%0, %1]\n"
                             "  %4: i32 = load a[%0, %1]\n"
                             "  %5: i64 = convert %2\n"
                             "  %6: i64 = convert %3\n"
                             "  %7: i64 = convert %4\n"
                             "  %10: i64 = const 0\n"
                             "  %11: i64 = const 3\n"
                             "  store out[%10], %5\n"
                             "  store out[%0], %6\n"
                             "  store out[%1], %7\n"
                             "  %12: i64 = stride c, 0\n"
                             "  %13: i64 = stride f, 1\n"
                             "  %14: i64 = stride a, 0\n"
                             "  %15: i64 = add %12, %13\n"
                             "  %16: i64 = add %15, %14\n"
                             "  store out[%11], %16\n"
                             "  return\n";
    int32_t data[12];
    int64_t out[4] = {0};
    for (int i = 0; i < 12; i++)
        data[i] = i;
    struct {
        int32_t *c;
        int64_t c_extents[2];
        int32_t *f;
        int64_t f_extents[2];
        int32_t *a;
        int64_t a_extents[2], a_strides[2];
        int64_t *out;
        int64_t out_extent;
    } parameters = {data, {3, 4}, data, {3, 4}, data + 11, {2, 3}, {-16, -4}, out, 4};
    run_on_host(ir, &parameters, (Grid){0});
    CHECK(out[0] == 6 && out[1] == 7 && out[2] == 5);
    CHECK(out[3] == 16 + 12 - 16);
}

static void check_views(void)
{
    static const char ir[] = "kernel k(x: i64[2 C], out: i64[1 C])\n"
                             "block 0:\n"
                             "  %0: i64 = const 0\n"
                             "  %1: i64 = const 1\n"
                             "  %2: i64 = const 2\n"
                             "  %3: i64 = const 16\n"
                             "  %4: i64[1 A] = subarray x[%1, %0], extents [%2], strides [%3], offset 8\n"
                             "  %5: i64 = load %4[%1]\n"
                             "  store out[%0], %5\n"
                             "  %6: i64 = extent %4, 0\n"
                             "  store out[%1], %6\n"
                             "  %7: i64 = const -1\n"
                             "  %8: i64 = extent x, 1\n"
                             "  %10: i64 = wrap %7, %8\n"
                             "  store out[%2], %10\n"
                             "  return\n";
    int64_t x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[3] = {0};
    struct {
        void *x;
        int64_t extents[2];
        void *out;
        int64_t extent;
    } parameters = {x, {2, 4}, out, 3};
    run_on_host(ir, &parameters, (Grid){0});
    CHECK(out[0] == 7 && out[1] == 2 && out[2] == 3);
}

static void check_tuples(void)
{
    static const char ir[] = "kernel k(t: (i32, f64[1 C], bool), out: f64[1 C])\n"
                             "block 0:\n"
                             "  %0: i64 = const 0\n"
                             "  %1: i32 = get t, 0\n"
                             "  %2: f64[1 C] = get t, 1\n"
                             "  %3: bool = get t, 2\n"
                             "  %4: i64 = convert %1\n"
                             "  %5: f64 = load %2[%4]\n"
                             "  %6: f64 = const 2.0\n"
                             "  %7: f64 = select %3, %5, %6\n"
                             "  store out[%0], %7\n"
                             "  %8: (f64, f64, f64) = tuple %5, %6, %7\n"
                             "  %9: f64 = pick %8, %4\n"
                             "  %10: i64 = const 1\n"
                             "  store out[%10], %9\n"
                             "  return\n";
    double x[2] = {5, 7}, out[2] = {0};
    struct {
        int32_t place;
        double *x;
        int64_t extent;
        uint8_t flag;
        double *out;
        int64_t out_extent;
    } parameters = {1, x, 2, 1, out, 2};
    run_on_host(ir, &parameters, (Grid){0});
    CHECK(out[0] == 7 && out[1] == 2);
    parameters.flag = 0;
    run_on_host(ir, &parameters, (Grid){0});
    CHECK(out[0] == 2);
}

static void check_data(void)
{
    static const char ir[] = "kernel k(out: i16[1 C])\n"
                             "block 0:\n"
                             "  %0: i64 = const 2\n"
                             "  %1: i16[1 C ro] = data i16[1 C] (3) strides (2) bytes 010002000300\n"
                             "  %2: i16 = load %1[%0]\n"
                             "  %3: i64 = const 0\n"
                             "  store out[%3], %2\n"
                             "  return\n";
    int16_t out = 0;
    struct {
        void *out;
        int64_t extent;
    } parameters = {&out, 1};
    run_on_host(ir, &parameters, (Grid){0});
    CHECK(out == 3);
}

static void check_local(void)
{
    static const char ir[] = "kernel k(out: i64[1 C])\n"
                             "block 0:\n"
                             "  %0: i32 = cuda.threadIdx.x\n"
                             "  %1: i64 = convert %0\n"
                             "  %2: i64[2 C] = local (2, 3)\n"
                             "  %3: i64 = const 1\n"
                             "  store %2[%3, %3], %1\n"
                             "  %4: i64 = load %2[%3, %3]\n"
                             "  store out[%1], %4\n"
                             "  return\n";
    int64_t out[40] = {0};
    struct {
        void *out;
        int64_t extent;
    } parameters = {out, 40};
    run_on_host(ir, &parameters, (Grid){.threads = {40}});
    CHECK(out[0] == 0 && out[39] == 39);
}

void test_arrays(void)
{
    check_layouts();
    check_views();
    check_tuples();
    check_data();
    check_local();
    check_values("  %9: bool = not %1", "bool bool", "7 0", 0);   /* any byte that is not 0 is true */
    check_values("  %9: c64 = add %1, %1", "c64 c64", "1 2 2 4", 0);
}

/* --- control flow -------------------------------------------------------------------------------------------------------- */

static const char calls_ir[] = "kernel k(out: i64[1 C])\n"
                               "block 0:\n"
                               "  %0: i32 = cuda.threadIdx.x\n"
                               "  %1: i64 = convert %0\n"
                               "  %2: (i64, i64) = call both(%1)\n"
                               "  %3: i64 = get %2, 0\n"
                               "  %4: i64 = get %2, 1\n"
                               "  %5: i64 = call factorial(%1)\n"
                               "  %6: i64 = add %3, %4\n"
                               "  %7: i64 = add %6, %5\n"
                               "  call write(out, %1, %7)\n"
                               "  return\n"
                               "\n"
                               "device both(n: i64) -> (i64, i64) noinline\n"
                               "block 0:\n"
                               "  %1: i64 = const 100\n"
                               "  %2: i64 = mul n, %1\n"
                               "  %3: (i64, i64) = tuple %2, %1\n"
                               "  return %3\n"
                               "\n"
                               "device factorial(n: i64) -> i64 recursive\n"
                               "block 0:\n"
                               "  %1: i64 = const 1\n"
                               "  %2: bool = le n, %1\n"
                               "  branch %2, block 1, block 2\n"
                               "block 1:\n"
                               "  return %1\n"
                               "block 2:\n"
                               "  %3: i64 = sub n, %1\n"
                               "  %4: i64 = call factorial(%3)\n"
                               "  %5: i64 = mul n, %4\n"
                               "  return %5\n"
                               "\n"
                               "device write(x: i64[1 C], place: i64, value: i64)\n"
                               "block 0:\n"
                               "  store x[place], value\n"
                               "  return\n";

static void check_calls(void)
{
    int64_t out[6] = {0};
    struct {
        void *out;
        int64_t extent;
    } parameters = {out, 6};
    run_on_host(calls_ir, &parameters, (Grid){.threads = {6}});
    CHECK(out[0] == 101 && out[3] == 300 + 100 + 6 && out[5] == 500 + 100 + 120);
    check_compiles("calls", calls_ir, 0);
}

static void check_loop(void)
{
    /* Blocks in an order in which a use comes before its definition; an array that is a phi. */
    static const char ir[] = "kernel k(x: i64[1 C], y: i64[1 C], which: bool, out: i64[1 C])\n"
                             "block 0:\n"
                             "  %0: i64 = const 0\n"
                             "  %1: i64 = const 1\n"
                             "  branch which, block 4, block 5\n"
                             "block 1:\n"
                             "  %2: i64 = phi block 2: %5, block 6: %0\n"
                             "  %3: i64 = phi block 2: %6, block 6: %0\n"
                             "  %7: i64 = extent %10, 0\n"
                             "  %8: bool = lt %2, %7\n"
                             "  branch %8, block 2, block 3\n"
                             "block 2:\n"
                             "  %4: i64 = load %10[%2]\n"
                             "  %5: i64 = add %2, %1\n"
                             "  %6: i64 = add %3, %4\n"
                             "  jump block 1\n"
                             "block 3:\n"
                             "  store out[%0], %3\n"
                             "  return\n"
                             "block 4:\n"
                             "  jump block 6\n"
                             "block 5:\n"
                             "  jump block 6\n"
                             "block 6:\n"
                             "  %10: i64[1 C] = phi block 4: x, block 5: y\n"
                             "  jump block 1\n";
    int64_t x[5] = {1, 2, 3, 4, 5}, y[2] = {10, 20}, out = 0;
    struct {
        void *x;
        int64_t nx;
        void *y;
        int64_t ny;
        uint8_t which;
        void *out;
        int64_t no;
    } parameters = {x, 5, y, 2, 1, &out, 1};
    run_on_host(ir, &parameters, (Grid){0});
    CHECK(out == 15);
    parameters.which = 0;
    run_on_host(ir, &parameters, (Grid){0});
    CHECK(out == 30);
    check_compiles("loop", ir, 0);
}

static void check_same_targets(void)
{
    check_values("  %2: i64 = const 5\n  branch %1, block 1, block 1\nblock 1:\n"
                 "  %9: i64 = phi block 0: %2, block 0: %0",
                 "bool i64", "1 5  0 1", 0);
    check_values("  jump block 1\nblock 1:\n  %9: i64 = convert %1\n  jump block 3\nblock 2:\n  trap\nblock 3:",
                 "i32 i64", "3 3", 0);
    check_values("  %9: f64 = undefined", "f64 f64", "3 0", 0);
}

void test_control(void)
{
    check_calls();
    check_loop();
    check_same_targets();
}
