/* A launch that is checked while it runs: what its threads tell of their accesses, and when they meet. */
#ifndef CUJIT_RUNTIME_HOST_CHECKER_H
#define CUJIT_RUNTIME_HOST_CHECKER_H

#include "core/target.h"
#include "core/watch_kind.h"
#include "runtime/host/check/initialized.h"
#include "runtime/host/check/race.h"
#include "runtime/host/threads/host_worker.h"

struct HostChecker {
    CheckSet checks;
    Shadow shadow;
    Released released;
    Unwritten unwritten;
    ExceptionRecord fault;
    bool has_fault, no_memory;
};

/* What a WATCH of compiled code says (core/host_abi.h). */
typedef struct WatchEvent {
    WatchKind kind;
    bool has_value;
    uint32_t ndim, site;
    uint64_t address, size, value;
    const int64_t *indices;
} WatchEvent;

/* All of these: false where the block cannot go on; the checker says why, and worker->hang is not empty. Without a checker they
 * do nothing. */
bool host_check_event(HostFiber *fiber, const WatchEvent *event);
bool host_check_block(HostWorker *worker);
bool host_check_barrier(HostWorker *worker);
bool host_check_lanes(HostWorker *worker, uint32_t first, uint32_t lanes);
/* A thread comes to a numbered barrier, and one goes on from there; the last one that does so ends it. */
bool host_check_arrive(HostFiber *fiber, uint32_t number);
bool host_check_leave(HostFiber *fiber, uint32_t number);
/* Blocks [0, count) have all met: those of a cluster, or of the grid. */
bool host_check_blocks(HostWorker *const *workers, int64_t count, bool is_grid);
void host_check_free(HostChecker *checker);
/* Ends what a worker keeps for a checker. */
void host_check_leave_worker(HostWorker *worker);

#endif
