/* Memory of a device, and pinned memory of the host, between the programs' arrays and the driver. What is released is kept,
 * and given to whoever asks next for as much: neither asks the driver. Blocks are multiples of 512 bytes; one is given for
 * up to an eighth less than it has. What is in use is known by its addresses, so that all of it can be counted and limited.
 *
 * A block may come back while a stream still works on it. Every release has a number; before a block is given away, what
 * comes next in any stream has to be behind the work that was there at its release. The device sees to that (`settle`),
 * and for all blocks that were released until then. */
#include "runtime/memory_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/poison.h"
#include "core/thread/fork_lock.h"
#include "runtime/backend.h"

enum {
    ROUND = 512,
    PROBES = 8, /* blocks of a size class that are looked at */
    WASTE = 8, /* a block may be larger by this part of it */
    KEPT_PART = 8, /* of the memory there is, this part is kept at most */
    FIRST_CAPACITY = 64,
    PLACES_TOLD = 3,
    WORD = 4, /* atomic operations on a byte read the word around it */
};

struct PoolBlock {
    PoolBlock *next;
    RtPointer pointer;
    void *host; /* pinned memory: where the host finds it */
    size_t size;
    uint64_t release; /* the number of its last one */
    bool is_apart; /* the device's: nothing is kept of it */
    bool is_idle; /* no work was left in it at its last release */
    bool is_shared; /* another library may have worked on it until then, in any stream */
    char place[POOL_PLACE];
};

/* One lock for all: what is done under it takes less time than a wait. */
static ShortLock lock;

static void enter(void) { short_lock(&lock); }
static void leave(void) { short_unlock(&lock); }

static MemoryPool *pool_of(RtDevice *device, RtPoolKind kind)
{
    return kind == RT_POOL_DEVICE ? &device->memory : &device->pinned;
}

/* --- what is in use, by addresses -------------------------------------------------------------------------------------- */
static PoolBlock **chain_of(const MemoryPool *pool, RtPointer pointer)
{
    uint64_t mixed = (pointer >> 8) * 0x9e3779b97f4a7c15u;
    return &pool->blocks[mixed >> 32 & (pool->capacity - 1)];
}

/* Without memory the chains get longer. */
static void grow_locked(MemoryPool *pool)
{
    size_t capacity = pool->capacity ? 2 * pool->capacity : FIRST_CAPACITY;
    PoolBlock **blocks = memory_try(capacity * sizeof *blocks);
    if (!blocks)
        return;
    MemoryPool larger = {.blocks = blocks, .capacity = capacity};
    for (size_t i = 0; i < pool->capacity; i++)
        for (PoolBlock *block = pool->blocks[i], *next; block; block = next) {
            PoolBlock **chain = chain_of(&larger, block->pointer);
            next = block->next;
            block->next = *chain;
            *chain = block;
        }
    memory_free(pool->blocks);
    pool->blocks = blocks;
    pool->capacity = capacity;
}

/* Its bytes have been counted. False without memory. */
static bool add_used_locked(MemoryPool *pool, PoolBlock *block)
{
    if (pool->count >= pool->capacity)
        grow_locked(pool);
    if (!pool->capacity)
        return false;
    PoolBlock **chain = chain_of(pool, block->pointer);
    block->next = *chain;
    *chain = block;
    pool->count++;
    return true;
}

static PoolBlock *take_used_locked(MemoryPool *pool, RtPointer pointer)
{
    for (PoolBlock **place = pool->capacity ? chain_of(pool, pointer) : NULL; place && *place; place = &(*place)->next)
        if ((*place)->pointer == pointer) {
            PoolBlock *block = *place;
            *place = block->next;
            pool->used_bytes -= block->size;
            pool->count--;
            return block;
        }
    return NULL;
}

/* --- what is kept, by sizes -------------------------------------------------------------------------------------------- */
/* Eight classes between a power of two and the next. */
static unsigned class_of(size_t size)
{
    unsigned exponent = 63 - (unsigned)__builtin_clzll((unsigned long long)size);
    return exponent * 8 + (unsigned)(size >> (exponent - 3) & 7);
}

static PoolBlock *take_from_locked(MemoryPool *pool, unsigned class, size_t size)
{
    int probes = 0;
    for (PoolBlock **place = &pool->kept[class]; *place && probes < PROBES; place = &(*place)->next, probes++) {
        PoolBlock *block = *place;
        if (block->size < size || block->size - size > block->size / WASTE)
            continue;
        *place = block->next;
        pool->kept_bytes -= block->size;
        pool->kept_count--;
        return block;
    }
    return NULL;
}

static PoolBlock *take_kept_locked(MemoryPool *pool, size_t size)
{
    unsigned class = class_of(size);
    PoolBlock *block = take_from_locked(pool, class, size);
    return block || class + 1 == POOL_CLASSES ? block : take_from_locked(pool, class + 1, size);
}

static void keep_locked(MemoryPool *pool, PoolBlock *block)
{
    PoolBlock **list = &pool->kept[class_of(block->size)];
    block->next = *list;
    *list = block;
    pool->kept_bytes += block->size;
    pool->kept_count++;
}

/* All of it, as a list. */
static PoolBlock *take_all_kept_locked(MemoryPool *pool)
{
    PoolBlock *all = NULL;
    for (unsigned class = 0; class < POOL_CLASSES; class++)
        while (pool->kept[class]) {
            PoolBlock *block = pool->kept[class];
            pool->kept[class] = block->next;
            block->next = all;
            all = block;
        }
    pool->kept_bytes = pool->kept_count = 0;
    return all;
}

static bool is_settled(const MemoryPool *pool, const PoolBlock *block)
{
    return block->release <= (block->is_shared ? pool->all_settled : pool->settled);
}

/* --- the device's part ------------------------------------------------------------------------------------------------- */
/* Memory that nobody uses, whatever work is under way: the CPU device has none. */
static void hide(const RtDevice *device, const PoolBlock *block)
{
    if (device->backend->kind == RT_CPU)
        memory_poison((void *)(uintptr_t)block->pointer, block->size);
}

static void show(const RtDevice *device, const PoolBlock *block, size_t size)
{
    if (device->backend->kind == RT_CPU)
        memory_unpoison((void *)(uintptr_t)block->pointer, size);
}

static bool settle(RtDevice *device, RtPoolKind kind, const PoolBlock *block, uint64_t releases, Diag *diag)
{
    MemoryPool *pool = pool_of(device, kind);
    bool is_for_all = block->is_shared || device->backend->settling_waits(device, kind, false);
    if (!device->backend->settle(device, kind, block->pointer, block->is_shared, diag))
        return false;
    enter();
    if (pool->settled < releases)
        pool->settled = releases;
    if (is_for_all && pool->all_settled < releases)
        pool->all_settled = releases;
    leave();
    return true;
}

/* Whether the driver, which does not wait for memory of its pool, gets the block only after a wait for the device. No capture
 * of another library survives that: what is freed meanwhile stays kept. */
static bool needs_wait(const RtDevice *device, RtPoolKind kind, const PoolBlock *block)
{
    return kind == RT_POOL_DEVICE && !block->is_apart &&
           device->backend->settling_waits(device, kind, block->is_shared);
}

/* Nobody is at work in it, or the device waits. */
static bool give_back(RtDevice *device, RtPoolKind kind, const PoolBlock *block, Diag *diag)
{
    show(device, block, block->size);
    if (kind == RT_POOL_PINNED) {
        RtHostBuffer buffer = {
            .host = block->host, .device = block->pointer, .size = block->size, .kind = RT_HOST_PINNED};
        return device->backend->release_host(device, &buffer, diag);
    }
    bool is_ordered = !block->is_apart && !block->is_shared;
    return (is_ordered ? device->backend->release_ordered : device->backend->release)(device, block->pointer, diag);
}

/* One wait is for all that has been released. */
static bool settle_for_device(RtDevice *device, RtPoolKind kind, const PoolBlock *block, Diag *diag)
{
    const MemoryPool *pool = pool_of(device, kind);
    enter();
    uint64_t releases = is_settled(pool, block) ? 0 : pool->releases;
    leave();
    return !releases || !needs_wait(device, kind, block) || settle(device, kind, block, releases, diag);
}

/* What the device does not take stays kept. */
static bool give_back_all(RtDevice *device, RtPoolKind kind, PoolBlock *blocks, Diag *diag)
{
    bool all = true;
    Diag ignored;
    while (blocks) {
        PoolBlock *next = blocks->next;
        diag_clear(&ignored);
        Diag *own = all ? diag : &ignored;
        bool ok = settle_for_device(device, kind, blocks, own) && give_back(device, kind, blocks, own);
        if (ok)
            memory_free(blocks);
        else {
            enter();
            keep_locked(pool_of(device, kind), blocks);
            leave();
        }
        all = all && ok;
        blocks = next;
    }
    return all;
}

static bool empty(RtDevice *device, RtPoolKind kind, Diag *diag)
{
    enter();
    PoolBlock *all = take_all_kept_locked(pool_of(device, kind));
    leave();
    return give_back_all(device, kind, all, diag);
}

/* The size that the device is asked for: pinned memory and blocks in whole, memory apart as it is. */
static bool ask_device(RtDevice *device, RtPoolKind kind, PoolBlock *block, size_t size, Diag *diag)
{
    if (block->is_apart)
        return device->backend->allocate(device, size, &block->pointer, diag);
    if (kind == RT_POOL_DEVICE)
        return device->backend->allocate_ordered(device, block->size, &block->pointer, diag);
    RtHostBuffer buffer = {.size = block->size, .kind = RT_HOST_PINNED};
    bool ok = device->backend->allocate_host(device, &buffer, diag);
    block->host = buffer.host;
    block->pointer = buffer.device;
    return ok;
}

/* --- the limit --------------------------------------------------------------------------------------------------------- */
static bool total_bytes(RtDevice *device, RtPoolKind kind, size_t *total, Diag *diag)
{
    size_t available;
    if (kind == RT_POOL_DEVICE)
        return device->backend->memory_info(device, &available, total, diag);
    *total = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return true;
}

/* "1073741824" or "50%"; 0: no limit. What strtod() takes beside digits and a point, such as 1e9, is none. */
static bool read_limit(const char *text, size_t total, size_t *limit, Diag *diag)
{
    char *end;
    size_t length = strspn(text, "0123456789."), digits = strspn(text, "0123456789");
    double number = length ? strtod(text, &end) : -1;
    if (length && end == text + length && strcmp(end, "%") == 0 && number <= 100) {
        *limit = (size_t)((double)total * number / 100);
        *limit += number > 0 && *limit == 0; /* some memory, but for 0% */
        return true;
    }
    if (length && digits == length && !text[length] && number < 1e18) {
        *limit = (size_t)strtoull(text, NULL, 10);
        return true;
    }
    return diag_fail(diag, NULL, DIAG_MEMORY_LIMIT, text, "50%");
}

/* Once for each pool, before it is first used. Threads that do it at the same time find the same. */
static bool look_up(RtDevice *device, RtPoolKind kind, Diag *diag)
{
    MemoryPool *pool = pool_of(device, kind);
    const char *text = kind == RT_POOL_DEVICE ? getenv("CUJIT_GPU_MEMORY_LIMIT") : NULL;
    size_t total, limit = 0;
    if (!total_bytes(device, kind, &total, diag) || (text && *text && !read_limit(text, total, &limit, diag)))
        return false;
    enter();
    if (!pool->is_known) {
        pool->most_kept = total / KEPT_PART;
        pool->limit = limit;
        pool->has_limit = limit > 0;
        pool->is_known = true;
    }
    leave();
    return true;
}

static bool is_ready(RtDevice *device, RtPoolKind kind, Diag *diag)
{
    enter();
    bool is_known = pool_of(device, kind)->is_known;
    leave();
    return is_known || look_up(device, kind, diag);
}

typedef struct Place {
    const char *text;
    size_t size;
} Place;

/* How much was allocated where, the largest first. */
static void sum_places_locked(const MemoryPool *pool, Place places[PLACES_TOLD])
{
    enum { PLACES = 256 };
    Place all[PLACES] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < pool->capacity; i++)
        for (const PoolBlock *block = pool->blocks[i]; block; block = block->next) {
            size_t k = 0;
            while (k < count && strcmp(all[k].text, block->place) != 0)
                k++;
            if (k == count && count < PLACES)
                all[count++].text = block->place;
            if (k < count)
                all[k].size += block->size;
        }
    for (size_t k = 0; k < count; k++)
        for (int i = 0; i < PLACES_TOLD; i++)
            if (all[k].size > places[i].size) {
                memmove(&places[i + 1], &places[i], (size_t)(PLACES_TOLD - 1 - i) * sizeof *places);
                places[i] = all[k];
                break;
            }
}

static bool fail_limit_locked(const RtDevice *device, RtPoolKind kind, const MemoryPool *pool, size_t size, Diag *diag)
{
    char text[PLACES_TOLD * (POOL_PLACE + 40) + 160];
    Place places[PLACES_TOLD] = {{0}};
    size_t length = (size_t)snprintf(text, sizeof text, "the limit is %zu bytes%s, of which %zu are in use",
                                     pool->limit, kind == RT_POOL_PINNED ? " of pinned memory" : "", pool->used_bytes);
    sum_places_locked(pool, places);
    for (int i = 0; i < PLACES_TOLD && places[i].size; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%zu %s%s", i ? ", " : ": ", places[i].size,
                                   *places[i].text ? "from " : "from before there was a limit", places[i].text);
    return diag_fail(diag, NULL, DIAG_DEVICE_MEMORY, size, device->name, text);
}

/* Counts the bytes as used; *enough: false where kept memory has to go first. What was freed and needs a wait may be more than
 * is to be kept. */
static bool reserve_locked(RtDevice *device, RtPoolKind kind, MemoryPool *pool, size_t size, size_t asked, bool *enough,
                           Diag *diag)
{
    if (pool->limit && (size > pool->limit || pool->used_bytes > pool->limit - size))
        return fail_limit_locked(device, kind, pool, asked, diag);
    *enough = pool->kept_bytes <= pool->most_kept &&
              (!pool->limit || pool->used_bytes + pool->kept_bytes <= pool->limit - size);
    pool->used_bytes += size;
    return true;
}

/* What is given back may have to be waited for. */
static bool may_empty(bool *waits)
{
    if (waits)
        *waits = true;
    return !waits;
}

static bool reserve(RtDevice *device, RtPoolKind kind, size_t size, size_t asked, bool *waits, Diag *diag)
{
    bool enough = true;
    MemoryPool *pool = pool_of(device, kind);
    enter();
    bool ok = reserve_locked(device, kind, pool, size, asked, &enough, diag);
    leave();
    if (!ok || enough || (may_empty(waits) && empty(device, kind, diag)))
        return ok;
    enter();
    pool->used_bytes -= size;
    leave();
    return false;
}

static void forget(RtDevice *device, RtPoolKind kind, PoolBlock *block)
{
    enter();
    pool_of(device, kind)->used_bytes -= block->size;
    leave();
    memory_free(block);
}

/* --- taking back ------------------------------------------------------------------------------------------------------- */
/* What is kept, but for what needs a wait. */
static PoolBlock *take_waitless_locked(RtDevice *device, RtPoolKind kind)
{
    MemoryPool *pool = pool_of(device, kind);
    PoolBlock *all = take_all_kept_locked(pool), *waitless = NULL;
    while (all) {
        PoolBlock *block = all;
        all = block->next;
        if (!is_settled(pool, block) && needs_wait(device, kind, block))
            keep_locked(pool, block);
        else {
            block->next = waitless;
            waitless = block;
        }
    }
    return waitless;
}

/* Where it would be more than is kept, what is kept goes first. */
static bool keep(RtDevice *device, RtPoolKind kind, PoolBlock *block, Diag *diag)
{
    MemoryPool *pool = pool_of(device, kind);
    PoolBlock *former = NULL;
    hide(device, block);
    enter();
    if (pool->kept_bytes + block->size > pool->most_kept)
        former = take_waitless_locked(device, kind);
    block->release = block->is_idle ? 0 : ++pool->releases;
    keep_locked(pool, block);
    leave();
    return give_back_all(device, kind, former, diag);
}

static bool is_kept(RtDevice *device, RtPoolKind kind, const PoolBlock *block)
{
    return needs_wait(device, kind, block) ||
           (!block->is_apart && block->size <= pool_of(device, kind)->most_kept && device->backend->may_keep(device));
}

static bool release(RtDevice *device, RtPoolKind kind, PoolBlock *block, bool waits, Diag *diag)
{
    block->is_shared = waits;
    if (is_kept(device, kind, block))
        return keep(device, kind, block, diag);
    bool ok = give_back(device, kind, block, diag);
    memory_free(block);
    return ok;
}

static bool has_kept(RtDevice *device, RtPoolKind kind)
{
    enter();
    bool any = pool_of(device, kind)->kept_count > 0;
    leave();
    return any;
}

static PoolBlock *take_used(RtDevice *device, RtPoolKind kind, RtPointer pointer)
{
    enter();
    PoolBlock *block = take_used_locked(pool_of(device, kind), pointer);
    leave();
    return block;
}

/* --- allocation -------------------------------------------------------------------------------------------------------- */
static bool note(RtDevice *device, RtPoolKind kind, PoolBlock *block, bool is_new)
{
    MemoryPool *pool = pool_of(device, kind);
    enter();
    pool->allocations += is_new;
    bool ok = add_used_locked(pool, block);
    leave();
    return ok;
}

/* A block of the device, which gets back what is kept where it has no more; waits: as of pool_allocate(). */
static PoolBlock *make_block(RtDevice *device, RtPoolKind kind, bool is_apart, size_t whole, size_t size, bool *waits,
                             Diag *diag)
{
    PoolBlock *block = memory_new(sizeof *block, diag);
    if (!block)
        return NULL;
    *block = (PoolBlock){.size = whole, .is_apart = is_apart};
    if (!reserve(device, kind, whole, size, waits, diag)) {
        memory_free(block);
        return NULL;
    }
    bool ok = ask_device(device, kind, block, size, diag);
    if (!ok && diag->id == DIAG_DEVICE_MEMORY && has_kept(device, kind)) {
        diag_clear(diag);
        ok = may_empty(waits) && empty(device, kind, diag) && ask_device(device, kind, block, size, diag);
    }
    if (ok && note(device, kind, block, true))
        return block;
    if (ok) {
        give_back(device, kind, block, diag);
        diag_fail(diag, NULL, DIAG_NO_MEMORY, (size_t)FIRST_CAPACITY);
    }
    forget(device, kind, block);
    return NULL;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* What was kept; *unsettled: the release that it has to be behind yet, 0: none. NULL: nothing fits, or *waits becomes true. It
 * counts as used. */
static PoolBlock *take_kept(RtDevice *device, RtPoolKind kind, size_t size, uint64_t *unsettled, bool *waits)
{
    MemoryPool *pool = pool_of(device, kind);
    enter();
    PoolBlock *block = take_kept_locked(pool, size);
    if (block && pool->limit && block->size > pool->limit - smaller(pool->used_bytes, pool->limit)) {
        keep_locked(pool, block); /* from before there was this limit */
        block = NULL;
    }
    if (block && waits && !is_settled(pool, block) && device->backend->settling_waits(device, kind, block->is_shared)) {
        keep_locked(pool, block);
        block = NULL;
        *waits = true;
    }
    if (block) {
        *unsettled = is_settled(pool, block) ? 0 : pool->releases;
        pool->used_bytes += block->size;
        add_used_locked(pool, block); /* in place of another: there is room */
        block->place[0] = 0;
    }
    leave();
    return block;
}

static bool fail_size(const RtDevice *device, size_t size, Diag *diag)
{
    return diag_fail(diag, NULL, DIAG_DEVICE_MEMORY, size, device->name, strerror(ENOMEM));
}

static PoolBlock *obtain(RtDevice *device, RtPoolKind kind, bool is_apart, size_t size, bool *waits, Diag *diag)
{
    uint64_t unsettled = 0;
    if (size > SIZE_MAX / 2 || !is_ready(device, kind, diag)) {
        if (!diag_failed(diag))
            fail_size(device, size, diag);
        return NULL;
    }
    size_t whole = (size + ROUND - 1) / ROUND * ROUND;
    bool is_fresh = is_apart || !device->backend->may_keep(device); /* what of it is written begins anew */
    PoolBlock *block = is_fresh ? NULL : take_kept(device, kind, whole, &unsettled, waits);
    if (!block)
        return waits && *waits ? NULL : make_block(device, kind, is_apart, whole, size, waits, diag);
    if (!unsettled || settle(device, kind, block, unsettled, diag))
        return block;
    release(device, kind, take_used(device, kind, block->pointer), block->is_shared, &(Diag){0});
    return NULL;
}

/* The last word of an array is known, whichever bytes of it are the array's. */
static bool clear_rest(RtDevice *device, RtPointer pointer, size_t size, Diag *diag)
{
    size_t rest = (WORD - size % WORD) % WORD;
    return !rest || device->backend->kind == RT_CPU ||
           device->backend->fill(device, pointer + size, 0, rest, NULL, diag);
}

bool pool_allocate(RtDevice *device, size_t size, RtPointer *pointer, bool *waits, Diag *diag)
{
    PoolBlock *block = obtain(device, RT_POOL_DEVICE, false, size, waits, diag);
    if (!block)
        return false;
    hide(device, block);
    show(device, block, size);
    *pointer = block->pointer;
    if (clear_rest(device, *pointer, size, diag))
        return true;
    pool_release(device, *pointer, false, &(Diag){0});
    return false;
}

bool pool_allocate_apart(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    PoolBlock *block = obtain(device, RT_POOL_DEVICE, true, size, NULL, diag);
    *pointer = block ? block->pointer : 0;
    return block;
}

bool pool_allocate_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    PoolBlock *block = obtain(device, RT_POOL_PINNED, false, buffer->size, NULL, diag);
    if (!block)
        return false;
    hide(device, block);
    show(device, block, buffer->size);
    buffer->host = block->host;
    buffer->device = block->pointer;
    return true;
}

/* --- release ----------------------------------------------------------------------------------------------------------- */
bool pool_release(RtDevice *device, RtPointer pointer, bool waits, Diag *diag)
{
    PoolBlock *block = take_used(device, RT_POOL_DEVICE, pointer);
    if (block)
        return release(device, RT_POOL_DEVICE, block, waits, diag);
    return (waits ? device->backend->release : device->backend->release_ordered)(device, pointer, diag);
}

bool pool_release_host(RtDevice *device, RtHostBuffer *buffer, Diag *diag)
{
    PoolBlock *block = buffer->kind == RT_HOST_PINNED ? take_used(device, RT_POOL_PINNED, buffer->device) : NULL;
    if (!block)
        return device->backend->release_host(device, buffer, diag);
    block->is_idle = buffer->is_idle;
    return release(device, RT_POOL_PINNED, block, false, diag);
}

/* --- what programs ask ------------------------------------------------------------------------------------------------- */
bool rt_pool_use(RtDevice *device, RtPoolKind kind, RtPoolUse *use, Diag *diag)
{
    const MemoryPool *pool = pool_of(device, kind);
    *use = (RtPoolUse){0};
    if (!is_ready(device, kind, diag))
        return false;
    enter();
    *use = (RtPoolUse){pool->used_bytes, pool->kept_bytes, pool->kept_count, pool->limit, pool->allocations};
    leave();
    return true;
}

bool rt_pool_empty(RtDevice *device, RtPoolKind kind, Diag *diag)
{
    return empty(device, kind, diag) && (kind == RT_POOL_PINNED || device->backend->trim(device, diag));
}

bool rt_pool_limit(RtDevice *device, RtPoolKind kind, size_t limit, Diag *diag)
{
    if (!is_ready(device, kind, diag))
        return false;
    enter();
    pool_of(device, kind)->limit = limit;
    leave();
    pool_of(device, kind)->has_limit = limit > 0;
    return true;
}

bool rt_pool_total(RtDevice *device, RtPoolKind kind, size_t *total, Diag *diag)
{
    return total_bytes(device, kind, total, diag);
}

bool rt_pool_wants_place(const RtDevice *device, RtPoolKind kind)
{
    return kind == RT_POOL_DEVICE ? device->memory.has_limit : device->pinned.has_limit;
}

void rt_pool_note_place(RtDevice *device, RtPoolKind kind, RtPointer pointer, const char *place)
{
    const MemoryPool *pool = pool_of(device, kind);
    enter();
    for (PoolBlock *block = pool->capacity ? *chain_of(pool, pointer) : NULL; block; block = block->next)
        if (block->pointer == pointer)
            snprintf(block->place, sizeof block->place, "%s", place);
    leave();
}
