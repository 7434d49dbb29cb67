/* Which context a thread has current. */
#include "runtime/cuda/cuda_context.h"

#include "runtime/cuda/cuda_backend.h"

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
