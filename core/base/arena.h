/* Bump allocator for one compilation: everything made while compiling lives in one arena and is freed at once.
 * Not thread-safe; one arena belongs to one compilation on one thread. */
#ifndef CUJIT_CORE_ARENA_H
#define CUJIT_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

/* A new empty arena. Without memory it fails as memory_alloc() does, and so does all that follows. */
Arena *arena_create(void);
/* Likewise outside of a guard: NULL when memory is out. */
Arena *arena_try(void);
/* Likewise for few bytes that are kept for long: `size` of them take no more than that, more take as much as elsewhere. */
Arena *arena_try_small(size_t size);
/* Frees the arena and all that was allocated from it. NULL is allowed. */
void arena_destroy(Arena *arena);
/* `size` zeroed bytes aligned for any type. Never NULL. */
void *arena_alloc(Arena *arena, size_t size);
/* Copies `size` bytes into the arena. */
void *arena_copy(Arena *arena, const void *bytes, size_t size);
/* Room for one more behind `count` items of an array of the arena: the array itself, or a copy twice as large. */
void *arena_grow(Arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t item_size);
/* Copies a NUL-terminated string. */
char *arena_string(Arena *arena, const char *text);
/* printf into the arena. */
char *arena_format(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes handed out so far. */
size_t arena_used(const Arena *arena);

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, count) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(count)))

#endif
