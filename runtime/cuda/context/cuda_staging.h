/* Copies by way of page-locked memory. */
#ifndef CUJIT_RUNTIME_CUDA_STAGING_H
#define CUJIT_RUNTIME_CUDA_STAGING_H

#include <pthread.h>

#include "runtime/backend.h"
#include "runtime/cuda/driver/driver.h"

/* Page-locked memory for a part of a copy, and when the device is done with it. */
typedef struct StagingSlot {
    void *memory;
    CUevent idle;
} StagingSlot;

/* For copies in one direction, one at a time. */
enum { STAGING_WORKERS = 16, STAGING_WORKER_SLOTS = 2 };
typedef struct CudaStaging {
    pthread_mutex_t lock;
    StagingSlot slots[STAGING_WORKERS * STAGING_WORKER_SLOTS];
} CudaStaging;

void cuda_staging_init(CudaStaging *staging);
void cuda_staging_clear(CudaStaging *staging);
/* Copies by way of page-locked memory, in the stream's order; done with the host's memory when it returns. False where
 * the driver's own copy is the better one, or the only one: small copies, page-locked memory or none of it left, streams
 * that are captured, and when another thread is at a copy of this kind. */
bool cuda_staged_copy(RtDevice *device, bool to_device, CUdeviceptr address, void *host, size_t size, CUstream stream,
                      bool *ok, Diag *diag);

#endif
