/* 128 bits that differ for different bytes, but by accident or malice. */
#ifndef CUJIT_CORE_HASH_H
#define CUJIT_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct Hash {
    uint64_t words[2];
} Hash;

Hash hash_bytes(const void *bytes, size_t size);

#endif
