/* The GPU's objects and the functions its files share. */
#ifndef CUJIT_RUNTIME_CUDA_DEVICE_H
#define CUJIT_RUNTIME_CUDA_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/backend.h"
#include "runtime/cuda/driver.h"

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

typedef struct CudaDevice {
    RtDevice base;
    CUdevice device;
    CUcontext context;       /* the primary one, retained */
    int multiprocessors;
    bool has_pool;
    _Atomic bool pool_used;    /* there may be memory that cuMemFree frees without waiting */
    _Atomic bool unordered;    /* work may run on a stream that does not synchronize with the default one */
    CudaStaging staging[2];    /* from the device, to it */
} CudaDevice;

typedef struct CudaKernel {
    RtKernel base;
    CUmodule module;
    CUfunction function;
    uint32_t reserved;                     /* dynamic shared bytes that its own arrays take, in front */
    _Atomic uint32_t dynamic_allowed;      /* dynamic shared bytes that need no further opt-in */
    _Atomic bool large_cluster_allowed;    /* clusters of more than 8 blocks */
} CudaKernel;

/* Makes the device's context current on this thread and remembers what another library had current. Costs one
 * cuCtxGetCurrent when it is current already, which it is from a thread's second call on. */
typedef struct CudaScope {
    CUcontext restore;
} CudaScope;
bool cuda_enter(RtDevice *device, CudaScope *scope, Diag *diag);
/* Gives the thread its former context back, if it had one (that one may be gone: no failure of ours). Returns ok. */
bool cuda_leave(const CudaScope *scope, bool ok);

static inline CUstream cuda_stream_of(const RtStream *stream)
{
    return (CUstream)(uintptr_t)stream_handle_or_default(stream);
}

/* cuda_memory.c */
bool cuda_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag);
/* True for CUDA_SUCCESS; out of memory has a Diag of its own. */
bool cuda_check_allocation(RtDevice *device, DriverFunctionId function, CUresult result, size_t size, Diag *diag);
bool cuda_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
bool cuda_release(RtDevice *device, RtPointer pointer, Diag *diag);
bool cuda_copy_to_device(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag);
bool cuda_copy_to_host(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
bool cuda_copy_on_device(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
bool cuda_fill(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag);
/* cuda_host_memory.c */
bool cuda_allocate_host(RtDevice *device, RtHostBlock *block, Diag *diag);
bool cuda_release_host(RtDevice *device, const RtHostBlock *block, Diag *diag);
bool cuda_register_host(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag);
bool cuda_unregister_host(RtDevice *device, void *host, Diag *diag);
/* cuda_staging.c */
void cuda_staging_init(CudaStaging *staging);
void cuda_staging_clear(CudaStaging *staging);
/* Copies by way of page-locked memory, in the stream's order; done with the host's memory when it returns. False where
 * the driver's own copy is the better one, or the only one: small copies, page-locked memory or none of it left, streams
 * that are captured, and when another thread is at a copy of this kind. */
bool cuda_staged_copy(RtDevice *device, bool to_device, CUdeviceptr address, void *host, size_t size, CUstream stream,
                      bool *ok, Diag *diag);
/* cuda_pool.c */
bool cuda_pool_open(CudaDevice *device, Diag *diag);
/* Bytes that the pool holds and nobody uses. */
bool cuda_pool_unused(CudaDevice *device, size_t *unused, Diag *diag);
bool cuda_allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
bool cuda_release_ordered(RtDevice *device, RtPointer pointer, Diag *diag);
bool cuda_stream_adopt(RtStream *stream, Diag *diag);
/* cuda_stream.c */
bool cuda_stream_create(RtStream *stream, Diag *diag);
void cuda_stream_destroy(RtStream *stream);
bool cuda_stream_synchronize(RtDevice *device, RtStream *stream, Diag *diag);
bool cuda_stream_wait_event(RtDevice *device, RtStream *stream, RtEvent *event, Diag *diag);
bool cuda_stream_query(RtDevice *device, RtStream *stream, bool *done, Diag *diag);
bool cuda_event_create(RtEvent *event, bool timing, Diag *diag);
void cuda_event_destroy(RtEvent *event);
bool cuda_event_record(RtEvent *event, RtStream *stream, Diag *diag);
bool cuda_event_synchronize(RtEvent *event, Diag *diag);
bool cuda_event_query(RtEvent *event, bool *done, Diag *diag);
bool cuda_event_elapsed(RtEvent *start, RtEvent *end, float *milliseconds, Diag *diag);
/* cuda_module.c */
RtKernel *cuda_kernel_load(RtDevice *device, const RtImage *image, Diag *diag);
void cuda_kernel_unload(RtKernel *kernel);
bool cuda_kernel_attribute(RtKernel *kernel, int attribute, int *value, Diag *diag);
bool cuda_kernel_occupancy(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag);
bool cuda_kernel_resident_blocks(RtKernel *kernel, int threads, size_t dynamic_shared, int *blocks, Diag *diag);
/* cuda_launch.c */
bool cuda_launch(RtKernel *kernel, const RtLaunch *launch, Diag *diag);

/* Atomic operations on 8 and 16 bits work on the word around them: the last one of an array must be there. */
static inline size_t cuda_whole_words(size_t size) { return (size + 3) / 4 * 4; }
/* The bytes behind an allocation up to a whole word become 0: those atomic operations read them. */
bool cuda_clear_rest(CUdeviceptr address, size_t size, Diag *diag);

#endif
