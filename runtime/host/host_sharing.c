/* Memory of CPU devices for other processes. The pages of an allocation are moved into a file without a name (memfd) when it
 * is first given away, and lie where they lay. A handle says which file of which process that is; it is opened by way of
 * /proc, which allows it to processes of the same user, and is gone with the process or the memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/host/machine/host_allocations.h"
#include "runtime/host/host_backend.h"
#include "runtime/host/host_device.h"
#include "runtime/host/threads/host_alone.h"

typedef struct HostHandle {
    char mark[8];
    int64_t process;
    int64_t file;
    uint64_t volume, number; /* of the file, so that another one in its place is not taken for it */
    uint64_t size;
} HostHandle;

_Static_assert(sizeof(HostHandle) <= sizeof(RtExport), "a handle of the CPU device is one");

static const char mark[8] = "cujit 1";

static bool fail_system(const char *what, Diag *diag)
{
    char text[160];
    snprintf(text, sizeof text, "cannot give memory to other processes: %s: %s", what, strerror(errno));
    return diag_fail(diag, NULL, DIAG_SHARED_MEMORY, text);
}

/* The pages' bytes go to the file, whose pages then take their place. */
static bool move_pages(const HostAllocation *allocation, int file, Diag *diag)
{
    void *place = (void *)(uintptr_t)allocation->start;
    if (ftruncate(file, (off_t)allocation->size))
        return fail_system("ftruncate", diag);
    void *pages = mmap(NULL, allocation->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED)
        return fail_system("mmap", diag);
    memcpy(pages, place, allocation->size);
    if (mremap(pages, allocation->size, allocation->size, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED)
        return true;
    munmap(pages, allocation->size);
    return fail_system("mremap", diag);
}

static bool share(HostAllocation *allocation, Diag *diag)
{
    if (allocation->file >= 0)
        return true;
    int file = memfd_create("cujit", MFD_CLOEXEC);
    if (file < 0)
        return fail_system("memfd_create", diag);
    if (!move_pages(allocation, file, diag)) {
        close(file);
        return false;
    }
    allocation->file = file;
    host_allocations_set_file(allocation->start, file);
    host_alone_wait(); /* for additions that take the memory for this process's own */
    return true;
}

bool host_export_memory(RtDevice *device, RtPointer pointer, RtExport *handle, Diag *diag)
{
    HostAllocation found;
    struct stat facts;
    bool is_ours = host_allocations_find(pointer, &found) && found.origin == HOST_OF_PAGES && found.start == pointer &&
                   &found.home->base == device;
    if (!is_ours)
        return diag_fail(diag, NULL, DIAG_SHARED_MEMORY,
                         "this memory cannot be given to other processes: it is of a pool or of the host. An array "
                         "leaves cujit's pool only while no view, library or kernel knows its address");
    if (!share(&found, diag))
        return false;
    if (fstat(found.file, &facts))
        return fail_system("fstat", diag);
    HostHandle made = {
        .process = getpid(), .file = found.file, .volume = facts.st_dev, .number = facts.st_ino, .size = found.size};
    memcpy(made.mark, mark, sizeof mark);
    memcpy(handle->bytes, &made, sizeof made);
    return true;
}

/* The file of the handle, or -1. */
static int open_file(const HostHandle *handle)
{
    char path[64];
    struct stat facts;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)handle->process, (long long)handle->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return -1;
    if (!fstat(file, &facts) && facts.st_dev == handle->volume && facts.st_ino == handle->number &&
        (uint64_t)facts.st_size == handle->size)
        return file;
    close(file);
    return -1;
}

bool host_import_memory(RtDevice *device, const RtExport *given, RtPointer *pointer, Diag *diag)
{
    HostHandle handle;
    memcpy(&handle, given->bytes, sizeof handle);
    if (memcmp(handle.mark, mark, sizeof mark) != 0)
        return diag_fail(diag, NULL, DIAG_SHARED_MEMORY, "this is no IPC handle of a CPU device");
    if (handle.process == getpid())
        return diag_fail(diag, NULL, DIAG_SHARED_MEMORY,
                         "an IPC handle is opened in another process than the one that made it");
    int file = open_file(&handle);
    if (file < 0)
        return diag_fail(diag, NULL, DIAG_SHARED_MEMORY,
                         "there is no memory behind this IPC handle: the process that made it has ended, freed it, or "
                         "is not this user's");
    void *pages = mmap(NULL, handle.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (pages == MAP_FAILED)
        return fail_system("mmap", diag);
    HostAllocation opened = {(uint64_t)(uintptr_t)pages, handle.size, (HostDevice *)device, HOST_OF_ANOTHER, -1, 0};
    if (!host_allocations_add(&opened)) {
        munmap(pages, handle.size);
        return diag_fail(diag, NULL, DIAG_NO_MEMORY, sizeof opened);
    }
    *pointer = opened.start;
    return true;
}

bool host_close_import(RtDevice *device, RtPointer pointer, Diag *diag)
{
    (void)device;
    HostAllocation opened;
    if (!host_allocations_take(pointer, true, &opened))
        return diag_fail(diag, NULL, DIAG_SHARED_MEMORY, "no other process's memory was opened there");
    munmap((void *)(uintptr_t)opened.start, opened.size);
    return true;
}
