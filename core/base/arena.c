/* The arena is a list of chunks, newest first. With AddressSanitizer every byte that was not handed out is poisoned, and
 * a gap follows each allocation, so that running over its end is seen. */
#include "core/base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/poison.h"

#ifdef HAS_ADDRESS_SANITIZER
enum { ARENA_GAP = 32 };
#else
enum { ARENA_GAP = 0 };
#endif

enum { ARENA_ALIGNMENT = 16, ARENA_FIRST_CHUNK = 16 << 10, ARENA_LARGEST_CHUNK = 1 << 20 };

typedef struct Chunk Chunk;
struct Chunk {
    Chunk *older;
    size_t capacity, used;
    _Alignas(ARENA_ALIGNMENT) unsigned char bytes[];
};

struct Arena {
    Chunk *chunk;
    size_t next_capacity;
    size_t total;
};

Arena *arena_try(void)
{
    Arena *arena = memory_try(sizeof *arena);
    if (arena)
        arena->next_capacity = ARENA_FIRST_CHUNK;
    return arena;
}

Arena *arena_try_small(size_t size)
{
    Arena *arena = arena_try();
    if (arena)
        arena->next_capacity = size;
    return arena;
}

Arena *arena_create(void)
{
    Arena *arena = memory_alloc(sizeof *arena);
    *arena = (Arena){.next_capacity = ARENA_FIRST_CHUNK};
    return arena;
}

void arena_destroy(Arena *arena)
{
    if (!arena)
        return;
    for (Chunk *chunk = arena->chunk, *older; chunk; chunk = older) {
        older = chunk->older;
        memory_unpoison(chunk->bytes, chunk->capacity);
        memory_free(chunk);
    }
    memory_free(arena);
}

static Chunk *add_chunk(Arena *arena, size_t needed)
{
    size_t capacity = arena->next_capacity < needed ? needed : arena->next_capacity;
    Chunk *chunk = memory_resize_part(arena, NULL, sizeof *chunk + capacity);
    if (arena->next_capacity < ARENA_LARGEST_CHUNK)
        arena->next_capacity *= 2;
    chunk->capacity = capacity;
    chunk->used = 0;
    memory_poison(chunk->bytes, capacity);
    /* A chunk made for one large piece goes behind the current one, whose rest stays in use. */
    if (needed > ARENA_LARGEST_CHUNK / 4 && arena->chunk) {
        chunk->older = arena->chunk->older;
        arena->chunk->older = chunk;
    } else {
        chunk->older = arena->chunk;
        arena->chunk = chunk;
    }
    return chunk;
}

void *arena_alloc(Arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4)
        size = SIZE_MAX / 4; /* which nobody has, either */
    size_t step = (size + ARENA_GAP + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    if (!step)
        step = ARENA_ALIGNMENT; /* a pointer of its own even for nothing */
    assert(arena && step >= size);
    Chunk *chunk = arena->chunk;
    if (!chunk || chunk->capacity - chunk->used < step)
        chunk = add_chunk(arena, step);
    void *memory = chunk->bytes + chunk->used;
    chunk->used += step;
    assert(chunk->used <= chunk->capacity && (uintptr_t)memory % ARENA_ALIGNMENT == 0);
    arena->total += size;
    memory_unpoison(memory, size);
    return memset(memory, 0, size);
}

void *arena_copy(Arena *arena, const void *bytes, size_t size)
{
    void *memory = arena_alloc(arena, size);
    if (size)
        memcpy(memory, bytes, size);
    return memory;
}

void *arena_grow(Arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t item_size)
{
    assert(count <= *capacity && (items || !count));
    if (count < *capacity)
        return items;
    uint32_t larger = count ? count * 2 : 8;
    void *grown = arena_alloc(arena, larger * item_size);
    *capacity = larger;
    if (count)
        memcpy(grown, items, count * item_size);
    return grown;
}

char *arena_string(Arena *arena, const char *text) { return arena_copy(arena, text, strlen(text) + 1); }

char *arena_format(Arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    char *text = arena_alloc(arena, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

size_t arena_used(const Arena *arena) { return arena->total; }
