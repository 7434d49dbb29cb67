/* Which addresses are a thread's own memory: those of its frames and of what its block keeps for it, and none beside. */
#include "runtime/host/observe/host_profile.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "runtime_tests.h"

enum { BESIDE = 64 * 1024, KEPT = 16, LARGE = 16 * 1024 };

/* Whether a load of lane 0 from there counts as one of global memory; thread: of a launch that has begun. */
static bool is_global(HostThread *thread, const void *address)
{
    ObservedSite site = {0};
    Diag diag = {0};
    HostKernel kernel = {.base.name = "test"};
    host_observe(thread, &site, OBSERVED_BEGIN, 0, NULL, 0);
    host_observe(thread, &site, OBSERVED_LOAD, 0, address, 4);
    CHECK(host_profile_end(&kernel, &diag));
    return site.counts[OBSERVED_COUNT_SECTORS] == 1;
}

static void begin(const HostKernel *kernel)
{
    Diag diag = {0};
    RtLaunch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(host_profile_begin(kernel, &launch, 1, &diag));
}

static void check(const HostKernel *kernel, HostThread *thread, const void *address, bool expected)
{
    begin(kernel);
    CHECK(is_global(thread, address) == expected);
}

/* A thread's record with other memory on both sides. */
typedef struct Surrounded {
    uint8_t below[BESIDE];
    HostThread thread;
    uint8_t above[BESIDE];
} Surrounded;

/* The record of a thread on a fiber lies at the top of its stack. */
static void check_beside(Surrounded *memory, uint8_t *context)
{
    HostKernel kernel = {.base.name = "test", .context_size = KEPT};
    memory->thread =
        (HostThread){.block_dim = {1, 1, 1}, .grid_dim = {1, 1, 1}, .context = context, .stack_end = &memory->thread};
    check(&kernel, &memory->thread, memory->below, true);
    check(&kernel, &memory->thread, memory->above, true);
    check(&kernel, &memory->thread, context + 64, false);
    check(&kernel, &memory->thread, context + host_context_bytes(KEPT, 1), true);
}

/* --- launches ----------------------------------------------------------------------------------------------------------- */

/* What a kernel loads, and how often that was seen as global memory. */
typedef struct Probe {
    const uint8_t *elsewhere;
    ObservedSite variable, array, behind, other;
} Probe;

static void load(HostThread *thread, ObservedSite *site, const void *address)
{
    thread->services->observe(thread, site, OBSERVED_LOAD, 0, address, 4);
}

/* In frames below that of the array, which may lie above the record. */
__attribute__((noinline)) static void load_all(HostThread *thread, const uint8_t *array)
{
    Probe *probe = *(Probe *const *)thread->parameters;
    volatile int32_t variable = 0;
    thread->services->observe(thread, &probe->variable, OBSERVED_BEGIN, 0, NULL, 0);
    load(thread, &probe->variable, (const void *)&variable);
    load(thread, &probe->array, array);
    load(thread, &probe->behind, thread->stack_end);
    load(thread, &probe->other, probe->elsewhere);
}

static void thread_entry(HostThread *thread)
{
    uint8_t array[LARGE] = {0};
    load_all(thread, array + LARGE - 8);
}

__attribute__((noinline)) static void run_block(const HostThread *frame, const uint8_t *array)
{
    HostThread thread = *frame;
    load_all(&thread, array);
}

static void blocks_entry(const HostThread *frame, int64_t first, int64_t count)
{
    uint8_t array[LARGE] = {0};
    for (int64_t block = first; block < first + count; block++)
        run_block(frame, array + LARGE - 8);
}

static void check_launch(KernelImage image, const uint8_t *elsewhere)
{
    Probe probe = {.elsewhere = elsewhere}, *parameter = &probe;
    RtLaunch launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter};
    Diag diag = {0};
    image.name = "probe";
    image.observation = OBSERVE_ACCESSES;
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
    CHECK_OK(kernel && rt_launch(kernel, &launch, &diag), &diag);
    rt_kernel_unload(kernel);
    CHECK(probe.variable.counts[OBSERVED_COUNT_WARPS] == 2 && probe.variable.counts[OBSERVED_COUNT_SECTORS] == 0);
    CHECK(probe.array.counts[OBSERVED_COUNT_WARPS] == 2 && probe.array.counts[OBSERVED_COUNT_SECTORS] == 0);
    CHECK(probe.behind.counts[OBSERVED_COUNT_SECTORS] == 2);
    CHECK(probe.other.counts[OBSERVED_COUNT_SECTORS] == 2);
}

void test_host_profile(void)
{
    Surrounded *memory = memory_try(sizeof *memory);
    uint8_t *context = memory_try_aligned(HOST_SHARED_ALIGNMENT, host_context_bytes(KEPT, 1) + 64);
    CHECK(memory && context);
    check_beside(memory, context);
    check_launch((KernelImage){.thread_entry = thread_entry}, memory->below);
    check_launch((KernelImage){.blocks_entry = blocks_entry}, memory->below);
    check_launch((KernelImage){.blocks_entry = blocks_entry, .local_size = THREAD_STACK_LOCALS + LARGE}, memory->below);
    memory_free(memory);
    free(context);
}
