/* A kernel on a GPU: cuda_module.c loads it, cuda_launch.c launches it. */
#ifndef CUJIT_RUNTIME_CUDA_KERNEL_H
#define CUJIT_RUNTIME_CUDA_KERNEL_H

#include <stdatomic.h>

#include "runtime/backend.h"
#include "runtime/cuda/driver/driver.h"

typedef struct CudaCode {
    CUmodule module;
    CUlibrary owner; /* the library that it is of; NULL: none */
} CudaCode;

typedef struct CudaKernel {
    RtKernel base;
    CudaCode code;
    const char *logged_name; /* launch_log.h */
    bool is_lent; /* the module is unloaded by whoever loaded it */
    CUfunction function;
    uint32_t reserved;                     /* dynamic shared bytes that its own arrays take, in front */
    _Atomic uint32_t dynamic_allowed;      /* dynamic shared bytes that need no further opt-in */
    _Atomic bool large_cluster_allowed;    /* clusters of more than 8 blocks */
} CudaKernel;

/* The permissions that a launch needs of the driver, asked for once: for shared memory, for large clusters. False with a
 * diagnostic, also where the device has no clusters. Needs the context current. */
bool cuda_allow_launch(CudaKernel *kernel, const RtLaunch *launch, Diag *diag);

#endif
