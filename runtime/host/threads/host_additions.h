/* Atomic additions that a block's threads make together. */
#ifndef CUJIT_RUNTIME_HOST_ADDITIONS_H
#define CUJIT_RUNTIME_HOST_ADDITIONS_H

#include "core/host_abi.h"

/* HostServices.add. */
void host_add(const HostAddition *additions, int32_t count, int32_t threads, int32_t size);

#endif
