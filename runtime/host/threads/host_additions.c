/* Makes the additions of a block's threads, thread after thread, and those of a thread in its order. Each is made upon what
 * is there and rounded by itself. Those that follow each other and go to one place, or to places side by side, are made by one
 * locked operation: for everybody else they have followed each other closely. What a processor waits for is the lock, and a
 * line of memory that it does not have, so the lines of later threads are asked for early. */
#include "runtime/host/threads/host_additions.h"

#include <string.h>

#include "runtime/host/machine/host_allocations.h"
#include "runtime/host/machine/thread_sanitizer.h"
#include "runtime/host/threads/host_alone.h"
#include "runtime/host/threads/host_interrupt.h"

enum { AHEAD = 32 /* additions */, LINE = 64 /* bytes of a line of memory */ };

/* --- one place ---------------------------------------------------------------------------------------------------------- */

/* Others may write there meanwhile, which the exchange finds out. */
static uint32_t load_32(uintptr_t place) { return __atomic_load_n((const uint32_t *)place, __ATOMIC_RELAXED); }

static uint64_t load_64(uintptr_t place) { return __atomic_load_n((const uint64_t *)place, __ATOMIC_RELAXED); }

static bool exchange_32(uintptr_t place, uint32_t *seen, uint32_t wanted)
{
    return __atomic_compare_exchange_n((uint32_t *)place, seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool exchange_64(uintptr_t place, uint64_t *seen, uint64_t wanted)
{
    return __atomic_compare_exchange_n((uint64_t *)place, seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* add_f32, add_f64: one value after the other. */
#define ADD(name, bits, type)                                                         \
    static inline void add_##name(uintptr_t place, const type *values, int32_t count) \
    {                                                                                 \
        uint##bits##_t seen = load_##bits(place), wanted;                             \
        do {                                                                          \
            type sum;                                                                 \
            memcpy(&sum, &seen, sizeof sum);                                          \
            for (int32_t i = 0; i < count; i++)                                       \
                sum += values[i];                                                     \
            memcpy(&wanted, &sum, sizeof wanted);                                     \
        } while (!exchange_##bits(place, &seen, wanted));                             \
    }

ADD(f32, 32, float)
ADD(f64, 64, double)

/* --- two places side by side -------------------------------------------------------------------------------------------- */

/* x86 locks any 8 bytes of one line of memory, other processors those that are aligned. C's atomics must be aligned, and
 * ThreadSanitizer sees these alone. */
#if defined(__x86_64__) && !defined(HAS_THREAD_SANITIZER)
#define LOCKS_UNALIGNED 1
#endif

static inline bool is_pair(uintptr_t place, uintptr_t next)
{
#ifdef LOCKS_UNALIGNED
    bool is_lockable = place % LINE <= LINE - sizeof(uint64_t);
#else
    bool is_lockable = place % sizeof(uint64_t) == 0;
#endif
    return next - place == sizeof(float) && is_lockable;
}

#ifdef LOCKS_UNALIGNED
static inline uint64_t load_pair(uintptr_t place)
{
    uint64_t bits;
    __asm__ volatile("movq %1, %0" : "=r"(bits) : "m"(*(const char (*)[8])place));
    return bits;
}

static inline bool exchange_pair(uintptr_t place, uint64_t *seen, uint64_t wanted)
{
    bool is_done;
    __asm__ volatile("lock cmpxchgq %3, %1"
                     : "=@ccz"(is_done), "+m"(*(char (*)[8])place), "+a"(*seen)
                     : "r"(wanted)
                     : "memory");
    return is_done;
}
#else
static inline uint64_t load_pair(uintptr_t place) { return load_64(place); }

static inline bool exchange_pair(uintptr_t place, uint64_t *seen, uint64_t wanted)
{
    return exchange_64(place, seen, wanted);
}
#endif

static inline void add_pair(uintptr_t place, float first, float second)
{
    uint64_t seen = load_pair(place), wanted;
    do {
        float sums[2];
        memcpy(sums, &seen, sizeof sums);
        sums[0] += first;
        sums[1] += second;
        memcpy(&wanted, sums, sizeof wanted);
    } while (!exchange_pair(place, &seen, wanted));
}

/* --- all threads -------------------------------------------------------------------------------------------------------- */

/* Asks for the line of memory of a later thread, to write there. In assembly, since compilers drop a function that does nothing
 * else. */
static inline void fetch_ahead(const HostAddition *addition, int32_t thread, int32_t ahead, int32_t threads)
{
    if (thread + ahead >= threads)
        return;
#if defined(__x86_64__)
    __asm__ volatile("prefetchw (%0)" : : "r"(addition->places[thread + ahead]));
#elif defined(__aarch64__)
    __asm__ volatile("prfm pstl1keep, [%0]" : : "r"(addition->places[thread + ahead]));
#endif
}

/* How many threads from this one on add to its place. */
static inline int32_t count_run(const uintptr_t *places, int32_t thread, int32_t threads)
{
    int32_t next = thread + 1;
    while (next < threads && places[next] == places[thread])
        next++;
    return next - thread;
}

/* Whether an addition to the next place may be made with one to this; also where there is none, twice. */
static inline bool may_join(uintptr_t place, uintptr_t next) { return !((next - place) & ~sizeof(float)); }

static void make_one_f32(const HostAddition *addition, int32_t threads)
{
    const uintptr_t *places = addition->places;
    const float *values = addition->values;
    for (int32_t i = 0, run; i < threads; i += run) {
        uintptr_t place = places[i];
        run = 1;
        fetch_ahead(addition, i, AHEAD, threads);
        if (i + 1 == threads || !may_join(place, places[i + 1])) {
            if (place)
                add_f32(place, &values[i], 1);
        } else if (is_pair(place, places[i + 1])) {
            add_pair(place, values[i], values[i + 1]);
            run = 2;
        } else {
            run = count_run(places, i, threads);
            if (place)
                add_f32(place, &values[i], run);
        }
    }
}

static void make_one_f64(const HostAddition *addition, int32_t threads)
{
    const uintptr_t *places = addition->places;
    const double *values = addition->values;
    for (int32_t i = 0, run; i < threads; i += run) {
        fetch_ahead(addition, i, AHEAD, threads);
        run = i + 1 < threads && places[i + 1] == places[i] ? count_run(places, i, threads) : 1;
        if (!places[i])
            continue;
        if (run == 1)
            add_f64(places[i], &values[i], 1);
        else
            add_f64(places[i], &values[i], run);
    }
}

static void make_several_f32(const HostAddition *additions, int32_t count, int32_t threads)
{
    int32_t ahead = 1 + AHEAD / count;
    for (int32_t i = 0; i < threads; i++)
        for (int32_t k = 0; k < count; k++) {
            uintptr_t place = additions[k].places[i];
            const float *value = (const float *)additions[k].values + i;
            fetch_ahead(&additions[k], i, ahead, threads);
            if (!place)
                continue;
            if (k + 1 < count && is_pair(place, additions[k + 1].places[i])) {
                k++;
                add_pair(place, *value, ((const float *)additions[k].values)[i]);
            } else {
                add_f32(place, value, 1);
            }
        }
}

static void make_several_f64(const HostAddition *additions, int32_t count, int32_t threads)
{
    int32_t ahead = 1 + AHEAD / count;
    for (int32_t i = 0; i < threads; i++)
        for (int32_t k = 0; k < count; k++) {
            fetch_ahead(&additions[k], i, ahead, threads);
            if (additions[k].places[i])
                add_f64(additions[k].places[i], (const double *)additions[k].values + i, 1);
        }
}

static void add_locked(const HostAddition *additions, int32_t count, int32_t threads, int32_t size)
{
    if (size == sizeof(float) && count == 1)
        make_one_f32(additions, threads);
    else if (size == sizeof(float))
        make_several_f32(additions, count, threads);
    else if (count == 1)
        make_one_f64(additions, threads);
    else
        make_several_f64(additions, count, threads);
}

/* --- where nobody else adds --------------------------------------------------------------------------------------------- */

/* Others may read meanwhile. ThreadSanitizer, which reports no race of atomics, is given plain accesses: kernels, which may
 * read, are not looked at, and all others must not come between. */
#ifdef HAS_THREAD_SANITIZER
#define LOAD_ALONE(place) (*(place))
#define STORE_ALONE(place, bits) (*(place) = (bits))
#else
#define LOAD_ALONE(place) __atomic_load_n(place, __ATOMIC_RELAXED)
#define STORE_ALONE(place, bits) __atomic_store_n(place, bits, __ATOMIC_RELAXED)
#endif

/* add_alone_f32, add_alone_f64. */
#define ADD_ALONE(name, bits, type)                                                                                \
    static inline void add_unlocked_##name(uintptr_t place, const type *values, int32_t count)                     \
    {                                                                                                              \
        uint##bits##_t there = LOAD_ALONE((const uint##bits##_t *)place);                                          \
        type sum;                                                                                                  \
        memcpy(&sum, &there, sizeof sum);                                                                          \
        for (int32_t i = 0; i < count; i++)                                                                        \
            sum += values[i];                                                                                      \
        memcpy(&there, &sum, sizeof sum);                                                                          \
        STORE_ALONE((uint##bits##_t *)place, there);                                                               \
    }                                                                                                              \
    static inline void add_one_alone_##name(const HostAddition *addition, int32_t threads)                         \
    {                                                                                                              \
        const uintptr_t *places = addition->places;                                                                \
        const type *values = addition->values;                                                                     \
        for (int32_t i = 0, run; i < threads; i += run) {                                                          \
            fetch_ahead(addition, i, AHEAD, threads);                                                              \
            run = i + 1 < threads && places[i + 1] == places[i] ? count_run(places, i, threads) : 1;               \
            if (!places[i])                                                                                        \
                continue;                                                                                          \
            if (run == 1)                                                                                          \
                add_unlocked_##name(places[i], &values[i], 1);                                                     \
            else                                                                                                   \
                add_unlocked_##name(places[i], &values[i], run);                                                   \
        }                                                                                                          \
    }                                                                                                              \
    static inline void add_several_alone_##name(const HostAddition *additions, int32_t count, int32_t threads)     \
    {                                                                                                              \
        for (int32_t i = 0; i < threads; i++)                                                                      \
            _Pragma("GCC unroll 4") for (int32_t k = 0; k < count; k++) if (additions[k].places[i])                \
                add_unlocked_##name(additions[k].places[i], (const type *)additions[k].values + i, 1);             \
    }                                                                                                              \
    static void add_alone_##name(const HostAddition *additions, int32_t count, int32_t threads)                    \
    {                                                                                                              \
        switch (count) {                                                                                           \
        case 1: add_one_alone_##name(additions, threads); break;                                                   \
        case 2: add_several_alone_##name((HostAddition[2]){additions[0], additions[1]}, 2, threads); break;        \
        case 4:                                                                                                    \
            add_several_alone_##name((HostAddition[4]){additions[0], additions[1], additions[2], additions[3]}, 4, \
                                     threads);                                                                     \
            break;                                                                                                 \
        default: add_several_alone_##name(additions, count, threads);                                              \
        }                                                                                                          \
    }

ADD_ALONE(f32, 32, float)
ADD_ALONE(f64, 64, double)

/* Of an addition all places are in one array. */
static bool are_in_own_memory(const HostAddition *additions, int32_t count, int32_t threads)
{
    for (int32_t k = 0; k < count; k++) {
        int32_t i = 0;
        while (i < threads && !additions[k].places[i])
            i++;
        if (i < threads && !host_allocations_has_own(additions[k].places[i]))
            return false;
    }
    return true;
}

static bool add_alone(const HostAddition *additions, int32_t count, int32_t threads, int32_t size)
{
    if (!host_alone_begin())
        return false;
    bool is_own = are_in_own_memory(additions, count, threads); /* stays so: who gives memory away waits */
    if (is_own && size == sizeof(float))
        add_alone_f32(additions, count, threads);
    else if (is_own)
        add_alone_f64(additions, count, threads);
    host_alone_end();
    return is_own;
}

/* An interruption that came meanwhile is attended to here: nothing is held. */
void host_add(const HostAddition *additions, int32_t count, int32_t threads, int32_t size)
{
    if (!add_alone(additions, count, threads, size))
        add_locked(additions, count, threads, size);
    host_attend_here();
}
