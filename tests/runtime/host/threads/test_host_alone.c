/* A thread is alone as long as no other one runs a kernel, and none begins meanwhile. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "runtime/host/threads/host_alone.h"
#include "runtime_tests.h"

enum { ROUNDS = 20000, ADDITIONS = 40 };

static volatile int sum;
static _Atomic bool has_joined;

static void check_one(void)
{
    CHECK(!host_alone_begin());
    host_alone_join();
    CHECK(host_alone_begin());
    host_alone_end();
    host_alone_join(); /* in the middle of a launch */
    CHECK(!host_alone_begin());
    host_alone_leave();
    CHECK(host_alone_begin());
    host_alone_end();
    host_alone_leave();
    CHECK(!host_alone_begin());
}

static void *join_once(void *argument)
{
    host_alone_join();
    atomic_store(&has_joined, true);
    host_alone_leave();
    return argument;
}

static void check_others_wait(void)
{
    pthread_t other;
    host_alone_join();
    CHECK(host_alone_begin());
    pthread_create(&other, NULL, join_once, NULL);
    usleep(20000);
    CHECK(!has_joined);
    host_alone_end();
    host_alone_leave();
    pthread_join(other, NULL);
    CHECK(has_joined);
}

/* What is added is lost where another thread comes between. ThreadSanitizer reports plain additions that nothing orders with
 * the others. */
static void add(bool is_alone)
{
    for (int i = 0; i < ADDITIONS; i++)
        if (is_alone)
            sum = sum + 1;
        else
            __atomic_fetch_add(&sum, 1, __ATOMIC_RELAXED);
}

static void *take_turns(void *argument)
{
    for (int round = 0; round < ROUNDS; round++) {
        host_alone_join();
        bool is_alone = host_alone_begin();
        add(is_alone);
        if (is_alone)
            host_alone_end();
        host_alone_leave();
    }
    return argument;
}

static void check_turns(void)
{
    enum { OTHERS = 3 };
    pthread_t others[OTHERS];
    for (int i = 0; i < OTHERS; i++)
        pthread_create(&others[i], NULL, take_turns, NULL);
    for (int i = 0; i < OTHERS; i++)
        pthread_join(others[i], NULL);
    CHECK(sum == OTHERS * ROUNDS * ADDITIONS);
}

/* The child of a fork has one thread; who was alone may be another one. */
static void check_fork(void)
{
    host_alone_join();
    CHECK(host_alone_begin());
    host_alone_after_fork();
    CHECK(host_alone_begin());
    host_alone_end();
    host_alone_leave();
    host_alone_join();
    host_alone_leave();
}

void test_host_alone(void)
{
    check_one();
    check_others_wait();
    check_turns();
    check_fork();
}
