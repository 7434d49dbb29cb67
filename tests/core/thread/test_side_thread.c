/* Work on another thread: waited for, or left to itself. */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "core/thread/side_thread.h"
#include "core_tests.h"

typedef struct Sum {
    pthread_t thread;
    int value;
    _Atomic bool may_end, was_left;
} Sum;

static _Atomic bool interrupt;
static bool is_interrupted(void) { return interrupt; }

static void sleep_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

static void add(void *argument)
{
    Sum *sum = argument;
    while (!sum->may_end)
        sleep_briefly();
    sum->thread = pthread_self();
    sum->value++;
}

static void leave(void *argument) { ((Sum *)argument)->was_left = true; }

static bool work_on(Sum *sum, Diag *diag) { return beside(&(SideWork){add, leave, is_interrupted, sum}, "it", diag); }

static void check_done(void)
{
    Sum sum = {.may_end = true};
    Diag diag = {0};
    for (int i = 0; i < 100; i++)
        CHECK(work_on(&sum, &diag));
    CHECK(sum.value == 100 && !sum.was_left && !pthread_equal(sum.thread, pthread_self()));
}

/* Others are done in the meantime. */
static void check_left(void)
{
    static Sum left[3];
    for (int i = 0; i < 3; i++) {
        Diag diag = {0};
        interrupt = true;
        CHECK(!work_on(&left[i], &diag) && diag.id == DIAG_INTERRUPTED);
        interrupt = false;
        check_done();
    }
    for (int i = 0; i < 3; i++) {
        CHECK(!left[i].was_left);
        left[i].may_end = true;
        while (!left[i].was_left)
            sleep_briefly();
        CHECK(left[i].value == 1);
    }
    check_done();
}

static int count_threads(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *each; folder && (each = readdir(folder));)
        count += each->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

/* Where nothing was done before: one thread is there, and it is the one that works. */
static void check_prepared(void)
{
    int before = count_threads();
    for (int i = 0; i < 3; i++)
        prepare_beside();
    CHECK(count_threads() == before + 1);
    check_done();
    prepare_beside();
    CHECK(count_threads() == before + 1);
}

/* What a forked child does, which has none of the threads. */
static void check_in_child(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        check_prepared();
        _exit(check_failed != 0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void test_side_thread(void)
{
    check_in_child();
    check_done();
    check_left();
    check_done();
    check_in_child();
}
