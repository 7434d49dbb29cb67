/* What the two kinds of device have in common inside runtime/: the objects behind runtime.h's opaque types and one table
 * of functions per kind. runtime.c answers what needs no device (size 0, NULL) and calls through the table. */
#ifndef CUJIT_RUNTIME_BACKEND_H
#define CUJIT_RUNTIME_BACKEND_H

#include "runtime/exception_store.h"
#include "runtime/launch_check.h"
#include "runtime/runtime.h"

typedef struct RtBackend {
    RtKind kind;
    bool (*attribute)(RtDevice *device, int attribute, int *value, Diag *diag);
    bool (*uuid)(RtDevice *device, uint8_t uuid[16], Diag *diag);
    bool (*synchronize)(RtDevice *device, Diag *diag);
    bool (*memory_info)(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag);
    bool (*allocate)(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
    bool (*release)(RtDevice *device, RtPointer pointer, Diag *diag);
    bool (*allocate_ordered)(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
    bool (*release_ordered)(RtDevice *device, RtPointer pointer, Diag *diag);
    bool (*allocate_host)(RtDevice *device, RtHostBlock *block, Diag *diag); /* size and kind are set */
    bool (*release_host)(RtDevice *device, const RtHostBlock *block, Diag *diag);
    bool (*register_host)(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag);
    bool (*unregister_host)(RtDevice *device, void *host, Diag *diag);
    bool (*copy_to_device)(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag);
    bool (*copy_to_host)(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
    bool (*copy_on_device)(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
    bool (*fill)(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag);
    bool (*stream_create)(RtStream *stream, Diag *diag);
    bool (*stream_adopt)(RtStream *stream, Diag *diag); /* made elsewhere: handle is set */
    void (*stream_destroy)(RtStream *stream);
    bool (*stream_synchronize)(RtDevice *device, RtStream *stream, Diag *diag);
    bool (*stream_wait_event)(RtDevice *device, RtStream *stream, RtEvent *event, Diag *diag);
    bool (*stream_query)(RtDevice *device, RtStream *stream, bool *done, Diag *diag);
    bool (*event_create)(RtEvent *event, bool timing, Diag *diag);
    void (*event_destroy)(RtEvent *event);
    bool (*event_record)(RtEvent *event, RtStream *stream, Diag *diag);
    bool (*event_synchronize)(RtEvent *event, Diag *diag);
    bool (*event_query)(RtEvent *event, bool *done, Diag *diag);
    bool (*event_elapsed)(RtEvent *start, RtEvent *end, float *milliseconds, Diag *diag);
    RtKernel *(*kernel_load)(RtDevice *device, const RtImage *image, Diag *diag);
    void (*kernel_unload)(RtKernel *kernel);
    bool (*kernel_attribute)(RtKernel *kernel, int attribute, int *value, Diag *diag);
    bool (*kernel_occupancy)(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag);
    bool (*kernel_resident_blocks)(RtKernel *kernel, int threads, size_t dynamic_shared, int *blocks, Diag *diag);
    bool (*launch)(RtKernel *kernel, const RtLaunch *launch, Diag *diag);
} RtBackend;

/* Starts CudaDevice and HostDevice. */
struct RtDevice {
    const RtBackend *backend;
    int ordinal;
    int sm;
    LaunchLimits limits;
    ExceptionStore exceptions;
    char name[256];
};

struct RtStream {
    RtDevice *device;
    uint64_t handle; /* CUstream; 0 on the CPU device */
    bool owned;
};

struct RtEvent {
    RtDevice *device;
    void *handle; /* CUevent */
    int64_t nanoseconds; /* CPU device: when it was recorded; 0: never */
    uint64_t stream; /* handle of the stream it was recorded in */
    bool timing;
};

/* Starts CudaKernel and HostKernel. */
struct RtKernel {
    RtDevice *device;
    KernelLimits limits;
    char name[256]; /* for messages */
    bool cooperative, starts_early; /* in every launch */
};

/* Opens a GPU (driver loaded, context retained); NULL with diag. cuda_device_close undoes it. */
RtDevice *cuda_device_open(int ordinal, Diag *diag);
void cuda_device_close(RtDevice *device);
int cuda_device_count(const char **why, bool *ok, Diag *diag);
/* The one CPU device. */
RtDevice *host_device_open(Diag *diag);

static inline uint64_t stream_handle_or_default(const RtStream *stream) { return stream ? stream->handle : 0; }

#endif
