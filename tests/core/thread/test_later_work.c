/* Work that is done later: in its order, waited for, taken back, left, and begun anew in a forked child. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "core/thread/later_work.h"
#include "core_tests.h"

typedef struct Item {
    LaterWork later;
    _Atomic bool has_begun;
    _Atomic int place; /* in which it was done; 0: not yet */
} Item;

static _Atomic int done;
static _Atomic bool may_go_on;

static void sleep_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

static void count(void *argument)
{
    Item *item = argument;
    item->has_begun = true;
    while (!may_go_on)
        sleep_briefly();
    item->place = ++done;
}

static bool is_interrupted(void) { return true; }

static void begin(Item *items, int n)
{
    for (int i = 0; i < n; i++) {
        items[i] = (Item){.later = {.work = count, .argument = &items[i]}};
        later_begin(&items[i].later);
        later_begin(&items[i].later); /* once is enough */
    }
    while (!items[0].has_begun)
        sleep_briefly();
}

static void check_order(void)
{
    Item items[3];
    may_go_on = done = 0;
    begin(items, 3);
    CHECK(!later_wait(&items[1].later, is_interrupted));
    may_go_on = true;
    CHECK(later_wait(&items[2].later, NULL) && later_wait(&items[0].later, is_interrupted));
    CHECK(done == 3);
    for (int i = 0; i < 3; i++)
        CHECK(items[i].place == i + 1 && later_take_back(&items[i].later));
}

static void *go_on(void *unused)
{
    sleep_briefly();
    may_go_on = true;
    return unused;
}

/* What has not begun is not done, what has is waited for. */
static void check_taken_back(void)
{
    Item items[3];
    pthread_t thread;
    may_go_on = done = 0;
    begin(items, 3);
    CHECK(later_take_back(&items[1].later));
    pthread_create(&thread, NULL, go_on, NULL);
    CHECK(later_take_back(&items[0].later) && items[0].place);
    CHECK(later_wait_for_all(NULL) && items[2].place == 2 && !items[1].place);
    pthread_join(thread, NULL);
}

static void check_fork(void)
{
    Item items[2];
    may_go_on = done = 0;
    begin(items, 2);
    CHECK(!later_is_lost(&items[0].later));
    pid_t child = fork();
    if (!child) {
        may_go_on = true;
        bool ok = later_is_lost(&items[0].later) && later_is_lost(&items[1].later) &&
                  later_wait(&items[0].later, NULL) && later_take_back(&items[0].later);
        later_begin(&items[1].later);
        ok = ok && !later_is_lost(&items[1].later) && later_wait(&items[1].later, NULL) && items[1].place &&
             !items[0].place;
        _exit(ok ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    may_go_on = true;
    CHECK(later_wait_for_all(NULL) && done == 2);
}

/* Who waits for all is interrupted: what goes on is left, and the rest may be begun anew. */
static void check_left(void)
{
    static Item items[3];
    may_go_on = done = 0;
    begin(items, 3);
    CHECK(!later_wait_for_all(is_interrupted));
    CHECK(!later_take_back(&items[0].later) && later_take_back(&items[1].later));
    CHECK(later_is_lost(&items[2].later) && later_wait(&items[2].later, NULL) && !items[2].place);
    later_begin(&items[2].later);
    may_go_on = true;
    CHECK(later_wait(&items[2].later, NULL) && items[2].place == 2 && items[0].place == 1);
    CHECK(later_take_back(&items[0].later) && later_take_back(&items[2].later));
}

void test_later_work(void)
{
    for (int i = 0; i < 20; i++) {
        check_order();
        check_taken_back();
    }
    check_fork();
    check_left();
}
