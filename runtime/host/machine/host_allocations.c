/* Memory of CPU devices by its addresses, in a tree of the C library: pieces of memory do not overlap, so two that do are
 * the same for it, and an address is a piece of one byte. */
#include "runtime/host/machine/host_allocations.h"

#include <search.h>
#include <stdatomic.h>

#include "core/base/memory.h"
#include "core/thread/fork_lock.h"

static void *tree;
static ShortLock lock;
static _Atomic uint64_t changes; /* of memory that was known */

static void enter(void) { short_lock(&lock); }
static void leave(void) { short_unlock(&lock); }

static int compare(const void *first, const void *second)
{
    const HostAllocation *a = first, *b = second;
    return a->start + a->size <= b->start ? -1 : b->start + b->size <= a->start;
}

static HostAllocation *find_locked(uint64_t address)
{
    HostAllocation wanted = {.start = address, .size = 1};
    HostAllocation **found = tfind(&wanted, &tree, compare);
    return found ? *found : NULL;
}

bool host_allocations_add(const HostAllocation *allocation)
{
    HostAllocation *kept = memory_try(sizeof *kept);
    if (!kept)
        return false;
    *kept = *allocation;
    enter();
    bool ok = tsearch(kept, &tree, compare);
    leave();
    if (!ok)
        memory_free(kept);
    return ok;
}

bool host_allocations_find(uint64_t address, HostAllocation *found)
{
    enter();
    const HostAllocation *known = find_locked(address);
    if (known)
        *found = *known;
    leave();
    return known;
}

bool host_allocations_has_own(uint64_t address)
{
    static _Thread_local struct {
        uint64_t start, size, changes;
    } last;
    uint64_t now = atomic_load(&changes);
    HostAllocation found;
    if (last.changes == now && address - last.start < last.size)
        return true;
    if (!host_allocations_find(address, &found) || found.origin == HOST_OF_ANOTHER || found.file >= 0)
        return false;
    last.start = found.start;
    last.size = found.size;
    last.changes = now;
    return true;
}

bool host_allocations_take(uint64_t start, bool is_of_another, HostAllocation *taken)
{
    enter();
    HostAllocation *known = find_locked(start);
    if (known && (known->start != start || (known->origin == HOST_OF_ANOTHER) != is_of_another))
        known = NULL;
    if (known) {
        *taken = *known;
        atomic_fetch_add(&changes, 1);
        tdelete(known, &tree, compare);
    }
    leave();
    memory_free(known);
    return known;
}

void host_allocations_set_file(uint64_t start, int file)
{
    enter();
    HostAllocation *known = find_locked(start);
    if (known && known->start == start)
        known->file = file;
    atomic_fetch_add(&changes, 1);
    leave();
}
