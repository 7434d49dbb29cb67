/* What a device keeps of exceptions of kernels, for runtime.c; the functions for all are in runtime.h. */
#ifndef CUJIT_RUNTIME_EXCEPTION_STORE_H
#define CUJIT_RUNTIME_EXCEPTION_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/runtime.h"

typedef struct StreamRecord StreamRecord;

typedef struct ExceptionStore {
    pthread_mutex_t lock;
    ExceptionRecord *idle;      /* list of empty records */
    StreamRecord *streams;      /* they stay as long as the device: a stream's number is used again */
    _Atomic bool has_streams;
} ExceptionStore;

void exception_store_init(ExceptionStore *store);
/* False with DIAG_KERNEL_EXCEPTION when a launch on the stream, or on any, has raised. */
static inline bool exceptions_check_stream(ExceptionStore *store, const RtStream *stream, Diag *diag);
bool exceptions_check_device(RtDevice *device, Diag *diag);
/* The part of it that launches of kernels without exceptions do not need. */
bool exceptions_look_for_stream(ExceptionStore *store, const RtStream *stream, Diag *diag);

static inline bool exceptions_check_stream(ExceptionStore *store, const RtStream *stream, Diag *diag)
{
    return !atomic_load_explicit(&store->has_streams, memory_order_relaxed) ||
           exceptions_look_for_stream(store, stream, diag);
}

#endif
