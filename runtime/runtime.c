/* The face of runtime.h: finds the device, answers what needs none, and calls through the kind's table. What does no more
 * than that is made by the rows of backend.def. */
#include "runtime/runtime.h"
#include "core/base/likely.h"
#include "core/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/intrinsic/intrinsic.h"
#include "runtime/backend.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/driver/driver.h"
#include "runtime/host/check/initialized.h"
#include "runtime/host/host_device.h"

/* Opened devices by their bits, for the life of the process. Threads that open one at the same time race for the slot;
 * the loser closes its own. No lock, so a fork in between cannot leave one held. */
static _Atomic(RtDevice *) opened[MOST_GPUS + MOST_CPU_DEVICES];

static RtDevice *open_device(RtKind kind, int ordinal, Diag *diag)
{
    return kind == RT_GPU ? cuda_device_open(ordinal, diag) : host_device_open(ordinal, diag);
}

static void close_device(RtDevice *device)
{
    if (device->backend->kind == RT_GPU)
        cuda_device_close(device);
    else
        host_device_close(device);
}

#define FORWARD(name, face, object, first, done, parameters, arguments) \
    bool face parameters                                                \
    {                                                                   \
        first;                                                          \
        return (done) || (object)->backend->name arguments;             \
    }
#include "runtime/backend.def"

/* --- devices -------------------------------------------------------------------------------------------------------- */
int rt_gpu_count(const char **why, bool *ok, Diag *diag) { return cuda_device_count(why, ok, diag); }

bool rt_cpu_count(int *count, Diag *diag) { return host_device_count(count, diag); }

RtDevice *rt_device(RtKind kind, int ordinal, Diag *diag)
{
    uint64_t bit = device_bit(kind, ordinal);
    _Atomic(RtDevice *) *slot = bit ? &opened[__builtin_ctzll(bit)] : NULL;
    RtDevice *known = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
    if (known)
        return known;
    RtDevice *device = open_device(kind, ordinal, diag);
    if (!device || !slot || atomic_compare_exchange_strong(slot, &known, device))
        return device;
    close_device(device);
    return known;
}

RtDevice *rt_device_in(uint64_t set, Diag *diag)
{
    int number = __builtin_ctzll(set);
    return number < MOST_GPUS ? rt_device(RT_GPU, number, diag) : rt_device(RT_CPU, number - MOST_GPUS, diag);
}

RtKind rt_device_kind(const RtDevice *device) { return device->backend->kind; }
int rt_device_ordinal(const RtDevice *device) { return device->ordinal; }
const char *rt_device_name(const RtDevice *device) { return device->name; }
int rt_device_sm(const RtDevice *device) { return device->sm; }
uint64_t rt_device_bit(const RtDevice *device) { return device->bit; }
bool rt_device_is_alone(const RtDevice *device) { return device->is_alone; }
uint64_t rt_device_context(const RtDevice *device) { return device->context; }

uint64_t rt_device_reach(const RtDevice *device) { return atomic_load_explicit(&device->reach, memory_order_relaxed); }

bool rt_driver_version(int *version, Diag *diag)
{
    *version = 0;
    return driver_require(diag) && driver_call(diag, cuDriverGetVersion, version);
}

/* Whether the thread records, which what waits for the device cannot be done in. */
static bool may_wait(const char *what, Diag *diag)
{
    return !graph_recorded ||
           graph_refuse(what, "it waits for work that has not been done; do it after a launch of the graph", diag);
}

static bool may_allocate(Diag *diag)
{
    return !graph_recorded || graph_recorded->lends_memory ||
           graph_refuse("an allocation",
                        "make the array before, and give it as the result: out=, res=, kernel arguments", diag);
}

bool rt_synchronize(RtDevice *device, Diag *diag)
{
    if (!may_wait("waiting for the device", diag))
        return false;
    return device->backend->synchronize(device, diag) && exceptions_check_device(device, diag);
}

bool rt_synchronize_all(RtDevice *device, Diag *diag)
{
    bool ok = rt_synchronize(device, diag);
    for (int i = 0; ok && !device->is_alone && i < MOST_GPUS + MOST_CPU_DEVICES; i++) {
        RtDevice *other = atomic_load_explicit(&opened[i], memory_order_acquire);
        bool is_other = other && other != device && other->backend == device->backend;
        ok = !is_other || rt_synchronize(other, diag);
    }
    return ok;
}

/* --- memory --------------------------------------------------------------------------------------------------------- */
static _Atomic(const RtMemoryManager *) allocating, releasing;

bool rt_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag)
{
    RtPoolUse use;
    *free_bytes = *total_bytes = 0;
    if (!device->backend->memory_info(device, free_bytes, total_bytes, diag) ||
        !rt_pool_use(device, RT_POOL_DEVICE, &use, diag))
        return false;
    *free_bytes += use.kept_bytes;
    return true;
}

void rt_set_memory_manager(const RtMemoryManager *manager)
{
    if (manager)
        releasing = manager;
    allocating = manager;
}

/* The CPU device notes for itself what it allocates and writes. */
static bool noted_allocation(const RtDevice *device, RtPointer pointer, size_t size)
{
    if (device->backend->kind != RT_CPU)
        host_note_allocation(pointer, size);
    return true;
}

static bool noted_write(const RtDevice *device, RtPointer to, size_t size, bool ok)
{
    if (ok && device->backend->kind != RT_CPU)
        host_note_written(to, size);
    return ok;
}

static void note_release(const RtDevice *device, RtPointer pointer)
{
    if (device->backend->kind != RT_CPU)
        host_note_release(pointer);
}

static bool allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, bool *waits, Diag *diag)
{
    const RtMemoryManager *manager = atomic_load_explicit(&allocating, memory_order_relaxed);
    *pointer = 0;
    if (!size)
        return true;
    if (!may_allocate(diag))
        return false;
    return (manager ? manager->allocate(device, size, pointer, diag)
                    : pool_allocate(device, size, pointer, waits, diag)) &&
           noted_allocation(device, *pointer, size);
}

bool rt_allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    return allocate_ordered(device, size, pointer, NULL, diag);
}

bool rt_allocate_at_once(RtDevice *device, size_t size, RtPointer *pointer, bool *waits, Diag *diag)
{
    *waits = false;
    return allocate_ordered(device, size, pointer, waits, diag);
}

bool rt_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    *pointer = 0;
    return !size || (may_allocate(diag) && pool_allocate_apart(device, size, pointer, diag) &&
                     noted_allocation(device, *pointer, size));
}

static bool is_released(RtDevice *device, RtPointer pointer)
{
    const RtMemoryManager *manager = atomic_load_explicit(&releasing, memory_order_relaxed);
    return !pointer || (manager && manager->release(device, pointer));
}

bool rt_free(RtDevice *device, RtPointer pointer, Diag *diag)
{
    note_release(device, pointer);
    return is_released(device, pointer) || pool_release(device, pointer, true, diag);
}

bool rt_free_ordered(RtDevice *device, RtPointer pointer, Diag *diag)
{
    note_release(device, pointer);
    return is_released(device, pointer) || pool_release(device, pointer, false, diag);
}

bool rt_export_memory(RtDevice *device, RtPointer pointer, RtExport *handle, Diag *diag)
{
    *handle = (RtExport){{0}};
    return device->backend->export_memory(device, pointer, handle, diag);
}

bool rt_import_memory(RtDevice *device, const RtExport *handle, RtPointer *pointer, Diag *diag)
{
    *pointer = 0;
    return device->backend->import_memory(device, handle, pointer, diag);
}

bool rt_allocate_host(RtDevice *device, RtHostMemory kind, size_t size, RtHostBuffer *buffer, Diag *diag)
{
    *buffer = (RtHostBuffer){.kind = kind, .size = size};
    if (!size)
        return true;
    if (!may_allocate(diag))
        return false;
    return kind == RT_HOST_PINNED ? pool_allocate_host(device, buffer, diag)
                                  : device->backend->allocate_host(device, buffer, diag);
}

bool rt_free_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    return !buffer->host || pool_release_host(device, buffer, diag);
}

bool rt_copy_to_device(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag)
{
    if (!size)
        return true;
    return noted_write(device, to, size,
                       graph_recorded ? graph_add_copy(graph_recorded, GRAPH_TO_DEVICE, device, to, 0,
                                                       (void *)(uintptr_t)from, size, stream, diag)
                                      : device->backend->copy_to_device(device, to, from, size, stream, diag));
}

bool rt_copy_on_device(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    if (!size)
        return true;
    return noted_write(device, to, size,
                       graph_recorded
                           ? graph_add_copy(graph_recorded, GRAPH_ON_DEVICE, device, to, from, NULL, size, stream, diag)
                           : device->backend->copy_on_device(device, to, from, size, stream, diag));
}

bool rt_fill(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag)
{
    if (!size)
        return true;
    return noted_write(device, to, size,
                       graph_recorded ? graph_add_fill(graph_recorded, device, to, byte, size, stream, diag)
                                      : device->backend->fill(device, to, byte, size, stream, diag));
}

bool rt_copy_to_host(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    if (graph_recorded)
        return !size || graph_add_copy(graph_recorded, GRAPH_TO_HOST, device, 0, from, to, size, stream, diag);
    if (size && !device->backend->copy_to_host(device, to, from, size, stream, diag))
        return false;
    /* The default stream has waited for the others. */
    return stream ? exceptions_check_stream(&device->exceptions, stream, diag) : exceptions_check_device(device, diag);
}

/* A backend's copies with a stream do not wait; this one names the default stream. */
static RtStream default_stream(RtDevice *device) { return (RtStream){.device = device, .is_known = true}; }

bool rt_send(RtDevice *device, RtPointer to, const void *locked, size_t size, RtStream *stream, Diag *diag)
{
    RtStream in_order = default_stream(device);
    return rt_copy_to_device(device, to, locked, size, stream ? stream : &in_order, diag);
}

bool rt_receive(RtDevice *device, void *locked, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    RtStream in_order = default_stream(device);
    return rt_copy_to_host(device, locked, from, size, stream ? stream : &in_order, diag);
}

bool rt_copy_between(RtDevice *to_device, RtPointer to, RtDevice *from_device, RtPointer from, size_t size,
                     RtStream *stream, Diag *diag)
{
    if (to_device == from_device)
        return rt_copy_on_device(to_device, to, from, size, stream, diag);
    if (size && graph_recorded)
        return graph_refuse("a copy between devices", "record a graph for each device, and copy between launches",
                            diag);
    return !size || noted_write(to_device, to, size,
                                to_device->backend->copy_between(to_device, to, from_device, from, size, stream, diag));
}

void rt_track_writes(void) { host_track_writes(); }
void rt_note_all_written(RtPointer pointer) { host_note_all_written(pointer); }

bool rt_next_unwritten(RtPointer from, RtPointer to, RtPointer *begin, RtPointer *end)
{
    return host_next_unwritten(from, to, begin, end);
}

void rt_get_written_bits(RtPointer begin, uint64_t *words, size_t count) { host_get_written_bits(begin, words, count); }

void rt_add_written_bits(RtPointer begin, const uint64_t *words, size_t count)
{
    host_add_written_bits(begin, words, count);
}

/* --- streams and events --------------------------------------------------------------------------------------------- */
static RtStream *new_stream(RtDevice *device, uint64_t handle, Diag *diag)
{
    RtStream *stream = memory_new(sizeof *stream, diag);
    if (stream)
        *stream = (RtStream){.device = device, .handle = handle};
    return stream;
}

RtStream *rt_stream_external(RtDevice *device, uint64_t handle, Diag *diag) { return new_stream(device, handle, diag); }

RtStream *rt_stream_create(RtDevice *device, Diag *diag)
{
    RtStream *stream = new_stream(device, 0, diag);
    if (!stream)
        return NULL;
    if (device->backend->stream_create(stream, diag)) {
        stream->owned = stream->is_known = true;
        return stream;
    }
    memory_free(stream);
    return NULL;
}

void rt_stream_destroy(RtStream *stream)
{
    if (!stream)
        return;
    if (stream->owned)
        stream->device->backend->stream_destroy(stream);
    memory_free(stream);
}

bool rt_stream_is_own(const RtStream *stream) { return stream && stream->owned; }
uint64_t rt_stream_handle(const RtStream *stream) { return stream_handle_or_default(stream); }

bool rt_stream_synchronize(RtDevice *device, RtStream *stream, Diag *diag)
{
    return may_wait("waiting for a stream", diag) && device->backend->stream_synchronize(device, stream, diag) &&
           exceptions_check_stream(&device->exceptions, stream, diag);
}

RtEvent *rt_event_create(RtDevice *device, bool timing, Diag *diag)
{
    RtEvent *event = memory_new(sizeof *event, diag);
    if (!event)
        return NULL;
    *event = (RtEvent){.device = device, .timing = timing};
    if (device->backend->event_create(event, timing, diag))
        return event;
    memory_free(event);
    return NULL;
}

void rt_event_destroy(RtEvent *event)
{
    if (!event)
        return;
    event->device->backend->event_destroy(event);
    memory_free(event);
}

bool rt_stream_query(RtDevice *device, RtStream *stream, bool *done, Diag *diag)
{
    *done = false;
    return may_wait("asking whether a stream is done", diag) &&
           device->backend->stream_query(device, stream, done, diag);
}

bool rt_stream_wait_event(RtDevice *device, RtStream *stream, RtEvent *event, Diag *diag)
{
    return graph_recorded ? graph_add_wait(graph_recorded, event, stream, diag)
                          : device->backend->stream_wait_event(device, stream, event, diag);
}

bool rt_event_query(RtEvent *event, bool *done, Diag *diag)
{
    *done = false;
    return may_wait("asking whether an event is reached", diag) &&
           event->device->backend->event_query(event, done, diag);
}

bool rt_event_record(RtEvent *event, RtStream *stream, Diag *diag)
{
    if (graph_recorded)
        return graph_add_mark(graph_recorded, event, stream, diag);
    event->stream = stream_handle_or_default(stream);
    return event->device->backend->event_record(event, stream, diag);
}

bool rt_event_synchronize(RtEvent *event, Diag *diag)
{
    RtStream stream = {.device = event->device, .handle = event->stream};
    return may_wait("waiting for an event", diag) && event->device->backend->event_synchronize(event, diag) &&
           exceptions_check_stream(&event->device->exceptions, &stream, diag);
}

/* --- kernels -------------------------------------------------------------------------------------------------------- */
RtKernel *rt_kernel_load(RtDevice *device, const KernelImage *image, Diag *diag)
{
    RtKernel *kernel = device->backend->kernel_load(device, image, diag);
    if (kernel) {
        kernel->cooperative = image->effects & EFFECT_GRID_SYNC;
        kernel->starts_early = image->effects & EFFECT_GRID_DEPENDENCY;
    }
    return kernel;
}

const char *rt_kernel_name(const RtKernel *kernel) { return kernel->name; }

void rt_kernel_unload(RtKernel *kernel)
{
    if (kernel)
        kernel->device->backend->kernel_unload(kernel);
}

RtModule *rt_module_load(RtDevice *device, const void *code, const char *name, int max_registers, Diag *diag)
{
    return device->backend->module_load(device, code, name, max_registers, diag);
}

void rt_module_unload(RtModule *module)
{
    if (module)
        module->device->backend->module_unload(module);
}

RtKernel *rt_module_kernel(RtModule *module, const char *name, bool is_cooperative, Diag *diag)
{
    RtKernel *kernel = module->device->backend->module_kernel(module, name, diag);
    if (kernel)
        kernel->cooperative = is_cooperative;
    return kernel;
}

uint64_t rt_module_handle(const RtModule *module) { return module->handle; }

uint64_t rt_kernel_module(RtKernel *kernel) { return kernel->device->backend->kernel_module(kernel); }

static inline __attribute__((always_inline)) bool launch_now(RtKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    return exceptions_check_stream(&kernel->device->exceptions, launch->stream, diag) &&
           kernel->device->backend->launch(kernel, launch, diag);
}

/* Of a kernel that says how it is launched, or where the thread records a graph. */
static OFF_LAUNCH_PATH bool launch_with_care(RtKernel *kernel, RtLaunch launch, Diag *diag)
{
    RtGraph *graph = rt_graph_recorded();
    launch.cooperative |= kernel->cooperative;
    launch.starts_early |= kernel->starts_early;
    return graph ? graph_add_launch(graph, kernel, &launch, diag) : launch_now(kernel, &launch, diag);
}

LAUNCH_PATH bool rt_launch(RtKernel *kernel, const RtLaunch *launch, Diag *diag)
{
    bool is_plain = !atomic_load_explicit(&rt_recording_threads, memory_order_relaxed) &&
                    !(kernel->cooperative | kernel->starts_early);
    return LIKELY(is_plain) ? launch_now(kernel, launch, diag) : launch_with_care(kernel, *launch, diag);
}
