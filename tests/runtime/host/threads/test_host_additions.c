/* Atomic additions of a block's threads: each in its place, rounded by itself, in the order of threads, and none lost where
 * others add to the same places or to those beside them. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

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

enum { LONG = 1 << 20, EXPORTS = 10 };

typedef struct Exported {
    double sum;
    uintptr_t places[2][LONG]; /* of the second addition there is none: looking for one takes a while */
    double values[LONG];
    _Atomic bool has_begun, has_ended;
} Exported;

static void *add_long(void *argument)
{
    Exported *exported = argument;
    host_alone_join();
    exported->has_begun = true;
    host_add((HostAddition[]){{exported->places[0], exported->values}, {exported->places[1], exported->values}}, 2,
             LONG, sizeof(double));
    host_alone_leave();
    exported->has_ended = true;
    return NULL;
}

/* From when it has been marked, and nobody is alone, another process may add to it. */
static void check_memory_that_is_given_away(void)
{
    static Exported exported;
    double one = 1, added = 0;
    uintptr_t place = (uintptr_t)&exported.sum;
    for (int i = 0; i < LONG; i++) {
        exported.places[0][i] = place;
        exported.values[i] = 1;
    }
    for (int round = 1; round <= EXPORTS; round++) {
        pthread_t thread;
        exported.has_begun = exported.has_ended = false;
        know(&exported.sum, sizeof exported.sum, HOST_OF_PAGES, -1);
        pthread_create(&thread, NULL, add_long, &exported);
        while (!exported.has_begun)
            sched_yield();
        host_allocations_set_file(place, 3);
        host_alone_wait();
        for (; !exported.has_ended; added++)
            host_add(&(HostAddition){&place, &one}, 1, 1, sizeof(double));
        pthread_join(thread, NULL);
        forget(&exported.sum, HOST_OF_PAGES);
        CHECK(exported.sum == (double)round * LONG + added);
    }
}

static _Atomic bool is_exported;

static void *export_it(void *memory)
{
    Diag diag = {0};
    RtExport handle;
    CHECK(rt_export_memory(rt_device(RT_CPU, 0, &diag), *(RtPointer *)memory, &handle, &diag));
    is_exported = true;
    return NULL;
}

/* It is not given away before. */
static void check_export_waits(void)
{
    Diag diag = {0};
    RtPointer memory = 0;
    pthread_t other;
    RtDevice *device = rt_device(RT_CPU, 0, &diag);
    CHECK(rt_allocate(device, 4096, &memory, &diag));
    host_alone_join();
    CHECK(host_alone_begin());
    pthread_create(&other, NULL, export_it, &memory);
    usleep(20000);
    CHECK(!is_exported);
    host_alone_end();
    host_alone_leave();
    pthread_join(other, NULL);
    CHECK(is_exported && rt_free(device, memory, &diag));
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
    check_memory_that_is_given_away();
    check_export_waits();
}
