/* Barriers in shared memory and copies of tiles, as the PTX ISA has them. A barrier is a word: how many arrivals a phase is
 * made of, how many are still to come, how many bytes, and whether the phase is an odd one. */
#include "runtime/host/threads/host_tile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/intrinsic/intrinsic.h"

/* --- barriers ----------------------------------------------------------------------------------------------------------- */

enum { COUNT_BITS = 20, BYTES_BITS = 22, NO_BARRIER = 0x2a /* a byte of which no barrier is made */ };
#define MOST_COUNT ((1 << COUNT_BITS) - 1)
#define MOST_BYTES (1 << 20) /* a phase has fewer, as the PTX ISA says */

typedef struct Barrier {
    uint64_t expected : COUNT_BITS, pending : COUNT_BITS;
    int64_t bytes : BYTES_BITS;
    uint64_t is_valid : 1, phase : 1;
} Barrier;

_Static_assert(sizeof(Barrier) == sizeof(uint64_t), "a barrier is a word");

static Barrier read_barrier(const uint64_t *word)
{
    Barrier barrier;
    memcpy(&barrier, word, sizeof barrier);
    return barrier;
}

/* Ends the phase where all has come. */
static void write_barrier(uint64_t *word, Barrier barrier)
{
    if (barrier.is_valid && !barrier.pending && !barrier.bytes) {
        barrier.phase ^= 1;
        barrier.pending = barrier.expected;
    }
    memcpy(word, &barrier, sizeof barrier);
}

static const char *check_barrier(const HostWorker *worker, const uint64_t *word)
{
    if ((uintptr_t)word - (uintptr_t)worker->shared >= worker->shared_size || (uintptr_t)word % sizeof *word)
        return "barriers are in shared memory";
    return read_barrier(word).is_valid ? NULL : "the element is no barrier: cuda.mbarrier.init comes first";
}

static const char *arrive(const HostWorker *worker, uint64_t *word, uint32_t count)
{
    const char *wrong = check_barrier(worker, word);
    if (wrong)
        return wrong;
    Barrier barrier = read_barrier(word);
    if (count < 1 || count > barrier.pending)
        return "more threads arrive than the barrier is for";
    barrier.pending -= count;
    write_barrier(word, barrier);
    return NULL;
}

static const char *expect_bytes(const HostWorker *worker, uint64_t *word, uint32_t bytes)
{
    const char *wrong = check_barrier(worker, word);
    if (wrong)
        return wrong;
    Barrier barrier = read_barrier(word);
    if (barrier.bytes + (int64_t)bytes >= MOST_BYTES)
        return "a phase has less than 2**20 bytes";
    barrier.bytes += bytes;
    memcpy(word, &barrier, sizeof barrier); /* bytes of none are no reason to end a phase */
    return NULL;
}

static const char *bring_bytes(uint64_t *word, uint32_t bytes)
{
    Barrier barrier = read_barrier(word);
    if (!barrier.is_valid || barrier.bytes - (int64_t)bytes <= -MOST_BYTES)
        return "a copy brings bytes to what is no barrier any more";
    barrier.bytes -= bytes;
    if (barrier.bytes < 0 && !barrier.pending)
        return "copies bring more bytes than were announced";
    write_barrier(word, barrier);
    return NULL;
}

static const char *init(const HostWorker *worker, uint64_t *word, uint32_t count)
{
    if ((uintptr_t)word - (uintptr_t)worker->shared >= worker->shared_size || (uintptr_t)word % sizeof *word)
        return "barriers are in shared memory";
    if (count < 1 || count > MOST_COUNT)
        return "a barrier is for 1 to 2**20 - 1 arrivals";
    write_barrier(word, (Barrier){.expected = count, .pending = count, .is_valid = 1});
    return NULL;
}

static const char *invalidate(const HostWorker *worker, uint64_t *word)
{
    const char *wrong = check_barrier(worker, word);
    if (!wrong)
        *word = 0;
    return wrong;
}

/* The same place in the shared memory of another block of the cluster; NULL: there is no such block. */
static void *in_block(const HostWorker *worker, const void *place, const HostWorker *other)
{
    return other ? other->shared + ((const uint8_t *)place - worker->shared) : NULL;
}

static HostWorker *block_of_rank(HostWorker *worker, uint32_t rank)
{
    const int32_t *dim = worker->frame.cluster_dim;
    if (rank >= (uint32_t)(dim[0] * dim[1] * dim[2]))
        return NULL;
    return worker->cluster ? worker->cluster[rank] : worker;
}

static const char *arrive_far(HostWorker *worker, uint64_t *word, uint32_t rank, uint32_t count)
{
    HostWorker *other = block_of_rank(worker, rank);
    if (!other)
        return "the cluster has no block of that rank";
    return arrive(other, in_block(worker, word, other), count);
}

/* --- copies ---------------------------------------------------------------------------------------------------------------- */

static uint32_t row_bytes(const TensorMap *map) { return map->box[map->axes - 1] * map->element_size; }

static uint32_t row_count(const TensorMap *map)
{
    uint32_t rows = 1;
    for (uint32_t axis = 0; axis + 1 < map->axes; axis++)
        rows *= map->box[axis];
    return rows;
}

static uint32_t box_bytes(const TensorMap *map) { return row_bytes(map) * row_count(map); }

/* Where the box's row begins in the array, NULL where it lies outside along an axis but the last. */
static uint8_t *row_in_array(const HostTileCopy *copy, uint32_t row)
{
    const TensorMap *map = copy->map;
    int64_t offset = 0;
    for (uint32_t axis = map->axes - 1; axis-- > 0; row /= map->box[axis]) {
        int64_t index = copy->index[axis] + (int64_t)(row % map->box[axis]);
        if (index < 0 || index >= map->extents[axis])
            return NULL;
        offset += index * map->strides[axis];
    }
    return (uint8_t *)(uintptr_t)map->pointer + offset;
}

static uint8_t *swizzled(uint8_t *place, uint32_t swizzle)
{
    uintptr_t bits = (uintptr_t)place;
    return place + (intptr_t)((bits ^ (bits >> 3 & type_swizzle_mask((uint8_t)swizzle))) - bits);
}

/* One row between the array and the tile; `seen`: where else it is written to, at the same distances. */
static void load_row(const HostTileCopy *copy, uint32_t row, ptrdiff_t seen)
{
    const TensorMap *map = copy->map;
    uint8_t *line = row_in_array(copy, row);
    uint32_t size = map->element_size;
    for (uint32_t i = 0; i < map->box[map->axes - 1]; i++) {
        int64_t index = copy->index[map->axes - 1] + (int64_t)i;
        uint8_t *to = swizzled(copy->tile + (size_t)row * row_bytes(map) + (size_t)i * size, copy->swizzle);
        if (line && index >= 0 && index < map->extents[map->axes - 1])
            memcpy(to, line + index * size, size);
        else
            memset(to, 0, size);
        memcpy(to + seen, to, size);
    }
}

static void store_row(const HostTileCopy *copy, uint32_t row)
{
    const TensorMap *map = copy->map;
    uint8_t *line = row_in_array(copy, row);
    uint32_t size = map->element_size;
    for (uint32_t i = 0; line && i < map->box[map->axes - 1]; i++) {
        int64_t index = copy->index[map->axes - 1] + (int64_t)i;
        if (index >= 0 && index < map->extents[map->axes - 1])
            memcpy(line + index * size,
                   swizzled(copy->tile + (size_t)row * row_bytes(map) + (size_t)i * size, copy->swizzle), size);
    }
}

static const char *check_copy(const HostWorker *worker, const HostTileCopy *copy)
{
    const TensorMap *map = copy->map;
    uintptr_t offset = (uintptr_t)copy->tile - (uintptr_t)worker->shared;
    if (copy->swizzle != map->swizzle)
        return "the shared array has another swizzle than the map";
    if (copy->axes != map->axes)
        return "the index has another number of axes than the map";
    if (offset >= worker->shared_size)
        return "tiles are in shared memory";
    if (box_bytes(map) > copy->tile_bytes)
        return "the tile is smaller than the map's boxes";
    if (offset % (map->swizzle ? map->swizzle * 8 : 128))
        return "a tile begins at a multiple of 128 bytes, and with a swizzle of eight of its rows";
    return NULL;
}

bool host_tile_sees(const HostWorker *worker, const uint8_t *bytes, size_t size)
{
    return memcmp(bytes, worker->tiles->seen + (bytes - worker->shared), size) == 0;
}

static const char *no_memory(void) { return "memory is out"; }

/* Nothing may read the tile until its barrier says that the copy is done: its bytes are ones till then. */
static const char *begin_load(HostWorker *worker, const HostTileCopy *copy, HostWorker *to)
{
    if (!to->tiles)
        return "the other block has not begun: cuda.cg.this_cluster().sync() comes first";
    HostLoad *load = memory_try(sizeof *load), **last = &to->tiles->loads;
    if (!load)
        return no_memory();
    load->copy = *copy;
    load->copy.tile = in_block(worker, copy->tile, to);
    load->copy.barrier = in_block(worker, copy->barrier, to);
    memset(load->copy.tile, 0xff, box_bytes(copy->map));
    while (*last)
        last = &(*last)->next;
    *last = load;
    return check_barrier(to, load->copy.barrier);
}

static const char *load_tile(HostWorker *worker, const HostTileCopy *copy, bool is_multicast)
{
    const char *wrong = check_copy(worker, copy);
    if (!is_multicast || wrong)
        return wrong ? wrong : begin_load(worker, copy, worker);
    for (uint32_t left = copy->ranks; left && !wrong; left &= left - 1) {
        HostWorker *to = block_of_rank(worker, (uint32_t)__builtin_ctz(left));
        wrong = to ? begin_load(worker, copy, to) : "the cluster has no block of a rank in the mask";
    }
    return wrong;
}

static const char *finish_load(HostWorker *worker, HostLoad *load)
{
    for (uint32_t row = 0; row < row_count(load->copy.map); row++)
        load_row(&load->copy, row, worker->tiles->seen - worker->shared);
    const char *wrong = bring_bytes(load->copy.barrier, box_bytes(load->copy.map));
    memory_free(load);
    return wrong;
}

/* Makes the copies that are counted at the barrier. */
static const char *finish_loads(HostWorker *worker, const uint64_t *barrier)
{
    const char *wrong = NULL;
    for (HostLoad **each = &worker->tiles->loads; *each && !wrong;) {
        HostLoad *load = *each;
        if (load->copy.barrier != barrier) {
            each = &load->next;
            continue;
        }
        *each = load->next;
        wrong = finish_load(worker, load);
    }
    return wrong;
}

static const char *store_tile(HostFiber *fiber, const HostTileCopy *copy)
{
    HostTileThread *thread = host_tile_thread(fiber);
    const char *wrong = check_copy(fiber->worker, copy);
    if (wrong)
        return wrong;
    for (uint32_t axis = 0; axis < copy->axes; axis++)
        if (copy->index[axis] < 0)
            return "the index of a store is below 0, which is an illegal instruction on a GPU";
    if (!host_tile_sees(fiber->worker, copy->tile, box_bytes(copy->map)))
        return "shared memory was written, and no cuda.fence_proxy_async() has come since";
    HostStore *store = memory_try(sizeof *store), **last = &thread->stores;
    if (!store)
        return no_memory();
    *store = (HostStore){.copy = *copy, .group = thread->store_groups};
    while (*last)
        last = &(*last)->next;
    *last = store;
    return NULL;
}

/* Makes the stores of groups before that one. */
static void finish_stores(HostTileThread *thread, uint32_t end)
{
    while (thread->stores && thread->stores->group < end) {
        HostStore *store = thread->stores;
        for (uint32_t row = 0; row < row_count(store->copy.map); row++)
            store_row(&store->copy, row);
        thread->stores = store->next;
        memory_free(store);
    }
}

/* --- calls ------------------------------------------------------------------------------------------------------------------ */

bool host_phase_has_ended(HostWorker *worker, const HostWait *wait, const char **wrong)
{
    uint64_t *word = (uint64_t *)(uintptr_t)wait->value;
    *wrong = check_barrier(worker, word);
    if (*wrong || read_barrier(word).phase != (wait->mask & 1))
        return true;
    *wrong = finish_loads(worker, word);
    return *wrong || read_barrier(word).phase != (wait->mask & 1);
}

/* Whether it has ended already; if not, copies go on behind this. */
static const char *test_phase(HostFiber *fiber)
{
    const HostWait wait = fiber->wait;
    uint64_t *word = (uint64_t *)(uintptr_t)wait.value;
    const char *wrong = check_barrier(fiber->worker, word);
    if (wrong)
        return wrong;
    fiber->wait.value = read_barrier(word).phase != (wait.mask & 1);
    return fiber->wait.value ? NULL : finish_loads(fiber->worker, word);
}

static const char *barrier_call(HostFiber *fiber)
{
    HostWorker *worker = fiber->worker;
    const HostWait *wait = &fiber->wait;
    uint64_t *word = (uint64_t *)(uintptr_t)wait->value;
    const char *wrong;
    switch (wait->operation) {
    case INTRINSIC_MBARRIER_INIT: return init(worker, word, wait->mask);
    case INTRINSIC_MBARRIER_INVALIDATE: return invalidate(worker, word);
    case INTRINSIC_MBARRIER_ARRIVE: return arrive(worker, word, wait->mask);
    case INTRINSIC_MBARRIER_ARRIVE_CLUSTER: return arrive_far(worker, word, wait->mask, wait->place);
    case INTRINSIC_MBARRIER_EXPECT_TX: return expect_bytes(worker, word, wait->mask);
    case INTRINSIC_MBARRIER_ARRIVE_EXPECT_TX:
        wrong = expect_bytes(worker, word, wait->mask);
        return wrong ? wrong : arrive(worker, word, 1);
    default: return test_phase(fiber);
    }
}

static void see_all(HostWorker *worker) { memcpy(worker->tiles->seen, worker->shared, worker->shared_size); }

static const char *order_call(HostFiber *fiber)
{
    HostTileThread *thread = host_tile_thread(fiber);
    uint32_t kept = fiber->wait.mask;
    switch (fiber->wait.operation) {
    case INTRINSIC_FENCE_PROXY_ASYNC: see_all(fiber->worker); return NULL;
    case INTRINSIC_TMA_COMMIT: thread->store_groups++; return NULL;
    case INTRINSIC_TMA_WAIT:
    case INTRINSIC_TMA_WAIT_READ:
        finish_stores(thread, thread->store_groups > kept ? thread->store_groups - kept : 0);
        return NULL;
    default: return NULL; /* mbarrier.fence_init: blocks of a cluster run in turns */
    }
}

const char *host_tile_call(HostFiber *fiber)
{
    const HostTileCopy *copy = (const HostTileCopy *)(uintptr_t)fiber->wait.value;
    switch (intrinsic_info[fiber->wait.operation].family) {
    case FAMILY_MBARRIER:
    case FAMILY_MBARRIER_CLUSTER: return barrier_call(fiber);
    case FAMILY_BULK_CLUSTER: return load_tile(fiber->worker, copy, true);
    case FAMILY_BULK:
        return fiber->wait.operation == INTRINSIC_TMA_STORE ? store_tile(fiber, copy)
                                                            : load_tile(fiber->worker, copy, false);
    case FAMILY_BULK_ORDER: return order_call(fiber);
    default: return NULL; /* registers: there are as many as it takes */
    }
}

/* --- blocks ----------------------------------------------------------------------------------------------------------------- */

static void forget(HostTiles *tiles)
{
    for (HostLoad *load = tiles->loads, *next; load; load = next) {
        next = load->next;
        memory_free(load);
    }
    tiles->loads = NULL;
    for (uint32_t i = 0; i < HOST_MAX_WARPS * HOST_WARP; i++) {
        HostTileThread *thread = &tiles->threads[i];
        for (HostStore *store = thread->stores, *next; store; store = next) {
            next = store->next;
            memory_free(store);
        }
        for (HostSums *sums = thread->sums, *next; sums; sums = next) {
            next = sums->next;
            memory_free(sums);
        }
        *thread = (HostTileThread){0};
    }
}

bool host_tiles_begin(HostWorker *worker)
{
    if (worker->tiles)
        forget(worker->tiles);
    else
        worker->tiles = memory_try(sizeof *worker->tiles);
    if (!worker->tiles)
        return false;
    memory_free(worker->tiles->seen);
    worker->tiles->seen = memory_try(worker->shared_size);
    if (!worker->tiles->seen)
        return false;
    memset(worker->shared, NO_BARRIER, worker->shared_size); /* not what the block before has left there */
    memset(worker->tiles->seen, (uint8_t)~NO_BARRIER, worker->shared_size); /* nothing so far */
    return true;
}

const char *host_tiles_end(HostWorker *worker)
{
    HostTiles *tiles = worker->tiles;
    for (uint32_t i = 0; i < worker->thread_count; i++)
        finish_stores(&tiles->threads[i], UINT32_MAX);
    return tiles->loads ? "the block has ended while copies into its shared memory were under way" : NULL;
}

void host_describe_phase(const HostWorker *worker, const HostWait *wait, char *text, size_t size)
{
    const uint64_t *word = (const uint64_t *)(uintptr_t)wait->value;
    if (check_barrier(worker, word))
        return;
    Barrier barrier = read_barrier(word);
    snprintf(text, size, "; its barrier lacks %u of %u arrivals and %lld bytes", (unsigned)barrier.pending,
             (unsigned)barrier.expected, (long long)barrier.bytes);
}
