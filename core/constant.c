/* Constants of a snapshot. */
#include "core/snapshot.h"

const char *constant_key(Arena *arena, const Constant *key)
{
    switch (key->kind) {
    case CONSTANT_STRING: return arena_format(arena, "'%s", key->text);
    case CONSTANT_BOOL:
    case CONSTANT_INT: return key->is_unsigned ? NULL : arena_format(arena, "%lld", (long long)key->integer);
    case CONSTANT_ENUM: return key->count ? constant_key(arena, key->items[0]) : NULL;
    default: return NULL;
    }
}
