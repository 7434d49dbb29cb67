/* Streams and events of a GPU. Streams made here synchronize with the default stream (CU_STREAM_DEFAULT), as numba's do. */
#include "runtime/cuda/context/cuda_backend.h"
#include "runtime/cuda/context/cuda_context.h"
#include "runtime/cuda/driver/launch_log.h"

static CUevent event_of(const RtEvent *event) { return (CUevent)event->handle; }

/* CUDA_ERROR_NOT_READY is an answer, not a failure. */
static bool check_query(DriverFunctionId function, CUresult result, bool *done, Diag *diag)
{
    *done = result == CUDA_SUCCESS;
    return result == CUDA_ERROR_NOT_READY || driver_check(diag, function, result);
}

/* --- streams -------------------------------------------------------------------------------------------------------- */
bool cuda_stream_create(RtStream *stream, Diag *diag)
{
    CudaScope scope;
    CUstream handle = NULL;
    if (!cuda_enter_uncaptured(stream->device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuStreamCreate, &handle, CU_STREAM_DEFAULT);
    ((CudaDevice *)stream->device)->has_streams = true;
    stream->handle = (uint64_t)(uintptr_t)handle;
    return cuda_leave(&scope, ok);
}

void cuda_stream_destroy(RtStream *stream)
{
    CudaScope scope;
    Diag ignored = {0}; /* a process that ends has no one to tell */
    if (!cuda_enter_uncaptured(stream->device, &scope, &ignored))
        return;
    cuda_leave(&scope, driver_call(&ignored, cuStreamDestroy, cuda_stream_of(stream)));
}

bool cuda_stream_synchronize(RtDevice *device, RtStream *stream, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(device, stream, &scope, diag))
        return false;
    uint64_t before = launch_log_count();
    bool ok = driver_call(diag, cuStreamSynchronize, cuda_stream_of(stream));
    if (ok)
        launch_log_forget(before, device->ordinal, stream_handle_or_default(stream));
    return cuda_leave(&scope, ok);
}

bool cuda_stream_wait_event(RtDevice *device, RtStream *stream, RtEvent *event, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(device, stream, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuStreamWaitEvent, cuda_stream_of(stream), event_of(event), 0));
}

bool cuda_stream_query(RtDevice *device, RtStream *stream, bool *done, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(device, stream, &scope, diag))
        return false;
    bool ok = check_query(DRIVER_cuStreamQuery, driver.cuStreamQuery(cuda_stream_of(stream)), done, diag);
    return cuda_leave(&scope, ok);
}

/* --- events --------------------------------------------------------------------------------------------------------- */
bool cuda_event_create(RtEvent *event, bool timing, Diag *diag)
{
    CudaScope scope;
    CUevent handle = NULL;
    if (!cuda_enter_uncaptured(event->device, &scope, diag))
        return false;
    bool ok = driver_call(diag, cuEventCreate, &handle, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
    event->handle = handle;
    return cuda_leave(&scope, ok);
}

void cuda_event_destroy(RtEvent *event)
{
    CudaScope scope;
    Diag ignored = {0};
    if (!cuda_enter_uncaptured(event->device, &scope, &ignored))
        return;
    cuda_leave(&scope, driver_call(&ignored, cuEventDestroy, event_of(event)));
}

bool cuda_event_record(RtEvent *event, RtStream *stream, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter_stream(event->device, stream, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuEventRecord, event_of(event), cuda_stream_of(stream)));
}

bool cuda_event_synchronize(RtEvent *event, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(event->device, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuEventSynchronize, event_of(event)));
}

bool cuda_event_query(RtEvent *event, bool *done, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(event->device, &scope, diag))
        return false;
    bool ok = check_query(DRIVER_cuEventQuery, driver.cuEventQuery(event_of(event)), done, diag);
    return cuda_leave(&scope, ok);
}

bool cuda_event_elapsed(RtEvent *start, RtEvent *end, float *milliseconds, Diag *diag)
{
    CudaScope scope;
    if (!cuda_enter(start->device, &scope, diag))
        return false;
    return cuda_leave(&scope, driver_call(diag, cuEventElapsedTime, milliseconds, event_of(start), event_of(end)));
}
