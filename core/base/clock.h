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

/* A moment of CLOCK_MONOTONIC as the C library's waits take it. */
static inline struct timespec clock_time(int64_t nanoseconds)
{
    return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

#endif
