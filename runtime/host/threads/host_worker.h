/* What a launch on the CPU device is made of. A worker is a place where blocks run one at a time: the shared memory of
 * a block and the stacks of its threads. Pool threads own one each; a launching thread borrows one. */
#ifndef CUJIT_RUNTIME_HOST_WORKER_H
#define CUJIT_RUNTIME_HOST_WORKER_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "runtime/backend.h"
#include "runtime/host/machine/host_fiber.h"
#include "runtime/host/machine/host_limits.h"
#include "runtime/host/machine/host_order.h"
#include "runtime/host/check/clocks.h"

/* What was seen of a kernel that may be better alone (host_trial.c). */
typedef struct HostTrials {
    _Atomic float alone, shared; /* nanoseconds for each block, as time passed; 0: unknown */
    _Atomic uint32_t launches;
} HostTrials;

typedef struct HostKernel {
    RtKernel base;
    HostThreadEntry thread_entry;
    HostBlocksEntry blocks_entry; /* NULL: threads must be real */
    uint32_t repeated_axes; /* of a block, a bit each: blocks_entry runs the threads of one index */
    bool takes_next; /* all workers take the next blocks, in their order: threads may wait for what others write */
    bool takes_turns; /* its additions of floats wait for those of other workers */
    bool by_clusters; /* blocks of a cluster run in turns */
    bool counts_accesses; /* its blocks run one after the other (host_profile.c) */
    bool by_warps; /* threads are scheduled by host_warp.c */
    bool has_tiles; /* they copy tiles, or wait at barriers in shared memory (host_tile.c) */
    uint32_t local_size; /* bytes of local arrays of a thread */
    uint32_t context_size; /* bytes that blocks_entry keeps for a thread */
    uintptr_t code; /* where the machine code lies, of code_size bytes */
    size_t code_size;
    CheckSet checks; /* that the runtime does: one worker runs all blocks of a launch */
    _Atomic float block_nanoseconds; /* what a block took in the last launch; 0: unknown */
    HostTrials trials;
} HostKernel;

enum { THREAD_STACK_LOCALS = 128 * 1024 }; /* local arrays up to this size may lie on the stack of the calling thread */

/* Whether its threads, or all of it, run on fibers; else on the stack of the thread that takes its blocks. */
static inline bool host_kernel_needs_stack(const HostKernel *kernel)
{
    return !kernel->blocks_entry || kernel->local_size > THREAD_STACK_LOCALS;
}

typedef struct HostWorker HostWorker;
typedef struct HostTiles HostTiles; /* host_tile.h */
typedef struct HostChecker HostChecker; /* host_checker.h */

/* What a thread waits for: its call of the service that stopped it. */
typedef struct HostWait {
    int32_t operation; /* IntrinsicId */
    uint32_t mask, place;
    int32_t line;
    uint64_t value; /* given, then the result */
    const void *site; /* of the call in compiled code */
} HostWait;

/* Lies at the top of its own stack: what a switch reads comes first, next to the frames that it touches. */
typedef struct HostFiber {
    HostWorker *worker;
    struct HostFiber *next; /* in the ring, or among idle fibers */
    void *stack_pointer;
    bool waited; /* in the ring */
    bool copies_unwritten; /* the write that follows is of what nothing has written */
    uint32_t round; /* of the thread's barriers, the one that it has come to last, from 1 */
    HostThread thread;
    HostWait wait;
} HostFiber;

/* The lanes of a warp by what they do, as masks; lanes in none of the first five have returned (host_warp.c). */
typedef struct HostWarp {
    uint32_t ready; /* can run */
    uint32_t meeting; /* wait for other lanes of the warp */
    uint32_t at_barrier;
    uint32_t at_numbered; /* wait at one of the block's numbered barriers */
    uint32_t at_phase; /* wait for the phase of a barrier in shared memory */
    uint32_t started; /* have a fiber */
    HostFiber *fibers[HOST_WARP];
} HostWarp;

/* Threads that have arrived at a barrier of the block. */
typedef struct HostArrivals {
    int32_t operation, line; /* of the first one; operation -1 where another differs */
    uint32_t count, true_count;
    uint64_t result; /* of the last barrier */
} HostArrivals;

enum { HOST_BARRIERS = 16 };

struct HostWorker {
    struct HostWorker *next_idle;
    uint8_t *shared; /* HOST_SHARED_ALIGNMENT, shared_size bytes */
    size_t shared_size;
    uint8_t *context; /* HOST_SHARED_ALIGNMENT, context_size bytes */
    size_t context_size;
    HostStacks stacks;
    HostThread frame; /* what the threads of the launch have in common */
    /* the block that runs now (host_barrier.c) */
    const HostKernel *kernel;
    void *stack_pointer; /* of the worker while fibers run */
    void (*run_fiber)(HostFiber *fiber); /* what a fiber does again and again: threads of this kernel */
    uint32_t thread_count, next_thread; /* threads of the block; the first that has not started */
    int32_t next_index[3]; /* its threadIdx */
    uint32_t fibers_used, fibers_made;
    HostFiber *first, *last, *previous; /* ring of threads that have waited at a barrier; who ran before this one */
    uint32_t parted_round; /* in which threads of the ring have come to barriers of different lines; 0: none so far */
    int64_t first_block, block_count; /* blocks for blocks_entry when it runs on a fiber; else block_count is 0 */
    /* the same when threads are scheduled by warps */
    uint32_t running; /* the thread that runs, or is to start on the fiber that runs */
    HostFiber *idle; /* fibers whose thread has returned */
    HostArrivals arrivals;
    uint32_t numbered[HOST_BARRIERS]; /* threads that have come to each numbered barrier */
    HostWarp warps[HOST_MAX_WARPS];
    void *paused; /* stack pointer of the thread to go on with when all blocks have come; NULL: none waits for them */
    /* the barrier: INTRINSIC_CUDA_GRID_SYNC, INTRINSIC_CLUSTER_SYNC, or INTRINSIC_MBARRIER_TRY_WAIT: some in shared memory */
    int32_t paused_at;
    HostWorker *const *cluster; /* of each block of the cluster, by rank; NULL without clusters */
    HostTiles *tiles; /* NULL: no kernel with tiles has run here */
    char hang[HOST_HANG_SIZE]; /* why the block cannot go on; "": it can */
    bool trapped; /* because a thread said so */
    /* whether the launch goes on (host_interrupt.c) */
    HostWorker *next_made; /* of all workers */
    HostWorker *outer; /* of the launch in whose middle the thread has begun this one */
    _Atomic(struct HostJob *) job;
    pthread_t thread; /* that runs it */
    bool is_of_pool; /* a pool thread's: not the one that asks */
    int place; /* of the part that it begins with: 0, or a pool thread's own number */
    bool on_fiber; /* a fiber runs, not the thread's own stack */
    _Atomic int watch; /* HostWatch */
    _Atomic bool attention; /* a signal came where the thread could not attend to it */
    _Atomic uint32_t turns, seen_turns; /* begun here; of these, seen by the monitor */
    sigjmp_buf escape; /* out of blocks_entry where it runs on the thread's own stack */
    void *interrupted; /* stack pointer of the thread that was stopped to ask; NULL: none was */
    HostChecker *checker; /* of a launch that is checked; else NULL */
    HostOrder order; /* in which threads run */
    BlockClock clock; /* what the block's threads know, for the checker */
};

/* Blocks that one worker begins with, so that it finds in its caches what it has used in the launch before; when there are
 * none left it goes on with those of others. On a line of the cache of its own. */
typedef struct HostPart {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} HostPart;

enum { HOST_MAX_PARTS = 256 };

/* One launch, on the stack of the launching thread. */
typedef struct HostJob {
    struct HostJob *next;
    HostKernel *kernel;
    const RtLaunch *launch;
    int64_t block_count;
    _Atomic int64_t chunk; /* how many blocks a worker takes at once */
    int64_t least_chunk; /* the same when all take part */
    HostPart *parts; /* of all blocks, in their order */
    int part_count;
    _Atomic bool is_over; /* no block is left to begin with */
    _Atomic bool closed; /* no further worker may join */
    pthread_t launcher; /* the thread that launched it */
    bool lost_users; /* they stayed in the parent of this process */
    _Atomic int users; /* pool threads inside; changed under the pool's lock */
    int core; /* of who launched it, when it asked for help */
    _Atomic bool shares_core; /* with a helper */
    int most_helpers; /* pool threads that may be inside; under the pool's lock */
    int few; /* participants to begin with */
    bool tries_alone; /* host_trial.h */
    _Atomic bool hangs; /* a block could not go on: no further ones start */
    char hang[HOST_HANG_SIZE]; /* the first such block's message; written by who sets `hangs` */
    bool trapped; /* it did not hang: a thread ended the launch */
    _Atomic bool cancelled; /* who launched it wants no more of it */
    HostChecker *checker; /* NULL: nothing is checked that the runtime would have to know */
    HostOrder order;
} HostJob;

/* An empty worker. Workers stay for good. NULL when memory is out. */
HostWorker *host_worker_create(void);
/* Gets the worker ready for the job: shared memory, stacks, frame. 0, or the errno that says why not. */
int host_worker_prepare(HostWorker *worker, const HostJob *job);
/* Sets the index of that block in the worker's frame; blocks are numbered with x fastest. */
void host_worker_enter_block(HostWorker *worker, int64_t block);
/* Takes chunks of blocks until none is left or the deadline has passed (CLOCK_MONOTONIC nanoseconds). Returns how
 * many blocks it ran. The worker is prepared. */
int64_t host_job_work(HostJob *job, HostWorker *worker, int64_t deadline);

/* Runs the kernel's blocks_entry on the stack that this is called on. Of the axes that are repeated, a launch has mostly one index
 * each. */
static inline void host_worker_run_entry(HostWorker *worker, int64_t first, int64_t count)
{
    HostThread *frame = &worker->frame;
    uint32_t axes = worker->kernel->repeated_axes;
    int32_t counts[3];
    for (int axis = 0; axis < 3; axis++)
        counts[axis] = axes >> axis & 1 ? frame->block_dim[axis] : 1;
    for (int32_t z = 0; z < counts[2]; z++)
        for (int32_t y = 0; y < counts[1]; y++)
            for (int32_t x = 0; x < counts[0]; x++) {
                frame->thread_index[0] = x;
                frame->thread_index[1] = y;
                frame->thread_index[2] = z;
                worker->kernel->blocks_entry(frame, first, count);
            }
}

#endif
