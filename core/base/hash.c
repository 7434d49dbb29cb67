/* Multiplies and rotates 16 bytes at a time into two words that depend on each other. */
#include "core/base/hash.h"

#include <string.h>

static const uint64_t FIRST_FACTOR = 0x9e3779b97f4a7c15, SECOND_FACTOR = 0xc2b2ae3d27d4eb4f;

static uint64_t rotate(uint64_t word, unsigned bits) { return word << bits | word >> (64 - bits); }

/* Every bit of the result depends on every bit of the word. */
static uint64_t avalanche(uint64_t word)
{
    word = (word ^ word >> 32) * FIRST_FACTOR;
    word = (word ^ word >> 29) * SECOND_FACTOR;
    return word ^ word >> 32;
}

static void absorb(Hash *hash, const uint8_t block[16])
{
    uint64_t first, second;
    memcpy(&first, block, 8);
    memcpy(&second, block + 8, 8);
    hash->words[0] = rotate((hash->words[0] ^ first * FIRST_FACTOR) * SECOND_FACTOR, 31) + hash->words[1];
    hash->words[1] = rotate((hash->words[1] ^ second * SECOND_FACTOR) * FIRST_FACTOR, 29) + hash->words[0];
}

Hash hash_bytes(const void *bytes, size_t size)
{
    Hash hash = {{size ^ FIRST_FACTOR, SECOND_FACTOR}};
    const uint8_t *next = bytes;
    size_t left = size;
    for (; left >= 16; next += 16, left -= 16)
        absorb(&hash, next);
    if (left) {
        uint8_t last[16] = {0};
        memcpy(last, next, left);
        absorb(&hash, last);
    }
    uint64_t first = avalanche(hash.words[0] + hash.words[1]);
    uint64_t second = avalanche(hash.words[1] + first * SECOND_FACTOR);
    return (Hash){{first + second, second}};
}
