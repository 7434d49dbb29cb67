/* Who begins a launch while another one runs alone takes that away from it. Both sides write what the other one reads, and
 * then read what the other one writes: the worker that it is busy, and whether it is still alone. Compiled code has no fence
 * between the two, which would cost as much as a lock; who begins a launch has the system make one on all processors instead
 * (membarrier), and then waits for the few instructions that the worker may be in the middle of.
 *
 *     worker                     who begins a launch
 *     is_busy = 1                is_alone = 0
 *     if is_alone:               fence on all processors
 *         load, operate, store   while is_busy: wait
 *     is_busy = 0
 *
 * The other one may be the worker's own thread: Python's handlers of signals run in the middle of a kernel. It is not stopped
 * for them where it is busy (host_interrupt.c). */
#include "runtime/host/threads/host_lone.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_TAKEN = 64 /* so often: launches of this process meet, and it does not pay */ };

static struct {
    pthread_mutex_t lock;
    int running; /* launches */
    int taken; /* how often a launch was no longer alone because of another one */
    HostWorker *alone; /* NULL: no launch is */
    bool never;
} lone = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int own_launches; /* of those that run: this thread's */

static void set(uint8_t *flag, bool value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }

bool host_lone_is_busy(const HostWorker *worker) { return __atomic_load_n(&worker->lone.is_busy, __ATOMIC_ACQUIRE); }

/* --- the fence ------------------------------------------------------------------------------------------------------ */

static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

static bool find_fence(void)
{
    enum { NEEDED = MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED };
    long commands = membarrier(MEMBARRIER_CMD_QUERY);
    return commands >= 0 && (commands & NEEDED) == NEEDED;
}

/* Under the lock. */
static bool has_fence(void)
{
    static int known; /* 0: not asked yet */
    if (!known)
        known = find_fence() ? 1 : -1;
    return known > 0;
}

/* To register takes long, and is seldom needed: only then. It fails where memory is out. */
static void fence_everywhere(void)
{
    while (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
            sched_yield();
}

/* --- launches ------------------------------------------------------------------------------------------------------- */

static void take_away_locked(void)
{
    if (!lone.alone)
        return;
    set(&lone.alone->lone.is_alone, false);
    fence_everywhere();
    while (host_lone_is_busy(lone.alone))
        sched_yield();
    lone.alone = NULL;
    lone.taken++;
}

void host_lone_begin(HostWorker *worker)
{
    pthread_mutex_lock(&lone.lock);
    own_launches++;
    if (lone.running++)
        take_away_locked();
    else if (worker && !lone.never && lone.taken < MOST_TAKEN && has_fence()) {
        lone.alone = worker;
        worker->frame.lone = &worker->lone;
        set(&worker->lone.is_alone, true);
    }
    pthread_mutex_unlock(&lone.lock);
}

static void leave_locked(HostWorker *worker)
{
    if (!worker || lone.alone != worker)
        return;
    set(&worker->lone.is_alone, false);
    lone.alone = NULL;
}

void host_lone_share(HostWorker *worker)
{
    pthread_mutex_lock(&lone.lock);
    leave_locked(worker);
    pthread_mutex_unlock(&lone.lock);
}

void host_lone_end(HostWorker *worker)
{
    pthread_mutex_lock(&lone.lock);
    leave_locked(worker);
    own_launches--;
    lone.running--;
    pthread_mutex_unlock(&lone.lock);
}

void host_lone_never(void)
{
    pthread_mutex_lock(&lone.lock);
    take_away_locked();
    lone.never = true;
    pthread_mutex_unlock(&lone.lock);
}

/* --- fork ----------------------------------------------------------------------------------------------------------- */

void host_lone_before_fork(void) { pthread_mutex_lock(&lone.lock); }

/* The child has the launches of its one thread, which may be in the middle of one. */
void host_lone_after_fork(bool is_child)
{
    if (!is_child) {
        pthread_mutex_unlock(&lone.lock);
        return;
    }
    pthread_mutex_init(&lone.lock, NULL);
    lone.running = own_launches;
    if (lone.alone)
        set(&lone.alone->lone.is_alone, false);
    lone.alone = NULL;
}
