/* GPUs as devices. */
#ifndef CUJIT_RUNTIME_CUDA_DEVICE_H
#define CUJIT_RUNTIME_CUDA_DEVICE_H

#include "runtime/runtime.h"

/* As rt_gpu_count. */
int cuda_device_count(const char **why, bool *ok, Diag *diag);
/* Opens a GPU (driver loaded, context retained); NULL with diag. cuda_device_close undoes it. */
RtDevice *cuda_device_open(int ordinal, Diag *diag);
void cuda_device_close(RtDevice *device);

#endif
