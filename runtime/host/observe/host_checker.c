/* Accesses of a checked launch go to the shadow memory of races and to what is not written; barriers, lanes that meet and
 * fences go to the clocks. One worker runs all blocks of such a launch, so that nothing here needs a lock. */
#include "runtime/host/observe/host_checker.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERED_PLACE = 1 << 8 }; /* no array lies there: where numbered barriers release what threads know */

static bool stop(HostWorker *worker)
{
    snprintf(worker->hang, sizeof worker->hang, "kernel '%.120s' was checked", worker->kernel->base.name);
    return false;
}

static bool expect(HostWorker *worker, bool has_memory)
{
    if (has_memory)
        return true;
    worker->checker->no_memory = true;
    return stop(worker);
}

/* --- reports ---------------------------------------------------------------------------------------------------------- */

static void write_index(uint64_t *slots, uint64_t number, const int32_t *extents)
{
    slots[0] = number % (uint32_t)extents[0];
    slots[1] = number / (uint32_t)extents[0] % (uint32_t)extents[1];
    slots[2] = number / (uint32_t)extents[0] / (uint32_t)extents[1];
}

static ExceptionRecord *begin_fault(const HostFiber *fiber, const WatchEvent *event, WatchFault kind)
{
    HostChecker *checker = fiber->worker->checker;
    ExceptionRecord *fault = &checker->fault;
    *fault = (ExceptionRecord){.code = event->site};
    memcpy(fault->thread_index, fiber->thread.thread_index, sizeof fault->thread_index);
    memcpy(fault->block_index, fiber->thread.block_index, sizeof fault->block_index);
    fault->slots[FAULT_KIND] = kind;
    fault->slots[FAULT_ACCESS] = event->kind;
    fault->slots[FAULT_CALL_LINE] = (uint64_t)fiber->thread.call_line;
    fault->slots[FAULT_NDIM] = event->ndim;
    for (uint32_t i = 0; i < event->ndim; i++)
        fault->slots[FAULT_INDICES + i] = (uint64_t)event->indices[i];
    checker->has_fault = true;
    return fault;
}

static uint64_t bits_at(uint64_t address, uint64_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, (const void *)(uintptr_t)address, size < sizeof bits ? size : sizeof bits);
    return bits;
}

/* What was written is what the cell holds, where one value fills it; what was read is still there. */
static void report_race(const HostFiber *fiber, const WatchEvent *event, const Group *earlier)
{
    const HostThread *thread = &fiber->thread;
    uint64_t *slots = begin_fault(fiber, event, FAULT_RACE)->slots;
    bool is_scalar = event->size <= 8, reads = event->kind == WATCH_READ || event->kind == WATCH_STRONG_READ;
    bool is_same_block = earlier->block == fiber->worker->clock.block;
    uint32_t number = earlier->first + (earlier->mask ? (uint32_t)__builtin_ctz(earlier->mask) : 0);
    bool wrote = earlier->kind == WATCH_WRITE || earlier->kind == WATCH_STRONG_WRITE;
    slots[FAULT_VALUE] = reads ? bits_at(event->address, event->size) : event->value;
    slots[FAULT_EARLIER_SITE] = earlier->site;
    slots[FAULT_EARLIER_ACCESS] = earlier->kind;
    slots[FAULT_EARLIER_VALUE] = bits_at(event->address, event->size);
    slots[FAULT_FLAGS] =
        (is_scalar && (reads || event->has_value) ? FAULT_HAS_VALUE : 0) |
        (is_scalar && earlier->kind != WATCH_ATOMIC && (!wrote || earlier->has_value) ? FAULT_HAS_EARLIER_VALUE : 0) |
        (is_same_block ? FAULT_SAME_BLOCK : 0) | (earlier->mask ? 0 : FAULT_NO_THREAD) |
        (is_same_block && number / HOST_WARP == (uint32_t)thread->linear_thread / HOST_WARP ? FAULT_SAME_WARP : 0);
    write_index(slots + FAULT_EARLIER_BLOCK, earlier->block, thread->grid_dim);
    write_index(slots + FAULT_EARLIER_THREAD, number, thread->block_dim);
}

/* --- accesses ---------------------------------------------------------------------------------------------------------- */

/* A stack is one thread's after another's. */
static bool is_own_memory(const HostWorker *worker, uint64_t address)
{
    return address - (uintptr_t)worker->stacks.base < (uint64_t)worker->stacks.stride * worker->stacks.count;
}

static bool watch_race(HostFiber *fiber, const WatchEvent *event)
{
    HostWorker *worker = fiber->worker;
    HostChecker *checker = worker->checker;
    uint32_t thread = (uint32_t)fiber->thread.linear_thread;
    Group earlier;
    Access access = {.address = event->address,
                     .value = event->value,
                     .size = (uint32_t)event->size,
                     .site = event->site,
                     .thread = thread,
                     .kind = (AccessKind)event->kind,
                     .has_value = event->has_value};
    if (is_own_memory(worker, event->address))
        return true;
    RaceResult result = race_access(&checker->shadow, &worker->clock, &access, &earlier);
    if (result == RACE_FOUND) {
        report_race(fiber, event, &earlier);
        return stop(worker);
    }
    bool ok = result == RACE_NONE;
    if (event->kind == WATCH_ATOMIC || event->kind == WATCH_STRONG_WRITE)
        ok = ok && clocks_release(&checker->released, &worker->clock, thread, event->address,
                                  event->kind == WATCH_STRONG_WRITE);
    if (event->kind == WATCH_ATOMIC || event->kind == WATCH_STRONG_READ)
        ok = ok && clocks_acquire(&checker->released, &worker->clock, thread, event->address);
    return expect(worker, ok);
}

static bool is_unwritten(const HostChecker *checker, const WatchEvent *event)
{
    return unwritten_has(&checker->unwritten, event->address, event->size) ||
           host_has_unwritten(event->address, event->size);
}

/* A field that is copied with its record is then written, or not, as it was before: the event that follows is its write. */
static bool watch_written(HostFiber *fiber, const WatchEvent *event)
{
    HostChecker *checker = fiber->worker->checker;
    if (fiber->copies_unwritten) {
        fiber->copies_unwritten = false;
        return expect(fiber->worker, unwritten_begin(&checker->unwritten, event->address, event->size));
    }
    unwritten_write(&checker->unwritten, event->address, event->size);
    host_note_written(event->address, event->size);
    return true;
}

static bool watch_writing(HostFiber *fiber, const WatchEvent *event)
{
    if (event->kind == WATCH_WRITE || event->kind == WATCH_STRONG_WRITE)
        return watch_written(fiber, event);
    if (!is_unwritten(fiber->worker->checker, event))
        return true;
    begin_fault(fiber, event, FAULT_UNINITIALIZED);
    return stop(fiber->worker);
}

static bool watch_access(HostFiber *fiber, const WatchEvent *event)
{
    CheckSet checks = fiber->worker->checker->checks;
    WatchEvent as_read = *event;
    as_read.kind = WATCH_READ;
    fiber->copies_unwritten = event->kind == WATCH_COPY
                                  ? checks & CHECK_INIT && is_unwritten(fiber->worker->checker, event)
                                  : fiber->copies_unwritten && event->kind == WATCH_WRITE;
    if (event->kind == WATCH_COPY)
        return !(checks & CHECK_RACE) || watch_race(fiber, &as_read);
    return (!(checks & CHECK_INIT) || watch_writing(fiber, event)) &&
           (!(checks & CHECK_RACE) || watch_race(fiber, event));
}

bool host_check_event(HostFiber *fiber, const WatchEvent *event)
{
    HostWorker *worker = fiber->worker;
    HostChecker *checker = worker->checker;
    if (!checker)
        return true;
    switch (event->kind) {
    case WATCH_FENCE: return expect(worker, clocks_fence(&worker->clock, (uint32_t)fiber->thread.linear_thread));
    case WATCH_FRESH: return expect(worker, unwritten_begin(&checker->unwritten, event->address, event->size));
    case WATCH_TOUCH:
        unwritten_write(&checker->unwritten, event->address, event->size);
        host_note_all_written(event->address);
        return true;
    case WATCH_BEGIN: return true;
    default: return watch_access(fiber, event);
    }
}

/* --- meeting ------------------------------------------------------------------------------------------------------------ */

bool host_check_block(HostWorker *worker)
{
    HostChecker *checker = worker->checker;
    const HostThread *frame = &worker->frame;
    if (!checker)
        return true;
    uint64_t width = (uint64_t)frame->grid_dim[0], height = (uint64_t)frame->grid_dim[1];
    uint64_t block = (uint64_t)frame->block_index[0] +
                     width * ((uint64_t)frame->block_index[1] + height * (uint64_t)frame->block_index[2]);
    uint64_t shared = (uintptr_t)worker->shared;
    uint64_t size = (uint64_t)(frame->dynamic_shared - worker->shared) + (uint64_t)frame->dynamic_size;
    bool ok = clocks_begin_block(&worker->clock, block, worker->thread_count);
    shadow_forget(&checker->shadow, shared, size);
    if (checker->checks & CHECK_INIT)
        ok = ok && unwritten_begin(&checker->unwritten, shared, size);
    return expect(worker, ok);
}

bool host_check_barrier(HostWorker *worker)
{
    return !worker->checker || expect(worker, clocks_barrier(&worker->clock));
}

bool host_check_lanes(HostWorker *worker, uint32_t first, uint32_t lanes)
{
    return !worker->checker || expect(worker, clocks_meet(&worker->clock, first, lanes));
}

static uint64_t place_of_barrier(const HostWorker *worker, uint32_t number)
{
    return worker->clock.block * HOST_BARRIERS + number + NUMBERED_PLACE;
}

bool host_check_arrive(HostFiber *fiber, uint32_t number)
{
    HostWorker *worker = fiber->worker;
    uint32_t thread = (uint32_t)fiber->thread.linear_thread;
    return !worker->checker || expect(worker, clocks_fence(&worker->clock, thread) &&
                                                  clocks_release(&worker->checker->released, &worker->clock, thread,
                                                                 place_of_barrier(worker, number), false));
}

bool host_check_leave(HostFiber *fiber, uint32_t number)
{
    HostWorker *worker = fiber->worker;
    uint32_t thread = (uint32_t)fiber->thread.linear_thread;
    return !worker->checker || expect(worker, clocks_acquire(&worker->checker->released, &worker->clock, thread,
                                                             place_of_barrier(worker, number)) &&
                                                  clocks_fence(&worker->clock, thread));
}

/* All that the threads of a grid did so far is known to all of them. */
bool host_check_blocks(HostWorker *const *workers, int64_t count, bool is_grid)
{
    HostChecker *checker = workers[0]->checker;
    bool ok = true;
    if (!checker)
        return true;
    for (int64_t i = 0; ok && i < count; i++)
        ok = clocks_barrier(&workers[i]->clock);
    if (is_grid) {
        shadow_clear(&checker->shadow);
        released_free(&checker->released);
    }
    for (int64_t i = 0; !is_grid && i < count; i++)
        for (int64_t k = 0; ok && k < count; k++)
            ok = clocks_tell_block(&workers[i]->clock, &workers[k]->clock);
    return expect(workers[0], ok);
}

void host_check_free(HostChecker *checker)
{
    shadow_clear(&checker->shadow);
    released_free(&checker->released);
    unwritten_free(&checker->unwritten);
}

void host_check_leave_worker(HostWorker *worker)
{
    if (worker->checker)
        clocks_end_block(&worker->clock);
    worker->checker = NULL;
}
