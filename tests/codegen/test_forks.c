/* A fork waits while LLVM works: what LLVM makes once for the process, nobody would end in the child. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "codegen_tests.h"
#include "core/base/memory.h"

enum { STEPS = 3000, LINE = 64 };

static _Atomic bool is_compiled;

/* x[0] goes through as many products and sums. The caller frees it. */
static char *long_kernel(void)
{
    size_t room = (size_t)(STEPS + 8) * LINE, at = 0;
    char *text = malloc(room);
    at += (size_t)snprintf(text + at, room - at,
                           "kernel f(x: f64[1 C])\nblock 0:\n  %%0: i64 = const 0\n  %%1: f64 = load x[%%0]\n");
    for (int i = 1; i <= STEPS; i++)
        at += (size_t)snprintf(text + at, room - at, "  %%%d: f64 = %s %%%d, %%%d\n", i + 1, i % 2 ? "mul" : "add", i,
                               i / 2 + 1);
    snprintf(text + at, room - at, "  store x[%%0], %%%d\n  return\n", STEPS + 1);
    return text;
}

/* Nanoseconds of the processor that all threads have had. */
static int64_t worked(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void *compile_it(void *ir)
{
    memory_free(compile_ptx(ir, 80, (CompileOptions){.opt = 3}));
    is_compiled = true;
    return NULL;
}

/* Work is what is compared, by the processor's clock: other programs take none of it. */
void test_forks(void)
{
    char *ir = long_kernel();
    compile_it(ir); /* what is made once */
    int64_t begin = worked();
    compile_it(ir);
    int64_t whole = worked() - begin;
    is_compiled = false;
    begin = worked();
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, compile_it, ir));
    while (!is_compiled && worked() - begin < whole / 2)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(!is_compiled);
    pid_t child = fork();
    if (!child)
        _exit(0);
    int64_t done = worked() - begin;
    CHECK(waitpid(child, NULL, 0) == child);
    pthread_join(thread, NULL);
    int64_t all = worked() - begin;
    if (!CHECK(done > all / 10 * 9))
        fprintf(stderr, "forked after %.1f of %.1f ms\n", (double)done / 1e6, (double)all / 1e6);
    free(ir);
}
