/* Whether a launch's shape fits device and kernel, with a message that names the parameter and the limit. */
#ifndef CUJIT_RUNTIME_LAUNCH_CHECK_H
#define CUJIT_RUNTIME_LAUNCH_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/diagnostic/diag.h"

struct RtLaunch;

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

/* False with DIAG_LAUNCH_SHAPE when the launch cannot work. Reads numbers only: a few nanoseconds. */
bool launch_check(const LaunchLimits *device, const KernelLimits *kernel, const char *kernel_name,
                  const struct RtLaunch *launch, Diag *diag);

#endif
