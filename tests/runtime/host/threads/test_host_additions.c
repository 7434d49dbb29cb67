/* Atomic additions of a block's threads: each in its place, rounded by itself, in the order of threads, and none lost where
 * others add to the same places or to those beside them. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "runtime/host/threads/host_additions.h"
#include "runtime_tests.h"

enum { THREADS = 300, PLACES = 64, ROUNDS = 2000 };

/* As the thread would alone: places and values of each addition, thread after thread. */
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
        uintptr_t places[3][THREADS];                                                 \
        type values[3][THREADS];                                                      \
        HostAddition additions[3];                                                    \
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
        host_add(additions, count, THREADS, sizeof(type));                            \
        CHECK(!memcmp(made, wanted, sizeof made));                                    \
    } while (0)

static void check_values(void)
{
    for (int kind = 0; kind < 4; kind++)
        for (int count = 1; count <= 3; count++) {
            CHECK_SAME(float, kind, count);
            CHECK_SAME(double, kind, count);
        }
}

typedef struct Shared {
    _Alignas(64) float sums[PLACES];
    int first;
} Shared;

/* One to each place, whole numbers, so that nothing is rounded. */
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
    for (int round = 0; round < ROUNDS; round++)
        host_add(&(HostAddition){places, values}, 1, PLACES, sizeof(float));
    return NULL;
}

static void check_others(void)
{
    enum { OTHERS = 3 };
    static Shared shared;
    pthread_t threads[OTHERS];
    for (int i = 0; i < OTHERS; i++)
        pthread_create(&threads[i], NULL, add_ones, &shared);
    for (int i = 0; i < OTHERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PLACES; i++)
        CHECK(shared.sums[i] == (float)OTHERS * ROUNDS);
}

void test_host_additions(void)
{
    check_values();
    check_others();
}
