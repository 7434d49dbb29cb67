/* Host memory that a GPU reaches: page-locked, or managed by the driver. */
#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"
#include "runtime/cuda/memory/cuda_memory.h"

static bool allocate_locked(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    CUdeviceptr address = 0;
    unsigned int flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    if (buffer->kind == RT_HOST_WRITE_COMBINED)
        flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
    CUresult result = driver.cuMemHostAlloc(&buffer->host, buffer->size, flags);
    if (!cuda_check_allocation(device, DRIVER_cuMemHostAlloc, result, buffer->size, diag))
        return false;
    if (!driver_call(diag, cuMemHostGetDevicePointer, &address, buffer->host, 0)) {
        driver.cuMemFreeHost(buffer->host);
        return false;
    }
    buffer->device = address;
    return true;
}

static bool allocate_managed(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    CUdeviceptr address = 0;
    unsigned int attach = buffer->kind == RT_HOST_MANAGED ? CU_MEM_ATTACH_GLOBAL : CU_MEM_ATTACH_HOST;
    CUresult result = driver.cuMemAllocManaged(&address, buffer->size, attach);
    if (!cuda_check_allocation(device, DRIVER_cuMemAllocManaged, result, buffer->size, diag))
        return false;
    buffer->device = address;
    buffer->host = (void *)(uintptr_t)address;
    return true;
}

static bool is_managed(RtHostBuffer *buffer)
{
    return buffer->kind == RT_HOST_MANAGED || buffer->kind == RT_HOST_MANAGED_BY_HOST;
}

bool cuda_allocate_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    bool ok = is_managed(buffer) ? allocate_managed(device, buffer, diag) : allocate_locked(device, buffer, diag);
    return cuda_leave(&scope, ok);
}

bool cuda_release_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    bool ok = is_managed(buffer) ? driver_call(diag, cuMemFree, buffer->device)
                                 : driver_call(diag, cuMemFreeHost, buffer->host);
    return cuda_leave(&scope, ok);
}

bool cuda_register_host(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag)
{
    CudaScope scope;
    CUdeviceptr address = 0;
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    bool ok =
        driver_call(diag, cuMemHostRegister, host, size, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (ok && !driver_call(diag, cuMemHostGetDevicePointer, &address, host, 0)) {
        driver.cuMemHostUnregister(host);
        ok = false;
    }
    *pointer = address;
    return cuda_leave(&scope, ok);
}

bool cuda_unregister_host(RtDevice *device, void *host, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuMemHostUnregister, host));
}
