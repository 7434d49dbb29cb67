/* What a thread knows of others: up to which clock it has seen each one's accesses. A table of numbers by 64-bit keys that
 * keeps the largest, 0 for what is not there. Zeroed, it is empty. Functions that take memory return false without any. */
#ifndef CUJIT_RUNTIME_KNOWLEDGE_H
#define CUJIT_RUNTIME_KNOWLEDGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Knowledge {
    uint64_t *keys; /* plus 1; 0: free */
    uint32_t *values;
    uint32_t count, capacity; /* capacity: 0 or a power of two */
} Knowledge;

uint32_t knowledge_of(const Knowledge *knowledge, uint64_t key);
bool knowledge_learn(Knowledge *knowledge, uint64_t key, uint32_t value);
bool knowledge_learn_all(Knowledge *knowledge, const Knowledge *from);
/* Empty, with its memory kept. */
void knowledge_clear(Knowledge *knowledge);
void knowledge_free(Knowledge *knowledge);

#endif
