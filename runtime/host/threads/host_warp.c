/* Schedules the threads of a block warp by warp, for kernels whose threads meet otherwise than at plain barriers: lanes
 * exchange values, blocks vote, threads sleep. Lanes that meet wait for those of their mask that have not returned; the
 * last one to come works out every result. A warp of which no lane can run ends in a report, not in a hang, unless it
 * waits at a barrier: then the next warp runs, and once all do, the barrier opens. */
#include "runtime/host/check/overflow_note.h"
#include "runtime/host/observe/host_profile.h"
#include "runtime/host/threads/host_warp.h"

#include <sched.h>
#include <string.h>

#include "core/intrinsic/intrinsic.h"
#include "runtime/host/observe/host_checker.h"
#include "runtime/host/threads/host_exchange.h"
#include "runtime/host/threads/host_hang.h"
#include "runtime/host/threads/host_interrupt.h"
#include "runtime/host/threads/host_additions.h"
#include "runtime/host/threads/host_thread.h"
#include "runtime/host/threads/host_tile.h"

enum {
    SLEEP_LIMIT = 1000000, /* nanoseconds: what a GPU sleeps at most */
    TURN = 3, /* by CUJIT_SCHEDULE: accesses until another thread goes on, in the mean */
};

static uint32_t bit_of(uint32_t lane) { return 1u << lane; }

static uint32_t warp_count(const HostWorker *worker) { return (worker->thread_count + HOST_WARP - 1) / HOST_WARP; }

static uint32_t lowest_lane(uint32_t lanes) { return (uint32_t)__builtin_ctz(lanes); }

/* --- meeting -------------------------------------------------------------------------------------------------------- */
static void release(HostWarp *warp, uint32_t lanes)
{
    warp->meeting &= ~lanes;
    warp->ready |= lanes;
}

static void expect(HostWorker *worker, bool goes_on)
{
    if (!goes_on)
        host_leave_block(worker);
}

/* The thread broke a rule, unless it is NULL: the block ends. */
static void obey(HostFiber *fiber, const char *rule)
{
    if (!rule)
        return;
    host_describe_misuse(fiber->worker, &fiber->thread, rule);
    host_leave_block(fiber->worker);
}

static uint32_t first_of(const HostFiber *fiber)
{
    return (uint32_t)(fiber->thread.linear_thread - fiber->thread.lane);
}

/* With the check `barrier`, a mask names lanes that are there: what a GPU gives for others is not defined. */
static void check_mask(HostFiber *fiber, uint32_t present)
{
    bool is_checked = fiber->worker->kernel->checks & CHECK_BARRIER;
    if (!is_checked || !intrinsic_is_exchange((IntrinsicId)fiber->wait.operation) || !(fiber->wait.mask & ~present))
        return;
    host_describe_absent(fiber->worker, &fiber->thread, fiber->wait.mask & ~present);
    host_leave_block(fiber->worker);
}

/* Lets the lanes go that this one waits for, if all of them are here for the same. */
static void try_meeting(HostWarp *warp, uint32_t lane)
{
    uint64_t values[HOST_WARP] = {0}, results[HOST_WARP] = {0};
    uint32_t places[HOST_WARP] = {0};
    const HostWait *wait = &warp->fibers[lane]->wait;
    uint32_t present = warp->ready | warp->meeting | warp->at_barrier | warp->at_numbered | warp->at_phase;
    uint32_t lanes = (wait->mask | bit_of(lane)) & present;
    if (lanes & ~warp->meeting || wait->operation == INTRINSIC_CUDA_ACTIVEMASK)
        return;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const HostWait *other = &warp->fibers[lowest_lane(left)]->wait;
        if (other->operation != wait->operation || other->mask != wait->mask)
            return;
    }
    HostFiber *fiber = warp->fibers[lane];
    check_mask(fiber, present);
    expect(fiber->worker, host_check_lanes(fiber->worker, first_of(fiber), lanes));
    if ((intrinsic_is_tensor((IntrinsicId)wait->operation) || wait->operation == INTRINSIC_WGMMA_MMA) &&
        lanes != UINT32_MAX) {
        host_describe_misuse(fiber->worker, &fiber->thread, "all 32 lanes of a warp take part");
        host_leave_block(fiber->worker);
    }
    if (wait->operation == INTRINSIC_WGMMA_MMA) {
        obey(fiber, host_wgmma(warp));
        release(warp, lanes);
        return;
    }
    if (host_tensor_meet(warp, wait->operation, lanes)) {
        release(warp, lanes);
        return;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        const HostWait *other = &warp->fibers[lowest_lane(left)]->wait;
        values[lowest_lane(left)] = other->value;
        places[lowest_lane(left)] = other->place;
    }
    host_meet_lanes(wait->operation, lanes, values, places, results);
    for (uint32_t left = lanes; left; left &= left - 1)
        warp->fibers[lowest_lane(left)]->wait.value = results[lowest_lane(left)];
    release(warp, lanes);
}

/* Lanes that ask who is active have waited for others to come to the same place: now they know. */
static void answer_active(HostWarp *warp)
{
    for (uint32_t left = warp->meeting; left; left &= left - 1) {
        HostWait *wait = &warp->fibers[lowest_lane(left)]->wait;
        uint32_t together = 0;
        if (wait->operation != INTRINSIC_CUDA_ACTIVEMASK || !(warp->meeting & left & -left))
            continue;
        for (uint32_t others = warp->meeting; others; others &= others - 1) {
            const HostWait *other = &warp->fibers[lowest_lane(others)]->wait;
            if (other->operation == INTRINSIC_CUDA_ACTIVEMASK && other->site == wait->site &&
                other->place == wait->place)
                together |= others & -others;
        }
        for (uint32_t lanes = together; lanes; lanes &= lanes - 1)
            warp->fibers[lowest_lane(lanes)]->wait.value = together;
        release(warp, together);
    }
}

/* --- who runs next -------------------------------------------------------------------------------------------------- */
static void abandon(HostWorker *worker, uint32_t first, uint32_t end)
{
    host_describe_hang(worker, first, end);
    host_leave_block(worker);
}

/* Whether a thread waits for lanes of its warp, or at a numbered barrier. */
static bool waits_otherwise(const HostWorker *worker)
{
    for (uint32_t i = 0; i < warp_count(worker); i++)
        if (worker->warps[i].meeting | worker->warps[i].at_numbered | worker->warps[i].at_phase)
            return true;
    return false;
}

/* With the check `barrier`, threads that have returned are missed. */
static bool lacks_threads(const HostWorker *worker)
{
    return worker->kernel->checks & CHECK_BARRIER && worker->arrivals.count &&
           worker->arrivals.count < worker->thread_count;
}

static void open_barrier(HostWorker *worker)
{
    HostArrivals *arrivals = &worker->arrivals;
    if ((arrivals->count && arrivals->operation < 0) || waits_otherwise(worker) || lacks_threads(worker))
        abandon(worker, 0, worker->thread_count);
    worker->paused_at = arrivals->operation;
    if (arrivals->count &&
        (arrivals->operation == INTRINSIC_CUDA_GRID_SYNC || arrivals->operation == INTRINSIC_CLUSTER_SYNC))
        host_fiber_switch(&worker->paused, worker->stack_pointer);
    expect(worker, host_check_barrier(worker));
    arrivals->result = host_vote(arrivals->operation, arrivals->count, arrivals->true_count);
    arrivals->count = arrivals->true_count = 0;
    for (uint32_t i = 0; i < warp_count(worker); i++) {
        worker->warps[i].ready = worker->warps[i].at_barrier;
        worker->warps[i].at_barrier = 0;
    }
}

/* --- phases of barriers in shared memory ------------------------------------------------------------------------------ */

/* Lets those go on whose phase has ended; whether there are any. */
static bool end_phases(HostWorker *worker)
{
    bool found = false;
    for (uint32_t i = 0; i < warp_count(worker); i++) {
        HostWarp *warp = &worker->warps[i];
        for (uint32_t left = warp->at_phase; left; left &= left - 1) {
            HostFiber *fiber = warp->fibers[lowest_lane(left)];
            const char *wrong;
            if (!host_phase_has_ended(worker, &fiber->wait, &wrong))
                continue;
            obey(fiber, wrong);
            warp->at_phase &= ~(left & -left);
            warp->ready |= left & -left;
            found = true;
        }
    }
    return found;
}

/* The first thread that waits for a phase; NULL: none. */
static HostFiber *waits_for_phase(const HostWorker *worker)
{
    for (uint32_t i = 0; i < warp_count(worker); i++)
        if (worker->warps[i].at_phase)
            return worker->warps[i].fibers[lowest_lane(worker->warps[i].at_phase)];
    return NULL;
}

bool host_warps_can_go_on(HostWorker *worker)
{
    const char *wrong;
    for (uint32_t i = 0; i < warp_count(worker); i++)
        for (uint32_t left = worker->warps[i].at_phase; left; left &= left - 1)
            if (host_phase_has_ended(worker, &worker->warps[i].fibers[lowest_lane(left)]->wait, &wrong))
                return true;
    return false;
}

void host_warps_describe(HostWorker *worker)
{
    HostFiber *fiber = waits_for_phase(worker);
    host_describe_hang(worker, 0, worker->thread_count);
    size_t length = strlen(worker->hang);
    if (fiber)
        host_describe_phase(worker, &fiber->wait, worker->hang + length, sizeof worker->hang - length);
}

/* No thread can run: some may once their phase ends, in a cluster by what other blocks do. */
static void await_phases(HostWorker *worker)
{
    while (!end_phases(worker)) {
        if (!worker->kernel->by_clusters) {
            host_warps_describe(worker);
            host_leave_block(worker);
        }
        worker->paused_at = INTRINSIC_MBARRIER_TRY_WAIT;
        host_fiber_switch(&worker->paused, worker->stack_pointer);
    }
}

/* Any thread that can run, by the launch's order. -1: none. */
static int64_t draw_ready(HostWorker *worker)
{
    uint32_t count = 0, warp = 0;
    for (uint32_t i = 0; i < warp_count(worker); i++)
        count += (uint32_t)__builtin_popcount(worker->warps[i].ready);
    if (!count)
        return -1;
    uint32_t place = host_order_draw(&worker->order, count), lanes = worker->warps[0].ready;
    for (; place >= (uint32_t)__builtin_popcount(lanes); lanes = worker->warps[++warp].ready)
        place -= (uint32_t)__builtin_popcount(lanes);
    while (place--)
        lanes &= lanes - 1;
    return (int64_t)warp * HOST_WARP + lowest_lane(lanes);
}

/* The next thread that can run, in the warp's order and then in the block's; `stay`: from this warp if any. -1: none. */
static int64_t find_ready(HostWorker *worker, bool stay)
{
    if (worker->order.is_on)
        return draw_ready(worker);
    uint32_t warp = worker->running / HOST_WARP, count = warp_count(worker);
    uint32_t above = (uint32_t)(~UINT64_C(1) << worker->running % HOST_WARP), lanes = worker->warps[warp].ready;
    if (!stay || lanes & above)
        lanes &= above;
    for (uint32_t i = 0; !lanes && i < count; i++) {
        warp = warp + 1 < count ? warp + 1 : 0;
        lanes = worker->warps[warp].ready;
    }
    return lanes ? (int64_t)warp * HOST_WARP + lowest_lane(lanes) : -1;
}

/* The thread to run when this one has stopped or returned; -1 when all have returned. */
static int64_t choose(HostWorker *worker)
{
    uint32_t number = worker->running / HOST_WARP, first = number * HOST_WARP, end = first + HOST_WARP;
    HostWarp *warp = &worker->warps[number];
    if (!warp->ready && warp->meeting)
        answer_active(warp);
    if (!warp->ready && warp->meeting && !warp->at_numbered && !warp->at_phase)
        abandon(worker, first, end < worker->thread_count ? end : worker->thread_count);
    int64_t thread = find_ready(worker, true);
    if (thread >= 0)
        return thread;
    if (waits_for_phase(worker))
        await_phases(worker);
    else
        open_barrier(worker);
    worker->running = worker->thread_count - 1;
    return find_ready(worker, false);
}

/* The thread's fiber: where it has none yet, the spare one if given. */
static HostFiber *fiber_of(HostWorker *worker, uint32_t thread, HostFiber *spare)
{
    HostWarp *warp = &worker->warps[thread / HOST_WARP];
    uint32_t lane = thread % HOST_WARP;
    worker->running = thread;
    if (warp->started & bit_of(lane))
        return warp->fibers[lane];
    HostFiber *fiber = spare ? spare : worker->idle;
    if (!fiber)
        fiber = host_fiber_take(worker);
    else if (!spare)
        worker->idle = fiber->next;
    warp->started |= bit_of(lane);
    return warp->fibers[lane] = fiber;
}

static void go_on_with(HostFiber *fiber, int64_t thread)
{
    HostFiber *next = fiber_of(fiber->worker, (uint32_t)thread, NULL);
    if (next != fiber)
        host_fiber_switch(&fiber->stack_pointer, next->stack_pointer);
}

/* --- services ------------------------------------------------------------------------------------------------------- */
static uint64_t arrive(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    HostArrivals *arrivals = &worker->arrivals;
    HostWarp *warp = &worker->warps[fiber->thread.linear_thread / HOST_WARP];
    uint32_t bit = bit_of((uint32_t)fiber->thread.lane);
    if (!arrivals->count++) {
        arrivals->operation = fiber->wait.operation;
        arrivals->line = fiber->wait.line;
    } else if (arrivals->operation != fiber->wait.operation || arrivals->line != fiber->wait.line) {
        arrivals->operation = -1;
    }
    arrivals->true_count += fiber->wait.value != 0;
    warp->ready &= ~bit;
    warp->at_barrier |= bit;
    go_on_with(fiber, choose(worker));
    return arrivals->result;
}

/* What a lane adds to the count of a numbered barrier: the last one of a warp also for those that the warp lacks. */
static uint32_t weight_of(const HostWorker *worker, const HostThread *thread)
{
    uint32_t lanes_of_last = worker->thread_count % HOST_WARP;
    bool is_last = (uint32_t)thread->linear_thread + 1 == worker->thread_count;
    return is_last && lanes_of_last ? HOST_WARP - lanes_of_last + 1 : 1;
}

static void open_numbered(HostWorker *worker, uint32_t number)
{
    worker->numbered[number] = 0;
    for (uint32_t i = 0; i < warp_count(worker); i++)
        for (uint32_t left = worker->warps[i].at_numbered; left; left &= left - 1) {
            HostWarp *warp = &worker->warps[i];
            if (warp->fibers[lowest_lane(left)]->wait.mask != number)
                continue;
            warp->at_numbered &= ~(left & -left);
            warp->ready |= left & -left;
        }
}

/* The wait's mask is the barrier's number, its value the count. */
static void come_to_numbered(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    HostWarp *warp = &worker->warps[fiber->thread.linear_thread / HOST_WARP];
    uint32_t number = fiber->wait.mask, bit = bit_of((uint32_t)fiber->thread.lane);
    if (number < 1 || number >= HOST_BARRIERS || fiber->wait.value == 0 || fiber->wait.value % HOST_WARP) {
        host_describe_misuse(worker, &fiber->thread, "numbered barriers are 1 to 15, their counts multiples of 32");
        host_leave_block(worker);
    }
    expect(worker, host_check_arrive(fiber, number));
    worker->numbered[number] += weight_of(worker, &fiber->thread);
    if (worker->numbered[number] >= fiber->wait.value) {
        open_numbered(worker, number);
        if (fiber->wait.operation == INTRINSIC_CUDA_BARRIER_SYNC)
            expect(worker, host_check_leave(fiber, number));
        return;
    }
    if (fiber->wait.operation == INTRINSIC_CUDA_BARRIER_ARRIVE)
        return;
    warp->ready &= ~bit;
    warp->at_numbered |= bit;
    go_on_with(fiber, choose(worker));
    expect(worker, host_check_leave(fiber, number));
}

static void warps_barrier(HostThread *thread, int32_t line)
{
    HostFiber *fiber = thread->runtime;
    host_attend(fiber->worker);
    fiber->wait = (HostWait){.operation = INTRINSIC_CUDA_SYNCTHREADS, .line = line};
    arrive(fiber);
}

/* Lanes that give and take values have to be in their own masks. (syncwarp lets the others pass, as GPUs do.) */
static bool has_wrong_mask(const HostFiber *fiber)
{
    const HostWait *wait = &fiber->wait;
    IntrinsicId id = (IntrinsicId)wait->operation;
    return intrinsic_is_exchange(id) && !(wait->mask & bit_of((uint32_t)fiber->thread.lane));
}

/* As far from the other block's shared memory as the address is from this one's. The wait's place is the block's rank. */
static uint64_t map_shared(HostFiber *fiber)
{
    const HostThread *thread = &fiber->thread;
    const int32_t *cluster = thread->cluster_dim;
    uint64_t offset = fiber->wait.value - (uintptr_t)thread->shared;
    const char *wrong = fiber->wait.place >= (uint32_t)(cluster[0] * cluster[1] * cluster[2])
                            ? "the cluster has no block of that rank"
                        : offset >= fiber->worker->shared_size ? "it takes shared arrays"
                                                               : NULL;
    if (!wrong)
        return (uintptr_t)thread->cluster_shared[fiber->wait.place] + offset;
    host_describe_misuse(fiber->worker, thread, wrong);
    host_leave_block(fiber->worker);
    return 0;
}

/* Barriers in shared memory, copies of tiles, and what orders them. A thread that tests a phase in vain lets others run. */
static uint64_t do_tiles(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    HostWarp *warp = &worker->warps[fiber->thread.linear_thread / HOST_WARP];
    uint32_t bit = bit_of((uint32_t)fiber->thread.lane);
    const char *wrong = NULL;
    if (fiber->wait.operation != INTRINSIC_MBARRIER_TRY_WAIT) {
        IntrinsicFamily family = intrinsic_info[fiber->wait.operation].family;
        bool is_wgmma = family == FAMILY_WGMMA || family == FAMILY_WGMMA_ORDER;
        obey(fiber, is_wgmma ? host_wgmma_order(fiber) : host_tile_call(fiber));
        if (fiber->wait.operation == INTRINSIC_MBARRIER_TEST_WAIT && !fiber->wait.value)
            go_on_with(fiber, find_ready(worker, false));
        return fiber->wait.value;
    }
    if (!host_phase_has_ended(worker, &fiber->wait, &wrong)) {
        warp->ready &= ~bit;
        warp->at_phase |= bit;
        go_on_with(fiber, choose(worker));
    }
    obey(fiber, wrong);
    return 1;
}

static uint64_t warps_meet(HostThread *thread, int32_t operation, uint32_t mask, uint64_t value, uint32_t place,
                           int32_t line)
{
    HostFiber *fiber = thread->runtime;
    HostWarp *warp = &fiber->worker->warps[thread->linear_thread / HOST_WARP];
    uint32_t bit = bit_of((uint32_t)thread->lane);
    host_attend(fiber->worker);
    fiber->wait = (HostWait){operation, mask, place, line, value, __builtin_return_address(0)};
    if (operation == INTRINSIC_CUDA_TRAP) {
        host_describe_trap(fiber->worker, thread, line);
        host_leave_block(fiber->worker);
    }
    if (operation == INTRINSIC_CLUSTER_MAP_SHARED)
        return map_shared(fiber);
    if (intrinsic_info[operation].effects & EFFECT_TILES && operation != INTRINSIC_WGMMA_MMA)
        return do_tiles(fiber);
    if (intrinsic_info[operation].effects & EFFECT_BLOCK_SYNC)
        return arrive(fiber);
    if (operation == INTRINSIC_CUDA_BARRIER_SYNC || operation == INTRINSIC_CUDA_BARRIER_ARRIVE)
        return come_to_numbered(fiber), 0;
    if (has_wrong_mask(fiber)) {
        host_describe_misuse(fiber->worker, thread, "every lane that calls is in the mask");
        host_leave_block(fiber->worker);
    }
    warp->ready &= ~bit;
    warp->meeting |= bit;
    try_meeting(warp, (uint32_t)thread->lane);
    if (!(warp->ready & bit))
        go_on_with(fiber, choose(fiber->worker));
    return fiber->wait.value;
}

static void warps_watch(HostThread *thread, uint32_t what, uint32_t site, const void *address, uint64_t size,
                        uint64_t value, const int64_t *indices)
{
    HostFiber *fiber = thread->runtime;
    WatchEvent event = {.kind = (WatchKind)(what & 0xff),
                        .has_value = what >> 8 & 1,
                        .ndim = what >> 16,
                        .site = site,
                        .address = (uintptr_t)address,
                        .size = size,
                        .value = value,
                        .indices = indices};
    expect(fiber->worker, host_check_event(fiber, &event));
    if (fiber->worker->order.is_on && host_order_draw(&fiber->worker->order, TURN) == 0)
        go_on_with(fiber, draw_ready(fiber->worker));
}

/* A lane that sleeps may wait for one that asks who is active. */
static void warps_sleep(HostThread *thread, uint32_t nanoseconds)
{
    HostFiber *fiber = thread->runtime;
    HostWorker *worker = fiber->worker;
    struct timespec time = {.tv_nsec = nanoseconds < SLEEP_LIMIT ? nanoseconds : SLEEP_LIMIT};
    host_attend(worker);
    answer_active(&worker->warps[thread->linear_thread / HOST_WARP]);
    int64_t next = find_ready(worker, false);
    if (next == thread->linear_thread && !nanoseconds)
        sched_yield();
    else if (next == thread->linear_thread)
        nanosleep(&time, NULL);
    else
        go_on_with(fiber, next);
}

const HostServices host_warp_services = {.barrier = warps_barrier,
                                         .meet = warps_meet,
                                         .sleep = warps_sleep,
                                         .debug = host_debug,
                                         .nanoseconds = host_clock,
                                         .print = host_print,
                                         .note = host_note_overflow,
                                         .add = host_add,
                                         .observe = host_observe,
                                         .exchange = host_exchange,
                                         .watch = warps_watch};

/* --- threads -------------------------------------------------------------------------------------------------------- */
static void start(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    const int32_t *size = worker->frame.block_dim;
    int32_t number = (int32_t)worker->running;
    fiber->thread = worker->frame;
    fiber->thread.runtime = fiber;
    fiber->thread.stack_end = fiber;
    fiber->thread.linear_thread = number;
    fiber->thread.lane = number % HOST_WARP;
    fiber->thread.thread_index[0] = number % size[0];
    fiber->thread.thread_index[1] = number / size[0] % size[1];
    fiber->thread.thread_index[2] = number / size[0] / size[1];
    worker->kernel->thread_entry(&fiber->thread);
}

/* Those that wait for this lane wait no longer. */
static void thread_returned(HostFiber *fiber)
{
    HostWarp *warp = &fiber->worker->warps[fiber->thread.linear_thread / HOST_WARP];
    uint32_t bit = bit_of((uint32_t)fiber->thread.lane);
    warp->ready &= ~bit;
    for (uint32_t left = warp->meeting; left; left &= left - 1)
        if (warp->meeting & left & -left)
            try_meeting(warp, lowest_lane(left));
}

/* Runs worker->running on the fiber, then further threads that have not started; leaves the fiber for another thread's, or
 * for the worker when all have returned. */
static void run_fiber(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    HostFiber *next;
    do {
        start(fiber);
        thread_returned(fiber);
        int64_t thread = choose(worker);
        next = thread < 0 ? NULL : fiber_of(worker, (uint32_t)thread, fiber);
    } while (next == fiber);
    fiber->next = worker->idle;
    worker->idle = fiber;
    host_fiber_switch(&fiber->stack_pointer, next ? next->stack_pointer : worker->stack_pointer);
}

HostFiber *host_warps_begin(HostWorker *worker)
{
    worker->idle = NULL;
    worker->run_fiber = run_fiber;
    worker->arrivals = (HostArrivals){0};
    for (uint32_t i = 0; i < HOST_BARRIERS; i++)
        worker->numbered[i] = 0;
    for (uint32_t first = 0; first < worker->thread_count; first += HOST_WARP) {
        HostWarp *warp = &worker->warps[first / HOST_WARP];
        uint32_t lanes = worker->thread_count - first;
        warp->ready = lanes < HOST_WARP ? bit_of(lanes) - 1 : UINT32_MAX;
        warp->meeting = warp->at_barrier = warp->at_numbered = warp->at_phase = warp->started = 0;
    }
    return fiber_of(worker, 0, NULL);
}
