/* The queue, and the thread that takes from it, which is there as long as there is work. */
#include "core/thread/later_work.h"

#include <pthread.h>
#include <stddef.h>

#include "core/thread/asking_wait.h"
#include "core/thread/side_thread.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t done;
    LaterWork *first, *going_on;
    bool has_thread;
    LaterWork *left; /* that which went on when the last one who waited for all was interrupted */
    unsigned process;
} later = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* --- fork: the child has no such thread ------------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&later.lock); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&later.lock); }

static void after_fork_in_child(void)
{
    pthread_mutex_init(&later.lock, NULL);
    pthread_cond_init(&later.done, NULL);
    later.first = later.going_on = later.left = NULL;
    later.has_thread = false;
    later.process++;
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

/* --- the thread ------------------------------------------------------------------------------------------------------- */

static void do_all(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&later.lock);
    for (LaterWork *work; (work = later.first);) {
        later.first = work->next;
        later.going_on = work;
        work->step = LATER_GOES_ON;
        pthread_mutex_unlock(&later.lock);
        work->work(work->argument);
        pthread_mutex_lock(&later.lock);
        work->step = LATER_IS_DONE;
        later.going_on = later.left = NULL;
        pthread_cond_broadcast(&later.done);
    }
    later.has_thread = false;
    pthread_mutex_unlock(&later.lock);
}

static void end(void *unused) { (void)unused; }

static bool is_of_this_process(const LaterWork *work)
{
    return work->step != LATER_NOTHING && work->process == later.process;
}

static void append(LaterWork *work)
{
    LaterWork **place = &later.first;
    while (*place)
        place = &(*place)->next;
    *place = work;
    work->next = NULL;
    work->step = LATER_WAITS;
    work->process = later.process;
}

void later_begin(LaterWork *work)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&later.lock);
    bool is_new = work->step != LATER_IS_DONE && !is_of_this_process(work), wants_thread = is_new && !later.has_thread;
    if (is_new)
        append(work);
    later.has_thread |= wants_thread;
    pthread_mutex_unlock(&later.lock);
    Diag ignored = {.id = DIAG_NONE};
    if (wants_thread && !leave_beside(&(SideWork){.work = do_all, .left = end}, &ignored))
        do_all(NULL);
}

bool later_is_lost(const LaterWork *work)
{
    pthread_mutex_lock(&later.lock);
    bool is_lost = work->step != LATER_IS_DONE && !is_of_this_process(work);
    pthread_mutex_unlock(&later.lock);
    return is_lost;
}

/* --- waiting ---------------------------------------------------------------------------------------------------------- */

/* NULL: all of it. */
static bool has_ended(const void *waited_for)
{
    const LaterWork *work = waited_for;
    return work ? work->step == LATER_IS_DONE || !is_of_this_process(work) : !later.first && !later.going_on;
}

static bool wait_locked(const LaterWork *work, bool (*interrupted)(void))
{
    return wait_asking(&later.done, &later.lock, has_ended, work, interrupted);
}

bool later_wait(LaterWork *work, bool (*interrupted)(void))
{
    pthread_mutex_lock(&later.lock);
    bool ended = wait_locked(work, interrupted);
    pthread_mutex_unlock(&later.lock);
    return ended;
}

static void give_up_all(void)
{
    for (LaterWork *work = later.first; work; work = work->next)
        work->step = LATER_NOTHING;
    later.first = NULL;
    later.left = later.going_on;
    pthread_cond_broadcast(&later.done);
}

bool later_wait_for_all(bool (*interrupted)(void))
{
    pthread_mutex_lock(&later.lock);
    bool ended = wait_locked(NULL, interrupted);
    if (!ended)
        give_up_all();
    pthread_mutex_unlock(&later.lock);
    return ended;
}

bool later_take_back(LaterWork *work)
{
    pthread_mutex_lock(&later.lock);
    LaterWork **place = &later.first;
    while (*place && *place != work)
        place = &(*place)->next;
    if (*place) {
        *place = work->next;
        work->step = LATER_NOTHING;
        pthread_cond_broadcast(&later.done);
    }
    bool is_left = later.left == work;
    if (!is_left)
        wait_locked(work, NULL);
    pthread_mutex_unlock(&later.lock);
    return !is_left;
}
