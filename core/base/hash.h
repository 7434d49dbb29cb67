/* 128 bits that differ for different bytes, but by accident or malice. */
#ifndef CUJIT_CORE_HASH_H
#define CUJIT_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct Hash {
    uint64_t words[2];
} Hash;

Hash hash_bytes(const void *bytes, size_t size);

/* For tables in memory: the hash of what the hash is of and the word behind it. */
static inline uint64_t hash_with(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

#endif
