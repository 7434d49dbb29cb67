/* The message about a block of the CPU device whose threads wait for each other for ever, or of which one trapped. */
#include "runtime/host/threads/host_hang.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/intrinsic/intrinsic.h"
#include "core/kernel/hang_text.h"
#include "runtime/cuda/driver/driver_types.h"
#include "runtime/host/observe/host_checker.h"

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
    return (warp->meeting | warp->at_barrier | warp->at_numbered | warp->at_phase) & bit
               ? &warp->fibers[thread % HOST_WARP]->wait
               : NULL;
}

static HangWait told_wait(const HostWait *wait)
{
    return wait ? (HangWait){wait->operation, wait->line, wait->mask, wait->place} : (HangWait){.operation = -1};
}

void host_describe_hang(HostWorker *worker, uint32_t first, uint32_t end)
{
    HangWait *waits = memory_try(end * sizeof *waits); /* fibers have small stacks */
    HangBlock block = {worker->kernel->base.name, worker->frame.block_index, waits, first, waits ? end : first};
    for (uint32_t i = first; i < block.end; i++)
        waits[i] = told_wait(wait_of(worker, i));
    hang_text(worker->hang, sizeof worker->hang, &block, worker->arrivals.count != 0);
    memory_free(waits);
}

static const HostWait *own_wait(const HostWorker *worker, const HostThread *thread)
{
    return &worker->warps[thread->linear_thread / HOST_WARP].fibers[thread->lane]->wait;
}

void host_describe_absent(HostWorker *worker, const HostThread *thread, uint32_t lanes)
{
    const HangWait wait = told_wait(own_wait(worker, thread));
    const HangBlock block = {.kernel = worker->kernel->base.name, .index = thread->block_index};
    hang_text_absent(worker->hang, sizeof worker->hang, &block, (uint32_t)thread->linear_thread, &wait, lanes);
}

void host_describe_misuse(HostWorker *worker, const HostThread *thread, const char *rule)
{
    const HostWait *wait = own_wait(worker, thread);
    const HangWait told = told_wait(wait);
    const HangBlock block = {.kernel = worker->kernel->base.name, .index = thread->block_index};
    hang_text_call(worker->hang, sizeof worker->hang, &block, (uint32_t)thread->linear_thread, &told);
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
