/* Races: accesses of the same memory by two threads, one of which writes, that nothing orders. */
#ifndef CUJIT_RUNTIME_RACE_H
#define CUJIT_RUNTIME_RACE_H

#include "runtime/host/check/clocks.h"
#include "runtime/host/check/shadow.h"

/* How memory is accessed. Strong ones are volatile or go past the first cache, as a thread that waits for another reads. */
typedef enum AccessKind {
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_ATOMIC,
    ACCESS_STRONG_READ,
    ACCESS_STRONG_WRITE
} AccessKind;

typedef struct Access {
    uint64_t address, value; /* value: of a write, its bits */
    uint32_t size, site, thread;
    AccessKind kind;
    bool has_value;
} Access;

typedef enum RaceResult { RACE_NONE, RACE_FOUND, RACE_NO_MEMORY } RaceResult;

/* Notes the access of a thread of the block. RACE_FOUND: *earlier is the one that it races with: one thread in its mask, or
 * mask 0. */
RaceResult race_access(Shadow *shadow, const BlockClock *block, const Access *access, Group *earlier);

#endif
