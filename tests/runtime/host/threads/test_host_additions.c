/* Atomic additions of a block's threads: each in its place, rounded by itself, in the order of threads, and none lost where
 * others add to the same places or to those beside them. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "runtime/host/machine/host_allocations.h"
#include "runtime/host/threads/host_additions.h"
#include "runtime/host/threads/host_alone.h"
#include "runtime_tests.h"

enum { THREADS = 300, PLACES = 64, ROUNDS = 2000, MOST = 5 };

/* What the process is told of the memory. */
static void know(void *memory, size_t size, HostOrigin origin, int file)
{
    HostAllocation known = {.start = (uintptr_t)memory, .size = size, .origin = origin, .file = file};
    CHECK(host_allocations_add(&known));
}

static void forget(void *memory, HostOrigin origin)
{
    HostAllocation known;
    CHECK(host_allocations_take((uintptr_t)memory, origin == HOST_OF_ANOTHER, &known));
}

/* As the thread would by itself: places and values of each addition, thread after thread. */
#define ONE_BY_ONE(type, additions, count)           \
    for (int thread = 0; thread < THREADS; thread++) \
        for (int k = 0; k < (count); k++)            \
            if ((additions)[k].places[thread])       \
                *(type *)(additions)[k].places[thread] += ((const type *)(additions)[k].values)[thread];

/* Where thread `thread` adds: at random, sorted, next to each other, all to one. */
static int place_of(int kind, int thread, int k)
{
    switch (kind) {
    case 0: return (thread * 37 + k * 11) % PLACES;
    case 1: return thread / 7 % PLACES;
    case 2: return (thread + k) % PLACES;
    default: return 5;
    }
}

#define CHECK_SAME(type, kind, count)                                                 \
    do {                                                                              \
        _Alignas(64) type made[PLACES], wanted[PLACES];                               \
        uintptr_t places[MOST][THREADS];                                              \
        type values[MOST][THREADS];                                                   \
        HostAddition additions[MOST];                                                 \
        for (int i = 0; i < PLACES; i++)                                              \
            made[i] = wanted[i] = i % 3 ? (type)0.1 * (type)i : -(type)0;             \
        for (int k = 0; k < (count); k++) {                                           \
            additions[k] = (HostAddition){places[k], values[k]};                      \
            for (int i = 0; i < THREADS; i++) {                                       \
                values[k][i] = (type)ldexp(1 + i % 10, i % 40 - 20);                  \
                places[k][i] = i % 13 ? (uintptr_t)&wanted[place_of(kind, i, k)] : 0; \
            }                                                                         \
        }                                                                             \
        ONE_BY_ONE(type, additions, count)                                            \
        for (int k = 0; k < (count); k++)                                             \
            for (int i = 0; i < THREADS; i++)                                         \
                places[k][i] = i % 13 ? (uintptr_t)&made[place_of(kind, i, k)] : 0;   \
        know(made, sizeof made, HOST_OF_HEAP, -1);                                    \
        host_add(additions, count, THREADS, sizeof(type));                            \
        forget(made, HOST_OF_HEAP);                                                   \
        CHECK(!memcmp(made, wanted, sizeof made));                                    \
    } while (0)

static void check_values(void)
{
    for (int kind = 0; kind < 4; kind++)
        for (int count = 1; count <= MOST; count++) {
            CHECK_SAME(float, kind, count);
            CHECK_SAME(double, kind, count);
        }
}

typedef struct Shared {
    _Alignas(64) float sums[PLACES];
    int first;
    bool joins; /* by launches: each thread is alone, or not */
} Shared;

/* One to each place, whole numbers, so that nothing is rounded; in as many launches. */
static void *add_ones(void *argument)
{
    Shared *shared = argument;
    uintptr_t places[PLACES];
    float values[PLACES];
    int first = __atomic_fetch_add(&shared->first, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < PLACES; i++) {
        places[i] = (uintptr_t)&shared->sums[(i + first) % PLACES];
        values[i] = 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (shared->joins)
            host_alone_join();
        host_add(&(HostAddition){places, values}, 1, PLACES, sizeof(float));
        if (shared->joins)
            host_alone_leave();
    }
    return NULL;
}

static void check_others(bool joins)
{
    enum { OTHERS = 3 };
    static Shared shared;
    memset(&shared, 0, sizeof shared);
    shared.joins = joins;
    know(shared.sums, sizeof shared.sums, HOST_OF_HEAP, -1);
    pthread_t threads[OTHERS];
    for (int i = 0; i < OTHERS; i++)
        pthread_create(&threads[i], NULL, add_ones, &shared);
    for (int i = 0; i < OTHERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PLACES; i++)
        CHECK(shared.sums[i] == (float)OTHERS * ROUNDS);
    forget(shared.sums, HOST_OF_HEAP);
}

/* Another process adds to memory that it was given, whoever is alone in this one. */
static void check_memory_of_others(HostOrigin origin, int file)
{
    static Shared shared;
    pthread_t stranger;
    memset(&shared, 0, sizeof shared);
    know(shared.sums, sizeof shared.sums, origin, file);
    host_alone_join();
    pthread_create(&stranger, NULL, add_ones, &shared);
    add_ones(&shared);
    pthread_join(stranger, NULL);
    host_alone_leave();
    for (int i = 0; i < PLACES; i++)
        CHECK(shared.sums[i] == 2.0F * ROUNDS);
    forget(shared.sums, origin);
}

/* The memory of one that is gone may be another's. */
static void check_memory_that_changes(void)
{
    static float memory[PLACES];
    uint64_t place = (uintptr_t)&memory[PLACES - 1];
    know(memory, sizeof memory, HOST_OF_PAGES, -1);
    CHECK(host_allocations_has_own(place));
    host_allocations_set_file((uintptr_t)memory, 3);
    CHECK(!host_allocations_has_own(place));
    forget(memory, HOST_OF_PAGES);
    know(memory, sizeof memory, HOST_OF_PAGES, -1);
    CHECK(host_allocations_has_own(place) && !host_allocations_has_own((uintptr_t)(memory + PLACES)));
    forget(memory, HOST_OF_PAGES);
    CHECK(!host_allocations_has_own(place));
}

void test_host_additions(void)
{
    check_values();
    host_alone_join();
    check_values();
    host_alone_leave();
    check_others(false);
    check_others(true);
    check_memory_of_others(HOST_OF_PAGES, 5);
    check_memory_of_others(HOST_OF_ANOTHER, -1);
    check_memory_that_changes();
}
