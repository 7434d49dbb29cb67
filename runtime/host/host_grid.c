/* Cooperative launches and clusters of the CPU device: blocks that wait for each other have a worker each, so that they
 * exist at once, and one thread of the system runs them in turns. */
#include "runtime/host/host_grid.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/intrinsic/intrinsic.h"
#include "runtime/host/host_backend.h"
#include "runtime/host/host_pool.h"
#include "runtime/host/machine/host_float.h"
#include "runtime/host/observe/host_checker.h"
#include "runtime/host/threads/host_alone.h"
#include "runtime/host/threads/host_barrier.h"
#include "runtime/host/threads/host_hang.h"
#include "runtime/host/threads/host_interrupt.h"
#include "runtime/host/threads/host_warp.h"

enum { MAX_THREADS = 1 << 16 }; /* of blocks that run at once: each has a stack */

typedef enum BlockState { BLOCK_READY, BLOCK_WAITS, BLOCK_ENDED } BlockState;

/* Blocks that run at once, cluster after cluster and by rank in each. */
typedef struct Gang {
    HostJob *job;
    int64_t count, cluster_size;
    HostWorker **workers;
    uint8_t **shared; /* of each block: what frame.cluster_shared leads to */
    uint8_t *states; /* BlockState */
    int64_t ask_at; /* when to ask again whether the launch is to end */
} Gang;

/* --- which blocks --------------------------------------------------------------------------------------------------- */

static int64_t cluster_dim(const RtLaunch *launch, int axis)
{
    return launch->cluster[axis] ? launch->cluster[axis] : 1;
}

static int64_t cluster_size(const RtLaunch *launch)
{
    return cluster_dim(launch, 0) * cluster_dim(launch, 1) * cluster_dim(launch, 2);
}

/* The block's number in the grid, x fastest, by cluster and rank. */
static int64_t block_of(const RtLaunch *launch, int64_t cluster, int64_t rank)
{
    int64_t block = 0, scale = 1;
    for (int axis = 0; axis < 3; axis++) {
        int64_t dim = cluster_dim(launch, axis), clusters = launch->grid[axis] / dim;
        block += (cluster % clusters * dim + rank % dim) * scale;
        scale *= launch->grid[axis];
        cluster /= clusters;
        rank /= dim;
    }
    return block;
}

/* --- workers -------------------------------------------------------------------------------------------------------- */

/* Workers of the blocks, all prepared. 0 or errno. */
static int gather(Gang *gang)
{
    gang->workers = memory_try((size_t)gang->count * sizeof *gang->workers);
    gang->shared = memory_try((size_t)gang->count * sizeof *gang->shared);
    gang->states = memory_try((size_t)gang->count);
    if (!gang->workers || !gang->shared || !gang->states)
        return ENOMEM;
    for (int64_t i = 0; i < gang->count; i++) {
        HostWorker *worker = gang->workers[i] = host_pool_borrow();
        int error = worker ? host_worker_prepare(worker, gang->job) : ENOMEM;
        if (error)
            return error;
        gang->shared[i] = worker->shared;
        worker->frame.cluster_shared = gang->shared + i / gang->cluster_size * gang->cluster_size;
        worker->cluster = gang->workers + i / gang->cluster_size * gang->cluster_size;
    }
    return 0;
}

/* After a hang, what the threads of all blocks left on their stacks is of no use. */
static void disperse(Gang *gang)
{
    for (int64_t i = 0; gang->workers && i < gang->count && gang->workers[i]; i++) {
        HostWorker *worker = gang->workers[i];
        if (worker->paused || worker->hang[0] || job_cancelled(gang->job))
            worker->fibers_made = 0;
        worker->paused = NULL;
        worker->cluster = NULL;
        worker->hang[0] = 0;
        worker->trapped = false;
        host_check_leave_worker(worker);
        host_pool_return(worker);
    }
    memory_free(gang->workers);
    memory_free(gang->shared);
    memory_free(gang->states);
}

/* --- turns ---------------------------------------------------------------------------------------------------------- */

/* Runs what is ready as far as it goes. False when a block hangs, or the launch is to end. */
static bool run_turn(Gang *gang)
{
    for (int64_t i = 0; i < gang->count; i++) {
        HostWorker *worker = gang->workers[i];
        if (gang->states[i] != BLOCK_READY)
            continue;
        if (worker->hang[0]) {
            host_take_report(gang->job, worker);
            return false;
        }
        host_watch_begin(worker, gang->job);
        host_block_run(worker);
        host_watch_end(worker);
        if (job_cancelled(gang->job))
            return false;
        if (worker->hang[0]) {
            host_take_report(gang->job, worker);
            return false;
        }
        gang->states[i] = worker->paused ? BLOCK_WAITS : BLOCK_ENDED;
    }
    return true;
}

static bool waits_at(const Gang *gang, int64_t i, int32_t barrier)
{
    return gang->states[i] == BLOCK_WAITS && gang->workers[i]->paused_at == barrier;
}

/* Lets blocks [first, first + count) go on where each waits at the barrier, or where has_ended allows it has ended. */
static bool open_barrier(Gang *gang, int64_t first, int64_t count, int32_t barrier, bool may_have_ended)
{
    assert(first >= 0 && first + count <= gang->count);
    int64_t waiting = 0;
    for (int64_t i = first; i < first + count; i++) {
        bool here = waits_at(gang, i, barrier);
        if (!here && !(may_have_ended && gang->states[i] == BLOCK_ENDED))
            return false;
        waiting += here;
    }
    for (int64_t i = first; i < first + count; i++)
        if (gang->states[i] == BLOCK_WAITS)
            gang->states[i] = BLOCK_READY;
    if (waiting > 0)
        host_check_blocks(gang->workers + first, count, barrier == INTRINSIC_CUDA_GRID_SYNC);
    return waiting > 0;
}

/* A cluster's barrier does not wait for threads that have returned; the grid's does. */
static bool open_barriers(Gang *gang)
{
    bool opened = open_barrier(gang, 0, gang->count, INTRINSIC_CUDA_GRID_SYNC, false);
    for (int64_t first = 0; first < gang->count && !opened; first += gang->cluster_size)
        opened |= open_barrier(gang, first, gang->cluster_size, INTRINSIC_CLUSTER_SYNC, true);
    for (int64_t i = 0; i < gang->count; i++)
        if (waits_at(gang, i, INTRINSIC_MBARRIER_TRY_WAIT) && host_warps_can_go_on(gang->workers[i])) {
            gang->states[i] = BLOCK_READY;
            opened = true;
        }
    return opened;
}

static const char *barrier_name(int32_t barrier)
{
    if (barrier == INTRINSIC_MBARRIER_TRY_WAIT)
        return "cuda.mbarrier.try_wait";
    return barrier == INTRINSIC_CLUSTER_SYNC ? "cuda.cg.this_cluster.sync" : "cuda.cg.this_grid.sync";
}

static long long block_number(const Gang *gang, int64_t first_cluster, int64_t i)
{
    return block_of(gang->job->launch, first_cluster + i / gang->cluster_size, i % gang->cluster_size);
}

/* Nothing can go on: which block waits, and for which that has ended or waits elsewhere. */
static void describe_hang(Gang *gang, int64_t first_cluster)
{
    int64_t waits = 0, other = 0;
    for (int64_t i = 0; i < gang->count; i++)
        if (waits_at(gang, i, INTRINSIC_MBARRIER_TRY_WAIT)) {
            host_warps_describe(gang->workers[i]);
            host_take_report(gang->job, gang->workers[i]);
            return;
        }
    while (gang->states[waits] != BLOCK_WAITS)
        waits++;
    assert(waits < gang->count && gang->workers[waits]->paused);
    int32_t barrier = gang->workers[waits]->paused_at;
    while (other < gang->count && waits_at(gang, other, barrier))
        other++;
    assert(other < gang->count); /* else the barrier would have opened */
    bool has_ended = gang->states[other] == BLOCK_ENDED;
    snprintf(gang->job->hang, sizeof gang->job->hang,
             "kernel '%.120s' hangs: block %lld waits at %s for block %lld, which %s%s", gang->job->kernel->base.name,
             block_number(gang, first_cluster, waits), barrier_name(barrier), block_number(gang, first_cluster, other),
             has_ended ? "has ended" : "waits at ", has_ended ? "" : barrier_name(gang->workers[other]->paused_at));
}

/* Between turns, of which each may be short: who launched it is asked now and then. */
static bool is_to_end(Gang *gang)
{
    enum { NANOSECONDS = 50000000 };
    int64_t now = clock_nanoseconds();
    if (!gang->job->launch->interrupted || now < gang->ask_at)
        return false;
    bool first = !gang->ask_at;
    gang->ask_at = now + NANOSECONDS;
    return !first && host_asks_to_end(gang->workers[0]);
}

/* Runs clusters from the given one on, all that the gang has room for. False with the job's hang described. */
static bool run_gang(Gang *gang, int64_t first_cluster)
{
    const RtLaunch *launch = gang->job->launch;
    for (int64_t i = 0; i < gang->count; i++) {
        int64_t cluster = first_cluster + i / gang->cluster_size;
        host_worker_enter_block(gang->workers[i], block_of(launch, cluster, i % gang->cluster_size));
        gang->states[i] = BLOCK_READY;
    }
    do {
        if (is_to_end(gang) || !run_turn(gang))
            return false;
    } while (open_barriers(gang));
    for (int64_t i = 0; i < gang->count; i++)
        if (gang->states[i] == BLOCK_WAITS) {
            describe_hang(gang, first_cluster);
            return false;
        }
    return true;
}

/* All blocks of the launch, as many clusters at once as fill the gang. */
static bool run_all(Gang *gang, Diag *diag)
{
    HostJob *job = gang->job;
    const uint32_t *block = job->launch->block;
    assert(gang->count > 0 && gang->count % gang->cluster_size == 0);
    int error = gather(gang);
    HostFloatState state = host_float_enter();
    host_alone_join();
    int64_t step = gang->count / gang->cluster_size, clusters = job->block_count / gang->cluster_size;
    for (int64_t cluster = 0; !error && cluster < clusters; cluster += step)
        if (!run_gang(gang, cluster))
            break;
    host_alone_leave();
    host_float_leave(state);
    disperse(gang);
    if (error)
        return diag_fail(diag, NULL, DIAG_HOST_STACK, (int)(block[0] * block[1] * block[2]), strerror(error));
    if (job_cancelled(job))
        return host_fail_cancelled(job, diag);
    return !job->hang[0] || host_fail_report(job, diag);
}

/* --- launches ------------------------------------------------------------------------------------------------------- */

/* What limits it are stacks: shared memory does not. */
bool host_kernel_resident_blocks(RtKernel *kernel, int threads, size_t dynamic_shared, int *blocks, Diag *diag)
{
    (void)diag;
    bool fits = threads > 0 && (uint32_t)threads <= kernel->limits.threads &&
                dynamic_shared <= HOST_MAX_SHARED - kernel->limits.static_shared;
    *blocks = fits ? MAX_THREADS / threads : 0;
    return true;
}

bool host_grid_run(HostJob *job, Diag *diag)
{
    const uint32_t *block = job->launch->block, *grid = job->launch->grid;
    int64_t threads = (int64_t)block[0] * block[1] * block[2];
    char message[256];
    if (job->block_count > MAX_THREADS / threads) {
        snprintf(message, sizeof message,
                 "griddim (%u, %u, %u) is too large for a cooperative launch: %lld blocks of "
                 "%lld threads fit the CPU device",
                 grid[0], grid[1], grid[2], (long long)(MAX_THREADS / threads), (long long)threads);
        return diag_fail(diag, NULL, DIAG_LAUNCH_SHAPE, message);
    }
    Gang gang = {.job = job, .count = job->block_count, .cluster_size = cluster_size(job->launch)};
    return run_all(&gang, diag);
}

bool host_clusters_run(HostJob *job, Diag *diag)
{
    int64_t size = cluster_size(job->launch);
    Gang gang = {.job = job, .count = size, .cluster_size = size};
    return run_all(&gang, diag);
}
