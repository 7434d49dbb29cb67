/* Cooperative launches of the CPU device: every block has a worker of its own, so that all exist at once, and one thread
 * of the system runs them in turns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host_device.h"
#include "runtime/host_float.h"

enum { MAX_THREADS = 1 << 16 }; /* of the grid: each has a stack */

/* Workers of the blocks, all prepared. 0 or errno. */
static int gather(HostJob *job, HostWorker **workers)
{
    for (int64_t block = 0; block < job->block_count; block++) {
        workers[block] = host_pool_borrow();
        int error = workers[block] ? host_worker_prepare(workers[block], job) : ENOMEM;
        if (error)
            return error;
        host_worker_enter_block(workers[block], block);
    }
    return 0;
}

/* After a hang, what the threads of all blocks left on their stacks is of no use. */
static void disperse(HostJob *job, HostWorker **workers)
{
    for (int64_t block = 0; block < job->block_count && workers[block]; block++) {
        HostWorker *worker = workers[block];
        if (worker->paused || worker->hang[0])
            worker->fibers_made = 0;
        worker->paused = NULL;
        worker->hang[0] = 0;
        host_pool_return(worker);
    }
}

/* From one barrier of the grid to the next. False when a block hangs, or has ended while others wait for it. */
static bool run_turn(HostJob *job, HostWorker **workers, int64_t *waiting)
{
    int64_t ended = -1, waits = -1;
    *waiting = 0;
    for (int64_t block = 0; block < job->block_count; block++) {
        HostWorker *worker = workers[block];
        host_block_run(worker);
        if (worker->hang[0]) {
            memcpy(job->hang, worker->hang, sizeof job->hang);
            return false;
        }
        *waiting += worker->paused != NULL;
        *(worker->paused ? &waits : &ended) = block;
    }
    if (ended < 0 || waits < 0)
        return true;
    snprintf(job->hang, sizeof job->hang,
             "kernel '%.120s' hangs: block %lld waits at cuda.cg.this_grid.sync for block "
             "%lld, which has ended",
             job->kernel->base.name, (long long)waits, (long long)ended);
    return false;
}

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
    int64_t threads = (int64_t)block[0] * block[1] * block[2], waiting = 1;
    char message[256];
    if (job->block_count > MAX_THREADS / threads) {
        snprintf(message, sizeof message,
                 "griddim (%u, %u, %u) is too large for a cooperative launch: %lld blocks of "
                 "%lld threads fit the CPU device",
                 grid[0], grid[1], grid[2], (long long)(MAX_THREADS / threads), (long long)threads);
        return diag_fail(diag, NULL, DIAG_LAUNCH_SHAPE, message);
    }
    HostWorker **workers = calloc((size_t)job->block_count, sizeof *workers);
    int error = workers ? gather(job, workers) : ENOMEM;
    HostFloatState state = host_float_enter();
    while (!error && waiting && run_turn(job, workers, &waiting))
        ;
    host_float_leave(state);
    if (workers)
        disperse(job, workers);
    free(workers);
    if (error)
        return diag_fail(diag, NULL, DIAG_HOST_STACK, (int)threads, strerror(error));
    return !job->hang[0] || diag_fail(diag, NULL, DIAG_BARRIER_DIVERGED, job->hang);
}
