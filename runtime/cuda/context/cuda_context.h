/* A GPU, and its context as the current one of a thread. */
#ifndef CUJIT_RUNTIME_CUDA_CONTEXT_H
#define CUJIT_RUNTIME_CUDA_CONTEXT_H

#include <stdatomic.h>

#include "core/base/likely.h"
#include "runtime/cuda/context/cuda_staging.h"

typedef struct CudaDevice {
    RtDevice base;
    CUdevice device;
    CUcontext context;       /* the primary one, retained */
    int multiprocessors;
    bool has_pool;
    _Atomic bool has_memory;   /* there may be arrays */
    _Atomic bool pool_used;    /* some of it may be such as cuMemFree frees without waiting */
    _Atomic bool has_streams;  /* work may run on another stream than the default one */
    _Atomic bool unordered;    /* work may run on a stream that does not synchronize with the default one */
    _Atomic size_t stack;      /* bytes of a thread's, as they were set for kernels that take more of it; 0: never */
    _Atomic size_t own_stack;  /* as they had been */
    CudaStaging staging[2];    /* from the device, to it */
} CudaDevice;

/* Makes the device's context current on this thread and remembers what another library had current. Costs one
 * cuCtxGetCurrent when it is current already, which it is from a thread's second call on. */
typedef struct CudaScope {
    CUcontext former;
    CUstreamCaptureMode mode; /* the thread's own */
    bool restores, restores_mode;
} CudaScope;
static inline bool cuda_enter(RtDevice *device, CudaScope *scope, Diag *diag);
/* cuda_enter, for calls that are no part of any stream's work: they make and free memory, modules, streams, events. While a
 * thread captures what another library does, the driver refuses them to all threads, and the capture is lost, unless the
 * caller's thread says, as this does, that it knows what it does. */
bool cuda_enter_uncaptured(RtDevice *device, CudaScope *scope, Diag *diag);
/* cuda_enter, for work on a stream (NULL: the default one): one that was made elsewhere is looked at when it is first used. */
static inline bool cuda_enter_stream(RtDevice *device, RtStream *stream, CudaScope *scope, Diag *diag);
/* Gives the thread its former context back (that one may be gone: no failure of ours). Where it had none, that of the first
 * GPU stays, which it has for other libraries, too. Returns ok. */
static inline bool cuda_leave(const CudaScope *scope, bool ok);

/* Whether memory is allocated and freed in the order of the default stream, without waiting. */
static inline bool cuda_is_ordered(const CudaDevice *device) { return device->has_pool && !device->unordered; }

/* Whether what is done on the stream becomes part of a graph, or the driver does not say that it does not. */
bool cuda_is_captured(CUstream stream);

/* The parts of these that launches hardly ever need. */
__attribute__((cold)) bool cuda_switch(RtDevice *device, CUcontext former, CudaScope *scope, Diag *diag);
__attribute__((cold)) bool cuda_switch_back(const CudaScope *scope, bool ok);
__attribute__((cold)) bool cuda_meet(RtStream *stream, CudaScope *scope, Diag *diag);

static inline bool cuda_enter(RtDevice *device, CudaScope *scope, Diag *diag)
{
    CUcontext current = NULL;
    scope->restores = scope->restores_mode = false;
    if (!driver_call(diag, cuCtxGetCurrent, &current))
        return false;
    return LIKELY((uint64_t)(uintptr_t)current == device->context) || cuda_switch(device, current, scope, diag);
}

static inline bool cuda_enter_stream(RtDevice *device, RtStream *stream, CudaScope *scope, Diag *diag)
{
    return cuda_enter(device, scope, diag) && (!stream || stream->is_known || cuda_meet(stream, scope, diag));
}

static inline bool cuda_leave(const CudaScope *scope, bool ok)
{
    return scope->restores | scope->restores_mode ? cuda_switch_back(scope, ok) : ok;
}

static inline CUstream cuda_stream_of(const RtStream *stream)
{
    return (CUstream)(uintptr_t)stream_handle_or_default(stream);
}

#endif
