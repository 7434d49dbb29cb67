/* The CPU device: what its files share. A worker is a place where blocks run one at a time: the shared memory of a block
 * and the stacks of its threads. Pool threads own one each; a launching thread borrows one. */
#ifndef CUJIT_RUNTIME_HOST_DEVICE_H
#define CUJIT_RUNTIME_HOST_DEVICE_H

#include <stdatomic.h>
#include <time.h>

#include "runtime/backend.h"

enum {
    HOST_MAX_THREADS = 1024, /* of a block */
    HOST_MAX_SHARED = 227 * 1024, /* bytes of a block, static and dynamic */
    HOST_DEFAULT_SHARED = 48 * 1024,
    HOST_WARP = 32,
    HOST_SHARED_ALIGNMENT = 128,
};

typedef struct HostKernel {
    RtKernel base;
    HostThreadEntry thread_entry;
    HostBlocksEntry blocks_entry; /* NULL: threads must be real */
    uint32_t local_size; /* bytes of local arrays of a thread */
    _Atomic float block_nanoseconds; /* what a block took in the last launch; 0: unknown */
} HostKernel;

/* The mapping that holds the stacks of a block's threads: `count` stacks of `stride` bytes, a guard page below each. */
typedef struct HostStacks {
    uint8_t *base;
    size_t stride;
    uint32_t count;
    int split_guards; /* guards that cost a mapping each */
} HostStacks;

typedef struct HostFiber HostFiber;

typedef struct HostWorker {
    struct HostWorker *next_idle;
    uint8_t *shared; /* HOST_SHARED_ALIGNMENT, shared_size bytes */
    size_t shared_size;
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
} HostWorker;

/* One launch, on the stack of the launching thread. */
typedef struct HostJob {
    struct HostJob *next;
    HostKernel *kernel;
    const RtLaunch *launch;
    int64_t block_count, chunk;
    _Atomic int64_t next_block;
    _Atomic bool closed; /* no further worker may join */
    int users; /* pool threads inside; under the pool's lock */
} HostJob;

/* host_memory.c */
bool host_memory_info(RtDevice *device, size_t *free_bytes, size_t *total_bytes, Diag *diag);
bool host_allocate(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag);
bool host_release(RtDevice *device, RtPointer pointer, Diag *diag);
bool host_allocate_pinned(RtDevice *device, size_t size, void **pointer, Diag *diag);
bool host_release_pinned(RtDevice *device, void *pointer, Diag *diag);
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

/* host_launch.c */
RtKernel *host_kernel_load(RtDevice *device, const RtImage *image, Diag *diag);
void host_kernel_unload(RtKernel *kernel);
bool host_kernel_attribute(RtKernel *kernel, int attribute, int *value, Diag *diag);
bool host_kernel_occupancy(RtKernel *kernel, size_t dynamic_shared, int *blocks, int *threads, Diag *diag);
bool host_launch(RtKernel *kernel, const RtLaunch *launch, Diag *diag);
/* Gets the worker ready for the job: shared memory, stacks, frame. 0, or the errno that says why not. */
int host_worker_prepare(HostWorker *worker, const HostJob *job);
/* Takes chunks of so many blocks until none is left or the deadline has passed (CLOCK_MONOTONIC nanoseconds). Returns how
 * many blocks it ran. The worker is prepared. */
int64_t host_job_work(HostJob *job, HostWorker *worker, int64_t chunk, int64_t deadline);

/* host_barrier.c */
extern const HostServices host_services;
/* Runs every thread of the block whose index is in worker->frame, as fibers. */
void host_block_run(HostWorker *worker);
/* Runs the kernel's blocks_entry on a fiber's stack instead of the thread's own. */
void host_blocks_run(HostWorker *worker, int64_t first, int64_t count);

/* host_fiber.c */
/* Whether there are `count` stacks with at least `usable` bytes each. */
bool host_stacks_suffice(const HostStacks *stacks, uint32_t count, size_t usable);
/* Maps that many in place of the old ones, and where it is cheap no fewer or smaller ones. 0 or errno: then there are
 * none. */
int host_stacks_map(HostStacks *stacks, uint32_t count, size_t usable);
/* The end (highest address, 64-byte aligned) of stack `index`, staggered so that tops do not share cache sets. */
uint8_t *host_stack_top(const HostStacks *stacks, uint32_t index);
/* A stack pointer that, switched to, calls entry(argument) on the stack that ends at `top`. entry never returns. */
void *host_fiber_prepare(uint8_t *top, void (*entry)(void *argument), void *argument);
/* Saves callee-saved registers and the stack pointer in *save, continues where `load` was saved. No system call. */
void host_fiber_switch(void **save, void *load) __attribute__((visibility("hidden")));

#endif
