/* Exceptions: the first thread's record, unwinding through calls, and PTX of both. */
#include <stdlib.h>

#include "codegen_tests.h"
#include "core/base/memory.h"
#include "core/diagnostic/exception_record.h"

/* Threads 5 and up raise in `inner`, two calls down; the others store. */
static const char raising[] = "kernel k(x: i64[1 C])%s\nblock 0:\n"
                              "  %%0: i32 = cuda.threadIdx.x\n  %%1: i64 = convert %%0\n"
                              "  %%2: i64 = call outer(%%1)\n  store x[%%1], %%2\n  return\n\n"
                              "device outer(i: i64) -> i64 noinline\nblock 0:\n  %%0: (i64, f32) = call inner(i)\n"
                              "  %%1: i64 = get %%0, 0\n  %%2: i64 = add %%1, i\n  return %%2\n\n"
                              "device inner(i: i64) -> (i64, f32)\nblock 0:\n  %%0: i64 = const 5\n"
                              "  %%1: bool = lt i, %%0\n  %%2: f32 = const 2.5\n  branch %%1, block 1, block 2\n"
                              "block 1:\n  %%3: (i64, f32) = tuple i, %%2\n  return %%3\n"
                              "block 2:\n  %%4: i8 = convert i\n  %%5: i8 = neg %%4\n  raise 7, %%5, %%2, %%1\n";

typedef struct Parameters {
    int64_t *x, extent;
    ExceptionRecord *record;
    uint64_t tag;
} Parameters;

static void check_stores(const int64_t *x)
{
    for (int64_t i = 0; i < 8; i++)
        CHECK(x[i] == (i < 5 ? 2 * i : -1));
}

static void check_record(const ExceptionRecord *record)
{
    CHECK(record->state == EXCEPTION_COMPLETE && record->code == 7 && record->tag == 0x1234567890);
    CHECK(record->thread_index[0] == 5 && record->thread_index[1] == 0 && record->block_index[0] == 0);
    double real = 0;
    memcpy(&real, &record->slots[1], sizeof real);
    CHECK((int64_t)record->slots[0] == -5 && real == 2.5 && record->slots[2] == 0);
}

void test_exceptions(void)
{
    char text[2048];
    snprintf(text, sizeof text, raising, " reports");
    int64_t x[8];
    memset(x, -1, sizeof x);
    ExceptionRecord record = {0};
    Parameters parameters = {x, 8, &record, 0x1234567890};
    CHECK(run_on_host(text, &parameters, (Grid){.threads = {8}}));
    check_stores(x);
    check_record(&record);
    /* Another thread was first: its record stays. */
    record.code = 3;
    CHECK(run_on_host(text, &parameters, (Grid){.threads = {8}}));
    CHECK(record.code == 3);
    check_compiles("raise", text, 0);
    /* Nobody is told. */
    snprintf(text, sizeof text, raising, "");
    memset(x, -1, sizeof x);
    CHECK(run_on_host(text, &parameters, (Grid){.threads = {8}}));
    check_stores(x);
    check_compiles("silent raise", text, 0);
}

/* The record is taken by one exchange, and complete for the whole system. */
void test_exception_ptx(void)
{
    char text[2048];
    snprintf(text, sizeof text, raising, " reports");
    char *ptx = compile_ptx(text, 75, (CompileOptions){.opt = 3, .fmad = true});
    CHECK(ptx && strstr(ptx, "atom.relaxed.gpu") && strstr(ptx, ".cas.b32") && strstr(ptx, "st.release.sys"));
    memory_free(ptx);
    snprintf(text, sizeof text, raising, "");
    ptx = compile_ptx(text, 75, (CompileOptions){.opt = 3, .fmad = true});
    CHECK(ptx && !strstr(ptx, "atom"));
    memory_free(ptx);
}
