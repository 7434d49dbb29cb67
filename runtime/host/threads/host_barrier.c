/* Runs the threads of a block as fibers of one worker, with an exact barrier. Threads start in order; one that returns
 * hands its stack to the next, one that waits joins a ring. Once all have started, every thread in the ring is at the
 * barrier, so the ring's order is the schedule: whoever waits or returns continues the next one. No counting is needed,
 * and a thread that returned is simply no longer in the ring. Threads that have come to barriers in different lines are
 * found by the line of the one before in the ring; once all have come to one, the block ends in a report. Kernels that do
 * more than wait: host_warp.c. */
#include "runtime/host/check/overflow_note.h"
#include "runtime/host/observe/host_profile.h"
#include "runtime/host/threads/host_barrier.h"

#include <assert.h>
#include <stdio.h>

#include "core/intrinsic/intrinsic.h"
#include "runtime/host/threads/host_exchange.h"
#include "runtime/host/threads/host_hang.h"
#include "runtime/host/threads/host_interrupt.h"
#include "runtime/host/threads/host_additions.h"
#include "runtime/host/threads/host_thread.h"
#include "runtime/host/threads/host_tile.h"
#include "runtime/host/threads/host_warp.h"

static void fiber_start_thread(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    int32_t *index = worker->next_index;
    const int32_t *size = worker->frame.block_dim;
    fiber->waited = false;
    fiber->round = 0;
    fiber->thread = worker->frame;
    fiber->thread.runtime = fiber;
    fiber->thread.stack_end = fiber;
    fiber->thread.linear_thread = (int32_t)worker->next_thread;
    fiber->thread.lane = (int32_t)(worker->next_thread % HOST_WARP);
    for (int axis = 0; axis < 3; axis++)
        fiber->thread.thread_index[axis] = index[axis];
    worker->next_thread++;
    if (++index[0] < size[0])
        return;
    index[0] = 0;
    if (++index[1] < size[1])
        return;
    index[1] = 0;
    index[2]++;
}

/* What host_warp.c would know of the threads in the ring: each waits at its barrier. */
static void note_waits(HostWorker *worker, HostFiber *ring)
{
    HostFiber *fiber = ring;
    for (uint32_t i = 0; i < HOST_MAX_WARPS; i++)
        worker->warps[i].meeting = worker->warps[i].at_barrier = worker->warps[i].at_numbered = 0;
    do {
        HostWarp *warp = &worker->warps[fiber->thread.linear_thread / HOST_WARP];
        warp->fibers[fiber->thread.lane] = fiber;
        warp->at_barrier |= 1u << fiber->thread.lane;
        fiber = fiber->next;
    } while (fiber != ring);
}

/* Ends the block where the threads have parted and the next one waits already where they did: so do all others. */
static void end_if_parted(HostWorker *worker, HostFiber *next)
{
    if (!worker->parted_round || worker->next_thread < worker->thread_count || next->round != worker->parted_round)
        return;
    note_waits(worker, next);
    host_describe_hang(worker, 0, worker->thread_count);
    host_leave_block(worker);
}

/* Leaves a fiber whose thread has returned; comes back when the fiber is taken for another block. */
static void fiber_finish(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    HostFiber *next = NULL;
    if (!fiber->waited) {
        next = worker->first;
        worker->previous = worker->last;
    } else if (fiber->next != fiber) {
        next = worker->previous->next = fiber->next;
    }
    if (next)
        end_if_parted(worker, next);
    host_fiber_switch(&fiber->stack_pointer, next ? next->stack_pointer : worker->stack_pointer);
}

static void run_fiber(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    if (worker->block_count) {
        worker->frame.stack_end = fiber;
        host_worker_run_entry(worker, worker->first_block, worker->block_count);
        fiber->waited = false;
    } else {
        do {
            fiber_start_thread(fiber);
            worker->kernel->thread_entry(&fiber->thread);
        } while (!fiber->waited && worker->next_thread < worker->thread_count);
    }
    fiber_finish(fiber);
}

/* First wait of a thread: it joins the ring, and threads that have not started go first. */
static HostFiber *fiber_join_ring(HostWorker *worker, HostFiber *fiber)
{
    assert(!fiber->waited && fiber->worker == worker);
    fiber->waited = true;
    if (worker->last)
        worker->last->next = fiber;
    else
        worker->first = fiber;
    worker->last = fiber;
    fiber->next = worker->first;
    if (worker->next_thread < worker->thread_count)
        return host_fiber_take(worker);
    worker->previous = fiber;
    return worker->first;
}

static void host_barrier(HostThread *thread, int32_t line)
{
    HostFiber *fiber = thread->runtime;
    if (!fiber)
        return;   /* blocks_entry: no kernel with a barrier has one */
    HostWorker *worker = fiber->worker;
    host_attend(worker);
    HostFiber *next, *before = fiber->waited ? worker->previous : worker->last;
    fiber->wait = (HostWait){.operation = INTRINSIC_CUDA_SYNCTHREADS, .line = line};
    fiber->round++;
    if (before && before->round == fiber->round && before->wait.line != line)
        worker->parted_round = fiber->round;
    if (fiber->waited) {
        worker->previous = fiber;
        next = fiber->next;
    } else {
        next = fiber_join_ring(worker, fiber);
    }
    if (next != fiber) {
        end_if_parted(worker, next);
        /* A block's stacks do not fit the first cache: fetch what the switch after this one reads. */
        uintptr_t ahead = (uintptr_t)next->next;
        for (uintptr_t line = ahead - 128; line != ahead + 128; line += 64)
            __builtin_prefetch((const void *)line);
        host_fiber_switch(&fiber->stack_pointer, next->stack_pointer);
    }
}

const HostServices host_services = {.barrier = host_barrier,
                                    .debug = host_debug,
                                    .nanoseconds = host_clock,
                                    .print = host_print,
                                    .note = host_note_overflow,
                                    .add = host_add,
                                    .observe = host_observe,
                                    .exchange = host_exchange};

/* What was stopped to ask goes on where it was, or never. */
static void run_from(HostWorker *worker, void *where)
{
    worker->on_fiber = true;
    host_fiber_switch(&worker->stack_pointer, where);
    while (worker->interrupted) {
        worker->on_fiber = false;
        where = host_asks_to_end(worker) ? NULL : worker->interrupted;
        worker->interrupted = NULL;
        if (!where) {
            worker->fibers_made = 0;
            host_watch_again(worker);
            break;
        }
        worker->on_fiber = true;
        host_fiber_switch(&worker->stack_pointer, where);
    }
    worker->on_fiber = false;
}

static void block_begin(HostWorker *worker)
{
    worker->next_thread = worker->fibers_used = 0;
    worker->next_index[0] = worker->next_index[1] = worker->next_index[2] = 0;
    worker->first = worker->last = worker->previous = NULL;
    worker->parted_round = 0;
    worker->run_fiber = run_fiber;
    if (worker->kernel->has_tiles && !host_tiles_begin(worker)) {
        snprintf(worker->hang, sizeof worker->hang, "kernel '%.120s': memory is out", worker->kernel->base.name);
        return;
    }
    HostFiber *first = worker->kernel->by_warps ? host_warps_begin(worker) : host_fiber_take(worker);
    run_from(worker, first->stack_pointer);
}

static void end_tiles(HostWorker *worker)
{
    const int32_t *index = worker->frame.block_index;
    const char *wrong = host_tiles_end(worker);
    if (wrong)
        snprintf(worker->hang, sizeof worker->hang, "kernel '%.120s', block (%d, %d, %d): %s",
                 worker->kernel->base.name, index[0], index[1], index[2], wrong);
}

void host_block_run(HostWorker *worker)
{
    if (worker->paused) {
        void *paused = worker->paused;
        worker->paused = NULL;
        run_from(worker, paused);
    } else {
        worker->block_count = 0;
        block_begin(worker);
    }
    if (worker->kernel->has_tiles && !worker->paused && !worker->hang[0])
        end_tiles(worker);
}

void host_blocks_run(HostWorker *worker, int64_t first, int64_t count)
{
    worker->first_block = first;
    worker->block_count = count;
    block_begin(worker);
}
