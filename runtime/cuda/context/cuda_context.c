/* Which context a thread has current, and what is found out of a stream made elsewhere when it is first used. */
#include "runtime/cuda/context/cuda_context.h"

#include <stdio.h>

#include "core/base/address.h"
#include "runtime/cuda/context/cuda_backend.h"

bool cuda_enter(RtDevice *device, CudaScope *scope, Diag *diag)
{
    CUcontext own = ((CudaDevice *)device)->context, current = NULL;
    *scope = (CudaScope){0};
    if (!driver_call(diag, cuCtxGetCurrent, &current))
        return false;
    if (current == own)
        return true;
    if (!driver_call(diag, cuCtxSetCurrent, own))
        return false;
    *scope = (CudaScope){.former = current, .restores = current || device->ordinal != 0};
    return true;
}

bool cuda_leave(const CudaScope *scope, bool ok)
{
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

/* The first stream that goes its own way ends ordered allocation, once what is under way has settled. */
static bool adopt(RtStream *stream, Diag *diag)
{
    unsigned int flags = 0;
    CudaDevice *device = (CudaDevice *)stream->device;
    if (!cuda_is_ordered(device))
        return true;
    bool ok = driver_call(diag, cuStreamGetFlags, cuda_stream_of(stream), &flags);
    if (ok && (flags & CU_STREAM_NON_BLOCKING)) {
        ok = driver_call(diag, cuCtxSynchronize);
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

bool cuda_enter_stream(RtDevice *device, RtStream *stream, CudaScope *scope, Diag *diag)
{
    if (!cuda_enter(device, scope, diag))
        return false;
    return !stream || stream->is_known || meet(stream, diag) || cuda_leave(scope, false);
}
