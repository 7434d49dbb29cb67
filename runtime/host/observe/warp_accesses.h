/* The addresses at which the lanes of a warp access memory together, and what a GPU would make of them. */
#ifndef CUJIT_RUNTIME_WARP_ACCESSES_H
#define CUJIT_RUNTIME_WARP_ACCESSES_H

#include <stdbool.h>

#include "core/observed.h"

typedef enum MemorySpace { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL } MemorySpace;

/* Addresses of warps that are not at one distance from lane to lane: 32 each. Zeroed, it is empty. */
typedef struct WarpAddresses {
    uint64_t (*all)[32];
    uint32_t count, capacity;
} WarpAddresses;

/* One access by some lanes. Most have their elements at one distance: then first + distance * (lane - first_lane). */
typedef struct WarpAccess {
    uint64_t first;
    int64_t distance;
    uint32_t lanes, shared, local; /* who takes part; of these, where it is */
    uint32_t size; /* bytes of an element; with OBSERVED_IN_HALVES */
    uint32_t offset; /* from the addresses that were noted */
    uint32_t place; /* in WarpAddresses, from 1; 0: at one distance */
    uint8_t first_lane;
} WarpAccess;

/* Adds a lane. False without memory. */
bool warp_note_access(WarpAccess *access, WarpAddresses *addresses, int32_t lane, uint64_t address, MemorySpace space);
/* Adds to the counts of the site: sectors, waves, contention. */
void warp_count_access(const WarpAccess *access, const WarpAddresses *addresses, bool is_atomic, uint64_t *counts);
void warp_free_addresses(WarpAddresses *addresses);

#endif
