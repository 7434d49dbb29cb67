/* Memory of CPU devices by its addresses: whose it is, how much, and how it is given back. */
#ifndef CUJIT_RUNTIME_HOST_ALLOCATIONS_H
#define CUJIT_RUNTIME_HOST_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum HostOrigin {
    HOST_OF_HEAP,
    HOST_OF_PAGES,      /* its own pages, which other processes can be given */
    HOST_OF_ANOTHER,    /* another process's pages */
} HostOrigin;

typedef struct HostAllocation {
    uint64_t start;
    size_t size;
    struct HostDevice *home; /* NULL: all devices' */
    HostOrigin origin;
    int file; /* that has the pages, where another process was given them; else -1 */
    size_t skipped; /* bytes of the heap before the start, given back with it */
} HostAllocation;

/* Remembers it. False without memory. */
bool host_allocations_add(const HostAllocation *allocation);
/* The one in which the address lies. False where there is none. */
bool host_allocations_find(uint64_t address, HostAllocation *found);
/* Forgets the one that starts at the address, and is another process's or not. False where there is none. */
bool host_allocations_take(uint64_t start, bool is_of_another, HostAllocation *taken);
/* Whether the address lies in one that no other process was given, so that this process's kernels alone add to it by atomics of the
 * device. Takes few instructions for an address close to the last one. */
bool host_allocations_has_own(uint64_t address);
/* The file of the one that starts there, which another process is about to be given. Who asks later whether the memory is this
 * process's own, in the one order of all such atomics, is told that it is not. */
void host_allocations_set_file(uint64_t start, int file);

#endif
