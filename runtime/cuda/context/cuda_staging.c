/* Copies between a GPU and host memory that is not page-locked. The driver takes such memory through a buffer of its own
 * with the calling thread alone, which leaves most of the bus idle. Here several threads move chunks between the memory
 * and page-locked slots, while the device copies other slots. Slots are made for the first large copy and kept. */
#include "runtime/cuda/context/cuda_staging.h"

#include <pthread.h>
#include <string.h>

#include "runtime/cuda/context/cuda_context.h"
#include "runtime/worker_thread.h"

/* Measured on an H200 with 16 cores, GB/s into the device: chunks of 256 KiB 18, 1 MiB 43, 4 MiB 45, where slots take
 * four times the memory; 4 threads 27, 8 threads 43; the driver alone 6 to 12; page-locked memory 54. Below the least size
 * the driver is about as fast. */
static const size_t CHUNK = (size_t)1 << 20, LEAST = (size_t)16 << 20;

typedef struct StagedCopy {
    RtDevice *device;
    CUstream stream;
    CUdeviceptr address;
    char *host;
    size_t size;
    bool to_device;
    _Atomic size_t taken; /* bytes that workers have taken */
    _Atomic bool failed;
} StagedCopy;

typedef struct StagingWorker {
    StagedCopy *copy;
    StagingSlot *slots;
    pthread_t thread;
    Diag diag;
} StagingWorker;

typedef struct Chunk {
    size_t offset, size;
} Chunk;

/* --- slots ---------------------------------------------------------------------------------------------------------- */
/* *enough: there is page-locked memory for it. */
static bool make_slot(StagingSlot *slot, bool *enough, Diag *diag)
{
    if (!slot->idle && !driver_call(diag, cuEventCreate, &slot->idle, CU_EVENT_DISABLE_TIMING))
        return false;
    CUresult result =
        slot->memory ? CUDA_SUCCESS : driver.cuMemHostAlloc(&slot->memory, CHUNK, CU_MEMHOSTALLOC_PORTABLE);
    *enough = result != CUDA_ERROR_OUT_OF_MEMORY;
    return !*enough || driver_check(diag, DRIVER_cuMemHostAlloc, result);
}

/* For as many of the workers as there is memory for; *workers becomes their number. */
static bool make_slots(CudaStaging *staging, int *workers, Diag *diag)
{
    for (int i = 0; i < *workers * STAGING_WORKER_SLOTS; i++) {
        bool enough;
        if (!make_slot(&staging->slots[i], &enough, diag))
            return false;
        if (!enough)
            *workers = i / STAGING_WORKER_SLOTS;
    }
    return true;
}

void cuda_staging_init(CudaStaging *staging) { pthread_mutex_init(&staging->lock, NULL); }

void cuda_staging_clear(CudaStaging *staging)
{
    for (int i = 0; i < STAGING_WORKERS * STAGING_WORKER_SLOTS; i++) {
        if (staging->slots[i].idle)
            driver.cuEventDestroy(staging->slots[i].idle);
        if (staging->slots[i].memory)
            driver.cuMemFreeHost(staging->slots[i].memory);
    }
    pthread_mutex_destroy(&staging->lock);
}

/* --- workers -------------------------------------------------------------------------------------------------------- */
static bool take_chunk(StagedCopy *copy, Chunk *chunk)
{
    if (copy->failed)
        return false;
    chunk->offset = atomic_fetch_add(&copy->taken, CHUNK);
    if (chunk->offset >= copy->size)
        return false;
    size_t rest = copy->size - chunk->offset;
    chunk->size = rest < CHUNK ? rest : CHUNK;
    return true;
}

/* A slot may still be on its way to the device, from this copy or one before. */
static bool send_chunks(StagedCopy *copy, StagingSlot *slots, Diag *diag)
{
    Chunk chunk;
    for (int k = 0; take_chunk(copy, &chunk); k = (k + 1) % STAGING_WORKER_SLOTS) {
        if (!driver_call(diag, cuEventSynchronize, slots[k].idle))
            return false;
        memcpy(slots[k].memory, copy->host + chunk.offset, chunk.size);
        if (!driver_call(diag, cuMemcpyHtoDAsync, copy->address + chunk.offset, slots[k].memory, chunk.size,
                         copy->stream) ||
            !driver_call(diag, cuEventRecord, slots[k].idle, copy->stream))
            return false;
    }
    return true;
}

static bool fetch(StagedCopy *copy, StagingSlot *slot, Chunk chunk, Diag *diag)
{
    return driver_call(diag, cuMemcpyDtoHAsync, slot->memory, copy->address + chunk.offset, chunk.size, copy->stream) &&
           driver_call(diag, cuEventRecord, slot->idle, copy->stream);
}

static bool unload(StagedCopy *copy, StagingSlot *slot, Chunk chunk, Diag *diag)
{
    if (!driver_call(diag, cuEventSynchronize, slot->idle))
        return false;
    memcpy(copy->host + chunk.offset, slot->memory, chunk.size);
    return true;
}

/* The device fills the next slots while this one is emptied. */
static bool receive_chunks(StagedCopy *copy, StagingSlot *slots, Diag *diag)
{
    Chunk chunks[STAGING_WORKER_SLOTS];
    int first = 0, under_way = 0;
    for (;;) {
        int next = (first + under_way) % STAGING_WORKER_SLOTS;
        if (under_way < STAGING_WORKER_SLOTS && take_chunk(copy, &chunks[next])) {
            if (!fetch(copy, &slots[next], chunks[next], diag))
                return false;
            under_way++;
            continue;
        }
        if (!under_way)
            return true;
        if (!unload(copy, &slots[first], chunks[first], diag))
            return false;
        first = (first + 1) % STAGING_WORKER_SLOTS;
        under_way--;
    }
}

static void *work(void *argument)
{
    CudaScope scope;
    StagingWorker *worker = argument;
    StagedCopy *copy = worker->copy;
    bool ok = cuda_enter(copy->device, &scope, &worker->diag) &&
              cuda_leave(&scope, copy->to_device ? send_chunks(copy, worker->slots, &worker->diag)
                                                 : receive_chunks(copy, worker->slots, &worker->diag));
    if (!ok)
        copy->failed = true;
    return NULL;
}

/* The calling thread is the first worker. Where the system refuses a thread, those there are do the work. */
static bool run_workers(StagedCopy *copy, CudaStaging *staging, int wanted, Diag *diag)
{
    StagingWorker workers[STAGING_WORKERS];
    int count = 0;
    for (; count < wanted; count++) {
        workers[count].copy = copy;
        workers[count].slots = &staging->slots[count * STAGING_WORKER_SLOTS];
        diag_clear(&workers[count].diag);
        if (count && !worker_thread_start(&workers[count].thread, "cujit-copy", work, &workers[count]))
            break;
    }
    work(&workers[0]);
    for (int i = 1; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < count; i++)
        if (diag_failed(&workers[i].diag)) {
            *diag = workers[i].diag;
            return false;
        }
    return true;
}

/* --- the copy ------------------------------------------------------------------------------------------------------- */
static bool is_pageable(const void *host)
{
    unsigned int type = 0;
    CUresult known =
        driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host);
    return known == CUDA_ERROR_INVALID_VALUE; /* the driver's answer for memory that it does not know */
}

static int workers_for(size_t size)
{
    int cores = worker_thread_cores();
    size_t chunks = (size + CHUNK - 1) / CHUNK;
    int most = cores < STAGING_WORKERS ? cores : STAGING_WORKERS;
    return chunks < (size_t)most ? (int)chunks : most;
}

/* Waits for the stream first, as the driver does for such memory: workers then only ever wait for the bus. *taken: false
 * where there is no page-locked memory. */
static bool run(StagedCopy *copy, CudaStaging *staging, bool *taken, Diag *diag)
{
    int workers = workers_for(copy->size);
    *taken = true;
    if (!make_slots(staging, &workers, diag))
        return false;
    *taken = workers > 0;
    return !*taken ||
           (driver_call(diag, cuStreamSynchronize, copy->stream) && run_workers(copy, staging, workers, diag));
}

bool cuda_staged_copy(RtDevice *device, bool to_device, CUdeviceptr address, void *host, size_t size, CUstream stream,
                      bool *ok, Diag *diag)
{
    bool taken;
    CudaStaging *staging = &((CudaDevice *)device)->staging[to_device];
    StagedCopy copy = {
        .device = device, .stream = stream, .address = address, .host = host, .size = size, .to_device = to_device};
    if (size < LEAST || !is_pageable(host) || cuda_is_captured(stream) || pthread_mutex_trylock(&staging->lock))
        return false;
    *ok = run(&copy, staging, &taken, diag);
    pthread_mutex_unlock(&staging->lock);
    return taken;
}
