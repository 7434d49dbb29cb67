/* The driver's pool of memory. */
#ifndef CUJIT_RUNTIME_CUDA_POOL_H
#define CUJIT_RUNTIME_CUDA_POOL_H

#include "runtime/cuda/context/cuda_context.h"

/* cuda_pool.c */
bool cuda_pool_open(CudaDevice *device, Diag *diag);

#endif
