/* Hashes differ where bytes do, whatever differs. */
#include <string.h>

#include "check.h"
#include "core/base/hash.h"
#include "core_tests.h"

static bool same(Hash a, Hash b) { return a.words[0] == b.words[0] && a.words[1] == b.words[1]; }

static int bits_apart(Hash a, Hash b)
{
    return __builtin_popcountll(a.words[0] ^ b.words[0]) + __builtin_popcountll(a.words[1] ^ b.words[1]);
}

void test_hash(void)
{
    uint8_t bytes[100] = {0};
    Hash seen[101];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        seen[size] = hash_bytes(bytes, size);
        for (size_t other = 0; other < size; other++)
            CHECK(!same(seen[size], seen[other]));
    }
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        int apart = bits_apart(hash_bytes(bytes, sizeof bytes), seen[sizeof bytes]);
        CHECK(apart > 30 && apart < 98);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CHECK(same(hash_bytes(bytes, sizeof bytes), seen[sizeof bytes]));
    CHECK(same(hash_bytes(NULL, 0), seen[0]));
}
