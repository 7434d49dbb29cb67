/* The message about a block of the CPU device whose threads wait for each other for ever, or of which one trapped. */
#include "runtime/host/threads/host_hang.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/intrinsic/intrinsic.h"
#include "runtime/cuda/driver/driver_types.h"
#include "runtime/host/observe/host_checker.h"

enum { MAX_GROUPS = 8, MAX_RANGES = 12 };

static void add(HostWorker *worker, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(HostWorker *worker, const char *format, ...)
{
    size_t length = strlen(worker->hang);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(worker->hang + length, sizeof worker->hang - length, format, arguments);
    va_end(arguments);
}

/* What the thread waits for; NULL when it has returned. */
static const HostWait *wait_of(const HostWorker *worker, uint32_t thread)
{
    const HostWarp *warp = &worker->warps[thread / HOST_WARP];
    uint32_t bit = 1u << thread % HOST_WARP;
    return (warp->meeting | warp->at_barrier | warp->at_numbered) & bit ? &warp->fibers[thread % HOST_WARP]->wait
                                                                        : NULL;
}

static bool wait_alike(const HostWait *a, const HostWait *b)
{
    return a && b ? a->operation == b->operation && a->mask == b->mask && a->line == b->line : a == b;
}

/* "0-15, 17": the threads that wait for the same as `thread`, which is the first of them. */
static void add_threads(HostWorker *worker, uint32_t thread, uint32_t end)
{
    const HostWait *wait = wait_of(worker, thread);
    bool is_first = true;
    for (uint32_t i = thread, ranges = 0; i < end; i++) {
        uint32_t from = i;
        if (!wait_alike(wait, wait_of(worker, i)))
            continue;
        while (i + 1 < end && wait_alike(wait, wait_of(worker, i + 1)))
            i++;
        if (ranges++ == MAX_RANGES) {
            add(worker, ", ...");
            return;
        }
        add(worker, from == i ? "%s%u" : "%s%u-%u", is_first ? "" : ", ", from, i);
        is_first = false;
    }
}

/* "cuda.shfl_sync with mask 0x0000000f in line 7" */
static void add_call(HostWorker *worker, const HostWait *wait)
{
    const char *paths = intrinsic_info[wait->operation].path;
    add(worker, "%.*s", (int)strcspn(paths, " "), paths);
    if (wait->operation == INTRINSIC_CUDA_BARRIER_SYNC || wait->operation == INTRINSIC_CUDA_BARRIER_ARRIVE)
        add(worker, " %u", wait->mask);
    else if (wait->operation == INTRINSIC_CLUSTER_MAP_SHARED)
        add(worker, " for rank %d", (int)wait->place);
    else if (!(intrinsic_info[wait->operation].effects & EFFECT_BLOCK_SYNC))
        add(worker, " with mask 0x%08x", wait->mask);
    if (wait->line)
        add(worker, " in line %d", wait->line);
}

static void add_wait(HostWorker *worker, const HostWait *wait, bool is_single)
{
    add(worker, " %s at ", is_single ? "waits" : "wait");
    add_call(worker, wait);
}

/* "; threads 16-63 have returned" */
static void add_returned(HostWorker *worker, uint32_t first, uint32_t end)
{
    uint32_t thread = first;
    while (thread < end && wait_of(worker, thread))
        thread++;
    bool is_single = thread + 1 >= end || wait_of(worker, thread + 1);
    add(worker, "; thread%s ", is_single ? "" : "s");
    add_threads(worker, thread, end);
    add(worker, " %s returned", is_single ? "has" : "have");
}

static bool is_alone(const HostWorker *worker, uint32_t thread, uint32_t end)
{
    for (uint32_t i = thread + 1; i < end; i++)
        if (wait_alike(wait_of(worker, thread), wait_of(worker, i)))
            return false;
    return true;
}

static bool is_first_of_group(const HostWorker *worker, uint32_t first, uint32_t thread)
{
    const HostWait *wait = wait_of(worker, thread);
    for (uint32_t i = first; i < thread; i++)
        if (wait_alike(wait, wait_of(worker, i)))
            return false;
    return wait != NULL;
}

void host_describe_hang(HostWorker *worker, uint32_t first, uint32_t end)
{
    const int32_t *block = worker->frame.block_index;
    uint32_t groups = 0;
    snprintf(worker->hang, sizeof worker->hang,
             "kernel '%.120s' hangs in block (%d, %d, %d):", worker->kernel->base.name, block[0], block[1], block[2]);
    for (uint32_t thread = first; thread < end && groups < MAX_GROUPS; thread++)
        if (is_first_of_group(worker, first, thread)) {
            bool is_single = is_alone(worker, thread, end);
            add(worker, "%s thread%s ", groups++ ? ";" : "", is_single ? "" : "s");
            add_threads(worker, thread, end);
            add_wait(worker, wait_of(worker, thread), is_single);
        }
    if (groups == 1 && worker->arrivals.count)
        add_returned(worker, first, end);
    else
        add(worker, groups == 1 ? "; the others that it names do not come" : "; none can go on");
}

void host_describe_absent(HostWorker *worker, const HostThread *thread, uint32_t lanes)
{
    host_describe_misuse(worker, thread, "");
    add(worker, "lane%s", lanes & (lanes - 1) ? "s" : "");
    for (uint32_t lane = 0, end; lane < HOST_WARP; lane = end + 1) {
        for (end = lane; end < HOST_WARP && lanes >> end & 1; end++)
            ;
        if (end > lane)
            add(worker, end - lane == 1 ? " %u" : " %u-%u", lane, end - 1);
    }
    add(worker, " that it names %s not there", lanes & (lanes - 1) ? "are" : "is");
}

void host_describe_misuse(HostWorker *worker, const HostThread *thread, const char *rule)
{
    const int32_t *block = thread->block_index;
    const HostWait *wait = &worker->warps[thread->linear_thread / HOST_WARP].fibers[thread->lane]->wait;
    snprintf(worker->hang, sizeof worker->hang, "kernel '%.120s': thread %d of block (%d, %d, %d) calls ",
             worker->kernel->base.name, thread->linear_thread, block[0], block[1], block[2]);
    add_call(worker, wait);
    if (wait->operation == INTRINSIC_CUDA_BARRIER_SYNC || wait->operation == INTRINSIC_CUDA_BARRIER_ARRIVE)
        add(worker, " for %llu threads", (unsigned long long)wait->value);
    add(worker, "; %s", rule);
}

void host_describe_trap(HostWorker *worker, const HostThread *thread, int32_t line)
{
    const int32_t *block = thread->block_index, *index = thread->thread_index;
    snprintf(worker->hang, sizeof worker->hang, "kernel '%.120s' trapped in thread (%d, %d, %d) of block (%d, %d, %d)",
             worker->kernel->base.name, index[0], index[1], index[2], block[0], block[1], block[2]);
    if (line)
        add(worker, ": cuda.trap in line %d", line);
    worker->trapped = true;
}

void host_take_report(HostJob *job, HostWorker *worker)
{
    memcpy(job->hang, worker->hang, sizeof job->hang);
    job->trapped = worker->trapped;
}

bool host_fail_report(const HostJob *job, Diag *diag)
{
    if (job->checker && job->checker->no_memory)
        return diag_fail(diag, NULL, DIAG_NO_MEMORY, "checks of a kernel");
    if (job->checker && job->checker->has_fault) {
        diag_fail(diag, NULL, DIAG_KERNEL_EXCEPTION, "a thread of a kernel that is checked is at fault");
        diag->raised = job->checker->fault;
        return false;
    }
    if (job->trapped)
        return diag_fail_code(diag, CUDA_ERROR_LAUNCH_FAILED, DIAG_KERNEL_TRAP, job->hang);
    return diag_fail(diag, NULL, DIAG_BARRIER_DIVERGED, job->hang);
}
