/* Which addresses are a thread's own memory: those of its frames and of what its block keeps for it, and none beside. */
#include "runtime/host/observe/host_profile.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "runtime_tests.h"

enum { BESIDE = 64 * 1024, KEPT = 16 };

static void entry_of_blocks(const HostThread *frame, int64_t first, int64_t count)
{
    (void)frame;
    (void)first;
    (void)count;
}

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
    memory->thread = (HostThread){.block_dim = {1, 1, 1}, .grid_dim = {1, 1, 1}, .context = context};
    check(&kernel, &memory->thread, memory->below, true);
    check(&kernel, &memory->thread, memory->above, true);
    check(&kernel, &memory->thread, context + 64, false);
    check(&kernel, &memory->thread, context + host_context_bytes(KEPT, 1), true);
}

/* In a frame below that of the record. */
__attribute__((noinline)) static void check_variable(HostThread *thread)
{
    HostKernel kernel = {.base.name = "test"};
    volatile int32_t variable = 0;
    check(&kernel, thread, (const void *)&variable, false);
}

/* Without fibers the record is a variable of a frame below that of the launch. */
static void check_blocks(uint8_t *memory)
{
    HostKernel kernel = {.base.name = "test", .blocks_entry = entry_of_blocks};
    uint8_t outside[64] = {0};
    check(&kernel, &(HostThread){.block_dim = {1, 1, 1}, .grid_dim = {1, 1, 1}}, memory, true);
    check(&kernel, &(HostThread){.block_dim = {1, 1, 1}, .grid_dim = {1, 1, 1}}, outside + 32, true);
}

void test_host_profile(void)
{
    HostThread thread = {.block_dim = {1, 1, 1}, .grid_dim = {1, 1, 1}};
    Surrounded *memory = memory_try(sizeof *memory);
    uint8_t *context = memory_try_aligned(HOST_SHARED_ALIGNMENT, host_context_bytes(KEPT, 1) + 64);
    CHECK(memory && context);
    check_beside(memory, context);
    check_variable(&thread);
    check_blocks(memory->below);
    memory_free(memory);
    free(context);
}
