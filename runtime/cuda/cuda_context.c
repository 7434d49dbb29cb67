/* Which context a thread has current. */
#include "runtime/cuda/cuda_context.h"

bool cuda_enter(RtDevice *device, CudaScope *scope, Diag *diag)
{
    CUcontext own = ((CudaDevice *)device)->context, current = NULL;
    scope->restore = NULL;
    if (!driver_call(diag, cuCtxGetCurrent, &current))
        return false;
    if (current == own)
        return true;
    if (!driver_call(diag, cuCtxSetCurrent, own))
        return false;
    scope->restore = current;
    return true;
}

bool cuda_leave(const CudaScope *scope, bool ok)
{
    if (scope->restore)
        driver.cuCtxSetCurrent(scope->restore);
    return ok;
}
