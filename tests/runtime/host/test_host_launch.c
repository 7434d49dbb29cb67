/* Kernels on the CPU device, written here in C as compiled ones look: every thread runs once with its own indices,
 * barriers hold, shared and local memory belong to block and thread, stacks are large enough and guarded. */
#include "runtime_tests.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host/machine/host_float.h"

static void run(const KernelImage *image, const RtLaunch *launch)
{
    Diag diag = {0};
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, &diag), image, &diag);
    CHECK_OK(kernel && rt_launch(kernel, launch, &diag), &diag);
    rt_kernel_unload(kernel);
}

static int64_t block_number(const HostThread *t)
{
    return t->block_index[0] +
           (int64_t)t->grid_dim[0] * (t->block_index[1] + (int64_t)t->grid_dim[1] * t->block_index[2]);
}

static int64_t block_threads(const HostThread *t)
{
    return (int64_t)t->block_dim[0] * t->block_dim[1] * t->block_dim[2];
}

static void barrier(HostThread *t) { t->services->barrier(t, 0); }

/* --- indices -------------------------------------------------------------------------------------------------------- */
typedef struct Visits {
    _Atomic int *counts;
    _Atomic int wrong;
} Visits;

static void visit(HostThread *t)
{
    Visits *visits = *(Visits *const *)t->parameters;
    int linear = t->thread_index[0] + t->block_dim[0] * (t->thread_index[1] + t->block_dim[1] * t->thread_index[2]);
    bool inside = t->thread_index[0] < t->block_dim[0] && t->thread_index[1] < t->block_dim[1];
    if (linear != t->linear_thread || t->lane != linear % 32 || !inside || (uintptr_t)t->shared % 128)
        visits->wrong++;
    visits->counts[block_number(t) * block_threads(t) + linear]++;
}

/* The same as a loop over threads, as code without barriers is compiled. */
static void visit_blocks(const HostThread *frame, int64_t first, int64_t count)
{
    for (int64_t block = first; block < first + count; block++) {
        HostThread t = *frame;
        t.block_index[0] = (int32_t)(block % t.grid_dim[0]);
        t.block_index[1] = (int32_t)(block / t.grid_dim[0] % t.grid_dim[1]);
        t.block_index[2] = (int32_t)(block / t.grid_dim[0] / t.grid_dim[1]);
        for (int i = 0; i < block_threads(&t); i++) {
            t.linear_thread = i;
            t.lane = i % 32;
            t.thread_index[0] = i % t.block_dim[0];
            t.thread_index[1] = i / t.block_dim[0] % t.block_dim[1];
            t.thread_index[2] = i / t.block_dim[0] / t.block_dim[1];
            visit(&t);
        }
    }
}

static void check_visits(const KernelImage *image, RtLaunch launch)
{
    size_t threads =
        (size_t)launch.grid[0] * launch.grid[1] * launch.grid[2] * launch.block[0] * launch.block[1] * launch.block[2];
    Visits visits = {.counts = calloc(threads, sizeof(int))}, *parameter = &visits;
    launch.parameters = &parameter;
    run(image, &launch);
    size_t once = 0;
    for (size_t i = 0; i < threads; i++)
        once += visits.counts[i] == 1;
    CHECK(once == threads && visits.wrong == 0);
    free((void *)visits.counts);
}

static void indices(void)
{
    const RtLaunch shapes[] = {
        {.grid = {1, 1, 1}, .block = {1, 1, 1}},    {.grid = {3, 5, 7}, .block = {4, 3, 2}},
        {.grid = {2, 1, 1}, .block = {1024, 1, 1}}, {.grid = {1000, 1, 1}, .block = {33, 1, 1}},
        {.grid = {1, 300, 2}, .block = {2, 8, 64}},
    };
    const KernelImage images[] = {
        {.name = "visit", .thread_entry = visit},
        {.name = "visit", .thread_entry = visit, .blocks_entry = visit_blocks},
        {.name = "visit", .thread_entry = visit, .blocks_entry = visit_blocks, .local_size = 1 << 20},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof images / sizeof *images; j++)
            check_visits(&images[j], shapes[i]);
}

/* --- barriers ------------------------------------------------------------------------------------------------------- */
/* Tree reduction in static shared memory; thread 0 writes the block's sum. */
static void reduce(HostThread *t)
{
    int64_t *sums = *(int64_t *const *)t->parameters;
    int64_t *shared = (int64_t *)(void *)t->shared;
    int me = t->linear_thread, threads = (int)block_threads(t);
    shared[me] = block_number(t) * threads + me;
    for (int width = 512; width; width /= 2) {
        barrier(t);
        if (me < width && me + width < threads)
            shared[me] += shared[me + width];
    }
    if (me == 0)
        sums[block_number(t)] = shared[0];
}

static void reductions(void)
{
    enum { BLOCKS = 200 };
    const uint32_t sizes[] = {1, 2, 31, 32, 33, 100, 1000, 1024};
    int64_t sums[BLOCKS], *parameter = sums;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t threads = sizes[i], wrong = 0;
        KernelImage image = {.name = "reduce", .thread_entry = reduce, .static_shared = 1024 * 8};
        RtLaunch launch = {.grid = {BLOCKS / 2, 2, 1}, .block = {sizes[i], 1, 1}, .parameters = &parameter};
        run(&image, &launch);
        for (int64_t block = 0; block < BLOCKS; block++)
            wrong += sums[block] != block * threads * threads + threads * (threads - 1) / 2;
        CHECK(wrong == 0);
    }
}

/* Thread i leaves after i rounds; the others check that everyone alive has counted every round. */
static void leave_early(HostThread *t)
{
    _Atomic int *wrong = *(_Atomic int *const *)t->parameters;
    int *rounds = (int *)(void *)t->dynamic_shared;
    int threads = (int)block_threads(t);
    rounds[t->linear_thread] = 0;
    barrier(t);
    for (int round = 1; round <= threads; round++) {
        if (t->linear_thread % 37 < round - 1)
            return;
        rounds[t->linear_thread] = round;
        barrier(t);
        for (int other = 0; other < threads; other++)
            if (rounds[other] != (other % 37 < round - 1 ? other % 37 + 1 : round))
                (*wrong)++;
        barrier(t);
    }
}

/* Only some threads ever wait: those that return first, last or between do not count. */
static void some_wait(HostThread *t)
{
    _Atomic int *wrong = *(_Atomic int *const *)t->parameters;
    int *seen = (int *)(void *)t->dynamic_shared;
    int modulus = 2 + t->block_index[0] % 3, rest = t->block_index[0] / 3 % modulus;
    if (t->dynamic_size != 4096 || t->dynamic_shared < t->shared + 12 || (uintptr_t)t->dynamic_shared % 16)
        (*wrong)++;
    if (t->linear_thread == 0)
        memset(seen, 0, 1024 * sizeof *seen);
    if (t->linear_thread % modulus == rest)
        return;
    for (int round = 0; round < 3; round++) {
        seen[t->linear_thread]++;
        barrier(t);
        for (int other = 0; other < block_threads(t); other++)
            if (other % modulus != rest && seen[other] != round + 1)
                (*wrong)++;
        barrier(t);
    }
}

static void early_returns(void)
{
    _Atomic int wrong = 0, *parameter = &wrong;
    const HostThreadEntry entries[] = {leave_early, some_wait};
    const uint32_t sizes[] = {1, 2, 40, 200};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            KernelImage image = {.name = "early", .thread_entry = entries[i], .static_shared = 12};
            RtLaunch launch = {
                .grid = {30, 1, 1}, .block = {sizes[j], 1, 1}, .dynamic_shared = 4096, .parameters = &parameter};
            run(&image, &launch);
            CHECK(wrong == 0);
        }
}

/* --- local memory, stacks ------------------------------------------------------------------------------------------- */
enum { LOCAL_BYTES = 48 * 1024 };

/* Fills a large local array, waits, finds it unchanged. */
static void keep_local(HostThread *t)
{
    _Atomic int *wrong = *(_Atomic int *const *)t->parameters;
    volatile uint8_t local[LOCAL_BYTES];
    double real = t->linear_thread * 0.5;
    for (int i = 0; i < LOCAL_BYTES; i += 64)
        local[i] = (uint8_t)(t->linear_thread + i);
    barrier(t);
    for (int i = 0; i < LOCAL_BYTES; i += 64)
        if (local[i] != (uint8_t)(t->linear_thread + i))
            (*wrong)++;
    if (real != t->linear_thread * 0.5 || (uintptr_t)__builtin_frame_address(0) % 16)
        (*wrong)++;
}

static void locals(void)
{
    _Atomic int wrong = 0, *parameter = &wrong;
    KernelImage image = {.name = "local", .thread_entry = keep_local, .local_size = LOCAL_BYTES};
    for (uint32_t threads = 1; threads <= 1024; threads *= 4) {
        RtLaunch launch = {.grid = {4, 1, 1}, .block = {threads, 1, 1}, .parameters = &parameter};
        run(&image, &launch);
        CHECK(wrong == 0);
    }
}

static int overflow_depth(volatile int *depth)
{
    volatile char frame[1024];
    frame[0] = (char)++*depth;
    return *depth > 0 ? overflow_depth(depth) + frame[0] : 0;
}

static void overflow(HostThread *t)
{
    volatile int depth = 1;
    barrier(t);
    if (t->linear_thread == 1)
        overflow_depth(&depth);
}

/* An endless recursion dies on the guard page: SIGSEGV, not silence. Sanitizers turn that into an exit of their own. */
static void stack_overflow(void)
{
    int status;
    pid_t child = fork();
    if (!child) {
        freopen("/dev/null", "w", stderr);
        KernelImage image = {.name = "overflow", .thread_entry = overflow};
        run(&image, &(RtLaunch){.grid = {1, 1, 1}, .block = {4, 1, 1}});
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status != 0);
    CHECK(under_address_sanitizer || under_thread_sanitizer || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
}

/* --- floating point modes ------------------------------------------------------------------------------------------- */
static void halve_denormal(HostThread *t)
{
    volatile double *value = *(volatile double *const *)t->parameters;
    *value = *value / 2;
}

static void caller_flushes_to_zero(void)
{
    double value = 0x1p-1050, *parameter = &value;
    KernelImage image = {.name = "halve", .thread_entry = halve_denormal};
    RtLaunch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter};
#if defined(__x86_64__)
    const HostFloatState flushes = 0x8040;
#else
    const HostFloatState flushes = 1 << 24;
#endif
    HostFloatState before = host_float_enter();
    host_float_leave(before | flushes);
    run(&image, &launch);
    CHECK((host_float_enter() & flushes) == flushes);
    host_float_leave(before);
    CHECK(value == 0x1p-1051);
}

void test_host_launch(void)
{
    indices();
    reductions();
    early_returns();
    locals();
    stack_overflow();
    caller_flushes_to_zero();
}
