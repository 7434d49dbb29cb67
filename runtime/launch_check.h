/* Whether a launch's shape fits device and kernel, with a message that names the parameter and the limit. */
#ifndef CUJIT_RUNTIME_LAUNCH_CHECK_H
#define CUJIT_RUNTIME_LAUNCH_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/diagnostic/diag.h"
#include "runtime/runtime.h"

/* Of a device. */
typedef struct LaunchLimits {
    uint32_t threads;         /* of a block */
    uint32_t block[3], grid[3];
    uint32_t shared;          /* static and dynamic bytes of a block, with opt-in */
    uint32_t shared_default;  /* the same without opt-in */
} LaunchLimits;

/* Of a kernel on its device. */
typedef struct KernelLimits {
    uint32_t threads;         /* of a block: lower than the device's when registers or launch bounds ask for it */
    uint32_t static_shared;   /* bytes */
} KernelLimits;

/* Whether the launch is within all limits that every launch has. 0 of anything is too much, by the turn below it. */
static inline bool launch_fits(const LaunchLimits *device, const KernelLimits *kernel, const RtLaunch *launch)
{
    bool ok = true;
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; axis++)
        ok &= (launch->grid[axis] - 1 < device->grid[axis]) & (launch->block[axis] - 1 < device->block[axis]);
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t shared = (uint64_t)launch->dynamic_shared + kernel->static_shared;
    return ok & (threads <= device->threads) & (threads <= kernel->threads) & (shared <= device->shared);
}

/* False with DIAG_LAUNCH_SHAPE when the launch cannot work. Reads numbers only: a few nanoseconds. */
bool launch_check(const LaunchLimits *device, const KernelLimits *kernel, const char *kernel_name,
                  const RtLaunch *launch, Diag *diag);

#endif
