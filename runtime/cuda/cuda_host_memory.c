/* Host memory that a GPU reaches: page-locked, or managed by the driver. */
#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/cuda_context.h"
#include "runtime/cuda/cuda_memory.h"

static bool allocate_locked(RtDevice *device, RtHostBlock *block, Diag *diag)
{
    CUdeviceptr address = 0;
    unsigned int flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    if (block->kind == RT_HOST_WRITE_COMBINED)
        flags |= CU_MEMHOSTALLOC_WRITECOMBINED;
    CUresult result = driver.cuMemHostAlloc(&block->host, block->size, flags);
    if (!cuda_check_allocation(device, DRIVER_cuMemHostAlloc, result, block->size, diag))
        return false;
    if (!driver_call(diag, cuMemHostGetDevicePointer, &address, block->host, 0)) {
        driver.cuMemFreeHost(block->host);
        return false;
    }
    block->device = address;
    return true;
}

static bool allocate_managed(RtDevice *device, RtHostBlock *block, Diag *diag)
{
    CUdeviceptr address = 0;
    unsigned int attach = block->kind == RT_HOST_MANAGED ? CU_MEM_ATTACH_GLOBAL : CU_MEM_ATTACH_HOST;
    CUresult result = driver.cuMemAllocManaged(&address, block->size, attach);
    if (!cuda_check_allocation(device, DRIVER_cuMemAllocManaged, result, block->size, diag))
        return false;
    block->device = address;
    block->host = (void *)(uintptr_t)address;
    return true;
}

static bool is_managed(RtHostBlock *block)
{
    return block->kind == RT_HOST_MANAGED || block->kind == RT_HOST_MANAGED_BY_HOST;
}

bool cuda_allocate_host(RtDevice *device, RtHostBlock *block, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok = is_managed(block) ? allocate_managed(device, block, diag) : allocate_locked(device, block, diag);
    return cuda_leave(&scope, ok);
}

bool cuda_release_host(RtDevice *device, RtHostBlock *block, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok =
        is_managed(block) ? driver_call(diag, cuMemFree, block->device) : driver_call(diag, cuMemFreeHost, block->host);
    return cuda_leave(&scope, ok);
}

bool cuda_register_host(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag)
{
    CudaScope scope;
    CUdeviceptr address = 0;
    if (!cuda_enter(device, &scope, diag))
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
    if (!cuda_enter(device, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuMemHostUnregister, host));
}
