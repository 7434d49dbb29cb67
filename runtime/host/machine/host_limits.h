/* What the CPU device can do. */
#ifndef CUJIT_RUNTIME_HOST_LIMITS_H
#define CUJIT_RUNTIME_HOST_LIMITS_H

#include "core/host_abi.h"

enum {
    HOST_MAX_THREADS = 1024, /* of a block */
    HOST_REGISTERS = 65536, /* of a block: what GPUs have */
    HOST_MAX_SHARED = 227 * 1024, /* bytes of a block, static and dynamic */
    HOST_DEFAULT_SHARED = 48 * 1024,
    HOST_MAX_WARPS = HOST_MAX_THREADS / HOST_WARP,
    HOST_SHARED_ALIGNMENT = 1024, /* what an array can ask for at most */
    HOST_HANG_SIZE = 1536, /* bytes of a message */
};

#endif
