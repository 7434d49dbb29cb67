/* Which context a thread has current, and what is found out of a stream made elsewhere when it is first used. */
#include "runtime/cuda/context/cuda_context.h"

#include <stdio.h>

#include "core/base/address.h"
#include "runtime/cuda/context/cuda_backend.h"

bool cuda_switch(RtDevice *device, CUcontext former, CudaScope *scope, Diag *diag)
{
    if (!driver_call(diag, cuCtxSetCurrent, ((CudaDevice *)device)->context))
        return false;
    *scope = (CudaScope){.former = former, .restores = former || device->ordinal != 0};
    return true;
}

/* Exchanges the thread's capture mode for the one without refusals. False where that cannot be. */
static bool relax_captures(CUstreamCaptureMode *former)
{
    *former = CU_STREAM_CAPTURE_MODE_RELAXED;
    return driver.cuThreadExchangeStreamCaptureMode(former) == CUDA_SUCCESS;
}

static void restore_captures(CUstreamCaptureMode former) { driver.cuThreadExchangeStreamCaptureMode(&former); }

bool cuda_enter_uncaptured(RtDevice *device, CudaScope *scope, Diag *diag)
{
    if (!cuda_enter(device, scope, diag))
        return false;
    scope->restores_mode = relax_captures(&scope->mode);
    return true;
}

bool cuda_switch_back(const CudaScope *scope, bool ok)
{
    if (scope->restores_mode)
        restore_captures(scope->mode);
    if (scope->restores)
        driver.cuCtxSetCurrent(scope->former);
    return ok;
}

bool cuda_make_current(RtDevice *device, uint64_t *former, Diag *diag)
{
    CUcontext current = NULL;
    if (!driver_call(diag, cuCtxGetCurrent, &current))
        return false;
    *former = (uint64_t)(uintptr_t)current;
    return driver_call(diag, cuCtxSetCurrent, ((CudaDevice *)device)->context);
}

bool cuda_restore_current(RtDevice *device, uint64_t former, Diag *diag)
{
    (void)device, (void)diag;
    driver.cuCtxSetCurrent((CUcontext)(uintptr_t)former); /* it may be gone */
    return true;
}

/* Handles 0 to 2 are CUDA's names for default streams; 2 is another one for each thread. */
enum { LEGACY_STREAM = 1, LAST_DEFAULT_STREAM = 2 };

bool cuda_is_captured(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return driver.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Waits until memory is there, and free of what was in it, that was allocated in the order of the default stream. Another
 * library may capture meanwhile, and the stream may be what it captures: a wait for the whole context would end that. Where one
 * waits for the default stream so does each that is captured and synchronizes with it: the driver says so before anything is
 * lost. */
static bool settle_allocations(const CudaDevice *device, Diag *diag)
{
    CUstreamCaptureStatus status;
    CUstreamCaptureMode former;
    if (!device->has_memory)
        return true;
    if (!driver_call(diag, cuStreamIsCapturing, NULL, &status))
        return false;
    bool is_relaxed = relax_captures(&former);
    bool ok = driver_call(diag, cuStreamSynchronize, NULL);
    if (is_relaxed)
        restore_captures(former);
    return ok;
}

/* The first stream that goes its own way ends ordered allocation, once what is under way has settled. One that is captured
 * cannot be asked, and the graph may run on any. */
static bool adopt(RtStream *stream, Diag *diag)
{
    unsigned int flags = CU_STREAM_NON_BLOCKING;
    CudaDevice *device = (CudaDevice *)stream->device;
    if (device->unordered)
        return true;
    bool ok =
        cuda_is_captured(cuda_stream_of(stream)) || driver_call(diag, cuStreamGetFlags, cuda_stream_of(stream), &flags);
    if (ok && (flags & CU_STREAM_NON_BLOCKING)) {
        ok = settle_allocations(device, diag);
        device->unordered = ok;
    }
    return ok;
}

/* The driver reads what a handle points to without a look: a number that is no address ends the process. */
static bool meet(RtStream *stream, Diag *diag)
{
    char text[24];
    if (stream->handle > LAST_DEFAULT_STREAM) {
        snprintf(text, sizeof text, "%#llx", (unsigned long long)stream->handle);
        if (!address_is_readable(stream->handle))
            return diag_fail(diag, NULL, DIAG_NO_STREAM, text);
        if (!adopt(stream, diag))
            return false;
    }
    if (stream->handle > LEGACY_STREAM)
        ((CudaDevice *)stream->device)->has_streams = true;
    stream->is_known = true;
    return true;
}

bool cuda_meet(RtStream *stream, CudaScope *scope, Diag *diag)
{
    return meet(stream, diag) || cuda_leave(scope, false);
}
