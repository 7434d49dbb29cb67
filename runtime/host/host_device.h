/* The CPU device: what its files share. A worker is a place where blocks run one at a time: the shared memory of a block
 * and the stacks of its threads. Pool threads own one each; a launching thread borrows one. */
#ifndef CUJIT_RUNTIME_HOST_DEVICE_H
#define CUJIT_RUNTIME_HOST_DEVICE_H

#include <stdatomic.h>
#include <time.h>

#include "runtime/backend.h"

enum {
    HOST_MAX_THREADS = 1024, /* of a block */
    HOST_REGISTERS = 65536, /* of a block: what GPUs have */
    HOST_MAX_SHARED = 227 * 1024, /* bytes of a block, static and dynamic */
    HOST_DEFAULT_SHARED = 48 * 1024,
    HOST_WARP = 32,
    HOST_MAX_WARPS = HOST_MAX_THREADS / HOST_WARP,
    HOST_SHARED_ALIGNMENT = 1024, /* what an array can ask for at most */
    HOST_HANG_SIZE = 1536, /* bytes of a message */
};

typedef struct HostKernel {
    RtKernel base;
    HostThreadEntry thread_entry;
    HostBlocksEntry blocks_entry; /* NULL: threads must be real */
    bool by_clusters; /* blocks of a cluster run in turns */
    bool by_warps; /* threads are scheduled by host_warp.c */
    uint32_t local_size; /* bytes of local arrays of a thread */
    uint32_t context_size; /* bytes that blocks_entry keeps for a thread */
    _Atomic float block_nanoseconds; /* what a block took in the last launch; 0: unknown */
} HostKernel;

/* The mapping that holds the stacks of a block's threads: `count` stacks of `stride` bytes, a guard page below each. */
typedef struct HostStacks {
    uint8_t *base;
    size_t stride;
    uint32_t count;
    int split_guards; /* guards that cost a mapping each */
} HostStacks;

typedef struct HostWorker HostWorker;

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
    HostThread thread;
    HostWait wait;
} HostFiber;

/* The lanes of a warp by what they do, as masks; lanes in none of the first four have returned (host_warp.c). */
typedef struct HostWarp {
    uint32_t ready; /* can run */
    uint32_t meeting; /* wait for other lanes of the warp */
    uint32_t at_barrier;
    uint32_t at_numbered; /* wait at one of the block's numbered barriers */
    uint32_t started; /* have a fiber */
    HostFiber *fibers[HOST_WARP];
} HostWarp;

/* Threads that have arrived at a barrier of the block. */
typedef struct HostArrivals {
    int32_t operation; /* of the first one; -1 where another differs */
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
    uint32_t thread_count, next_thread; /* threads of the block; the first that has not started */
    int32_t next_index[3]; /* its threadIdx */
    uint32_t fibers_used, fibers_made;
    HostFiber *first, *last, *previous; /* ring of threads that have waited at a barrier; who ran before this one */
    int64_t first_block, block_count; /* blocks for blocks_entry when it runs on a fiber; else block_count is 0 */
    /* the same when threads are scheduled by warps */
    uint32_t running; /* the thread that runs, or is to start on the fiber that runs */
    HostFiber *idle; /* fibers whose thread has returned */
    HostArrivals arrivals;
    uint32_t numbered[HOST_BARRIERS]; /* threads that have come to each numbered barrier */
    HostWarp warps[HOST_MAX_WARPS];
    void *paused; /* stack pointer of the thread to go on with when all blocks have come; NULL: none waits for them */
    int32_t paused_at; /* the barrier: INTRINSIC_CUDA_GRID_SYNC or INTRINSIC_CLUSTER_SYNC */
    char hang[HOST_HANG_SIZE]; /* why the block cannot go on; "": it can */
    bool trapped; /* because a thread said so */
};

/* One launch, on the stack of the launching thread. */
typedef struct HostJob {
    struct HostJob *next;
    HostKernel *kernel;
    const RtLaunch *launch;
    int64_t block_count, chunk;
    _Atomic int64_t next_block;
    _Atomic bool closed; /* no further worker may join */
    int users; /* pool threads inside; under the pool's lock */
    _Atomic bool hangs; /* a block could not go on: no further ones start */
    char hang[HOST_HANG_SIZE]; /* the first such block's message; written by who sets `hangs` */
    bool trapped; /* it did not hang: a thread ended the launch */
} HostJob;

/* host_memory.c */
bool host_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag);
bool host_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
bool host_release(RtDevice *device, RtPointer pointer, Diag *diag);
bool host_allocate_host(RtDevice *device, RtHostBlock *block, Diag *diag);
bool host_release_host(RtDevice *device, const RtHostBlock *block, Diag *diag);
bool host_register_host(RtDevice *device, void *host, size_t size, RtPointer *pointer, Diag *diag);
bool host_unregister_host(RtDevice *device, void *host, Diag *diag);
bool host_copy_to_device(RtDevice *device, RtPointer to, const void *from, size_t size, RtStream *stream, Diag *diag);
bool host_copy_to_host(RtDevice *device, void *to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
bool host_copy_on_device(RtDevice *device, RtPointer to, RtPointer from, size_t size, RtStream *stream, Diag *diag);
bool host_fill(RtDevice *device, RtPointer to, uint8_t byte, size_t size, RtStream *stream, Diag *diag);

/* host_pool.c */
/* Threads that run blocks, the launching one included: the cores this process may use, or CUJIT_CPU_THREADS.
 * False with DIAG_HOST_THREADS when that is no number. */
bool host_pool_size(int *count, Diag *diag);
/* Runs the job on the calling thread and on idle pool threads, which start with the first launch. */
bool host_pool_run(HostJob *job, int participants, Diag *diag);
/* A worker for the calling thread, NULL when memory is out; given back by host_pool_return. */
HostWorker *host_pool_borrow(void);
void host_pool_return(HostWorker *worker);

/* CLOCK_MONOTONIC; about 20 ns. */
static inline int64_t host_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* host_grid.c */
/* Runs a cooperative launch: all blocks in turns on the calling thread, each as far as the next barrier of the grid. */
bool host_grid_run(HostJob *job, Diag *diag);
/* Runs the clusters one after the other on the calling thread, the blocks of each in turns. */
bool host_clusters_run(HostJob *job, Diag *diag);

/* host_launch.c */
RtKernel *host_kernel_load(RtDevice *device, const RtImage *image, Diag *diag);
void host_kernel_unload(RtKernel *kernel);
bool host_kernel_attribute(RtKernel *kernel, int attribute, int *value, Diag *diag);
bool host_kernel_occupancy(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag);
bool host_kernel_resident_blocks(RtKernel *kernel, int threads, size_t dynamic_shared, int *blocks, Diag *diag);
bool host_launch(RtKernel *kernel, const RtLaunch *launch, Diag *diag);
/* Gets the worker ready for the job: shared memory, stacks, frame. 0, or the errno that says why not. */
int host_worker_prepare(HostWorker *worker, const HostJob *job);
/* Sets the index of that block in the worker's frame; blocks are numbered with x fastest. */
void host_worker_enter_block(HostWorker *worker, int64_t block);
/* Takes chunks of so many blocks until none is left or the deadline has passed (CLOCK_MONOTONIC nanoseconds). Returns how
 * many blocks it ran. The worker is prepared. */
int64_t host_job_work(HostJob *job, HostWorker *worker, int64_t chunk, int64_t deadline);

/* host_print.c */
void host_print(HostThread *thread, const char *format, const uint64_t *values);

/* host_barrier.c */
uint64_t host_clock(HostThread *thread);
void host_debug(HostThread *thread);
extern const HostServices host_services;
/* The next unused fiber of this block, made on first use. Its stack pointer is where it begins or continues. */
HostFiber *host_fiber_take(HostWorker *worker);
/* Runs every thread of the block whose index is in worker->frame, as fibers; a paused block goes on. Ends when all have
 * returned, when all that have not wait for the whole grid (worker->paused), or when none can go on (worker->hang). */
void host_block_run(HostWorker *worker);
/* Runs the kernel's blocks_entry on a fiber's stack instead of the thread's own. */
void host_blocks_run(HostWorker *worker, int64_t first, int64_t count);

/* host_warp.c */
extern const HostServices host_warp_services;
/* All threads of the block are ready. Returns the fiber of the first. */
HostFiber *host_warps_begin(HostWorker *worker);
/* Runs worker->running on its fiber, then further threads that have not started. Returns the stack pointer to go on
 * with: another thread's, or the worker's when all have returned. */
void *host_warps_run(HostFiber *fiber);

/* host_exchange.c */
/* What the lanes learn that meet for this: operation an IntrinsicId. Arrays of HOST_WARP; results of other lanes mean nothing. */
void host_meet_lanes(int32_t operation, uint32_t lanes, const uint64_t *values, const uint32_t *places,
                     uint64_t *results);
/* What the threads of a block learn that vote. */
uint64_t host_vote(int32_t operation, uint32_t count, uint32_t true_count);
/* HostServices.exchange. */
void host_exchange(int32_t operation, int32_t threads, const uint64_t *values, const uint32_t *places,
                   const uint8_t *going, uint64_t *results);

/* host_tensor.c */
/* Works out a matrix operation of lanes that have met for it; false when the operation is none. */
bool host_tensor_meet(const HostWarp *warp, int32_t operation, uint32_t lanes);

/* host_hang.c */
/* Writes worker->hang: which of the threads [first, end) wait for what. All of them have started or returned. */
void host_describe_hang(HostWorker *worker, uint32_t first, uint32_t end);
/* The same for a thread that calls an operation of its warp or a numbered barrier against the rule. */
void host_describe_misuse(HostWorker *worker, const HostThread *thread, const char *rule);
/* The same for a thread that ends the launch by cuda.trap in that line. */
void host_describe_trap(HostWorker *worker, const HostThread *thread, int32_t line);
/* Moves the message of a block that could not go on from its worker to the job. */
void host_take_report(HostJob *job, HostWorker *worker);
/* Fails with the job's message. */
bool host_fail_report(const HostJob *job, Diag *diag);

/* host_fiber.c */
/* Whether there are `count` stacks with at least `usable` bytes each. */
bool host_stacks_suffice(const HostStacks *stacks, uint32_t count, size_t usable);
/* Maps that many in place of the old ones, and where it is cheap no fewer or smaller ones. 0 or errno: then there are
 * none. */
int host_stacks_map(HostStacks *stacks, uint32_t count, size_t usable);
/* The end (highest address, 64-byte aligned) of stack `index`, staggered so that tops do not share cache sets. */
uint8_t *host_stack_top(const HostStacks *stacks, uint32_t index);
/* Threads that left it in the middle are no more: what AddressSanitizer noted of their variables is void. */
void host_stack_forget(const HostStacks *stacks, uint32_t index);
/* A stack pointer that, switched to, calls entry(argument) on the stack that ends at `top`. entry never returns. */
void *host_fiber_prepare(uint8_t *top, void (*entry)(void *argument), void *argument);
/* Saves callee-saved registers and the stack pointer in *save, continues where `load` was saved. No system call. */
void host_fiber_switch(void **save, void *load) __attribute__((visibility("hidden")));

#endif
