/* Checks the shape of a launch against the limits of device and kernel, for both kinds of device. */
#include "runtime/launch_check.h"

#include <stdio.h>

#define LAUNCH_FAIL(diag, ...)                                   \
    do {                                                         \
        char text[400];                                          \
        snprintf(text, sizeof text, __VA_ARGS__);                \
        return diag_fail((diag), NULL, DIAG_LAUNCH_SHAPE, text); \
    } while (0)

static const char axis_name[3] = {'x', 'y', 'z'};

static bool check_dimensions(const char *what, const uint32_t size[3], const uint32_t limit[3], Diag *diag)
{
    for (int axis = 0; axis < 3; axis++) {
        if (size[axis] == 0)
            LAUNCH_FAIL(diag, "%s.%c is 0: every dimension is at least 1", what, axis_name[axis]);
        if (size[axis] > limit[axis])
            LAUNCH_FAIL(diag, "%s.%c is %u: the device's limit is %u", what, axis_name[axis], size[axis], limit[axis]);
    }
    return true;
}

static bool check_block_size(const LaunchLimits *device, const KernelLimits *kernel, const char *name,
                             const uint32_t block[3], Diag *diag)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads > device->threads)
        LAUNCH_FAIL(diag, "blockdim (%u, %u, %u) is %llu threads: the device's limit is %u threads a block", block[0],
                    block[1], block[2], (unsigned long long)threads, device->threads);
    if (threads > kernel->threads)
        LAUNCH_FAIL(diag,
                    "blockdim (%u, %u, %u) is %llu threads: kernel '%.80s' runs with at most %u threads a block, "
                    "because of the registers it needs or of its launch bounds",
                    block[0], block[1], block[2], (unsigned long long)threads, name, kernel->threads);
    return true;
}

static bool check_shared(const LaunchLimits *device, const KernelLimits *kernel, const char *name, uint32_t dynamic,
                         Diag *diag)
{
    if (kernel->static_shared > device->shared)
        LAUNCH_FAIL(diag, "the shared arrays of kernel '%.80s' are %u bytes: the device's limit is %u a block", name,
                    kernel->static_shared, device->shared);
    uint32_t room = device->shared > kernel->static_shared ? device->shared - kernel->static_shared : 0;
    if (dynamic > room)
        LAUNCH_FAIL(diag,
                    "sharedmem is %u bytes: the limit for kernel '%.80s' is %u (%u of a block, less %u of its "
                    "static shared arrays)",
                    dynamic, name, room, device->shared, kernel->static_shared);
    return true;
}

static bool check_cluster(const uint32_t grid[3], const uint32_t cluster[3], Diag *diag)
{
    for (int axis = 0; axis < 3; axis++) {
        uint32_t size = cluster[axis] ? cluster[axis] : 1;
        if (grid[axis] % size)
            LAUNCH_FAIL(diag, "griddim.%c is %u: it must be a multiple of cluster.%c, %u", axis_name[axis], grid[axis],
                        axis_name[axis], size);
    }
    return true;
}

/* Finds out what does not fit, for the message. */
static bool __attribute__((noinline, cold)) check_each(const LaunchLimits *device, const KernelLimits *kernel,
                                                       const char *kernel_name, const RtLaunch *launch, Diag *diag)
{
    return check_dimensions("griddim", launch->grid, device->grid, diag) &&
           check_dimensions("blockdim", launch->block, device->block, diag) &&
           check_block_size(device, kernel, kernel_name, launch->block, diag) &&
           check_shared(device, kernel, kernel_name, launch->dynamic_shared, diag);
}

bool launch_check(const LaunchLimits *device, const KernelLimits *kernel, const char *kernel_name,
                  const RtLaunch *launch, Diag *diag)
{
    return (launch_fits(device, kernel, launch) || check_each(device, kernel, kernel_name, launch, diag)) &&
           (!launch->cluster[0] || check_cluster(launch->grid, launch->cluster, diag));
}
