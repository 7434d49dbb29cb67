/* GPUs as devices: counting, opening with the primary context, attributes, and the table of what they do. */
#include "runtime/cuda/cuda_device.h"
#include "core/base/memory.h"
#include "core/thread/side_thread.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/driver/launch_log.h"
#include "runtime/cuda/memory/cuda_pool.h"

int cuda_device_count(const char **why, bool *ok, Diag *diag)
{
    int count = 0;
    DriverState state = driver_load(why, diag);
    *ok = state != DRIVER_BROKEN;
    if (state != DRIVER_READY)
        return 0;
    *ok = driver_call(diag, cuDeviceGetCount, &count);
    if (*ok && !count && why)
        *why = "the NVIDIA driver reports no device";
    return *ok ? count : 0;
}

bool cuda_attribute(RtDevice *device, int attribute, int *value, Diag *diag)
{
    return driver_call(diag, cuDeviceGetAttribute, value, (CUdevice_attribute)attribute,
                       ((CudaDevice *)device)->device);
}

bool cuda_uuid(RtDevice *device, uint8_t uuid[16], Diag *diag)
{
    CUuuid id = {{0}};
    if (!driver_call(diag, cuDeviceGetUuid, &id, ((CudaDevice *)device)->device))
        return false;
    memcpy(uuid, id.bytes, sizeof id.bytes);
    return true;
}

bool cuda_synchronize(RtDevice *device, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(device, &scope, diag))
        return false;
    uint64_t before = launch_log_count();
    bool ok = driver_call(diag, cuCtxSynchronize);
    if (ok)
        launch_log_forget(before, device->ordinal, 0);
    return cuda_leave(&scope, ok);
}

static const RtBackend cuda_backend = {
    .kind = RT_GPU,
#define FORWARD(name, face, object, first, done, parameters, arguments) .name = cuda_##name,
#define OWN(result, name, parameters) .name = cuda_##name,
#include "runtime/backend.def"
};

static bool read_limits(CudaDevice *device, Diag *diag)
{
    int major = 0, minor = 0;
    LaunchLimits *limits = &device->base.limits;
    const struct {
        CUdevice_attribute attribute;
        void *value;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &device->multiprocessors},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits->threads},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &limits->block[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &limits->block[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &limits->block[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &limits->grid[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &limits->grid[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &limits->grid[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &limits->shared_default},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &limits->shared},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!cuda_attribute(&device->base, (int)wanted[i].attribute, wanted[i].value, diag))
            return false;
    device->base.sm = major * 10 + minor;
    if (limits->shared < limits->shared_default)
        limits->shared = limits->shared_default;
    return true;
}

static bool count_devices(CudaDevice *device, Diag *diag)
{
    int count = 0;
    bool ok = driver_call(diag, cuDeviceGetCount, &count);
    device->base.is_alone = count < 2;
    return ok;
}

RtDevice *cuda_device_open(int ordinal, Diag *diag)
{
    if (!driver_require(diag))
        return NULL;
    CudaDevice *device = memory_new(sizeof *device, diag);
    if (!device)
        return NULL;
    device->base.backend = &cuda_backend;
    device->base.ordinal = ordinal;
    device->base.bit = device_bit(RT_GPU, ordinal);
    device->base.reach = device->base.bit;
    exception_store_init(&device->base.exceptions);
    for (int i = 0; i < 2; i++)
        cuda_staging_init(&device->staging[i]);
    if (driver_call(diag, cuDeviceGet, &device->device, ordinal) &&
        driver_call(diag, cuDeviceGetName, device->base.name, (int)sizeof device->base.name - 1, device->device) &&
        count_devices(device, diag) && read_limits(device, diag) && cuda_pool_open(device, diag) &&
        driver_call(diag, cuDevicePrimaryCtxRetain, &device->context, device->device)) {
        device->base.context = (uint64_t)(uintptr_t)device->context;
        prepare_beside(); /* the first kernel is loaded there */
        return &device->base;
    }
    memory_free(device);
    return NULL;
}

void cuda_device_close(RtDevice *device)
{
    CudaScope scope;
    Diag ignored = {0};
    if (cuda_enter(device, &scope, &ignored)) {
        for (int i = 0; i < 2; i++)
            cuda_staging_clear(&((CudaDevice *)device)->staging[i]);
        cuda_leave(&scope, true);
    }
    driver.cuDevicePrimaryCtxRelease(((CudaDevice *)device)->device);
    memory_free(device);
}
