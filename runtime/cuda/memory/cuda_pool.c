/* Memory of the driver's pool, allocated and freed in the order of the default stream. Streams that synchronize with it
 * need no more. As soon as work may run on one that does not, allocation and free are the plain ones, which wait. */
#include "runtime/cuda/memory/cuda_pool.h"

#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/memory/cuda_memory.h"

/* Freed memory that the pool keeps through a synchronization instead of giving it back. */
static const uint64_t POOL_KEEPS = (uint64_t)1 << 30;

bool cuda_pool_open(CudaDevice *device, Diag *diag)
{
    int supported = 0;
    uint64_t keeps = 0;
    CUmemoryPool pool = NULL;
    if (!driver_has(DRIVER_cuMemAllocAsync))
        return true;
    if (!driver_call(diag, cuDeviceGetAttribute, &supported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                     device->device))
        return false;
    if (!supported)
        return true;
    device->has_pool = true;
    if (!driver_call(diag, cuDeviceGetDefaultMemPool, &pool, device->device) ||
        !driver_call(diag, cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keeps))
        return false;
    if (keeps)
        return true; /* another library's choice */
    keeps = POOL_KEEPS;
    return driver_call(diag, cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keeps);
}

bool cuda_pool_unused(CudaDevice *device, size_t *unused, Diag *diag)
{
    uint64_t reserved = 0, used = 0;
    CUmemoryPool pool = NULL;
    *unused = 0;
    if (!device->pool_used)
        return true;
    if (!driver_call(diag, cuDeviceGetDefaultMemPool, &pool, device->device) ||
        !driver_call(diag, cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) ||
        !driver_call(diag, cuMemPoolGetAttribute, pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used))
        return false;
    *unused = reserved > used ? (size_t)(reserved - used) : 0;
    return true;
}

bool cuda_allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    CudaScope scope;
    CUdeviceptr address = 0;
    if (!cuda_is_ordered((CudaDevice *)device))
        return cuda_allocate(device, size, pointer, diag);
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    ((CudaDevice *)device)->has_memory = ((CudaDevice *)device)->pool_used = true;
    CUresult result = driver.cuMemAllocAsync(&address, cuda_whole_words(size), NULL);
    bool ok = cuda_check_allocation(device, DRIVER_cuMemAllocAsync, result, size, diag);
    if (ok && !cuda_clear_rest(address, size, diag)) {
        driver.cuMemFreeAsync(address, NULL);
        ok = false;
    }
    *pointer = address;
    return cuda_leave(&scope, ok);
}

bool cuda_release_ordered(RtDevice *device, RtPointer pointer, Diag *diag)
{
    CudaScope scope;
    if (!cuda_is_ordered((CudaDevice *)device))
        return cuda_release(device, pointer, diag);
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuMemFreeAsync, pointer, NULL));
}

bool cuda_settling_waits(const RtDevice *device, RtPoolKind kind, bool is_shared)
{
    return kind != RT_POOL_DEVICE || is_shared || ((const CudaDevice *)device)->unordered;
}

/* Device memory: work in the default stream comes behind all that is in the others, and those go on behind it; where a
 * stream does not synchronize with it, as those of other libraries may not, and for pinned memory, which the host writes next,
 * nothing may be under way. */
bool cuda_settle(RtDevice *device, RtPoolKind kind, RtPointer pointer, bool is_shared, Diag *diag)
{
    CudaScope scope;
    const CudaDevice *own = (CudaDevice *)device;
    if (kind == RT_POOL_DEVICE && !is_shared && !own->has_streams)
        return true;
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok = cuda_settling_waits(device, kind, is_shared)
                  ? driver_call(diag, cuCtxSynchronize)
                  : driver_call(diag, cuMemsetD8Async, pointer, 0, sizeof(int), NULL);
    return cuda_leave(&scope, ok);
}

bool cuda_may_keep(const RtDevice *device)
{
    (void)device;
    return true;
}

/* The driver's pool gives the memory of it that nobody uses to the system. */
bool cuda_trim(RtDevice *device, Diag *diag)
{
    CudaScope scope;
    CUmemoryPool pool = NULL;
    if (!((CudaDevice *)device)->pool_used)
        return true;
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuCtxSynchronize) &&
              driver_call(diag, cuDeviceGetDefaultMemPool, &pool, ((CudaDevice *)device)->device) &&
              driver_call(diag, cuMemPoolTrimTo, pool, 0);
    return cuda_leave(&scope, ok);
}

bool cuda_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag)
{
    CudaScope scope;
    size_t unused = 0;
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuMemGetInfo, free_bytes, total_bytes) &&
              cuda_pool_unused((CudaDevice *)device, &unused, diag);
    *free_bytes += unused;
    return cuda_leave(&scope, ok);
}
