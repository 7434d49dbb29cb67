/* Several GPUs: whose memory a pointer is, kernels of one on memory of another, and copies from one to another. */
#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"

/* --- whose memory ---------------------------------------------------------------------------------------------------- */
bool cuda_pointer_is_here(RtDevice *device, RtPointer pointer, bool *is_here, Diag *diag)
{
    int ordinal = -1;
    CudaScope scope;
    if (!cuda_enter(device, &scope, diag))
        return false;
    CUresult result = driver.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer);
    *is_here = result == CUDA_SUCCESS && ordinal == device->ordinal; /* memory that the driver does not know fails */
    return cuda_leave(&scope, true);
}

bool cuda_pointer_home(RtDevice *device, RtPointer pointer, uint64_t *home, Diag *diag)
{
    CudaScope scope;
    unsigned int type = 0;
    int is_managed = 0, ordinal = -1; /* the driver writes one byte of a flag */
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&type, &is_managed, &ordinal};
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuPointerGetAttributes, 3, attributes, values, pointer);
    *home = ok && type == CU_MEMORYTYPE_DEVICE && !is_managed ? device_bit(RT_GPU, ordinal) : 0;
    return cuda_leave(&scope, ok);
}

/* --- peers ----------------------------------------------------------------------------------------------------------- */
bool cuda_can_access_peer(RtDevice *device, RtDevice *peer, bool *can, Diag *diag)
{
    int answer = 0;
    bool ok =
        driver_call(diag, cuDeviceCanAccessPeer, &answer, ((CudaDevice *)device)->device, ((CudaDevice *)peer)->device);
    *can = ok && answer;
    return ok;
}

/* Memory of the peer's pool is not the context's, and is opened by itself. */
static bool open_pool(const CudaDevice *device, const CudaDevice *peer, Diag *diag)
{
    CUmemoryPool pool = NULL;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device->device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return !peer->has_pool || (driver_call(diag, cuDeviceGetDefaultMemPool, &pool, peer->device) &&
                               driver_call(diag, cuMemPoolSetAccess, pool, &access, 1));
}

bool cuda_enable_peer_access(RtDevice *device, RtDevice *peer, Diag *diag)
{
    bool can;
    CudaScope scope;
    if (!cuda_can_access_peer(device, peer, &can, diag))
        return false;
    if (!can)
        return diag_fail(diag, NULL, DIAG_PEER_ACCESS, device->name, peer->name);
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    CUresult result = driver.cuCtxEnablePeerAccess(((CudaDevice *)peer)->context, 0);
    bool ok =
        result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED || driver_check(diag, DRIVER_cuCtxEnablePeerAccess, result);
    ok = ok && open_pool((CudaDevice *)device, (CudaDevice *)peer, diag);
    if (ok)
        atomic_fetch_or(&device->reach, peer->bit);
    return cuda_leave(&scope, ok);
}

/* --- copies ---------------------------------------------------------------------------------------------------------- */
/* Makes what comes next in `later` of one device wait for what is in `earlier` of another one by now. */
static bool order(RtDevice *device, CUstream earlier, RtDevice *later_device, CUstream later, Diag *diag)
{
    CudaScope scope;
    CUevent mark = NULL;
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuEventCreate, &mark, CU_EVENT_DISABLE_TIMING) &&
              driver_call(diag, cuEventRecord, mark, earlier);
    cuda_leave(&scope, ok);
    if (ok && cuda_enter(later_device, &scope, diag))
        ok = cuda_leave(&scope, driver_call(diag, cuStreamWaitEvent, later, mark, 0));
    if (mark)
        driver.cuEventDestroy(mark); /* the driver keeps it for as long as a stream waits */
    return ok && !diag_failed(diag);
}

/* The stream's device orders what both devices do; the other one's default stream waits, too, so that memory that is freed
 * or written there next is not that of a copy under way. */
static bool copy_in_stream(CUdeviceptr to, CudaDevice *to_device, CUdeviceptr from, CudaDevice *from_device,
                           size_t size, RtStream *stream, Diag *diag)
{
    CudaScope scope;
    CUstream own = cuda_stream_of(stream);
    RtDevice *here = stream->device, *there = here == &to_device->base ? &from_device->base : &to_device->base;
    bool is_usable = cuda_enter_stream(here, stream, &scope, diag) && cuda_leave(&scope, true);
    if (!is_usable || !order(there, NULL, here, own, diag) || !cuda_enter(here, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuMemcpyPeerAsync, to, to_device->context, from, from_device->context, size, own);
    return cuda_leave(&scope, ok) && order(here, own, there, NULL, diag);
}

bool cuda_copy_between(RtDevice *to_device, RtPointer to, RtDevice *from_device, RtPointer from, size_t size,
                       RtStream *stream, Diag *diag)
{
    CudaScope scope;
    CudaDevice *target = (CudaDevice *)to_device, *source = (CudaDevice *)from_device;
    if (stream)
        return copy_in_stream(to, target, from, source, size, stream, diag);
    if (!cuda_enter(to_device, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuMemcpyPeer, to, target->context, from, source->context, size));
}
