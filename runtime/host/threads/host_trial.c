/* A kernel that adds floats to memory of several workers may be faster without them: additions to one line of memory take turns,
 * and most lock nothing where one thread runs the kernel alone. Which is the case is tried: launches 3, 64, 128 and so on have
 * one worker until they take longer than with all of them, launches 96, 160 and so on have all, and those between are what was
 * faster. */
#include "runtime/host/threads/host_trial.h"

enum { TRIAL_LAUNCHES = 64 };

bool host_try_alone(const HostKernel *kernel, int participants)
{
    const HostTrials *trials = &kernel->trials;
    float alone = atomic_load_explicit(&trials->alone, memory_order_relaxed);
    float shared = atomic_load_explicit(&trials->shared, memory_order_relaxed);
    if (participants == 1 || !kernel->takes_turns || !shared)
        return false;
    switch (atomic_load_explicit(&trials->launches, memory_order_relaxed) % TRIAL_LAUNCHES) {
    case 0: return true;
    case TRIAL_LAUNCHES / 2: return false;
    default: return alone < shared; /* also before the first trial */
    }
}

int64_t host_trial_nanoseconds(const HostJob *job)
{
    return (int64_t)(atomic_load_explicit(&job->kernel->trials.shared, memory_order_relaxed) * (float)job->block_count);
}

/* A thread may lose its core meanwhile: less is believed at once, more by and by. */
static void note(_Atomic float *known, int64_t time, int64_t blocks)
{
    float old = atomic_load_explicit(known, memory_order_relaxed), seen = (float)time / (float)blocks;
    atomic_store_explicit(known, old && seen > old ? old + (seen - old) / 4 : seen, memory_order_relaxed);
}

/* For a first launch others may have to be made, and memory. */
void host_trial_note(const HostJob *job, const HostTimes *times)
{
    HostTrials *trials = &job->kernel->trials;
    if (!job->kernel->takes_turns || !atomic_fetch_add_explicit(&trials->launches, 1, memory_order_relaxed))
        return;
    if (times->shared_blocks)
        note(&trials->shared, times->shared, job->block_count - times->alone_blocks);
    if (times->alone_blocks)
        note(&trials->alone, times->alone, times->alone_blocks);
}
