/* Kernels of the CPU device whose lanes meet, written here in C as compiled ones look: partial masks, short warps, lanes
 * that return, votes, sleeping, and blocks that cannot go on. */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/intrinsic/intrinsic.h"
#include "runtime_tests.h"

enum { FULL = -1 };

static bool is_cooperative;

static bool launch(HostThreadEntry entry, uint32_t blocks, uint32_t threads, void *parameter, Diag *diag)
{
    KernelImage image = {.name = "k", .thread_entry = entry, .static_shared = 4096, .effects = EFFECT_WARP_SYNC};
    image.effects |= is_cooperative ? EFFECT_GRID_SYNC : 0;
    RtLaunch shape = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .parameters = &parameter};
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, diag), &image, diag);
    bool ok = kernel && rt_launch(kernel, &shape, diag);
    rt_kernel_unload(kernel);
    return ok;
}

/* Runs the kernel in blocks of many sizes; it counts what is wrong. */
static void check_kernel(HostThreadEntry entry)
{
    static const uint32_t sizes[] = {1, 9, 31, 32, 33, 64, 100, 1024};
    Diag diag = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        _Atomic int wrong = 0;
        CHECK_OK(launch(entry, 20, sizes[i], &wrong, &diag), &diag);
        CHECK(wrong == 0);
    }
}

static void expect(HostThread *t, uint64_t got, uint64_t expected)
{
    if (got != expected)
        ++**(_Atomic int *const *)t->parameters;
}

static uint64_t meet(HostThread *t, IntrinsicId operation, uint32_t mask, uint64_t value, uint32_t place)
{
    return t->services->meet(t, (int32_t)operation, mask, value, place, 7);
}

/* Lanes of the thread's warp that exist. */
static uint32_t lanes_of(const HostThread *t)
{
    int count = t->block_dim[0] - (t->linear_thread - t->lane);
    return count < 32 ? (1u << count) - 1 : UINT32_MAX;
}

/* --- exchanges ------------------------------------------------------------------------------------------------------ */
static uint64_t value_of(const HostThread *t, int lane)
{
    return (uint64_t)(t->linear_thread - t->lane + lane) * UINT64_C(0x100000001);
}

/* A shuffle yields the value of that lane, or the thread's own where the lane does not exist. */
static void expect_shuffle(HostThread *t, IntrinsicId operation, uint32_t place, int source)
{
    bool exists = source >= 0 && source < 32 && lanes_of(t) >> source & 1;
    expect(t, meet(t, operation, (uint32_t)FULL, value_of(t, t->lane), place), value_of(t, exists ? source : t->lane));
}

static void shuffle(HostThread *t)
{
    for (int k = 0; k < 32; k++) {
        expect_shuffle(t, INTRINSIC_CUDA_SHFL_SYNC, (uint32_t)(t->lane * 7 + k), (t->lane * 7 + k) % 32);
        expect_shuffle(t, INTRINSIC_CUDA_SHFL_UP_SYNC, (uint32_t)k, t->lane - k);
        expect_shuffle(t, INTRINSIC_CUDA_SHFL_DOWN_SYNC, (uint32_t)k, t->lane + k);
        expect_shuffle(t, INTRINSIC_CUDA_SHFL_XOR_SYNC, (uint32_t)k, t->lane ^ k);
    }
}

/* Lanes of one residue have a mask of their own, and meet a different number of times. */
static void vote_in_parts(HostThread *t)
{
    uint32_t mask = 0x49249249u << t->lane % 3, here = mask & lanes_of(t);
    for (int round = 0; round < 5 * (1 + t->lane % 3); round++) {
        uint64_t is_first = t->lane < 3, is_odd = t->lane & 1;
        uint32_t odd = here & 0xaaaaaaaa;
        expect(t, meet(t, INTRINSIC_CUDA_BALLOT_SYNC, mask, is_odd, 0), odd);
        expect(t, meet(t, INTRINSIC_CUDA_ALL_SYNC, mask, is_odd, 0), odd == here);
        expect(t, meet(t, INTRINSIC_CUDA_ANY_SYNC, mask, is_odd, 0), odd != 0);
        expect(t, meet(t, INTRINSIC_CUDA_EQ_SYNC, mask, is_odd, 0), odd == here || !odd);
        expect(t, meet(t, INTRINSIC_CUDA_MATCH_ANY_SYNC, mask, is_odd << 40, 0), is_odd ? odd : here & ~odd);
        expect(t, meet(t, INTRINSIC_CUDA_MATCH_ALL_SYNC, mask, 5, 0), here);
        expect(t, meet(t, INTRINSIC_CUDA_MATCH_ALL_SYNC, mask, is_first, 0), here & ~7u ? 0 : here);
        meet(t, INTRINSIC_CUDA_SYNCWARP, mask, 0, 0);
    }
}

/* Lane i leaves after i rounds: whoever names it goes on without it. */
static void leave_early(HostThread *t)
{
    for (int round = 0; round <= t->lane; round++)
        expect(t, meet(t, INTRINSIC_CUDA_BALLOT_SYNC, (uint32_t)FULL, 1, 0), lanes_of(t) & (uint32_t)FULL << round);
}

/* Lanes that come to the same call are active together, also while others wait for them or sleep. */
static void active(HostThread *t)
{
    uint32_t odd = lanes_of(t) & 0xaaaaaaaa;
    expect(t, meet(t, INTRINSIC_CUDA_ACTIVEMASK, 0, 0, 0), lanes_of(t));
    if (t->lane & 1)
        expect(t, meet(t, INTRINSIC_CUDA_ACTIVEMASK, 0, 0, 0), odd);
    meet(t, INTRINSIC_CUDA_SYNCWARP, (uint32_t)FULL, 0, 0);
}

static void vote_in_block(HostThread *t)
{
    int threads = t->block_dim[0], limit = threads;
    for (int round = 0; round < 6; round++, limit /= 2) {
        uint64_t mine = t->linear_thread < limit;
        t->services->barrier(t, 0);
        expect(t, meet(t, INTRINSIC_CUDA_SYNCTHREADS_COUNT, 0, mine, 0), (uint64_t)limit);
        expect(t, meet(t, INTRINSIC_CUDA_SYNCTHREADS_AND, 0, mine, 0), limit == threads);
        expect(t, meet(t, INTRINSIC_CUDA_SYNCTHREADS_OR, 0, mine, 0), limit > 0);
        expect(t, meet(t, INTRINSIC_CUDA_SHFL_XOR_SYNC, (uint32_t)FULL, 3, 0), 3);
    }
}

/* Every thread waits, asleep, for the one after it. */
static void relay(HostThread *t)
{
    volatile int *turn = (volatile int *)(void *)t->shared;
    t->services->barrier(t, 0);
    if (t->linear_thread == 0)
        *turn = t->block_dim[0] - 1;
    t->services->barrier(t, 0);
    while (*turn != t->linear_thread)
        t->services->sleep(t, 10);
    *turn = t->linear_thread - 1;
}

/* --- hangs ---------------------------------------------------------------------------------------------------------- */
static void miss_lanes(HostThread *t)
{
    if (t->block_index[0] == 3 && t->lane < 16)
        t->services->barrier(t, 0);
    else
        meet(t, INTRINSIC_CUDA_SHFL_SYNC, (uint32_t)FULL, 0, 0);
}

static void mix_barriers(HostThread *t)
{
    if (t->linear_thread < 40)
        t->services->barrier(t, 0);
    else
        meet(t, INTRINSIC_CUDA_SYNCTHREADS_COUNT, 0, 1, 0);
}

static void mix_masks(HostThread *t) { meet(t, INTRINSIC_CUDA_SYNCWARP, t->lane ? (uint32_t)FULL : 3, 0, 0); }

static void hangs(void)
{
    Diag diag = {0};
    for (int i = 0; i < 3; i++) { /* nothing of the block that hung is left */
        CHECK_FAILS(launch(miss_lanes, 500, 64, NULL, &diag), &diag, DIAG_BARRIER_DIVERGED,
                    "kernel 'k' hangs in block (3, 0, 0): threads 0-15 wait at cuda.syncthreads; threads 16-31 wait at "
                    "cuda.shfl_sync with mask 0xffffffff in line 7; none can go on");
        CHECK_FAILS(launch(mix_barriers, 1, 60, NULL, &diag), &diag, DIAG_BARRIER_DIVERGED,
                    "threads 0-39 wait at cuda.syncthreads; threads 40-59 wait at cuda.syncthreads_count in line 7");
        CHECK_FAILS(
            launch(mix_masks, 1, 32, NULL, &diag), &diag, DIAG_BARRIER_DIVERGED,
            "thread 0 waits at cuda.syncwarp with mask 0x00000003 in line 7; threads 1-31 wait at cuda.syncwarp");
        check_kernel(vote_in_block);
    }
}

/* --- the whole grid ------------------------------------------------------------------------------------------------- */
static void meet_grid(HostThread *t)
{
    enum { BLOCKS = 20 };
    static _Atomic int arrived[4];
    int threads = t->block_dim[0];
    bool is_last = t->block_index[0] == BLOCKS - 1 && t->linear_thread == threads - 1;
    for (int round = 0; round < 4; round++) {
        arrived[round]++;
        meet(t, INTRINSIC_CUDA_GRID_SYNC, 0, 0, 0);
        expect(t, (uint64_t)arrived[round], (uint64_t)(BLOCKS * threads));
        meet(t, INTRINSIC_CUDA_SYNCTHREADS_COUNT, 0, 1, 0);
        meet(t, INTRINSIC_CUDA_GRID_SYNC, 0, 0, 0);
        if (is_last)
            arrived[round] = 0;
    }
}

static void leave_grid(HostThread *t)
{
    if (t->block_index[0] != 3)
        meet(t, INTRINSIC_CUDA_GRID_SYNC, 0, 0, 0);
}

static void whole_grid(void)
{
    Diag diag = {0};
    is_cooperative = true;
    check_kernel(meet_grid);
    CHECK_FAILS(launch(leave_grid, 5, 64, NULL, &diag), &diag, DIAG_BARRIER_DIVERGED,
                "kernel 'k' hangs: block 0 waits at cuda.cg.this_grid.sync for block 3, which has ended");
    CHECK_FAILS(launch(miss_lanes, 5, 64, NULL, &diag), &diag, DIAG_BARRIER_DIVERGED, "hangs in block (3, 0, 0)");
    CHECK_FAILS(launch(leave_grid, 1000, 1024, NULL, &diag), &diag, DIAG_LAUNCH_SHAPE, "too large for a cooperative");
    check_kernel(meet_grid);
    is_cooperative = false;
}

void test_host_warp(void)
{
    check_kernel(shuffle);
    check_kernel(vote_in_parts);
    check_kernel(leave_early);
    check_kernel(active);
    check_kernel(vote_in_block);
    check_kernel(relay);
    hangs();
    whole_grid();
}
