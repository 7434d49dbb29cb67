/* Memory of CPU devices: host memory, which each has a part of. Copies are done when the call returns. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "runtime/cuda/driver/driver_types.h"
#include "runtime/host/check/initialized.h"
#include "runtime/host/machine/host_allocations.h"
#include "runtime/host/host_backend.h"
#include "runtime/host/host_device.h"

enum {
    ALIGNMENT = 256, /* of what a program is given, as on GPUs */
    PAGE = 4096,
    HUGE_PAGE = 2 * 1024 * 1024,
    LEAST_SKIPPING = 64 * 1024, /* smaller ones follow each other in the heap */
    PLACES = PAGE / ALIGNMENT,
    /* No divisor of PLACES. Loads of later trips run ahead of stores of earlier ones, and meet the address of one, modulo a
     * page, when they are so far ahead: by 52, 40, 28 and 16 lines of 64 bytes where the array that is written was allocated
     * as the first to the fourth behind the one that is read, by 12, 24, 36 and 48 where that came first. */
    PLACE_STEP = 13,
};

/* Devices share the memory there is in equal parts. */
static size_t total_bytes(const HostDevice *device)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / (size_t)device->count;
}

/* A map is read by what copies (threads/host_tile.c). */
bool host_tensor_map(RtDevice *base, const TensorMap *map, TensorMapWords *words, Diag *diag)
{
    (void)base, (void)diag;
    words->map = *map;
    return true;
}

bool host_memory_info(RtDevice *base, size_t *free_bytes, size_t *total, Diag *diag)
{
    (void)diag;
    const HostDevice *device = (HostDevice *)base;
    size_t allocated = device->allocated, available = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *total = total_bytes(device);
    size_t left = *total > allocated ? *total - allocated : 0;
    *free_bytes = left < available ? left : available;
    return true;
}

/* --- allocation ------------------------------------------------------------------------------------------------------- */
/* Where in a page a large piece of the heap begins. The C library begins all of them at the same place, and processors take a
 * load for one of what an earlier store wrote when the addresses' last 12 bits agree, and keep lines of such addresses in
 * one set of a cache: programs that walk along several arrays would wait for themselves. */
static size_t next_place(size_t size)
{
    static atomic_uint count;
    return size < LEAST_SKIPPING ? 0 : atomic_fetch_add(&count, 1) * PLACE_STEP % PLACES * ALIGNMENT;
}

static void *obtain_heap(size_t size, size_t *skipped)
{
    bool is_large = size >= 2 * HUGE_PAGE;
    *skipped = next_place(size);
    char *memory = memory_try_aligned(is_large ? HUGE_PAGE : size < LEAST_SKIPPING ? ALIGNMENT : PAGE, *skipped + size);
    if (!memory)
        return NULL;
    if (is_large)
        madvise(memory, *skipped + size, MADV_HUGEPAGE); /* fewer page faults; refused where it does not exist */
    return memory + *skipped;
}

static void *obtain_pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (size >= 2 * HUGE_PAGE)
        madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

static void give_back(const HostAllocation *allocation)
{
    void *memory = (void *)(uintptr_t)allocation->start;
    if (allocation->origin == HOST_OF_HEAP)
        free((char *)memory - allocation->skipped);
    else
        munmap(memory, allocation->size);
    if (allocation->file >= 0)
        close(allocation->file);
}

/* Counts the bytes as the device's. False where it has not as many. */
static bool reserve(HostDevice *device, size_t size)
{
    size_t total = total_bytes(device), before = atomic_load(&device->allocated);
    do
        if (size > total || before > total - size)
            return false;
    while (!atomic_compare_exchange_weak(&device->allocated, &before, before + size));
    return true;
}

/* home: whose memory it is; NULL: the host's, and not counted. */
static bool allocate(RtDevice *device, HostDevice *home, HostOrigin origin, size_t size, RtPointer *pointer, Diag *diag)
{
    bool is_counted = !home || reserve(home, size);
    bool is_possible = is_counted && size <= total_bytes((HostDevice *)device);
    size_t skipped = 0;
    void *memory = !is_possible ? NULL : origin == HOST_OF_HEAP ? obtain_heap(size, &skipped) : obtain_pages(size);
    HostAllocation allocation = {(uint64_t)(uintptr_t)memory, size, home, origin, -1, skipped};
    if (memory && host_allocations_add(&allocation)) {
        *pointer = allocation.start;
        host_note_allocation(*pointer, size);
        return true;
    }
    if (memory)
        give_back(&allocation);
    if (home && is_counted)
        atomic_fetch_sub(&home->allocated, size);
    return diag_fail(diag, NULL, DIAG_DEVICE_MEMORY, size, device->name, strerror(ENOMEM));
}

/* Pages of its own, so that it can be given to another process. */
bool host_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    return allocate(device, (HostDevice *)device, HOST_OF_PAGES, size, pointer, diag);
}

bool host_release(RtDevice *device, RtPointer pointer, Diag *diag)
{
    (void)device;
    HostAllocation allocation;
    if (!host_allocations_take(pointer, false, &allocation))
        return diag_fail_code(diag, CUDA_ERROR_INVALID_VALUE, DIAG_DRIVER_CALL, "freeing memory",
                              "CUDA_ERROR_INVALID_VALUE", CUDA_ERROR_INVALID_VALUE, "no allocation starts there");
    host_note_release(pointer);
    give_back(&allocation);
    if (allocation.home)
        atomic_fetch_sub(&allocation.home->allocated, allocation.size);
    return true;
}

bool host_allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    return allocate(device, (HostDevice *)device, HOST_OF_HEAP, size, pointer, diag);
}

bool host_release_ordered(RtDevice *device, RtPointer pointer, Diag *diag)
{
    return host_release(device, pointer, diag);
}

/* Every call returns when its work is done. */
bool host_settle(RtDevice *device, RtPoolKind kind, RtPointer pointer, bool is_shared, Diag *diag)
{
    (void)device, (void)kind, (void)pointer, (void)is_shared, (void)diag;
    return true;
}

bool host_settling_waits(const RtDevice *device, RtPoolKind kind, bool is_shared)
{
    (void)device, (void)kind, (void)is_shared;
    return false;
}

/* What is known of the bytes that are written begins with an allocation. */
bool host_may_keep(const RtDevice *device)
{
    (void)device;
    return !rt_tracks_writes();
}

bool host_trim(RtDevice *device, Diag *diag)
{
    (void)device, (void)diag;
    return true;
}

bool host_allocate_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    if (!allocate(device, NULL, HOST_OF_HEAP, buffer->size, &buffer->device, diag))
        return false;
    buffer->host = (void *)(uintptr_t)buffer->device;
    host_note_all_written(buffer->device); /* by the host, unseen */
    return true;
}

bool host_release_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    return host_release(device, buffer->device, diag);
}

bool host_register_host(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag)
{
    (void)device, (void)size, (void)diag;
    *pointer = (RtPointer)(uintptr_t)host;
    return true;
}

bool host_unregister_host(RtDevice *device, void *host, Diag *diag)
{
    (void)device, (void)host, (void)diag;
    return true;
}

bool host_copy_to_device(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag)
{
    (void)device, (void)stream, (void)diag;
    memmove((void *)(uintptr_t)to, from, size);
    host_note_written(to, size);
    return true;
}

bool host_copy_to_host(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    (void)device, (void)stream, (void)diag;
    memmove(to, (const void *)(uintptr_t)from, size);
    return true;
}

bool host_copy_on_device(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag)
{
    return host_copy_to_device(device, to, (const void *)(uintptr_t)from, size, stream, diag);
}

bool host_fill(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag)
{
    (void)device, (void)stream, (void)diag;
    memset((void *)(uintptr_t)to, byte, size);
    host_note_written(to, size);
    return true;
}

bool host_memory_range(RtDevice *device, RtPointer pointer, RtPointer *start, size_t *size, Diag *diag)
{
    (void)device, (void)diag;
    HostAllocation found;
    if (host_allocations_find(pointer, &found)) {
        *start = found.start;
        *size = found.size;
    }
    return true;
}
