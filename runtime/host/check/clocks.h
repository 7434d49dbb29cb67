/* What comes before what among the threads of a launch: happens-before, as CUDA has it.
 *
 * A thread counts its own steps (clock); a block counts its barriers (epoch). An access is stamped with both. A thread knows
 * an access of another one if a barrier of their block lies between (a smaller epoch), or if it has been told: by lanes that
 * meet, or by memory, where one thread has a fence and then an atomic or a volatile store, and the other one sees the same
 * place by an atomic or a volatile load and then has a fence. What is told is all that the teller knew. */
#ifndef CUJIT_RUNTIME_CLOCKS_H
#define CUJIT_RUNTIME_CLOCKS_H

#include "runtime/host/check/knowledge.h"

typedef struct ThreadClock {
    uint32_t clock; /* from 1 */
    uint32_t fence_clock, fence_epoch; /* what its last fence covers; fence_clock 0: it has had none */
    Knowledge known; /* beside what all of the block know */
    Knowledge seen; /* by atomics; known from the next fence on */
} ThreadClock;

typedef struct BlockClock {
    uint64_t block; /* its number in the grid */
    uint32_t epoch, thread_count;
    Knowledge known; /* to all its threads */
    ThreadClock *threads;
} BlockClock;

/* What was released to each place in memory. */
typedef struct Released {
    Knowledge places; /* address -> 1 + its place in `known` */
    Knowledge *known;
    uint32_t count, capacity;
} Released;

/* One access, as far as order goes. */
typedef struct Stamp {
    uint64_t block;
    uint32_t thread, clock, epoch;
} Stamp;

/* False without memory; blocks and released places are zeroed before. */
bool clocks_begin_block(BlockClock *block, uint64_t number, uint32_t thread_count);
void clocks_end_block(BlockClock *block);
bool clocks_barrier(BlockClock *block);
/* Lanes of the warp that begins with thread `first` meet. */
bool clocks_meet(BlockClock *block, uint32_t first, uint32_t lanes);
/* All threads of two blocks meet, each of which has had its barrier: called for each pair, both ways. */
bool clocks_tell_block(BlockClock *listener, const BlockClock *teller);
bool clocks_fence(BlockClock *block, uint32_t thread);
/* An atomic or a volatile store to the place; is_store: what others have released there is gone. */
bool clocks_release(Released *released, const BlockClock *block, uint32_t thread, uint64_t place, bool is_store);
/* An atomic or a volatile load. */
bool clocks_acquire(const Released *released, BlockClock *block, uint32_t thread, uint64_t place);
void released_free(Released *released);
/* Whether the thread knows that access, of another thread. */
bool clocks_knows(const BlockClock *block, uint32_t thread, const Stamp *stamp);

#endif
