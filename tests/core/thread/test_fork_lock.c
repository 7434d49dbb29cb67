/* What other threads hold when the process is forked is free in the child, and what short locks keep together is whole. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "core/thread/fork_lock.h"
#include "core_tests.h"

enum { CHILDREN = 40, SECONDS = 20 };

static ShortLock locks[2];
static volatile int counts[2][2]; /* alike under the lock */
static volatile int works[2]; /* alike when the work is done */
static LongLock long_lock;
static _Atomic bool is_held, may_end;

static void *count(void *argument)
{
    int which = *(int *)argument;
    while (!may_end) {
        short_lock(&locks[which]);
        counts[which][0]++;
        for (volatile int i = 0; i < 2000; i++)
            ;
        counts[which][1]++;
        short_unlock(&locks[which]);
    }
    return NULL;
}

static void *work(void *argument)
{
    while (!may_end) {
        whole_work_begin();
        works[0]++;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        works[1]++;
        whole_work_end(NULL);
    }
    return argument;
}

static void *hold(void *argument)
{
    pthread_mutex_lock(&long_lock.mutex);
    is_held = true;
    while (!may_end)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_mutex_unlock(&long_lock.mutex);
    return argument;
}

/* 0: all of it is as it should be. */
static int look(void)
{
    alarm(SECONDS);
    if (works[0] != works[1])
        return 2;
    whole_work_begin();
    whole_work_end(NULL);
    pthread_mutex_lock(&long_lock.mutex);
    pthread_mutex_unlock(&long_lock.mutex);
    for (int which = 0; which < 2; which++) {
        short_lock(&locks[which]);
        if (counts[which][0] != counts[which][1])
            return 1;
        short_unlock(&locks[which]);
    }
    return 0;
}

void test_fork_lock(void)
{
    int places[2] = {0, 1};
    pthread_t threads[4];
    long_lock_init(&long_lock);
    for (int which = 0; which < 2; which++)
        pthread_create(&threads[which], NULL, count, &places[which]);
    pthread_create(&threads[2], NULL, hold, NULL);
    pthread_create(&threads[3], NULL, work, NULL);
    while (!is_held)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t child = fork();
        if (!child)
            _exit(look());
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    may_end = true;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(counts[0][0] == counts[0][1] && counts[1][0] == counts[1][1]);
    long_lock_destroy(&long_lock);
}
