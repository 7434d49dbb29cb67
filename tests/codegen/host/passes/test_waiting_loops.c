/* Which loops let other threads run: those that read the same again until another thread has changed it. */
#include "check.h"
#include "codegen/passes.h"
#include "codegen_tests.h"

/* A kernel with one loop, block 1, which goes on while %9 is true. */
static void check_loop(const char *body, const char *others, bool waits)
{
    Buf text = {0}, after = {0};
    Arena *arena = arena_create();
    Diag diag = {0};
    buf_printf(
        &text,
        "kernel k(x: i32[1 C], n: i64)\nblock 0:\n  %%0: i64 = const 0\n  %%1: i32 = const 0\n  %%2: i32 = const 1\n"
        "  jump block 1\nblock 1:\n%s  branch %%9, block 1, block 2\nblock 2:\n  return\n%s",
        body, others);
    IrModule *module = ir_parse(buf_text(&text), arena, &diag);
    if (CHECK(module) && CHECK(ir_verify(module, &diag))) {
        yield_in_waiting_loops(module);
        CHECK(ir_verify(module, &diag));
        ir_print(&after, module, false);
        if (!CHECK((strstr(buf_text(&after), "cuda.nanosleep") != NULL) == waits))
            fprintf(stderr, "%s\n", buf_text(&after));
    }
    if (diag_failed(&diag))
        fprintf(stderr, "%s\n%s\n", diag.message, buf_text(&text));
    buf_free(&text);
    buf_free(&after);
    arena_destroy(arena);
}

void test_waiting_loops(void)
{
    /* taking a lock, an atomic that only reads, loads that go to memory each time */
    check_loop("  %3: i32 = atomic cas x[%0], %1, %2\n  %9: bool = ne %3, %1\n", "", true);
    check_loop("  %3: i32 = atomic exch x[n], %2\n  %9: bool = ne %3, %1\n", "", true);
    check_loop("  %3: i32 = atomic add x[%0], %1\n  %9: bool = eq %3, %1\n", "", true);
    check_loop("  %3: i32 = load !cv x[%0]\n  %9: bool = eq %3, %1\n", "", true);
    check_loop("  cuda.threadfence\n  %3: i32 = load x[%0]\n  %9: bool = eq %3, %1\n", "", true);
    /* a counter that is taken from, a read-only load, a load that nothing makes anew */
    check_loop("  %3: i32 = atomic add x[%0], %2\n  %9: bool = eq %3, %1\n", "", false);
    check_loop("  %3: i32 = load !nc x[%0]\n  %9: bool = eq %3, %1\n", "", false);
    check_loop("  %3: i32 = load !ca x[%0]\n  %9: bool = eq %3, %1\n", "", false);
    check_loop("  %3: i32 = load x[%0]\n  %9: bool = eq %3, %1\n", "", false);
    /* an update: what is compared comes from the trip before; a search: the place moves on */
    check_loop(
        "  %3: i32 = phi block 0: %1, block 1: %4\n  %4: i32 = atomic cas x[%0], %3, %2\n  %9: bool = ne %4, %3\n", "",
        false);
    check_loop("  %3: i64 = phi block 0: %0, block 1: %5\n  %4: i32 = atomic cas x[%3], %1, %2\n  %5: i64 = add %3, n\n"
               "  %9: bool = ne %4, %1\n",
               "", false);
    /* through a function, and what is not asked for */
    check_loop("  %3: i32 = call take(x)\n  %9: bool = ne %3, %1\n",
               "\ndevice take(x: i32[1 C]) -> i32\nblock 0:\n  %0: i64 = const 0\n  %1: i32 = const 0\n"
               "  %2: i32 = atomic exch x[%0], %1\n  return %2\n",
               true);
    check_loop("  %4: i64 = phi block 0: %0, block 1: %5\n  %3: i32 = atomic exch x[%0], %2\n  %5: i64 = add %4, n\n"
               "  %9: bool = lt %5, n\n",
               "", false);
}
