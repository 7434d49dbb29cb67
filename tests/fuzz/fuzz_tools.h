/* What the fuzzers in C share: numbers from a seed, damage to bytes, and an alarm for what never ends.
 * A fuzzer's arguments: how many inputs (default: a few seconds of them), first seed, how many seconds an input may take. */
#ifndef CUJIT_TESTS_FUZZ_TOOLS_H
#define CUJIT_TESTS_FUZZ_TOOLS_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t fuzz_state;
static uint64_t fuzz_seed;

static inline void fuzz_start(uint64_t seed)
{
    fuzz_seed = seed;
    fuzz_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static inline uint64_t fuzz_random(void)
{
    fuzz_state ^= fuzz_state << 13;
    fuzz_state ^= fuzz_state >> 7;
    fuzz_state ^= fuzz_state << 17;
    return fuzz_state * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

/* A number below `count`, which is not 0. */
static inline uint32_t fuzz_below(uint64_t count) { return (uint32_t)(fuzz_random() % count); }

/* Changes, copies, inserts or removes units of `unit` bytes; the buffer has room for `room` bytes. */
static inline void fuzz_damage(uint8_t *bytes, size_t *size, size_t room, size_t unit)
{
    size_t units = *size / unit, length = 1 + fuzz_below(4);
    if (units < length + 1)
        return;
    size_t from = fuzz_below(units - length) * unit, to = fuzz_below(units - length) * unit, span = length * unit;
    switch (fuzz_below(6)) {
    case 0: bytes[fuzz_below(*size)] = (uint8_t)fuzz_random(); break;
    case 1:
    case 2: bytes[fuzz_below(*size)] ^= (uint8_t)(1u << fuzz_below(8)); break;
    case 3: memmove(bytes + to, bytes + from, span); break;
    case 4:
        if (*size + span <= room) {
            memmove(bytes + to + span, bytes + to, *size - to);
            memmove(bytes + to, bytes + from, span);
            *size += span;
        }
        break;
    default: memmove(bytes + to, bytes + to + span, *size - to - span); *size -= span;
    }
}

static inline void fuzz_alarm(int number)
{
    (void)number;
    char text[64];
    int length = snprintf(text, sizeof text, "seed %llu never ends\n", (unsigned long long)fuzz_seed);
    ssize_t written = write(2, text, (size_t)length);
    (void)written;
    abort();
}

typedef struct FuzzRun {
    uint64_t inputs, seed;
    unsigned seconds;
} FuzzRun;

static inline FuzzRun fuzz_arguments(int count, char **arguments, uint64_t inputs)
{
    FuzzRun run = {inputs, 1, 20};
    if (count > 1)
        run.inputs = strtoull(arguments[1], NULL, 10);
    if (count > 2)
        run.seed = strtoull(arguments[2], NULL, 10);
    if (count > 3)
        run.seconds = (unsigned)strtoul(arguments[3], NULL, 10);
    signal(SIGALRM, fuzz_alarm);
    return run;
}

#endif
