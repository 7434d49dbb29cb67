/* Clocks of threads and blocks: what each knows, and when it is told. */
#include "runtime/host/check/clocks.h"

#include "core/base/memory.h"

enum { THREAD_BITS = 10 }; /* a block has 1024 threads at most */

static uint64_t thread_key(uint64_t block, uint32_t thread) { return block << THREAD_BITS | thread; }
static uint64_t block_key(uint64_t block) { return UINT64_C(1) << 62 | block; }

bool clocks_begin_block(BlockClock *block, uint64_t number, uint32_t thread_count)
{
    if (block->thread_count < thread_count || !block->threads) {
        clocks_end_block(block);
        block->threads = memory_try(thread_count * sizeof *block->threads);
        if (!block->threads)
            return false;
    }
    for (uint32_t i = 0; i < thread_count; i++) {
        ThreadClock *thread = &block->threads[i];
        thread->clock = 1;
        thread->fence_clock = thread->fence_epoch = 0;
        knowledge_clear(&thread->known);
        knowledge_clear(&thread->seen);
    }
    knowledge_clear(&block->known);
    block->block = number;
    block->epoch = 0;
    block->thread_count = thread_count;
    return true;
}

void clocks_end_block(BlockClock *block)
{
    for (uint32_t i = 0; block->threads && i < block->thread_count; i++) {
        knowledge_free(&block->threads[i].known);
        knowledge_free(&block->threads[i].seen);
    }
    knowledge_free(&block->known);
    memory_free(block->threads);
    *block = (BlockClock){0};
}

/* What is known of the block's own threads, or of others. */
static bool learn_part(Knowledge *to, const Knowledge *from, const BlockClock *block, bool of_own)
{
    for (uint32_t i = 0; from->count && i < from->capacity; i++)
        if (from->keys[i] && ((from->keys[i] - 1) >> THREAD_BITS == block->block) == of_own &&
            !knowledge_learn(to, from->keys[i] - 1, from->values[i]))
            return false;
    return true;
}

/* What the block's own threads did is known by its epoch: only others are told of, by a thread's last fence, which may be
 * of an earlier epoch, and covers what lanes had told it then. */
static bool share(BlockClock *block, ThreadClock *thread)
{
    Knowledge own = {0};
    bool ok = learn_part(&block->known, &thread->known, block, false) &&
              learn_part(&block->known, &thread->seen, block, false) &&
              (!thread->fence_clock || learn_part(&own, &thread->known, block, true));
    knowledge_clear(&thread->seen);
    if (own.count || !ok) {
        knowledge_free(&thread->known);
        thread->known = own;
    } else
        knowledge_clear(&thread->known);
    return ok;
}

bool clocks_barrier(BlockClock *block)
{
    bool ok = true;
    for (uint32_t i = 0; i < block->thread_count; i++)
        ok &= share(block, &block->threads[i]);
    block->epoch++;
    return ok;
}

bool clocks_meet(BlockClock *block, uint32_t first, uint32_t lanes)
{
    Knowledge all = {0};
    bool ok = true;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t number = first + (uint32_t)__builtin_ctz(left);
        ThreadClock *thread = &block->threads[number];
        ok = ok && knowledge_learn_all(&all, &thread->known) && knowledge_learn_all(&all, &thread->seen) &&
             knowledge_learn(&all, thread_key(block->block, number), thread->clock);
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        ThreadClock *thread = &block->threads[first + (uint32_t)__builtin_ctz(left)];
        ok = ok && knowledge_learn_all(&thread->known, &all);
        knowledge_clear(&thread->seen);
        thread->clock++;
    }
    knowledge_free(&all);
    return ok;
}

bool clocks_tell_block(BlockClock *listener, const BlockClock *teller)
{
    return knowledge_learn_all(&listener->known, &teller->known) &&
           knowledge_learn(&listener->known, block_key(teller->block), teller->epoch);
}

bool clocks_fence(BlockClock *block, uint32_t number)
{
    ThreadClock *thread = &block->threads[number];
    bool ok = knowledge_learn_all(&thread->known, &thread->seen);
    knowledge_clear(&thread->seen);
    thread->fence_epoch = block->epoch;
    thread->fence_clock = thread->clock++;
    return ok;
}

/* --- places ----------------------------------------------------------------------------------------------------------- */

static Knowledge *add_place(Released *released, uint64_t place)
{
    if (released->count == released->capacity) {
        uint32_t capacity = released->capacity ? 2 * released->capacity : 16;
        Knowledge *known = memory_try(capacity * sizeof *known);
        if (!known)
            return NULL;
        for (uint32_t i = 0; i < released->count; i++)
            known[i] = released->known[i];
        memory_free(released->known);
        released->known = known;
        released->capacity = capacity;
    }
    if (!knowledge_learn(&released->places, place, released->count + 1))
        return NULL;
    return &released->known[released->count++];
}

bool clocks_release(Released *released, const BlockClock *block, uint32_t number, uint64_t place, bool is_store)
{
    const ThreadClock *thread = &block->threads[number];
    uint32_t found = knowledge_of(&released->places, place);
    Knowledge *known = found ? &released->known[found - 1] : NULL;
    if (known && is_store)
        knowledge_clear(known);
    if (!thread->fence_clock)
        return true;
    if (!known)
        known = add_place(released, place);
    return known && knowledge_learn_all(known, &block->known) && knowledge_learn_all(known, &thread->known) &&
           knowledge_learn(known, block_key(block->block), thread->fence_epoch) &&
           knowledge_learn(known, thread_key(block->block, number), thread->fence_clock);
}

bool clocks_acquire(const Released *released, BlockClock *block, uint32_t thread, uint64_t place)
{
    uint32_t found = knowledge_of(&released->places, place);
    return !found || knowledge_learn_all(&block->threads[thread].seen, &released->known[found - 1]);
}

void released_free(Released *released)
{
    for (uint32_t i = 0; i < released->count; i++)
        knowledge_free(&released->known[i]);
    memory_free(released->known);
    knowledge_free(&released->places);
    *released = (Released){0};
}

/* --- asking ----------------------------------------------------------------------------------------------------------- */

bool clocks_knows(const BlockClock *block, uint32_t number, const Stamp *stamp)
{
    const ThreadClock *thread = &block->threads[number];
    uint64_t by_thread = thread_key(stamp->block, stamp->thread), by_block = block_key(stamp->block);
    if (stamp->block == block->block && stamp->epoch < block->epoch)
        return true;
    return knowledge_of(&thread->known, by_thread) >= stamp->clock ||
           knowledge_of(&block->known, by_thread) >= stamp->clock ||
           knowledge_of(&thread->known, by_block) > stamp->epoch ||
           knowledge_of(&block->known, by_block) > stamp->epoch;
}
