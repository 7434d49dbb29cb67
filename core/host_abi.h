/* What a kernel compiled for the CPU device and the runtime that runs it know of each other.
 * A kernel image has one of two entries. HostBlocksEntry runs all threads of a range of blocks in plain loops; kernels
 * whose threads have to be real because they wait for each other have HostThreadEntry, which runs one thread. */
#ifndef CUJIT_CORE_HOST_ABI_H
#define CUJIT_CORE_HOST_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diagnostic/overflow_record.h"
#include "core/observed.h"

typedef struct HostThread HostThread;

/* What each thread of a block may add: for each of them where, 0: nothing, and what, float or double. */
typedef struct HostAddition {
    const uintptr_t *places;
    const void *values;
} HostAddition;

/* Services that compiled code calls through HostThread.services: the fields' order is the ABI. */
typedef struct HostServices {
    /* Returns when every thread of the block that has not returned is here. line: of the call, for messages. */
    void (*barrier)(HostThread *thread, int32_t line);
    /* Threads meet others of their warp, or of their block to vote. operation: the IntrinsicId; its operands go to mask,
     * value (a vote's predicate) and place; line: of the call, for messages. Returns the result's bits. */
    uint64_t (*meet)(HostThread *thread, int32_t operation, uint32_t mask, uint64_t value, uint32_t place,
                     int32_t line);
    /* Lets other threads of the block run, or sleeps where there are none. */
    void (*sleep)(HostThread *thread, uint32_t nanoseconds);
    /* Stops in the debugger that traces the process; without one it does nothing. */
    void (*debug)(HostThread *thread);
    /* Of a clock that is the same for all threads. */
    uint64_t (*nanoseconds)(HostThread *thread);
    /* Writes to standard output. format: of print_format.h; values: 8 bytes for each directive, pointers for %s. */
    void (*print)(HostThread *thread, const char *format, const uint64_t *values);
    /* An event (observed.def) at that site, inside of so many loops of its function. detail: whether the condition of a branch
     * holds, the bytes at the address of an access, with OBSERVED_IN_HALVES. */
    void (*observe)(HostThread *thread, ObservedSite *site, int32_t event, int32_t depth, const void *address,
                    int64_t detail);
    /* All threads of a block meet for an operation that compiled code has not itself (shuffles and votes of warps), those
     * that have ended aside (going, NULL: none has). For each thread what `meet` takes and returns. Votes of the block:
     * results has one item. Arrays end with a warp. */
    void (*exchange)(int32_t operation, int32_t threads, const uint64_t *values, const uint8_t *going,
                     uint64_t *results);
    /* Of a kernel that is checked: an access that comes next, a fence, or the like. what: WatchKind, in bit 8 whether there is
     * a value, the axes from bit 16 on; site: the number of an exception of the module; value: of a write, its bits. */
    void (*watch)(HostThread *thread, uint32_t what, uint32_t site, const void *address, uint64_t size, uint64_t value,
                  const int64_t *indices);
    /* Arithmetic that went wrong. Takes no thread: one whose address is known to others is memory, not registers. */
    void (*note)(OverflowRecord *record, const OverflowCase *occurrence);
    /* Makes so many additions of each thread, atomically, thread after thread. size: of a value, in bytes. Takes no thread,
     * either. */
    void (*add)(const HostAddition *additions, int32_t count, int32_t threads, int32_t size);
} HostServices;

/* What a running thread knows. Compiled code reads the fields by their offsets. */
struct HostThread {
    int32_t thread_index[3];
    int32_t block_index[3];
    int32_t block_dim[3];
    int32_t grid_dim[3];
    int32_t cluster_dim[3]; /* blocks of a cluster; 1 without clusters */
    int32_t lane; /* place in the warp: linear thread number modulo 32 */
    int32_t linear_thread; /* place in the block, x fastest */
    uint8_t *shared; /* the block's static shared memory, 128-byte aligned; dynamic memory follows it */
    uint8_t *dynamic_shared;
    const void *parameters; /* the buffer of kernel_abi.h; pointers in it are host pointers */
    const HostServices *services;
    void *runtime; /* the runtime's own */
    int64_t dynamic_size; /* bytes at dynamic_shared: the launch's */
    uint8_t *const *cluster_shared; /* `shared` of each block of the cluster, by rank; NULL without clusters */
    int32_t call_line; /* of the user's last call of a library function, for messages about what waits in it */
    OverflowRecord *overflows; /* by the number of the exception; NULL: the kernel has no NOTEs */
    /* HostBlocksEntry, its own: of the array that atomics marked as private go to, and its bytes; 0: there is none. */
    uint8_t *private_copy;
    int64_t private_size;
    uint8_t *context; /* HostBlocksEntry: what a block keeps for its threads, 128-byte aligned */
    const void *stack_end; /* of the stack that it runs on: behind its frames */
    int32_t row_length; /* HostBlocksEntry, its own: threads next to each other, of one block or of several joined */
};

/* Threads of a warp, as on GPUs. */
enum { HOST_WARP = 32 };
/* Threads of a block are counted in steps of this for the size of `context`. */
enum { HOST_CONTEXT_STEP = 128 };
/* So many threads may be run at once where blocks are joined (IrFunc.joins_rows) and something is kept for each thread. */
enum { HOST_JOINED_THREADS = 1024 };

/* Bytes at `context` for a kernel that keeps so many for each thread. */
static inline size_t host_context_bytes(uint32_t for_each, uint32_t threads)
{
    threads = threads < HOST_JOINED_THREADS ? HOST_JOINED_THREADS : threads;
    return (size_t)for_each * ((threads + HOST_CONTEXT_STEP - 1) & ~(uint32_t)(HOST_CONTEXT_STEP - 1));
}

typedef void (*HostThreadEntry)(HostThread *thread);
/* Runs blocks [first, first + count) of the grid, numbered along the kernel's rows: x fastest, unless IrFunc.row_axis is
 * another one. `frame` has block_dim, grid_dim, shared, dynamic_shared, dynamic_size, parameters, services, context
 * and stack_end filled, and thread_index of the axes of KernelImage.repeated_axes, whose other threads are further calls; the
 * callee sets the rest in a copy of its own. */
typedef void (*HostBlocksEntry)(const HostThread *frame, int64_t first, int64_t count);

#endif
