/* GPU memory for other processes (CUDA's IPC): handles of what cuMemAlloc gave. */
#include <string.h>

#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"

_Static_assert(sizeof(RtExport) == sizeof(CUipcMemHandle), "a handle is a handle");

bool cuda_memory_range(RtDevice *device, RtPointer pointer, RtPointer *start, size_t *size, Diag *diag)
{
    CudaScope scope;
    CUdeviceptr first = 0;
    if (!cuda_enter(device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuMemGetAddressRange, &first, size, pointer);
    *start = first;
    return cuda_leave(&scope, ok);
}

bool cuda_export_memory(RtDevice *device, RtPointer pointer, RtExport *handle, Diag *diag)
{
    CudaScope scope;
    CUipcMemHandle made = {{0}};
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    CUresult result = driver.cuIpcGetMemHandle(&made, pointer);
    bool ok =
        result == CUDA_ERROR_INVALID_VALUE
            ? diag_fail(diag, NULL, DIAG_SHARED_MEMORY,
                        "this memory cannot be given to other processes: it is of a pool, of the host, or managed. An "
                        "array leaves cujit's pool only while no view, library or kernel knows its address")
            : driver_check(diag, DRIVER_cuIpcGetMemHandle, result);
    memcpy(handle->bytes, made.reserved, sizeof made.reserved);
    return cuda_leave(&scope, ok);
}

/* The driver's answers where the memory is not there: INVALID_HANDLE (tried on an H100). In the process that made it, that
 * would be INVALID_CONTEXT. */
bool cuda_import_memory(RtDevice *device, const RtExport *handle, RtPointer *pointer, Diag *diag)
{
    CudaScope scope;
    CUdeviceptr address = 0;
    CUipcMemHandle given;
    memcpy(given.reserved, handle->bytes, sizeof given.reserved);
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    CUresult result = driver.cuIpcOpenMemHandle(&address, given, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    bool is_gone = result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_VALUE;
    bool ok =
        is_gone ? diag_fail(diag, NULL, DIAG_SHARED_MEMORY,
                            "there is no memory behind this IPC handle: the process that made it has ended or freed it")
                : driver_check(diag, DRIVER_cuIpcOpenMemHandle, result);
    *pointer = ok ? address : 0;
    return cuda_leave(&scope, ok);
}

bool cuda_close_import(RtDevice *device, RtPointer pointer, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuIpcCloseMemHandle, pointer));
}
