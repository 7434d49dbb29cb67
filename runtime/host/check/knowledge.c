/* A table of numbers by keys: open addressing, at most two thirds full. */
#include "runtime/host/check/knowledge.h"

#include <string.h>

#include "core/base/memory.h"

enum { FIRST_CAPACITY = 8 };

static uint32_t place_of(const Knowledge *knowledge, uint64_t key)
{
    uint64_t mixed = (key + 1) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t place = (uint32_t)(mixed >> 32) & (knowledge->capacity - 1);
    while (knowledge->keys[place] && knowledge->keys[place] != key + 1)
        place = (place + 1) & (knowledge->capacity - 1);
    return place;
}

uint32_t knowledge_of(const Knowledge *knowledge, uint64_t key)
{
    return knowledge->count ? knowledge->values[place_of(knowledge, key)] : 0;
}

static bool grow(Knowledge *knowledge)
{
    uint32_t capacity = knowledge->capacity ? 2 * knowledge->capacity : FIRST_CAPACITY;
    Knowledge larger = {.keys = memory_try(capacity * sizeof *larger.keys),
                        .values = memory_try(capacity * sizeof *larger.values),
                        .capacity = capacity};
    if (!larger.keys || !larger.values) {
        knowledge_free(&larger);
        return false;
    }
    knowledge_learn_all(&larger, knowledge); /* it has the room */
    knowledge_free(knowledge);
    *knowledge = larger;
    return true;
}

bool knowledge_learn(Knowledge *knowledge, uint64_t key, uint32_t value)
{
    if (3 * (knowledge->count + 1) > 2 * knowledge->capacity && !grow(knowledge))
        return false;
    uint32_t place = place_of(knowledge, key);
    knowledge->count += !knowledge->keys[place];
    knowledge->keys[place] = key + 1;
    if (knowledge->values[place] < value)
        knowledge->values[place] = value;
    return true;
}

bool knowledge_learn_all(Knowledge *knowledge, const Knowledge *from)
{
    for (uint32_t i = 0; from->count && i < from->capacity; i++)
        if (from->keys[i] && !knowledge_learn(knowledge, from->keys[i] - 1, from->values[i]))
            return false;
    return true;
}

void knowledge_clear(Knowledge *knowledge)
{
    if (!knowledge->count)
        return;
    memset(knowledge->keys, 0, knowledge->capacity * sizeof *knowledge->keys);
    memset(knowledge->values, 0, knowledge->capacity * sizeof *knowledge->values);
    knowledge->count = 0;
}

void knowledge_free(Knowledge *knowledge)
{
    memory_free(knowledge->keys);
    memory_free(knowledge->values);
    *knowledge = (Knowledge){0};
}
