/* The CPU as a device, or as several (CUJIT_CPU_DEVICES): their records, attributes, whose memory is whose, and streams and
 * events, which have nothing to wait for because every call returns when its work is done. */
#define _GNU_SOURCE
#include "runtime/host/host_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "runtime/cuda/driver/driver_types.h"
#include "runtime/host/check/initialized.h"
#include "runtime/host/machine/host_allocations.h"
#include "runtime/host/host_backend.h"
#include "runtime/host/host_pool.h"

/* --- attributes ----------------------------------------------------------------------------------------------------- */
static const struct {
    int attribute, value;
} host_attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, HOST_MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, HOST_DEFAULT_SHARED},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, HOST_MAX_SHARED},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, HOST_MAX_SHARED},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, HOST_REGISTERS},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, HOST_REGISTERS},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, HOST_WARP},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, HOST_MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 1},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    /* What programs divide by, or make a bandwidth of: clock64 counts nanoseconds, kHz are told; DDR5 on two channels. */
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2400000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 128},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
};

bool host_attribute(RtDevice *device, int attribute, int *value, Diag *diag)
{
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        return host_pool_size(value, diag);
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) /* what tells devices apart in all processes */
        *value = device->ordinal;
    for (size_t i = 0; i < sizeof host_attributes / sizeof *host_attributes; i++)
        if (host_attributes[i].attribute == attribute)
            *value = host_attributes[i].value;
    return true;
}

bool host_uuid(RtDevice *device, uint8_t uuid[16], Diag *diag)
{
    (void)diag;
    memcpy(uuid, "cujit-cpu-device", 16);
    uuid[15] = (uint8_t)(uuid[15] + device->ordinal);
    return true;
}

bool host_synchronize(RtDevice *device, Diag *diag)
{
    (void)device, (void)diag;
    return true;
}

/* --- several devices: all can do what hardware with peer access can -------------------------------------------------- */
bool host_make_current(RtDevice *device, uint64_t *former, Diag *diag)
{
    (void)device, (void)former, (void)diag;
    return true;
}

bool host_restore_current(RtDevice *device, uint64_t former, Diag *diag)
{
    (void)device, (void)former, (void)diag;
    return true;
}

bool host_pointer_home(RtDevice *device, RtPointer pointer, uint64_t *home, Diag *diag)
{
    (void)device, (void)diag;
    HostAllocation found;
    *home = host_allocations_find(pointer, &found) && found.home ? found.home->base.bit : 0;
    return true;
}

bool host_pointer_is_here(RtDevice *device, RtPointer pointer, bool *is_here, Diag *diag)
{
    uint64_t home;
    bool ok = host_pointer_home(device, pointer, &home, diag);
    *is_here = home == device->bit;
    return ok;
}

bool host_can_access_peer(RtDevice *device, RtDevice *peer, bool *can, Diag *diag)
{
    (void)device, (void)diag;
    *can = peer->backend->kind == RT_CPU;
    return true;
}

bool host_enable_peer_access(RtDevice *device, RtDevice *peer, Diag *diag)
{
    if (peer->backend->kind != RT_CPU)
        return diag_fail(diag, NULL, DIAG_PEER_ACCESS, device->name, peer->name);
    atomic_fetch_or(&device->reach, peer->bit);
    return true;
}

bool host_copy_between(RtDevice *to_device, RtPointer to, RtDevice *from_device, RtPointer from, size_t size,
                       RtStream *stream, Diag *diag)
{
    if (from_device->backend->kind != RT_CPU)
        return diag_fail(diag, NULL, DIAG_PEER_ACCESS, to_device->name, from_device->name);
    return host_copy_on_device(to_device, to, from, size, stream, diag);
}

/* --- streams and events --------------------------------------------------------------------------------------------- */
/* Numbers that no other stream of the process has; 0, 1 and 2 name default streams. */
bool host_stream_create(RtStream *stream, Diag *diag)
{
    enum { FIRST = 3 };
    (void)diag;
    HostDevice *device = (HostDevice *)stream->device;
    stream->handle = (uint64_t)device->base.ordinal << 32 | (FIRST + atomic_fetch_add(&device->streams, 1));
    return true;
}

void host_stream_destroy(RtStream *stream) { (void)stream; }

bool host_stream_synchronize(RtDevice *device, RtStream *stream, Diag *diag)
{
    (void)device, (void)stream, (void)diag;
    return true;
}

bool host_stream_wait_event(RtDevice *device, RtStream *stream, RtEvent *event, Diag *diag)
{
    (void)device, (void)stream, (void)event, (void)diag;
    return true;
}

bool host_stream_query(RtDevice *device, RtStream *stream, bool *done, Diag *diag)
{
    (void)device, (void)stream, (void)diag;
    return *done = true;
}

bool host_event_create(RtEvent *event, bool timing, Diag *diag)
{
    (void)event, (void)timing, (void)diag;
    return true;
}

void host_event_destroy(RtEvent *event) { (void)event; }

bool host_event_record(RtEvent *event, RtStream *stream, Diag *diag)
{
    (void)stream, (void)diag;
    event->nanoseconds = clock_nanoseconds();
    return true;
}

bool host_event_synchronize(RtEvent *event, Diag *diag)
{
    (void)event, (void)diag;
    return true;
}

bool host_event_query(RtEvent *event, bool *done, Diag *diag)
{
    (void)event, (void)diag;
    return *done = true;
}

bool host_event_elapsed(RtEvent *start, RtEvent *end, float *milliseconds, Diag *diag)
{
    if (!start->timing || !end->timing || !start->nanoseconds || !end->nanoseconds)
        return diag_fail_code(diag, CUDA_ERROR_INVALID_HANDLE, DIAG_DRIVER_CALL, "the time between two events",
                              "CUDA_ERROR_INVALID_HANDLE", CUDA_ERROR_INVALID_HANDLE,
                              "an event was made without timing or has not been recorded");
    *milliseconds = (float)((double)(end->nanoseconds - start->nanoseconds) * 1e-6);
    return true;
}

/* --- the device ----------------------------------------------------------------------------------------------------- */
static const RtBackend host_backend = {
    .kind = RT_CPU,
#define FORWARD(name, face, object, first, done, parameters, arguments) .name = host_##name,
#define OWN(result, name, parameters) .name = host_##name,
#include "runtime/backend.def"
};

static const LaunchLimits host_limits = {
    .threads = HOST_MAX_THREADS,
    .block = {1024, 1024, 64},
    .grid = {INT32_MAX, 65535, 65535},
    .shared = HOST_MAX_SHARED,
    .shared_default = HOST_DEFAULT_SHARED,
};

bool host_device_count(int *count, Diag *diag)
{
    const char *text = getenv("CUJIT_CPU_DEVICES");
    *count = 1;
    if (!text || !*text)
        return true;
    char *end;
    long number = strtol(text, &end, 10);
    if (*end || number < 1 || number > MOST_CPU_DEVICES)
        return diag_fail(diag, NULL, DIAG_HOST_DEVICES, text, MOST_CPU_DEVICES);
    *count = (int)number;
    return true;
}

/* "CPU", or "CPU (model)" where the system says which; "CPU 0" and so on where there are several. */
static void name_host_device(HostDevice *device)
{
    char line[200], model[160] = "", number[16] = "";
    RtDevice *base = &device->base;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !model[0] && fgets(line, sizeof line, file))
        sscanf(line, "model name : %159[^\n]", model);
    if (file)
        fclose(file);
    if (device->count > 1)
        snprintf(number, sizeof number, " %d", base->ordinal);
    snprintf(base->name, sizeof base->name, model[0] ? "CPU%s (%s)" : "CPU%s%s", number, model);
}

RtDevice *host_device_open(int ordinal, Diag *diag)
{
    int count;
    if (!host_device_count(&count, diag))
        return NULL;
    if (ordinal < 0 || ordinal >= count) {
        diag_fail(diag, NULL, DIAG_NO_HOST_DEVICE, ordinal, count);
        return NULL;
    }
    HostDevice *device = memory_new(sizeof *device, diag);
    if (!device)
        return NULL;
    device->count = count;
    device->base.backend = &host_backend;
    device->base.ordinal = ordinal;
    device->base.is_alone = count == 1;
    device->base.bit = device_bit(RT_CPU, ordinal);
    device->base.reach = device->base.bit;
    device->base.limits = host_limits;
    exception_store_init(&device->base.exceptions);
    name_host_device(device);
    return &device->base;
}

void host_device_close(RtDevice *device) { memory_free(device); }
