/* GPU memory and copies. Without a stream, copies are CUDA's synchronous ones, as callers of a
 * default stream expect; with one, they are ordered on it. */
#include "runtime/cuda/memory/cuda_memory.h"

#include <stdio.h>

#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"
#include "runtime/cuda/driver/launch_log.h"

bool cuda_check_allocation(RtDevice *device, DriverFunctionId function, CUresult result, size_t size, Diag *diag)
{
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return driver_check(diag, function, result);
    char text[160];
    snprintf(text, sizeof text, "%s (%d): %s", driver_error_name(result), (int)result, driver_error_text(result));
    return diag_fail(diag, NULL, DIAG_DEVICE_MEMORY, size, device->name, text);
}

bool cuda_clear_rest(CUdeviceptr address, size_t size, Diag *diag)
{
    size_t rest = cuda_whole_words(size) - size;
    return rest == 0 || driver_call(diag, cuMemsetD8Async, address + size, 0, rest, NULL);
}

bool cuda_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    CudaScope scope;
    CUdeviceptr address = 0;
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    ((CudaDevice *)device)->has_memory = true;
    bool ok = cuda_check_allocation(device, DRIVER_cuMemAlloc, driver.cuMemAlloc(&address, cuda_whole_words(size)),
                                    size, diag);
    if (ok && !cuda_clear_rest(address, size, diag)) {
        driver.cuMemFree(address);
        ok = false;
    }
    *pointer = address;
    return cuda_leave(&scope, ok);
}

bool cuda_release(RtDevice *device, RtPointer pointer, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_uncaptured(device, &scope, diag))
        return false;
    /* It waits for the device by itself, except for memory of the driver's pool, which has been waited for. */
    return cuda_leave(&scope, driver_call(diag, cuMemFree, pointer));
}

bool cuda_copy_to_device(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(device, stream, &scope, diag))
        return false;
    bool ok;
    if (!cuda_staged_copy(device, true, to, (void *)from, size, cuda_stream_of(stream), &ok, diag))
        ok = stream ? driver_call(diag, cuMemcpyHtoDAsync, to, from, size, cuda_stream_of(stream))
                    : driver_call(diag, cuMemcpyHtoD, to, from, size);
    return cuda_leave(&scope, ok);
}

bool cuda_copy_to_host(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(device, stream, &scope, diag))
        return false;
    bool ok;
    uint64_t before = launch_log_count();
    if (!cuda_staged_copy(device, false, from, to, size, cuda_stream_of(stream), &ok, diag))
        ok = stream ? driver_call(diag, cuMemcpyDtoHAsync, to, from, size, cuda_stream_of(stream))
                    : driver_call(diag, cuMemcpyDtoH, to, from, size);
    if (ok && !stream)
        launch_log_forget(before, device->ordinal, 0);
    return cuda_leave(&scope, ok);
}

bool cuda_copy_on_device(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(device, stream, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuMemcpyDtoDAsync, to, from, size, cuda_stream_of(stream)));
}

bool cuda_fill(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(device, stream, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuMemsetD8Async, to, byte, size, cuda_stream_of(stream)));
}
