/* One worker's part of a launch on the CPU device: memory, stacks, and blocks. */
#include "runtime/host/threads/host_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "runtime/host/machine/host_float.h"
#include "runtime/host/observe/host_checker.h"
#include "runtime/host/threads/host_alone.h"
#include "runtime/host/threads/host_barrier.h"
#include "runtime/host/threads/host_hang.h"
#include "runtime/host/threads/host_interrupt.h"
#include "runtime/host/threads/host_warp.h"

enum { ALONE_CHUNKS = 8 }; /* at least; the first ones are smaller: blocks may take longer than the last time */
enum { STACK_MARGIN = 56 * 1024 }; /* beyond local arrays: frames of device functions, libm, a signal handler */

HostWorker *host_worker_create(void)
{
    HostWorker *worker = memory_try(sizeof *worker);
    if (worker)
        host_watch_add(worker);
    return worker;
}

static size_t align_shared(size_t size)
{
    return (size + HOST_SHARED_ALIGNMENT - 1) & ~(size_t)(HOST_SHARED_ALIGNMENT - 1);
}

/* --- what it has ---------------------------------------------------------------------------------------------------- */
static int reserve_shared(HostWorker *worker, size_t size)
{
    if (worker->shared_size >= size)
        return 0;
    void *memory = memory_try_aligned(HOST_SHARED_ALIGNMENT, size);
    if (!memory)
        return ENOMEM;
    memset(memory, 0, size);
    free(worker->shared);
    worker->shared = memory;
    worker->shared_size = size;
    return 0;
}

static int reserve_context(HostWorker *worker, size_t size)
{
    if (worker->context_size >= size)
        return 0;
    void *memory = memory_try_aligned(HOST_SHARED_ALIGNMENT, size);
    if (!memory)
        return ENOMEM;
    free(worker->context);
    worker->context = memory;
    worker->context_size = size;
    return 0;
}

static int reserve_stacks(HostWorker *worker, const HostKernel *kernel, uint32_t threads)
{
    uint32_t count = 1;
    size_t usable = kernel->local_size + (size_t)STACK_MARGIN;
    while (!kernel->blocks_entry && count < threads)
        count *= 2;
    if (host_stacks_suffice(&worker->stacks, count, usable))
        return 0;
    worker->fibers_made = 0; /* they lie on the old stacks */
    return host_stacks_map(&worker->stacks, count, usable);
}

int host_worker_prepare(HostWorker *worker, const HostJob *job)
{
    const RtLaunch *launch = job->launch;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    size_t static_size = align_shared(job->kernel->base.limits.static_shared);
    int error = reserve_shared(worker, static_size + align_shared(launch->dynamic_shared) + HOST_SHARED_ALIGNMENT);
    if (!error)
        error = reserve_context(worker, host_context_bytes(job->kernel->context_size, threads));
    if (!error && host_kernel_needs_stack(job->kernel))
        error = reserve_stacks(worker, job->kernel, threads);
    if (error)
        return error;
    worker->kernel = job->kernel;
    worker->checker = job->checker;
    worker->order = job->order;
    worker->thread_count = threads;
    worker->frame = (HostThread){
        .shared = worker->shared,
        .dynamic_shared = worker->shared + static_size,
        .dynamic_size = launch->dynamic_shared,
        .parameters = launch->parameters,
        .overflows = launch->overflows,
        .context = worker->context,
        .services = job->kernel->by_warps ? &host_warp_services : &host_services,
    };
    for (int axis = 0; axis < 3; axis++) {
        worker->frame.block_dim[axis] = (int32_t)launch->block[axis];
        worker->frame.grid_dim[axis] = (int32_t)launch->grid[axis];
        worker->frame.cluster_dim[axis] = launch->cluster[axis] ? (int32_t)launch->cluster[axis] : 1;
    }
    return 0;
}

void host_worker_enter_block(HostWorker *worker, int64_t block)
{
    int64_t width = worker->frame.grid_dim[0], height = worker->frame.grid_dim[1];
    worker->frame.block_index[0] = (int32_t)(block % width);
    worker->frame.block_index[1] = (int32_t)(block / width % height);
    worker->frame.block_index[2] = (int32_t)(block / width / height);
    if (worker->order.is_on) /* not what the block before has left there, which may happen to be right */
        memset(worker->shared, (int)host_order_draw(&worker->order, 256), worker->shared_size);
    host_check_block(worker);
}

static void run_blocks_as_fibers(HostWorker *worker, int64_t first, int64_t count)
{
    for (int64_t block = first; block < first + count && !worker->hang[0] && !job_cancelled(worker->job); block++) {
        host_worker_enter_block(worker, host_order_block(&worker->order, block));
        if (!worker->hang[0])
            host_block_run(worker);
    }
}

/* On the thread's own stack. */
static void run_blocks(HostWorker *worker, int64_t first, int64_t count)
{
    worker->frame.stack_end = __builtin_frame_address(0);
    if (!sigsetjmp(worker->escape, 0))
        host_worker_run_entry(worker, first, count);
}

static void run_chunk(HostWorker *worker, int64_t first, int64_t count)
{
    const HostKernel *kernel = worker->kernel;
    if (!kernel->blocks_entry)
        run_blocks_as_fibers(worker, first, count);
    else if (host_kernel_needs_stack(kernel))
        host_blocks_run(worker, first, count);
    else
        run_blocks(worker, first, count);
}

/* The first block that hangs ends the launch. What its threads left on their stacks is of no use. */
static void report_hang(HostJob *job, HostWorker *worker)
{
    if (!atomic_exchange(&job->hangs, true))
        host_take_report(job, worker);
    atomic_store(&job->is_over, true);
    worker->hang[0] = 0;
    worker->trapped = false;
    worker->fibers_made = 0;
}

/* *count: 0 where none is left. */
static int64_t take_of_part(HostPart *part, int64_t chunk, int64_t *count)
{
    int64_t first = atomic_load_explicit(&part->next, memory_order_relaxed);
    do
        *count = part->end - first < chunk ? part->end - first : chunk;
    while (*count && !atomic_compare_exchange_weak_explicit(&part->next, &first, first + *count, memory_order_relaxed,
                                                            memory_order_relaxed));
    return first;
}

/* From part *place on, which is where the next ones are to be asked for. One that begins with the first takes all blocks in
 * their order, so that who waits for earlier ones never waits for one that nobody takes. */
static int64_t take_blocks(HostJob *job, int64_t chunk, int *place, int64_t *count)
{
    *count = 0;
    for (int asked = 0; asked < job->part_count && !atomic_load_explicit(&job->is_over, memory_order_relaxed);
         asked++) {
        int64_t first = take_of_part(&job->parts[*place], chunk, count);
        if (*count)
            return first;
        *place = (*place + 1) % job->part_count;
    }
    atomic_store_explicit(&job->is_over, true, memory_order_relaxed);
    return 0;
}

/* With the launching thread's in the first, helpers begin in the others. */
static int first_part(const HostJob *job, const HostWorker *worker)
{
    return worker->place && job->part_count > 1 ? 1 + (worker->place - 1) % (job->part_count - 1) : 0;
}

int64_t host_job_work(HostJob *job, HostWorker *worker, int64_t deadline)
{
    int64_t done = 0;
    int place = first_part(job, worker);
    int64_t most = job->block_count / ALONE_CHUNKS + 1;
    int64_t chunk = atomic_load_explicit(&job->chunk, memory_order_relaxed);
    HostFloatState state = host_float_enter();
    host_alone_join();
    host_watch_begin(worker, job);
    while (deadline == INT64_MAX || clock_nanoseconds() < deadline) {
        int64_t count, first = take_blocks(job, chunk, &place, &count);
        if (!count)
            break;
        run_chunk(worker, first, count);
        if (worker->hang[0])
            report_hang(job, worker);
        done += count;
        int64_t given = atomic_load_explicit(&job->chunk, memory_order_relaxed);
        if (job->few > 1 || deadline == INT64_MAX)
            chunk = given;
        else if (2 * chunk <= most)
            chunk *= 2;
    }
    host_watch_end(worker);
    host_alone_leave();
    host_float_leave(state);
    return done;
}
