/* Barriers in shared memory, copies of tiles, and multiplication by four warps (host_wgmma.c). Copies go on by themselves: they
 * are made as late as a program may count on, so that what does not wait reads what a GPU might give it, too. */
#ifndef CUJIT_RUNTIME_HOST_TILE_H
#define CUJIT_RUNTIME_HOST_TILE_H

#include "core/host_tile_call.h"
#include "runtime/host/threads/host_worker.h"

/* A load into the block's shared memory that is under way. */
typedef struct HostLoad {
    HostTileCopy copy;
    struct HostLoad *next;
} HostLoad;

/* A store of a thread's, by its group: 0 the first, and so on. */
typedef struct HostStore {
    HostTileCopy copy;
    uint32_t group;
    struct HostStore *next;
} HostStore;

/* Accumulators of a thread that multiplications under way will write. */
typedef struct HostSums {
    struct HostSums *next;
    void *c;
    uint32_t count, group;
    uint32_t words[WGMMA_MOST_COLUMNS / 2];
} HostSums;

typedef struct HostTileThread {
    HostStore *stores; /* the oldest first */
    uint32_t store_groups; /* committed */
    HostSums *sums;
    uint32_t groups; /* of multiplications, committed */
    bool is_fenced; /* nothing was written to registers since the last fence, as far as is known */
} HostTileThread;

/* Of a worker whose kernel has tiles. */
struct HostTiles {
    HostLoad *loads; /* the oldest first */
    uint8_t *seen; /* shared memory as copies and multiplications see it: what a fence or a copy has put there */
    HostTileThread threads[HOST_MAX_WARPS * HOST_WARP];
};

/* Begins a block. False: memory is out. */
bool host_tiles_begin(HostWorker *worker);
/* The block's threads have returned: NULL, or what was wrong about it. */
const char *host_tiles_end(HostWorker *worker);
/* Does what the fiber's wait says, of a family of tiles but those of wgmma, without waiting: NULL, or which rule was broken. */
const char *host_tile_call(HostFiber *fiber);
/* Whether the phase that the wait of MBARRIER_TRY_WAIT is for has ended, or ends by copies that are under way. */
bool host_phase_has_ended(HostWorker *worker, const HostWait *wait, const char **wrong);
/* What is missing at that barrier, as the end of a message. */
void host_describe_phase(const HostWorker *worker, const HostWait *wait, char *text, size_t size);
/* Whether copies and multiplications see these bytes of shared memory as they are. */
bool host_tile_sees(const HostWorker *worker, const uint8_t *bytes, size_t size);

/* Multiplies what the lanes of a warp have met for: NULL, or which rule was broken. */
const char *host_wgmma(const HostWarp *warp);
/* WGMMA_FENCE, WGMMA_COMMIT, WGMMA_WAIT. */
const char *host_wgmma_order(HostFiber *fiber);

static inline HostTileThread *host_tile_thread(const HostFiber *fiber)
{
    return &fiber->worker->tiles->threads[fiber->thread.linear_thread];
}

#endif
