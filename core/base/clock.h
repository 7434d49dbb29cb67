/* Time as it passes, for waits and measurements. */
#ifndef CUJIT_CORE_CLOCK_H
#define CUJIT_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC; about 20 ns. */
static inline int64_t clock_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The same, up to 10 ms ago; about 5 ns. */
static inline int64_t clock_recent_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
