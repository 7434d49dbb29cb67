/* Blocks have a header with their neighbours in the list of a guard; a block outside of all guards has none. */
#include "core/base/memory.h"

#include <assert.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block Block;
struct Block {
    _Alignas(16) Block *next;
    Block *previous;
};

struct MemoryGuard {
    jmp_buf jump;
    MemoryGuard *outer;
    Block blocks; /* the list's ends */
    MemoryCleanup *cleanups;
    size_t wanted;
};

static _Thread_local MemoryGuard *innermost;

/* --- failing ------------------------------------------------------------------------------------------------------------ */
#ifdef CUJIT_FAULTS
static atomic_long requests_left, failures;
static atomic_bool fails_for_good;

void memory_fail_at(long n, bool for_good)
{
    atomic_store(&failures, 0);
    atomic_store(&fails_for_good, for_good);
    atomic_store(&requests_left, n);
}

long memory_failures(void) { return atomic_load(&failures); }

static bool fails_now(void)
{
    if (!atomic_load_explicit(&requests_left, memory_order_relaxed))
        return false;
    long left = atomic_fetch_sub(&requests_left, 1);
    bool fails = left == 1 || (left < 1 && atomic_load(&fails_for_good));
    atomic_fetch_add(&failures, fails);
    if (left == 1)
        atomic_store(&requests_left, -1); /* not 0, which is off */
    return fails;
}
#else
static bool fails_now(void) { return false; }
#endif

/* Outside of a guard nobody can go on. */
void memory_fail(size_t size)
{
    MemoryGuard *guard = innermost;
    if (!guard) {
        fprintf(stderr, "cujit: out of memory (%zu bytes), and no guard\n", size);
        abort();
    }
    while (guard->cleanups)
        memory_end(guard->cleanups);
    while (guard->blocks.next != &guard->blocks)
        memory_free(guard->blocks.next + 1);
    guard->wanted = size;
    longjmp(guard->jump, 1);
}

/* --- blocks --------------------------------------------------------------------------------------------------------------- */
static void link_behind(Block *block, Block *place)
{
    block->previous = place;
    block->next = place->next;
    place->next->previous = block;
    place->next = block;
}

static void unlink_block(Block *block)
{
    if (!block->next)
        return;
    block->previous->next = block->next;
    block->next->previous = block->previous;
    block->next = block->previous = NULL;
}

static Block *allocate(size_t size) { return size > SIZE_MAX / 2 || fails_now() ? NULL : malloc(sizeof(Block) + size); }

void *memory_try(size_t size)
{
    Block *block = allocate(size);
    return block ? (memset(block, 0, sizeof *block + size), block + 1) : NULL;
}

void *memory_try_aligned(size_t alignment, size_t size)
{
    void *memory;
    return fails_now() || posix_memalign(&memory, alignment, size) ? NULL : memory;
}

void *memory_new(size_t size, Diag *diag)
{
    void *memory = memory_try(size);
    if (!memory)
        diag_fail(diag, NULL, DIAG_NO_MEMORY, size);
    return memory;
}

/* A new block in the list where place is, or in none where place is in none. */
static void *allocate_behind(Block *place, size_t size)
{
    Block *block = allocate(size);
    if (!block)
        memory_fail(size);
    block->next = block->previous = NULL;
    if (place && place->next)
        link_behind(block, place);
    return block + 1;
}

void *memory_alloc(size_t size) { return allocate_behind(innermost ? &innermost->blocks : NULL, size); }

/* Makes an old block larger; it stays where it is in its list. */
static void *grow(void *old, size_t size)
{
    Block *block = (Block *)old - 1, *previous = block->previous;
    if (size > SIZE_MAX / 2 || fails_now())
        memory_fail(size);
    unlink_block(block);
    Block *grown = realloc(block, sizeof *block + size);
    if (previous)
        link_behind(grown ? grown : block, previous);
    if (!grown)
        memory_fail(size);
    return grown + 1;
}

void *memory_resize(void *old, size_t size) { return old ? grow(old, size) : memory_alloc(size); }

void *memory_resize_part(const void *owner, void *old, size_t size)
{
    return old ? grow(old, size) : allocate_behind((Block *)owner - 1, size);
}

char *memory_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_alloc(size), text, size);
}

void memory_free(void *memory)
{
    if (!memory)
        return;
    Block *block = (Block *)memory - 1;
    unlink_block(block);
    free(block);
}

void memory_touch(volatile char *memory, size_t size)
{
    enum { PAGE = 1 << 12 };
    for (size_t i = 0; i < size; i += PAGE)
        memory[i] = 0;
}

/* Not by allocate(): nothing is missing where it fails, and tests count the requests of one thread. */
void memory_touch_heap(size_t size)
{
    char *memory = malloc(size);
    if (memory)
        memory_touch(memory, size);
    free(memory);
}

/* --- guards --------------------------------------------------------------------------------------------------------------- */
static bool run(MemoryGuard *guard, bool (*work)(void *), void *data, size_t *wanted)
{
    if (!setjmp(guard->jump))
        return work(data);
    *wanted = guard->wanted;
    return false;
}

bool memory_guard_small(bool (*work)(void *), void *data, size_t *wanted)
{
    MemoryGuard guard = {.outer = innermost, .blocks = {&guard.blocks, &guard.blocks}};
    *wanted = MEMORY_ENOUGH;
    innermost = &guard;
    bool ok = run(&guard, work, data, wanted);
    assert(!guard.cleanups);
    innermost = guard.outer;
    while (guard.blocks.next != &guard.blocks)
        unlink_block(guard.blocks.next);
    return ok;
}

bool memory_guard(bool (*work)(void *), void *data, Diag *diag)
{
    size_t wanted;
    bool ok = memory_guard_small(work, data, &wanted);
    if (wanted == MEMORY_ENOUGH)
        return ok;
    diag_clear(diag); /* of a failure that was being explained */
    return diag_fail(diag, NULL, DIAG_NO_MEMORY, wanted);
}

MemoryGuard *memory_own_guard(void) { return innermost; }

static void call(void (*work)(void *), void *data, MemoryGuard *guard, bool *done)
{
    if (setjmp(guard->jump))
        return;
    work(data);
    *done = true;
}

bool memory_lend_guard(MemoryGuard *lent, void (*work)(void *), void *data)
{
    if (!lent)
        return work(data), true;
    MemoryGuard guard = {.blocks = {&guard.blocks, &guard.blocks}};
    bool done = false;
    innermost = &guard;
    call(work, data, &guard, &done);
    innermost = NULL;
    while (guard.blocks.next != &guard.blocks) {
        Block *block = guard.blocks.next;
        unlink_block(block);
        link_behind(block, &lent->blocks);
    }
    return done;
}

void memory_defer(MemoryCleanup *cleanup, void (*end)(void *), void *object)
{
    *cleanup = (MemoryCleanup){.run = end, .object = object};
    if (!innermost)
        return;
    cleanup->outer = innermost->cleanups;
    innermost->cleanups = cleanup;
}

void memory_cancel(MemoryCleanup *cleanup)
{
    if (innermost && innermost->cleanups == cleanup)
        innermost->cleanups = cleanup->outer;
}

void memory_end(MemoryCleanup *cleanup)
{
    memory_cancel(cleanup);
    cleanup->run(cleanup->object);
}
