/* Threads for compilations: LLVM's passes cannot be ended, but nobody has to wait for them. One thread stays for the next
 * work, whose memory malloc then has at hand; further ones are there as long as work that was left to itself goes on. */
#define _GNU_SOURCE
#include "core/thread/side_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/thread/asking_wait.h"
#include "core/thread/own_stack.h"

typedef struct Task {
    SideWork work;
    bool is_done, is_left;
} Task;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t come, done;
    Task *waiting; /* for a thread; there is one on its way to it */
    int idle; /* threads without work, or on their way to it */
    int left; /* tasks that nobody waits for and that go on */
} side = {.lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* --- threads -------------------------------------------------------------------------------------------------------- */

static Task *take_locked(void)
{
    while (!side.waiting)
        pthread_cond_wait(&side.come, &side.lock);
    side.idle--;
    Task *task = side.waiting;
    side.waiting = NULL;
    pthread_cond_broadcast(&side.done); /* for give() */
    return task;
}

/* What is touched first is made by the system, page by page. */
static void touch_memory(void)
{
    enum { SIZE = 1 << 16 };
    char on_stack[SIZE];
    memory_touch(on_stack, SIZE);
    memory_touch_heap(SIZE);
}

static void *run(void *unused)
{
    pthread_setname_np(pthread_self(), "cujit-compile"); /* to name another thread is to open a file */
    touch_memory();
    pthread_mutex_lock(&side.lock);
    for (;;) {
        Task *task = take_locked();
        pthread_mutex_unlock(&side.lock);
        task->work.work(task->work.argument);
        pthread_mutex_lock(&side.lock);
        task->is_done = true;
        pthread_cond_broadcast(&side.done);
        if (task->is_left) {
            pthread_mutex_unlock(&side.lock);
            task->work.left(task->work.argument);
            memory_free(task);
            pthread_mutex_lock(&side.lock);
            side.left--;
        }
        if (side.idle > 0)
            break;
        side.idle++;
    }
    pthread_mutex_unlock(&side.lock);
    return unused;
}

static int start_locked(void)
{
    enum { STACK = 8 << 20 }; /* of which what is not used costs nothing */
    pthread_t thread;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    error = pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = error ? error : start_without_signals(&thread, &attributes, run, NULL);
    pthread_attr_destroy(&attributes);
    side.idle += !error;
    return error;
}

/* --- fork: the child has none of the threads -------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&side.lock); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&side.lock); }

static void after_fork_in_child(void)
{
    pthread_mutex_init(&side.lock, NULL);
    pthread_cond_init(&side.come, NULL);
    pthread_cond_init(&side.done, NULL);
    side.waiting = NULL;
    side.idle = side.left = 0;
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

/* --- exit: what goes on uses what destructors of static objects, LLVM's among them, would take away -------------------- */

static void leave_at_once(int status, void *unused)
{
    (void)unused;
    pthread_mutex_lock(&side.lock);
    bool goes_on = side.left > 0;
    pthread_mutex_unlock(&side.lock);
    if (!goes_on)
        return;
    fflush(NULL);
    _exit(status);
}

/* Called where work is left: handlers run from the last one on, and LLVM has made its objects by then. */
static void watch_exit(void) { on_exit(leave_at_once, NULL); }

/* --- work ----------------------------------------------------------------------------------------------------------- */

/* Gives the task to a thread: the idle one, or a new one. 0 or the errno that says why not. */
static int give(Task *task)
{
    pthread_mutex_lock(&side.lock);
    while (side.waiting) /* another caller's task, which is about to be taken */
        pthread_cond_wait(&side.done, &side.lock);
    int error = side.idle ? 0 : start_locked();
    if (!error) {
        side.waiting = task;
        side.left += task->is_left;
        pthread_cond_signal(&side.come);
    }
    pthread_mutex_unlock(&side.lock);
    return error;
}

static bool is_done(const void *task) { return ((const Task *)task)->is_done; }

/* Whether it was done. */
static bool wait_for(Task *task)
{
    pthread_mutex_lock(&side.lock);
    bool interrupted = !wait_asking(&side.done, &side.lock, is_done, task, task->work.interrupted);
    /* What raised an exception is not to be lost: even work that is done by now is left. */
    task->is_left = interrupted && !task->is_done;
    side.left += task->is_left;
    bool is_left = task->is_left;
    pthread_mutex_unlock(&side.lock);
    if (is_left) {
        watch_exit();
        return false;
    }
    if (interrupted)
        task->work.left(task->work.argument);
    memory_free(task);
    return !interrupted;
}

static void watch_forks_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
}

void prepare_beside(void)
{
    watch_forks_once();
    pthread_mutex_lock(&side.lock);
    if (!side.idle)
        start_locked();
    pthread_mutex_unlock(&side.lock);
}

/* Gives away a new task; NULL with a diagnostic where that fails. */
static Task *begin(const SideWork *work, bool is_left, Diag *diag)
{
    watch_forks_once();
    Task *task = memory_new(sizeof *task, diag);
    if (!task)
        return NULL;
    task->work = *work;
    task->is_left = is_left;
    int error = give(task);
    if (!error)
        return task;
    memory_free(task);
    diag_fail(diag, NULL, DIAG_COMPILER_THREAD, strerror(error));
    return NULL;
}

bool leave_beside(const SideWork *work, Diag *diag)
{
    bool begun = begin(work, true, diag) != NULL;
    if (begun)
        watch_exit();
    return begun;
}

bool beside(const SideWork *work, const char *what, Diag *diag)
{
    Task *task = begin(work, false, diag);
    return task && (wait_for(task) || diag_fail(diag, NULL, DIAG_INTERRUPTED, what));
}
