/* Sectors, waves and contention of a warp's accesses, beside maps of all bytes that lanes touch. */
#include "runtime/host/observe/warp_accesses.h"

#include <string.h>

#include "runtime_tests.h"

enum { LANES = 32, BYTES = 8192 };

typedef struct Sample {
    uint64_t addresses[LANES];
    uint32_t lanes, size;
} Sample;

static void count(const Sample *sample, bool backwards, MemorySpace space, bool is_atomic, uint64_t *counts)
{
    WarpAddresses addresses = {0};
    WarpAccess access = {.size = sample->size};
    memset(counts, 0, OBSERVED_COUNT_COUNT * sizeof *counts);
    for (int i = 0; i < LANES; i++) {
        int lane = backwards ? LANES - 1 - i : i;
        if (sample->lanes >> lane & 1)
            CHECK(warp_note_access(&access, &addresses, lane, sample->addresses[lane], space));
    }
    CHECK(access.lanes == sample->lanes);
    warp_count_access(&access, &addresses, is_atomic, counts);
    warp_free_addresses(&addresses);
}

/* Units of so many bytes that lanes from `first` up to `end` touch, of which those are looked at whose number leaves
 * `rest` when it is divided by `by`. */
static uint32_t touched(const Sample *sample, int first, int end, uint32_t unit, uint32_t by, uint32_t rest)
{
    bool map[BYTES] = {false};
    uint32_t found = 0;
    for (int lane = first; lane < end; lane++)
        for (uint32_t byte = 0; sample->lanes >> lane & 1 && byte < sample->size; byte++)
            map[(sample->addresses[lane] + byte) / unit] = true;
    for (uint32_t i = rest; i < BYTES; i += by)
        found += map[i];
    return found;
}

static uint32_t waves(const Sample *sample)
{
    int at_once = sample->size <= 4 ? 32 : sample->size == 8 ? 16 : 8;
    uint32_t sum = 0;
    for (int first = 0; first < LANES; first += at_once) {
        uint32_t most = 0;
        for (uint32_t bank = 0; bank < 32; bank++) {
            uint32_t here = touched(sample, first, first + at_once, 4, 32, bank);
            most = here > most ? here : most;
        }
        sum += most;
    }
    return sum;
}

static uint32_t most_at_one(const Sample *sample)
{
    uint32_t most = 0, at[BYTES] = {0};
    for (int lane = 0; lane < LANES; lane++)
        if (sample->lanes >> lane & 1 && ++at[sample->addresses[lane]] > most)
            most = at[sample->addresses[lane]];
    return most;
}

static void check_sample(const Sample *sample)
{
    uint64_t counts[OBSERVED_COUNT_COUNT];
    for (int backwards = 0; backwards < 2; backwards++) {
        count(sample, backwards, SPACE_GLOBAL, false, counts);
        CHECK(counts[OBSERVED_COUNT_SECTORS] == touched(sample, 0, LANES, 32, 1, 0));
        CHECK(counts[OBSERVED_COUNT_GLOBAL] == 1 && counts[OBSERVED_COUNT_SHARED] == 0);
        count(sample, backwards, SPACE_SHARED, false, counts);
        CHECK(counts[OBSERVED_COUNT_WAVES] == waves(sample));
        CHECK(counts[OBSERVED_COUNT_GLOBAL] == 0 && counts[OBSERVED_COUNT_SHARED] == 1);
        count(sample, backwards, SPACE_GLOBAL, true, counts);
        CHECK(counts[OBSERVED_COUNT_CONTENDED] == most_at_one(sample));
        CHECK(counts[OBSERVED_COUNT_MOST_CONTENDED] == most_at_one(sample));
        count(sample, backwards, SPACE_LOCAL, false, counts);
        for (int i = 0; i < OBSERVED_COUNT_COUNT; i++)
            CHECK(counts[i] == 0);
    }
}

static uint32_t random_below(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*seed * limit >> 32);
}

/* At one distance, in any order, with lanes missing, at few places. */
void test_warp_accesses(void)
{
    uint32_t seed = 7;
    for (int round = 0; round < 400; round++) {
        Sample sample = {.size = 1u << random_below(&seed, 5), .lanes = round % 3 ? UINT32_MAX : seed | 1};
        uint32_t distance = random_below(&seed, 9), places = 1 + random_below(&seed, BYTES / 64);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t place = round % 2 ? lane * distance : random_below(&seed, places);
            sample.addresses[lane] = (uint64_t)place * sample.size;
        }
        check_sample(&sample);
    }
}
