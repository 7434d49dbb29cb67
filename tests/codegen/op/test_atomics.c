/* Atomic operations on the CPU device: old values, new values, NaN, wrapping counters. */
#include "codegen_tests.h"

/* One thread: `kind` on cell 0 with the second operand; the old value comes out, then the new one is read. */
static void check_atomic(const char *kind, const char *type, const char *old_rows, const char *new_rows)
{
    char body[256], types[64];
    snprintf(types, sizeof types, "%s %s %s", type, type, type);
    snprintf(body, sizeof body, "  %%9: %s = atomic %s p1[%%0], %%2", type, kind);
    check_values(body, types, old_rows, 0);
    snprintf(body, sizeof body, "  %%8: %s = atomic %s p1[%%0], %%2\n  %%9: %s = load p1[%%0]", type, kind, type);
    check_values(body, types, new_rows, 0);
}

static void check_integers(const char *type)
{
    check_atomic("add", type, "5 3 5", "5 3 8");
    check_atomic("sub", type, "5 3 5", "5 3 2");
    check_atomic("max", type, "5 3 5  3 5 3", "5 3 5  3 5 5");
    check_atomic("min", type, "5 3 5  3 5 3", "5 3 3  3 5 3");
    check_atomic("and", type, "12 10 12", "12 10 8");
    check_atomic("or", type, "12 10 12", "12 10 14");
    check_atomic("xor", type, "12 10 12", "12 10 6");
    check_atomic("exch", type, "12 10 12", "12 10 10");
}

static void check_floats(const char *type)
{
    check_atomic("add", type, "5 3 5", "5 3 8");
    check_atomic("sub", type, "5 3 5", "5 3 2");
    check_atomic("exch", type, "5 3 5", "5 3 3");
    check_atomic("max", type, "5 3 5  3 5 3  nan 5 nan  5 nan 5", "5 3 5  3 5 5  nan 5 nan  5 nan 5");
    check_atomic("min", type, "5 3 5  3 5 3  nan 5 nan  5 nan 5", "5 3 3  3 5 3  nan 5 nan  5 nan 5");
    check_atomic("nanmax", type, "5 3 5  nan 5 nan  5 nan 5", "5 3 5  nan 5 5  5 nan 5");
    check_atomic("nanmin", type, "5 3 5  nan 5 nan  5 nan 5", "5 3 3  nan 5 5  5 nan 5");
}

static void check_counters(const char *type)
{
    check_atomic("inc", type, "3 5 3", "3 5 4  5 5 0  9 5 0");
    check_atomic("dec", type, "3 5 3", "3 5 2  0 5 5  9 5 5");
}

static void check_swap(const char *type)
{
    char body[256], types[64];
    snprintf(types, sizeof types, "%s %s %s %s", type, type, type, type);
    snprintf(body, sizeof body, "  %%9: %s = atomic cas p1[%%0], %%2, %%3", type);
    check_values(body, types, "5 5 7 5  5 6 7 5", 0);
    snprintf(body, sizeof body, "  %%8: %s = atomic cas p1[%%0], %%2, %%3\n  %%9: %s = load p1[%%0]", type, type);
    check_values(body, types, "5 5 7 7  5 6 7 5", 0);
}

static void check_all_compile(const char *type, const char *const *kinds)
{
    char ir[4096], *place = ir;
    place += sprintf(place, "kernel k(x: %s[1 C], v: %s)\nblock 0:\n  %%0: i64 = const 0\n", type, type);
    for (int i = 0; kinds[i]; i++)
        place +=
            sprintf(place, "  %%%d: %s = atomic %s x[%%0], v\n  store x[%%0], %%%d\n", i + 1, type, kinds[i], i + 1);
    sprintf(place, "  %%50: %s = atomic cas x[%%0], v, v\n  return\n", type);
    check_compiles(type, ir, 0);
}

/* Additions of floats to an array are such for which workers wait for each other, whether the old value is used or not. */
static void check_turns(const char *type, const char *kind, bool takes_turns)
{
    for (int stores = 0; stores < 2; stores++) {
        char ir[256];
        Arena *arena = arena_create();
        Diag diag = {0};
        KernelImage image;
        Target host = {TARGET_HOST, NULL};
        CompileOptions options = {.opt = 2};
        snprintf(ir, sizeof ir,
                 "kernel k(x: %s[1 C], v: %s)\nblock 0:\n  %%0: i64 = const 0\n  %%1: %s = atomic %s x[%%0], v\n%s"
                 "  return\n",
                 type, type, type, kind, stores ? "  store x[%0], %1\n" : "");
        IrModule *module = ir_parse(ir, arena, &diag);
        if (CHECK(module && codegen_run_passes(module, &host, &options, NULL, &diag) &&
                  codegen_compile(module, &host, &options, LLVM_NO_TEXT, false, &image, &diag))) {
            CHECK(image.takes_turns == takes_turns);
            kernel_image_free(&image);
        }
        arena_destroy(arena);
    }
}

void test_atomics(void)
{
    check_turns("f32", "add", true);
    check_turns("f64", "sub", true);
    check_turns("f32", "max", false);
    check_turns("i32", "add", false);
    static const char *const integers[] = {"add", "sub", "max", "min", "and", "or", "xor", "exch", NULL};
    static const char *const counters[] = {"inc", "dec", NULL};
    static const char *const floats[] = {"add", "sub", "max", "min", "nanmax", "nanmin", "exch", NULL};
    static const char *const integer_types[] = {"i32", "u32", "i64", "u64", "u8", "i16"};
    static const char *const float_types[] = {"f32", "f64", "f16"};
    for (int i = 0; i < 6; i++) {
        check_integers(integer_types[i]);
        check_swap(integer_types[i]);
        check_all_compile(integer_types[i], integers);
    }
    for (int i = 0; i < 3; i++) {
        check_floats(float_types[i]);
        check_swap(float_types[i]);
        check_all_compile(float_types[i], floats);
    }
    check_counters("u32");
    check_counters("u64");
    check_all_compile("u32", counters);
    check_all_compile("u64", counters);
}
