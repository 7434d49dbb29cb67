/* Memory of the CPU device: host memory. Copies are done when the call returns. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/host/check/initialized.h"
#include "runtime/host/host_backend.h"
#include "core/base/memory.h"

enum { SMALL_ALIGNMENT = 256, HUGE_PAGE = 2 * 1024 * 1024 };

bool host_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag)
{
    (void)device, (void)diag;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * page;
    *total_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * page;
    return true;
}

bool host_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    size_t available, total;
    bool is_large = size >= 2 * HUGE_PAGE;
    host_memory_info(device, &available, &total, diag);
    void *memory = size > total ? NULL : memory_try_aligned(is_large ? HUGE_PAGE : SMALL_ALIGNMENT, size);
    if (!memory)
        return diag_fail(diag, NULL, DIAG_DEVICE_MEMORY, size, device->name, strerror(ENOMEM));
    if (is_large)
        madvise(memory, size, MADV_HUGEPAGE);   /* fewer page faults; refused where it does not exist */
    *pointer = (RtPointer)(uintptr_t)memory;
    host_note_allocation(*pointer, size);
    return true;
}

bool host_release(RtDevice *device, RtPointer pointer, Diag *diag)
{
    (void)device, (void)diag;
    host_note_release(pointer);
    free((void *)(uintptr_t)pointer);
    return true;
}

bool host_allocate_ordered(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    return host_allocate(device, size, pointer, diag);
}

bool host_release_ordered(RtDevice *device, RtPointer pointer, Diag *diag)
{
    return host_release(device, pointer, diag);
}

/* Every call returns when its work is done. */
bool host_settle(RtDevice *device, RtPoolKind kind, RtPointer pointer, Diag *diag)
{
    (void)device, (void)kind, (void)pointer, (void)diag;
    return true;
}

/* What is known of the bytes that are written begins with an allocation. */
bool host_may_keep(const RtDevice *device)
{
    (void)device;
    return !host_tracks_writes();
}

bool host_trim(RtDevice *device, Diag *diag)
{
    (void)device, (void)diag;
    return true;
}

bool host_allocate_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    if (!host_allocate(device, buffer->size, &buffer->device, diag))
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
    (void)device, (void)pointer, (void)start, (void)size, (void)diag;
    return true;
}

/* --- other processes ------------------------------------------------------------------------------------------------- */
static bool fail_sharing(Diag *diag)
{
    return diag_fail(
        diag, NULL, DIAG_SHARED_MEMORY,
        "the CPU device's memory is this process's alone (multiprocessing.shared_memory has memory for several)");
}

bool host_export_memory(RtDevice *device, RtPointer pointer, RtExport *handle, Diag *diag)
{
    (void)device, (void)pointer, (void)handle;
    return fail_sharing(diag);
}

bool host_import_memory(RtDevice *device, const RtExport *handle, RtPointer *pointer, Diag *diag)
{
    (void)device, (void)handle, (void)pointer;
    return fail_sharing(diag);
}

bool host_close_import(RtDevice *device, RtPointer pointer, Diag *diag)
{
    (void)device, (void)pointer;
    return fail_sharing(diag);
}
