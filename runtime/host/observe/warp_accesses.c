/* Sectors, banks and contention of one access by the lanes of a warp. */
#include "runtime/host/observe/warp_accesses.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/host_abi.h"

enum { SECTOR = 32, BANKS = 32, WORD = 4, FIRST_ADDRESSES = 16, LARGEST = 64 };

static uint64_t address_of(const WarpAccess *access, const WarpAddresses *addresses, int lane)
{
    if (access->place)
        return addresses->all[access->place - 1][lane] + access->offset;
    return access->first + access->offset + (uint64_t)(access->distance * (lane - access->first_lane));
}

/* --- noting ----------------------------------------------------------------------------------------------------------- */

static bool grow(WarpAddresses *addresses)
{
    uint32_t capacity = addresses->capacity ? 2 * addresses->capacity : FIRST_ADDRESSES;
    uint64_t (*all)[HOST_WARP] = memory_try(capacity * sizeof *all);
    if (!all)
        return false;
    if (addresses->count)
        memcpy(all, addresses->all, addresses->count * sizeof *all);
    memory_free(addresses->all);
    addresses->all = all;
    addresses->capacity = capacity;
    return true;
}

/* From now on each lane's address is kept. */
static bool spread(WarpAccess *access, WarpAddresses *addresses)
{
    if (addresses->count == addresses->capacity && !grow(addresses))
        return false;
    for (int lane = 0; lane < HOST_WARP; lane++)
        addresses->all[addresses->count][lane] = address_of(access, addresses, lane);
    access->place = ++addresses->count;
    return true;
}

bool warp_note_access(WarpAccess *access, WarpAddresses *addresses, int32_t lane, uint64_t address, MemorySpace space)
{
    uint32_t before = access->lanes;
    int64_t ahead = (int64_t)(address - access->first), steps = lane - access->first_lane;
    access->lanes |= 1u << lane;
    access->shared |= (uint32_t)(space == SPACE_SHARED) << lane;
    access->local |= (uint32_t)(space == SPACE_LOCAL) << lane;
    if (!before) {
        access->first = address;
        access->first_lane = (uint8_t)lane;
        return true;
    }
    if (!access->place && !(before & (before - 1)) && ahead % steps == 0) {
        access->distance = ahead / steps; /* the second lane: it says what the distance is */
        return true;
    }
    if (!access->place && address_of(access, addresses, lane) == address)
        return true;
    if (!access->place && !spread(access, addresses))
        return false;
    addresses->all[access->place - 1][lane] = address;
    return true;
}

void warp_free_addresses(WarpAddresses *addresses)
{
    memory_free(addresses->all);
    *addresses = (WarpAddresses){0};
}

/* --- counting --------------------------------------------------------------------------------------------------------- */

/* Numbers, each once. */
typedef struct Set {
    uint64_t items[HOST_WARP * (LARGEST / WORD + 1)];
    uint32_t count;
} Set;

static void add(Set *set, uint64_t item)
{
    for (uint32_t i = set->count; i-- > 0;)
        if (set->items[i] == item)
            return;
    set->items[set->count++] = item;
}

static uint32_t bytes_of(const WarpAccess *access) { return access->size < LARGEST ? access->size : LARGEST; }

static void count_sectors(const WarpAccess *access, const WarpAddresses *addresses, uint32_t lanes, uint64_t *counts)
{
    Set sectors, elements;
    uint32_t size = bytes_of(access);
    sectors.count = elements.count = 0;
    for (int lane = 0; lane < HOST_WARP; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        uint64_t address = address_of(access, addresses, lane);
        add(&elements, address);
        for (uint64_t sector = address / SECTOR; sector <= (address + size - 1) / SECTOR; sector++)
            add(&sectors, sector);
    }
    counts[OBSERVED_COUNT_GLOBAL]++;
    counts[OBSERVED_COUNT_SECTORS] += sectors.count;
    counts[OBSERVED_COUNT_IDEAL_SECTORS] += ((uint64_t)elements.count * size + SECTOR - 1) / SECTOR;
}

/* The most words of one bank that these lanes ask for. */
static uint32_t waves_of(const WarpAccess *access, const WarpAddresses *addresses, uint32_t lanes)
{
    Set words;
    uint32_t of_bank[BANKS] = {0}, most = 0;
    words.count = 0;
    for (int lane = 0; lane < HOST_WARP; lane++) {
        uint64_t address = address_of(access, addresses, lane);
        for (uint64_t word = address / WORD; lanes >> lane & 1 && word <= (address + bytes_of(access) - 1) / WORD;
             word++)
            add(&words, word);
    }
    for (uint32_t i = 0; i < words.count; i++) {
        uint32_t here = ++of_bank[words.items[i] % BANKS];
        most = here > most ? here : most;
    }
    return most;
}

/* Elements of 8 bytes are served to half a warp at a time, those of 16 to a quarter. */
static void count_waves(const WarpAccess *access, const WarpAddresses *addresses, uint32_t lanes, uint64_t *counts)
{
    uint32_t at_once = access->size <= WORD ? HOST_WARP : access->size <= 2 * WORD ? HOST_WARP / 2 : HOST_WARP / 4;
    counts[OBSERVED_COUNT_SHARED]++;
    for (uint32_t first = 0; first < HOST_WARP; first += at_once) {
        uint32_t part = lanes & (uint32_t)(((UINT64_C(1) << at_once) - 1) << first);
        counts[OBSERVED_COUNT_WAVES] += waves_of(access, addresses, part);
        counts[OBSERVED_COUNT_IDEAL_WAVES] += part != 0;
    }
}

static void count_contention(const WarpAccess *access, const WarpAddresses *addresses, uint64_t *counts)
{
    uint32_t most = 0;
    for (int lane = 0; lane < HOST_WARP; lane++) {
        uint32_t same = 0;
        for (int other = 0; access->lanes >> lane & 1 && other < HOST_WARP; other++)
            same += access->lanes >> other & 1 &&
                    address_of(access, addresses, other) == address_of(access, addresses, lane);
        most = same > most ? same : most;
    }
    counts[OBSERVED_COUNT_CONTENDED] += most;
    if (most > counts[OBSERVED_COUNT_MOST_CONTENDED])
        counts[OBSERVED_COUNT_MOST_CONTENDED] = most;
}

static void count_bytes(const WarpAccess *access, const WarpAddresses *addresses, uint64_t *counts)
{
    uint32_t global = access->lanes & ~access->shared & ~access->local;
    if (global)
        count_sectors(access, addresses, global, counts);
    if (access->shared)
        count_waves(access, addresses, access->shared, counts);
}

void warp_count_access(const WarpAccess *access, const WarpAddresses *addresses, bool is_atomic, uint64_t *counts)
{
    if (is_atomic) {
        count_contention(access, addresses, counts);
        return;
    }
    WarpAccess part = *access;
    bool in_halves = access->size & OBSERVED_IN_HALVES;
    part.size = (access->size & ~(uint32_t)OBSERVED_IN_HALVES) >> in_halves;
    count_bytes(&part, addresses, counts);
    part.offset = part.size;
    if (in_halves)
        count_bytes(&part, addresses, counts);
}
