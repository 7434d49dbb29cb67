/* Records for exceptions of kernels: memory that the device and the host both reach, so that looking costs the host a load
 * and no call of the driver. A launch that is waited for has a record of its own; the others share one for each stream. */
#include "runtime/exception_store.h"
#include "core/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backend.h"

enum { RECORDS_AT_ONCE = 16 };

struct StreamRecord {
    StreamRecord *next;
    uint64_t stream;
    ExceptionRecord *record;
};

void exception_store_init(ExceptionStore *store)
{
    *store = (ExceptionStore){0};
    pthread_mutex_init(&store->lock, NULL);
}

/* --- memory --------------------------------------------------------------------------------------------------------- */

/* Free records are a list through their first slot. */
static void push_locked(ExceptionStore *store, ExceptionRecord *record)
{
    memset(record, 0, sizeof *record);
    record->slots[0] = (uint64_t)(uintptr_t)store->idle;
    store->idle = record;
}

static bool fill_locked(RtDevice *device, Diag *diag)
{
    RtHostBuffer buffer = {.kind = RT_HOST_PINNED, .size = RECORDS_AT_ONCE * sizeof(ExceptionRecord)};
    if (!device->backend->allocate_host(device, &buffer, diag))
        return false;
    for (int i = 0; i < RECORDS_AT_ONCE; i++)
        push_locked(&device->exceptions, (ExceptionRecord *)buffer.host + i);
    return true;
}

static ExceptionRecord *take_locked(RtDevice *device, Diag *diag)
{
    ExceptionStore *store = &device->exceptions;
    if (!store->idle && !fill_locked(device, diag))
        return NULL;
    ExceptionRecord *record = store->idle;
    store->idle = (ExceptionRecord *)(uintptr_t)record->slots[0];
    record->slots[0] = 0;
    return record;
}

ExceptionRecord *rt_record_take(RtDevice *device, Diag *diag)
{
    pthread_mutex_lock(&device->exceptions.lock);
    ExceptionRecord *record = take_locked(device, diag);
    pthread_mutex_unlock(&device->exceptions.lock);
    return record;
}

void rt_record_return(RtDevice *device, ExceptionRecord *record)
{
    pthread_mutex_lock(&device->exceptions.lock);
    push_locked(&device->exceptions, record);
    pthread_mutex_unlock(&device->exceptions.lock);
}

/* --- records of streams ------------------------------------------------------------------------------------------------ */

/* The default stream has two names. */
static uint64_t key_of(const RtStream *stream)
{
    uint64_t handle = stream_handle_or_default(stream);
    return handle == 1 ? 0 : handle;
}

static StreamRecord *find_locked(const ExceptionStore *store, uint64_t key)
{
    StreamRecord *each = store->streams;
    while (each && each->stream != key)
        each = each->next;
    return each;
}

static StreamRecord *add_locked(RtDevice *device, uint64_t key, Diag *diag)
{
    ExceptionStore *store = &device->exceptions;
    StreamRecord *added = memory_new(sizeof *added, diag);
    if (!added)
        return NULL;
    *added = (StreamRecord){.next = store->streams, .stream = key, .record = take_locked(device, diag)};
    if (!added->record) {
        memory_free(added);
        return NULL;
    }
    store->streams = added;
    atomic_store(&store->has_streams, true);
    return added;
}

ExceptionRecord *rt_stream_record(RtDevice *device, const RtStream *stream, Diag *diag)
{
    uint64_t key = key_of(stream);
    pthread_mutex_lock(&device->exceptions.lock);
    StreamRecord *found = find_locked(&device->exceptions, key);
    if (!found)
        found = add_locked(device, key, diag);
    pthread_mutex_unlock(&device->exceptions.lock);
    return found ? found->record : NULL;
}

/* --- looking ------------------------------------------------------------------------------------------------------------ */

bool rt_record_check(ExceptionRecord *record, Diag *diag)
{
    uint32_t complete = EXCEPTION_COMPLETE;
    if (__atomic_load_n(&record->state, __ATOMIC_ACQUIRE) != complete)
        return true;
    /* One of the threads that look gets it. */
    if (!__atomic_compare_exchange_n(&record->state, &complete, EXCEPTION_TAKEN, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return true;
    ExceptionRecord raised = *record;
    __atomic_store_n(&record->state, EXCEPTION_EMPTY, __ATOMIC_RELEASE);
    if (!diag_failed(diag)) {
        diag_fail(diag, NULL, DIAG_KERNEL_EXCEPTION, "a thread of a kernel raised an exception");
        diag->raised = raised;
    }
    return false;
}

bool exceptions_look_for_stream(ExceptionStore *store, const RtStream *stream, Diag *diag)
{
    pthread_mutex_lock(&store->lock);
    StreamRecord *found = find_locked(store, key_of(stream));
    pthread_mutex_unlock(&store->lock);
    return !found || rt_record_check(found->record, diag);
}

bool exceptions_check_device(RtDevice *device, Diag *diag)
{
    ExceptionStore *store = &device->exceptions;
    bool ok = true;
    if (!atomic_load_explicit(&store->has_streams, memory_order_relaxed))
        return true;
    pthread_mutex_lock(&store->lock);
    for (StreamRecord *each = store->streams; each && ok; each = each->next)
        ok = rt_record_check(each->record, diag);
    pthread_mutex_unlock(&store->lock);
    return ok;
}
