/* The face of runtime.h: finds the device, answers what needs none, and calls through the kind's table. */
#include "runtime/runtime.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/backend.h"
#include "runtime/cuda/driver.h"

enum { MAX_GPUS = 64 };

/* Opened GPUs, for the life of the process. Threads that open one at the same time race for the slot; the loser closes
 * its own. No lock, so a fork in between cannot leave one held. */
static _Atomic(RtDevice *) gpus[MAX_GPUS];

static RtDevice *gpu_device(int ordinal, Diag *diag)
{
    bool has_slot = ordinal >= 0 && ordinal < MAX_GPUS;
    RtDevice *known = has_slot ? atomic_load_explicit(&gpus[ordinal], memory_order_acquire) : NULL;
    if (known)
        return known;
    RtDevice *opened = cuda_device_open(ordinal, diag);
    if (!opened || !has_slot)
        return opened;
    if (atomic_compare_exchange_strong(&gpus[ordinal], &known, opened))
        return opened;
    cuda_device_close(opened);
    return known;
}

/* --- devices -------------------------------------------------------------------------------------------------------- */
int rt_gpu_count(const char **why, bool *ok, Diag *diag) { return cuda_device_count(why, ok, diag); }

RtDevice *rt_device(RtKind kind, int ordinal, Diag *diag)
{
    return kind == RT_GPU ? gpu_device(ordinal, diag) : host_device_open(diag);
}

RtKind rt_device_kind(const RtDevice *device) { return device->backend->kind; }
int rt_device_ordinal(const RtDevice *device) { return device->ordinal; }
const char *rt_device_name(const RtDevice *device) { return device->name; }
int rt_device_sm(const RtDevice *device) { return device->sm; }

bool rt_device_attribute(RtDevice *device, int attribute, int *value, Diag *diag)
{
    *value = 0;
    return device->backend->attribute(device, attribute, value, diag);
}

bool rt_device_uuid(RtDevice *device, uint8_t uuid[16], Diag *diag)
{
    return device->backend->uuid(device, uuid, diag);
}

bool rt_driver_version(int *version, Diag *diag)
{
    *version = 0;
    return driver_require(diag) && driver_call(diag, cuDriverGetVersion, version);
}

bool rt_synchronize(RtDevice *device, Diag *diag)
{
    return device->backend->synchronize(device, diag) && exceptions_check_device(device, diag);
}

bool rt_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag)
{
    *free_bytes = *total_bytes = 0;
    return device->backend->memory_info(device, free_bytes, total_bytes, diag);
}

/* --- memory --------------------------------------------------------------------------------------------------------- */
bool rt_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    *pointer = 0;
    return !size || device->backend->allocate(device, size, pointer, diag);
}

bool rt_free(RtDevice *device, RtPointer pointer, Diag *diag)
{
    return !pointer || device->backend->release(device, pointer, diag);
}

bool rt_allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    *pointer = 0;
    return !size || device->backend->allocate_ordered(device, size, pointer, diag);
}

bool rt_free_ordered(RtDevice *device, RtPointer pointer, Diag *diag)
{
    return !pointer || device->backend->release_ordered(device, pointer, diag);
}

bool rt_allocate_host(RtDevice *device, RtHostMemory kind, size_t size, RtHostBlock *block, Diag *diag)
{
    *block = (RtHostBlock){.kind = kind, .size = size};
    return !size || device->backend->allocate_host(device, block, diag);
}

bool rt_free_host(RtDevice *device, RtHostBlock *block, Diag *diag)
{
    return !block->host || device->backend->release_host(device, block, diag);
}

bool rt_register_host(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag)
{
    return device->backend->register_host(device, host, size, pointer, diag);
}

bool rt_unregister_host(RtDevice *device, void *host, Diag *diag)
{
    return device->backend->unregister_host(device, host, diag);
}

bool rt_copy_to_device(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag)
{
    return !size || device->backend->copy_to_device(device, to, from, size, stream, diag);
}

bool rt_copy_to_host(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    if (size && !device->backend->copy_to_host(device, to, from, size, stream, diag))
        return false;
    /* The default stream has waited for the others. */
    return stream ? exceptions_check_stream(device, stream, diag) : exceptions_check_device(device, diag);
}

bool rt_copy_on_device(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    return !size || device->backend->copy_on_device(device, to, from, size, stream, diag);
}

bool rt_fill(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag)
{
    return !size || device->backend->fill(device, to, byte, size, stream, diag);
}

/* --- streams and events --------------------------------------------------------------------------------------------- */
static void *new_object(RtDevice *device, size_t size, Diag *diag)
{
    void *object = calloc(1, size);
    if (!object)
        diag_fail(diag, NULL, DIAG_DEVICE_MEMORY, size, device->name, "host memory is exhausted");
    return object;
}

static RtStream *new_stream(RtDevice *device, uint64_t handle, bool (*begin)(RtStream *, Diag *), Diag *diag)
{
    RtStream *stream = new_object(device, sizeof *stream, diag);
    if (!stream)
        return NULL;
    *stream = (RtStream){.device = device, .handle = handle};
    if (begin(stream, diag))
        return stream;
    free(stream);
    return NULL;
}

RtStream *rt_stream_external(RtDevice *device, uint64_t handle, Diag *diag)
{
    return new_stream(device, handle, device->backend->stream_adopt, diag);
}

RtStream *rt_stream_create(RtDevice *device, Diag *diag)
{
    RtStream *stream = new_stream(device, 0, device->backend->stream_create, diag);
    if (stream)
        stream->owned = true;
    return stream;
}

void rt_stream_destroy(RtStream *stream)
{
    if (!stream)
        return;
    if (stream->owned)
        stream->device->backend->stream_destroy(stream);
    free(stream);
}

uint64_t rt_stream_handle(const RtStream *stream) { return stream_handle_or_default(stream); }

bool rt_stream_synchronize(RtDevice *device, RtStream *stream, Diag *diag)
{
    return device->backend->stream_synchronize(device, stream, diag) && exceptions_check_stream(device, stream, diag);
}

bool rt_stream_wait_event(RtDevice *device, RtStream *stream, RtEvent *event, Diag *diag)
{
    return device->backend->stream_wait_event(device, stream, event, diag);
}

bool rt_stream_query(RtDevice *device, RtStream *stream, bool *done, Diag *diag)
{
    *done = false;
    return device->backend->stream_query(device, stream, done, diag);
}

RtEvent *rt_event_create(RtDevice *device, bool timing, Diag *diag)
{
    RtEvent *event = new_object(device, sizeof *event, diag);
    if (!event)
        return NULL;
    *event = (RtEvent){.device = device, .timing = timing};
    if (device->backend->event_create(event, timing, diag))
        return event;
    free(event);
    return NULL;
}

void rt_event_destroy(RtEvent *event)
{
    if (!event)
        return;
    event->device->backend->event_destroy(event);
    free(event);
}

bool rt_event_record(RtEvent *event, RtStream *stream, Diag *diag)
{
    event->stream = stream_handle_or_default(stream);
    return event->device->backend->event_record(event, stream, diag);
}

bool rt_event_synchronize(RtEvent *event, Diag *diag)
{
    RtStream stream = {.device = event->device, .handle = event->stream};
    return event->device->backend->event_synchronize(event, diag) &&
           exceptions_check_stream(event->device, &stream, diag);
}

bool rt_event_query(RtEvent *event, bool *done, Diag *diag)
{
    *done = false;
    return event->device->backend->event_query(event, done, diag);
}

bool rt_event_elapsed(RtEvent *start, RtEvent *end, float *milliseconds, Diag *diag)
{
    *milliseconds = 0;
    return start->device->backend->event_elapsed(start, end, milliseconds, diag);
}

/* --- kernels -------------------------------------------------------------------------------------------------------- */
RtKernel *rt_kernel_load(RtDevice *device, const RtImage *image, Diag *diag)
{
    RtKernel *kernel = device->backend->kernel_load(device, image, diag);
    if (kernel) {
        kernel->cooperative = image->cooperative;
        kernel->starts_early = image->starts_early;
    }
    return kernel;
}

void rt_kernel_unload(RtKernel *kernel)
{
    if (kernel)
        kernel->device->backend->kernel_unload(kernel);
}

bool rt_kernel_attribute(RtKernel *kernel, int attribute, int *value, Diag *diag)
{
    *value = 0;
    return kernel->device->backend->kernel_attribute(kernel, attribute, value, diag);
}

bool rt_kernel_occupancy(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag)
{
    *blocks = *threads = 0;
    return kernel->device->backend->kernel_occupancy(kernel, dynamic_shared, blocks, threads, diag);
}

bool rt_kernel_resident_blocks(RtKernel *kernel, int threads, size_t dynamic_shared, int *blocks, Diag *diag)
{
    *blocks = 0;
    return kernel->device->backend->kernel_resident_blocks(kernel, threads, dynamic_shared, blocks, diag);
}

bool rt_launch(RtKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    RtLaunch whole = *launch;
    if (!exceptions_check_stream(kernel->device, launch->stream, diag))
        return false;
    whole.cooperative |= kernel->cooperative;
    whole.starts_early |= kernel->starts_early;
    return kernel->device->backend->launch(kernel, &whole, diag);
}
