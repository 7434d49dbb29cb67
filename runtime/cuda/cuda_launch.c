/* Launches on a GPU. Shapes are checked before the driver sees them, because its own answer is only "invalid argument". */
#include "runtime/cuda/cuda_kernel.h"

#include <stdio.h>

#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"
#include "runtime/cuda/driver/launch_log.h"

/* Clusters up to this many blocks run on every device that has clusters. */
enum { PORTABLE_CLUSTER = 8, FIRST_WITH_CLUSTERS = 90, FIRST_WITH_OVERLAP = 90 };

/* Asks once for all the shared memory that the device gives a block; the opt-in is a permission, not a reservation. */
static OFF_LAUNCH_PATH bool allow_all_shared(CudaKernel *kernel, Diag *diag)
{
    uint32_t most = kernel->base.device->limits.shared - (kernel->base.limits.static_shared - kernel->reserved);
    if (!driver_call(diag, cuFuncSetAttribute, kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     (int)most))
        return false;
    atomic_store(&kernel->dynamic_allowed, most);
    return true;
}

static inline bool allow_dynamic_shared(CudaKernel *kernel, uint32_t wanted, Diag *diag)
{
    return wanted <= atomic_load_explicit(&kernel->dynamic_allowed, memory_order_relaxed) ||
           allow_all_shared(kernel, diag);
}

bool cuda_kernel_resident_blocks(RtKernel *base, int threads, size_t dynamic_shared, int *blocks, Diag *diag)
{
    CudaScope scope;
    CudaKernel *kernel = (CudaKernel *)base;
    const CudaDevice *device = (CudaDevice *)base->device;
    uint32_t wanted = dynamic_shared > UINT32_MAX ? UINT32_MAX : (uint32_t)dynamic_shared;
    if (!cuda_enter(base->device, &scope, diag))
        return false;
    uint32_t used = base->limits.static_shared, most = device->base.limits.shared;
    bool fits = used <= most && wanted <= most - used;
    bool ok = !fits || (allow_dynamic_shared(kernel, wanted + kernel->reserved, diag) &&
                        driver_call(diag, cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, kernel->function,
                                    threads, (size_t)wanted + kernel->reserved));
    *blocks *= device->multiprocessors;
    return cuda_leave(&scope, ok);
}

static bool allow_large_cluster(CudaKernel *kernel, Diag *diag)
{
    if (atomic_load(&kernel->large_cluster_allowed))
        return true;
    if (!driver_call(diag, cuFuncSetAttribute, kernel->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                     1))
        return false;
    atomic_store(&kernel->large_cluster_allowed, true);
    return true;
}

static bool fail_clusters(Diag *diag)
{
    return diag_fail(diag, NULL, DIAG_LAUNCH_SHAPE, "clusters need a GPU of compute capability 9.0 or newer");
}

bool cuda_allow_launch(CudaKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    const uint32_t *cluster = launch->cluster;
    uint64_t blocks = (uint64_t)cluster[0] * (cluster[1] ? cluster[1] : 1) * (cluster[2] ? cluster[2] : 1);
    if (cluster[0] && kernel->base.device->sm < FIRST_WITH_CLUSTERS)
        return fail_clusters(diag);
    return (blocks <= PORTABLE_CLUSTER || allow_large_cluster(kernel, diag)) &&
           allow_dynamic_shared(kernel, launch->dynamic_shared + kernel->reserved, diag);
}

/* A cooperative grid must fit the device at once: says how many blocks do. */
static bool fail_cooperative(CudaKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    char text[400];
    int resident = 0;
    int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    if (!cuda_kernel_resident_blocks(&kernel->base, threads, launch->dynamic_shared, &resident, diag))
        return false;
    snprintf(text, sizeof text,
             "griddim (%u, %u, %u) is too large for a cooperative launch: %d blocks of kernel '%.80s' "
             "fit the device at once",
             launch->grid[0], launch->grid[1], launch->grid[2], resident, kernel->base.name);
    return diag_fail_code(diag, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, DIAG_LAUNCH_SHAPE, text);
}

/* A cooperative grid needs the whole device: it waits for what runs there. */
static bool starts_early(const RtKernel *kernel, const RtLaunch *launch)
{
    return launch->starts_early && !launch->cooperative && kernel->device->sm >= FIRST_WITH_OVERLAP;
}

/* Cooperative launches, clusters and launches that start early: attributes of cuLaunchKernelEx. */
static OFF_LAUNCH_PATH bool launch_extended(CudaKernel *kernel, const RtLaunch *launch, void **extra, Diag *diag)
{
    CUlaunchAttribute attributes[3] = {0};
    CUlaunchConfig config = {
        .gridDimX = launch->grid[0],
        .gridDimY = launch->grid[1],
        .gridDimZ = launch->grid[2],
        .blockDimX = launch->block[0],
        .blockDimY = launch->block[1],
        .blockDimZ = launch->block[2],
        .sharedMemBytes = launch->dynamic_shared + kernel->reserved,
        .hStream = cuda_stream_of(launch->stream),
        .attrs = attributes,
    };
    if (launch->cooperative) {
        attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        attributes[config.numAttrs++].value.cooperative = 1;
    }
    if (launch->cluster[0]) {
        CUlaunchAttributeValue *value = &attributes[config.numAttrs].value;
        value->clusterDim.x = launch->cluster[0];
        value->clusterDim.y = launch->cluster[1] ? launch->cluster[1] : 1;
        value->clusterDim.z = launch->cluster[2] ? launch->cluster[2] : 1;
        attributes[config.numAttrs++].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        if ((uint64_t)value->clusterDim.x * value->clusterDim.y * value->clusterDim.z > PORTABLE_CLUSTER &&
            !allow_large_cluster(kernel, diag))
            return false;
    }
    if (starts_early(&kernel->base, launch)) {
        attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[config.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
    }
    CUresult result = driver.cuLaunchKernelEx(&config, kernel->function, NULL, extra);
    if (result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        return fail_cooperative(kernel, launch, diag);
    return driver_check(diag, DRIVER_cuLaunchKernelEx, result);
}

/* More than a grid of blocks. */
static inline bool asks_for_more(const RtLaunch *launch)
{
    return (launch->cooperative | launch->starts_early) || launch->cluster[0];
}

static OFF_LAUNCH_PATH bool check_closer(const RtKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    if (!launch_check(&kernel->device->limits, &kernel->limits, kernel->name, launch, diag))
        return false;
    return !launch->cluster[0] || kernel->device->sm >= FIRST_WITH_CLUSTERS || fail_clusters(diag);
}

static bool has_attributes(const RtKernel *kernel, const RtLaunch *launch)
{
    return launch->cooperative || launch->cluster[0] || starts_early(kernel, launch);
}

LAUNCH_PATH bool cuda_launch(RtKernel *base, const RtLaunch *launch, Diag *diag)
{
    CudaKernel *kernel = (CudaKernel *)base;
    CudaScope scope;
    size_t size = launch->parameters_size;
    void *buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)launch->parameters,
                      CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void **extra = size ? buffer : NULL;
    bool is_plain = launch_fits(&base->device->limits, &base->limits, launch) && !asks_for_more(launch);
    if (UNLIKELY(!is_plain && !check_closer(base, launch, diag)))
        return false;
    if (!cuda_enter_stream(base->device, launch->stream, &scope, diag))
        return false;
    bool ok = allow_dynamic_shared(kernel, launch->dynamic_shared + kernel->reserved, diag);
    if (UNLIKELY(!ok))
        return cuda_leave(&scope, false);
    if (UNLIKELY(!is_plain && has_attributes(base, launch)))
        ok = launch_extended(kernel, launch, extra, diag);
    else
        ok = driver_call(diag, cuLaunchKernel, kernel->function, launch->grid[0], launch->grid[1], launch->grid[2],
                         launch->block[0], launch->block[1], launch->block[2],
                         launch->dynamic_shared + kernel->reserved, cuda_stream_of(launch->stream), NULL, extra);
    if (LIKELY(ok))
        launch_log_add(kernel->logged_name, base->device->ordinal, stream_handle_or_default(launch->stream));
    return cuda_leave(&scope, ok);
}
