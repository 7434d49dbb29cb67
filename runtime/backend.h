/* What the two kinds of device have in common inside runtime/: the objects behind runtime.h's opaque types and one table
 * of functions per kind. runtime.c answers what needs no device (size 0, NULL) and calls through the table. */
#ifndef CUJIT_RUNTIME_BACKEND_H
#define CUJIT_RUNTIME_BACKEND_H

#include "runtime/exception_store.h"
#include "runtime/launch_graph.h"
#include "runtime/launch_check.h"
#include "runtime/memory_pool.h"
#include "runtime/runtime.h"

typedef struct RtBackend {
    RtKind kind;
#define FORWARD(name, face, object, first, done, parameters, arguments) bool(*name) parameters;
#define OWN(result, name, parameters) result(*name) parameters;
#include "runtime/backend.def"
} RtBackend;

/* A set of devices has a bit for each GPU, and behind them one for each CPU device. */
enum { MOST_GPUS = 48, MOST_CPU_DEVICES = 16 };

/* 0 where sets have no bit for it. */
static inline uint64_t device_bit(RtKind kind, int ordinal)
{
    int first = kind == RT_GPU ? 0 : MOST_GPUS, count = kind == RT_GPU ? MOST_GPUS : MOST_CPU_DEVICES;
    return ordinal >= 0 && ordinal < count ? (uint64_t)1 << (first + ordinal) : 0;
}

/* Starts CudaDevice and HostDevice. */
struct RtDevice {
    const RtBackend *backend;
    int ordinal;
    int sm;
    bool is_alone; /* no other device of the kind */
    uint64_t bit; /* its own, in sets of devices */
    uint64_t context; /* CUcontext; 0 on the CPU device */
    _Atomic uint64_t reach;
    LaunchLimits limits;
    ExceptionStore exceptions;
    MemoryPool memory, pinned;
    char name[256];
};

struct RtStream {
    RtDevice *device;
    uint64_t handle; /* CUstream; on the CPU device a number */
    bool owned;
    _Atomic bool is_known; /* GPU: the driver has been asked about a stream made elsewhere */
};

struct RtEvent {
    RtDevice *device;
    void *handle; /* CUevent */
    int64_t nanoseconds; /* CPU device: when it was recorded; 0: never */
    uint64_t stream; /* handle of the stream it was recorded in */
    bool timing;
    struct {
        uint64_t graph; /* in which it was recorded last; 0: none */
        uint32_t condition; /* in whose body; UINT32_MAX: none's */
        GraphNodes nodes;
    } recorded;
};

/* Starts CudaKernel and HostKernel. */
struct RtKernel {
    RtDevice *device;
    KernelLimits limits;
    bool cooperative, starts_early; /* in every launch */
    char name[256]; /* for messages */
};

struct RtModule {
    RtDevice *device;
    uint64_t handle; /* CUmodule */
    uint64_t owner; /* CUlibrary that it is of; 0: none */
    char name[256]; /* for messages */
};

static inline uint64_t stream_handle_or_default(const RtStream *stream) { return stream ? stream->handle : 0; }

#endif
