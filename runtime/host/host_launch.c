/* Kernels of the CPU device: loading and launching. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/intrinsic/intrinsic.h"
#include "runtime/cuda/driver/driver_types.h"
#include "runtime/host/host_backend.h"
#include "runtime/host/host_grid.h"
#include "runtime/host/host_pool.h"
#include "runtime/host/observe/host_checker.h"
#include "runtime/host/observe/host_profile.h"
#include "runtime/host/threads/host_trial.h"

enum {
    CHUNKS_PER_PARTICIPANT = 16,
    ROWS_PER_PARTICIPANT = 4,
    FEW_LEAST_CHUNKS = 4, /* blocks may take longer than the last time */
    OCCUPANCY_THREADS = 256,
    OCCUPANCY_BLOCKS = 4,                /* for each worker */
};

/* --- kernels -------------------------------------------------------------------------------------------------------- */
RtKernel *host_kernel_load(RtDevice *device, const KernelImage *image, Diag *diag)
{
    HostKernel *kernel = memory_new(sizeof *kernel, diag);
    if (!kernel)
        return NULL;
    kernel->base.device = device;
    bool is_bounded = image->max_threads > 0 && image->max_threads < HOST_MAX_THREADS;
    uint32_t threads = is_bounded ? (uint32_t)image->max_threads : HOST_MAX_THREADS;
    kernel->base.limits = (KernelLimits){.threads = threads, .static_shared = image->static_shared};
    snprintf(kernel->base.name, sizeof kernel->base.name, "%s", image->name);
    kernel->thread_entry = image->thread_entry;
    kernel->blocks_entry = image->blocks_entry;
    kernel->takes_turns = image->takes_turns;
    kernel->takes_next = !image->blocks_entry || image->may_wait;
    kernel->repeated_axes = image->repeated_axes;
    kernel->code = (uintptr_t)image->text;
    kernel->code_size = image->text_size;
    kernel->by_warps = image->effects & EFFECT_WARP_SYNC && !image->blocks_entry;
    kernel->has_tiles = image->effects & EFFECT_TILES;
    kernel->by_clusters = image->effects & EFFECT_CLUSTER && kernel->by_warps;
    kernel->counts_accesses = image->observation == OBSERVE_ACCESSES;
    kernel->local_size = image->local_size;
    kernel->context_size = image->context_size;
    kernel->checks = image->checks;
    return &kernel->base;
}

void host_kernel_unload(RtKernel *kernel) { memory_free(kernel); }

/* --- what only GPUs have: code that was compiled for one ---------------------------------------------------------------- */
RtModule *host_module_load(RtDevice *device, const void *code, const char *name, int max_registers, Diag *diag)
{
    (void)device, (void)code, (void)max_registers;
    diag_fail(diag, NULL, DIAG_GPU_ONLY, name);
    return NULL;
}

void host_module_unload(RtModule *module) { (void)module; }

RtKernel *host_module_kernel(RtModule *module, const char *name, Diag *diag)
{
    (void)module;
    diag_fail(diag, NULL, DIAG_GPU_ONLY, name);
    return NULL;
}

bool host_module_global(RtModule *module, const char *name, RtPointer *pointer, size_t *size, Diag *diag)
{
    (void)module, (void)pointer, (void)size;
    return diag_fail(diag, NULL, DIAG_GPU_ONLY, name);
}

uint64_t host_kernel_module(RtKernel *kernel) { return (void)kernel, 0; }

bool host_kernel_parameter(RtKernel *kernel, uint32_t index, size_t *offset, size_t *size, bool *is_there,
                           bool *is_known, Diag *diag)
{
    (void)kernel, (void)index, (void)offset, (void)size, (void)diag;
    *is_there = *is_known = false;
    return true;
}

bool host_kernel_attribute(RtKernel *kernel, int attribute, int *value, Diag *diag)
{
    (void)diag;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)kernel->limits.threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)kernel->limits.static_shared; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)((HostKernel *)kernel)->local_size; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 16; break; /* programs divide by it */
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = HOST_MAX_SHARED - (int)kernel->limits.static_shared;
        break;
    default: *value = 0;
    }
    return true;
}

bool host_kernel_occupancy(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag)
{
    (void)kernel, (void)dynamic_shared;
    int workers;
    if (!host_pool_size(&workers, diag))
        return false;
    *blocks = workers * OCCUPANCY_BLOCKS;
    *threads = OCCUPANCY_THREADS;
    return true;
}

/* --- launching ------------------------------------------------------------------------------------------------------ */
/* How many blocks a worker takes at once. Blocks next to each other in a row of the grid may be run as a wider one: where
 * there are rows for all workers, none is shared out, but for long ones. */
static int64_t chunk_of(const HostJob *job, int participants)
{
    const RtLaunch *launch = job->launch;
    int64_t chunk = job->block_count / ((int64_t)participants * CHUNKS_PER_PARTICIPANT), row = launch->grid[0];
    int64_t most = HOST_JOINED_THREADS / launch->block[0] + 1;
    row = row < most ? row : most;
    if (job->block_count / row >= (int64_t)participants * ROWS_PER_PARTICIPANT)
        chunk = (chunk + row - 1) / row * row;
    return chunk < 1 ? 1 : chunk;
}

/* The blocks of a part: there is one for each of those that begin, and one for all where earlier blocks have to be at work. */
static int64_t part_size(const HostJob *job)
{
    int64_t most = job->few < HOST_MAX_PARTS ? job->few : HOST_MAX_PARTS;
    if (most == 1 || job->kernel->takes_next)
        return job->block_count;
    int64_t chunks = (job->block_count - 1) / job->chunk + 1;
    return ((chunks - 1) / most + 1) * job->chunk;
}

/* The parts lie on the stack, which may be a small one: no more of them than there are. */
static bool run_parts(HostJob *job, int participants, Diag *diag)
{
    int64_t size = part_size(job), first = 0;
    job->part_count = (int)((job->block_count - 1) / size + 1);
    HostPart parts[job->part_count];
    for (int i = 0; i < job->part_count; i++, first = parts[i - 1].end) {
        atomic_init(&parts[i].next, first);
        parts[i].end = job->block_count - first < size ? job->block_count : first + size;
    }
    job->parts = parts;
    return host_pool_run(job, participants, diag);
}

static bool run(HostJob *job, int participants, Diag *diag)
{
    if (job->launch->cooperative && job->kernel->by_warps)
        return host_grid_run(job, diag);
    if (job->kernel->by_clusters)
        return host_clusters_run(job, diag);
    job->tries_alone = host_try_alone(job->kernel, participants);
    job->few = job->tries_alone ? 1 : host_pool_few(job, participants);
    job->least_chunk = participants == 1 ? job->block_count : chunk_of(job, participants);
    job->chunk = job->least_chunk;
    if (job->few > 1 && job->few < participants) {
        int64_t chunk = chunk_of(job, job->few), most = job->least_chunk * FEW_LEAST_CHUNKS;
        job->chunk = chunk < job->least_chunk ? job->least_chunk : chunk < most ? chunk : most;
    }
    return run_parts(job, participants, diag);
}

/* Blocks run one after the other, but for those that wait for each other. */
static bool run_observed(HostJob *job, Diag *diag)
{
    bool at_once = job->launch->cooperative || job->kernel->by_clusters;
    if (!host_profile_begin(job->kernel, job->launch, at_once ? job->block_count : 1, diag))
        return false;
    Diag ignored = {.id = DIAG_NONE};
    bool ran = run(job, 1, diag);
    return host_profile_end(job->kernel, ran ? diag : &ignored) && ran;
}

bool host_launch(RtKernel *base, const RtLaunch *launch, Diag *diag)
{
    int participants;
    HostKernel *kernel = (HostKernel *)base;
    HostChecker checker = {.checks = kernel->checks};
    if (!launch_check(&base->device->limits, &base->limits, base->name, launch, diag))
        return false;
    if (!host_pool_size(&participants, diag))
        return false;
    HostJob job = {
        .kernel = kernel,
        .launch = launch,
        .block_count = (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
        .checker = checker.checks & (CHECK_RACE | CHECK_INIT) ? &checker : NULL,
    };
    if (kernel->checks & CHECKS_SCHEDULED)
        job.order = host_order_begin(job.block_count);
    if (job.checker || job.order.is_on)
        participants = 1;
    bool ok = kernel->counts_accesses ? run_observed(&job, diag) : run(&job, participants, diag);
    host_check_free(&checker);
    return ok;
}
