/* Ctrl-C while a kernel runs. Compiled code asks nothing: no loop of it pays for this. A thread that the system calls
 * `cujit-watch` signals the launching thread every 50 ms while its launch lasts. The handler finds the thread at some
 * instruction. Where that is one of the kernel's own code, which holds no lock and owns no memory, anything may be done:
 * the launch asks whether it is to end (RtLaunch.interrupted: Python runs its handlers of signals), and if so, the thread
 * leaves the kernel by a jump; else the handler returns, and the kernel goes on. Elsewhere, in libm or in a service such as
 * a barrier, it leaves a note (`attention`), which services read, and comes again a millisecond later.
 *
 *     launching thread   kernel ---tick--- asks: no --- kernel ---tick--- asks: yes, out
 *     pool thread        kernel ------------------------------------------signal--- out
 *
 * Threads of blocks may run as fibers, on stacks that are too small for Python: then the handler switches to the thread's
 * own stack to ask, as a service would to wait (run_from() in host_barrier.c). When the launch is to end, the pool threads
 * in it are signalled in the same way, until all have left.
 *
 * A signal belongs to the launch it is sent for, and to no system call behind it: `watch` goes from ON to TAKEN before a
 * signal is sent and back when its handler is done, and a thread whose watch is TAKEN waits for that before it leaves. */
#define _GNU_SOURCE
#include "runtime/host/threads/host_interrupt.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <ucontext.h>

#include "core/base/clock.h"
#include "runtime/host/machine/thread_sanitizer.h"
#include "runtime/worker_thread.h"

enum {
    TICK_NANOSECONDS = 50000000,
    AGAIN_NANOSECONDS = 1000000, /* where the thread could not attend to a tick */
    IDLE_TICKS = 20, /* without a launch, until the monitor sleeps */
};

static _Atomic(HostWorker *) made; /* all workers */
static _Thread_local HostWorker *running; /* by this thread, innermost */
static _Atomic int signal_number; /* 0: none yet; -1: none is free */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_started;
    _Atomic bool is_asleep;
} monitor = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .is_asleep = true};

void host_watch_add(HostWorker *worker)
{
    worker->next_made = atomic_load(&made);
    while (!atomic_compare_exchange_weak(&made, &worker->next_made, worker))
        continue;
}

static bool asks(const HostWorker *worker) { return !worker->is_of_pool; }

/* --- the signal ----------------------------------------------------------------------------------------------------- */

static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)context->uc_mcontext.pc;
#endif
}

/* The watch is TAKEN. Comes back where the kernel goes on. */
static void attend(HostWorker *worker)
{
    atomic_store_explicit(&worker->attention, false, memory_order_relaxed);
    if (worker->on_fiber) {
        host_fiber_switch(&worker->interrupted, worker->stack_pointer);
    } else if (host_asks_to_end(worker)) {
        host_watch_again(worker);
        siglongjmp(worker->escape, 1);
    }
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    int error = errno;
    HostWorker *worker = running;
    if (!worker || atomic_load(&worker->watch) != WATCH_TAKEN)
        return;
    if (interrupted_at(context) - worker->kernel->code < worker->kernel->code_size)
        attend(worker);
    else
        atomic_store_explicit(&worker->attention, true, memory_order_relaxed);
    host_watch_again(worker);
    errno = error;
}

/* A signal that the program does not use, from the last ones down: others count from the first one up. The last two are
 * never delivered by qemu, where it emulates a process. */
static int install(void)
{
#ifdef HAS_THREAD_SANITIZER
    return -1; /* it keeps signals until the thread's next call of the C library, which a kernel may never do */
#endif
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER}, there;
    for (int number = SIGRTMAX - 2; number > SIGRTMIN; number--)
        if (!sigaction(number, NULL, &there) && !(there.sa_flags & SA_SIGINFO) && there.sa_handler == SIG_DFL &&
            !sigaction(number, &ours, NULL))
            return number;
    return -1;
}

static void choose_signal(void) { atomic_store(&signal_number, install()); }

static int own_signal(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_signal);
    return atomic_load(&signal_number);
}

/* Lets this thread have the signal; pool threads begin with all blocked, and a program may block all. */
static void unblock(sigset_t *before)
{
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, atomic_load(&signal_number));
    pthread_sigmask(SIG_UNBLOCK, &own, before);
}

/* --- watching ------------------------------------------------------------------------------------------------------- */

/* From ON: for this thread. Where a signal is on its way, it comes first. */
static void change_watch(HostWorker *worker, HostWatch to)
{
    sigset_t before;
    int on = WATCH_ON;
    if (atomic_compare_exchange_strong(&worker->watch, &on, to))
        return;
    unblock(&before);
    for (on = WATCH_ON; !atomic_compare_exchange_strong(&worker->watch, &on, to); on = WATCH_ON)
        sched_yield();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void host_watch_again(HostWorker *worker) { atomic_store(&worker->watch, WATCH_ON); }

static void wake_monitor(void);

void host_watch_begin(HostWorker *worker, HostJob *job)
{
    worker->job = job;
    if (!job->launch->interrupted || own_signal() < 0)
        return;
    sigset_t before;
    if (worker->is_of_pool && !worker->turns)
        unblock(&before);
    worker->thread = pthread_self();
    worker->outer = running;
    running = worker;
    atomic_store_explicit(&worker->attention, false, memory_order_relaxed);
    uint32_t turns = atomic_load_explicit(&worker->turns, memory_order_relaxed);
    atomic_store_explicit(&worker->turns, turns + 1, memory_order_relaxed);
    atomic_store(&worker->watch, WATCH_ON);
    if (asks(worker) && atomic_load(&monitor.is_asleep))
        wake_monitor();
}

void host_watch_end(HostWorker *worker)
{
    if (running != worker)
        return;
    change_watch(worker, WATCH_OFF);
    running = worker->outer;
}

void host_attend_now(HostWorker *worker)
{
    if (running != worker)
        return;
    change_watch(worker, WATCH_TAKEN);
    attend(worker);
    host_watch_again(worker);
}

void host_attend_here(void)
{
    if (running)
        host_attend(running);
}

/* --- ending --------------------------------------------------------------------------------------------------------- */

void host_cancel(HostJob *job)
{
    atomic_store(&job->cancelled, true);
    atomic_store(&job->is_over, true);
}

bool host_asks_to_end(HostWorker *worker)
{
    HostJob *job = worker->job;
    if (!job_cancelled(job) && asks(worker) && job->launch->interrupted())
        host_cancel(job);
    return job_cancelled(job);
}

/* False where nobody may. */
static bool signal_worker(HostWorker *worker)
{
    int on = WATCH_ON;
    return atomic_compare_exchange_strong(&worker->watch, &on, WATCH_TAKEN) &&
           !pthread_kill(worker->thread, own_signal());
}

/* A worker of the pool belongs to the job as long as its watch is not OFF; one that has left meanwhile is let alone. */
void host_interrupt_workers(HostJob *job)
{
    for (HostWorker *worker = atomic_load(&made); worker; worker = worker->next_made)
        if (!asks(worker) && worker->job == job)
            signal_worker(worker);
}

bool host_fail_cancelled(const HostJob *job, Diag *diag)
{
    char text[160];
    snprintf(text, sizeof text, "kernel '%.120s'", job->kernel->base.name);
    return diag_fail(diag, NULL, DIAG_INTERRUPTED, text);
}

/* --- the monitor ---------------------------------------------------------------------------------------------------- */

/* Whether the launch of the worker has lasted since the last tick. */
static bool has_lasted(HostWorker *worker)
{
    uint32_t turns = atomic_load_explicit(&worker->turns, memory_order_relaxed);
    return atomic_exchange_explicit(&worker->seen_turns, turns, memory_order_relaxed) == turns;
}

/* Signals launching threads, again: those that could not attend to the last tick. Whether there are any. */
static bool tick(bool again)
{
    bool any = false;
    for (HostWorker *worker = atomic_load(&made); worker; worker = worker->next_made)
        if (asks(worker) && atomic_load(&worker->watch) == WATCH_ON &&
            (again ? atomic_load_explicit(&worker->attention, memory_order_relaxed) : has_lasted(worker)))
            any |= signal_worker(worker);
    return any;
}

static void wait_locked(long nanoseconds)
{
    struct timespec until = clock_time(clock_nanoseconds() + nanoseconds);
    pthread_cond_clockwait(&monitor.wake, &monitor.lock, CLOCK_MONOTONIC, &until);
}

/* How often launches that ask have begun; *any: whether there is one now. */
static uint32_t count_turns(bool *any)
{
    uint32_t turns = 0;
    *any = false;
    for (HostWorker *worker = atomic_load(&made); worker; worker = worker->next_made) {
        if (!asks(worker))
            continue;
        *any |= atomic_load(&worker->watch) != WATCH_OFF;
        turns += atomic_load_explicit(&worker->turns, memory_order_relaxed);
    }
    return turns;
}

/* Until a launch begins that asks. One that has begun before it could see that the monitor sleeps is seen here. */
static void sleep_locked(void)
{
    bool any;
    atomic_store(&monitor.is_asleep, true);
    count_turns(&any);
    if (any)
        atomic_store(&monitor.is_asleep, false);
    while (atomic_load(&monitor.is_asleep))
        pthread_cond_wait(&monitor.wake, &monitor.lock);
}

static void *monitor_thread(void *argument)
{
    uint32_t seen = 0;
    bool again = false, any = true;
    pthread_mutex_lock(&monitor.lock);
    for (int idle = 0;; idle++) {
        if (idle >= IDLE_TICKS)
            sleep_locked();
        uint32_t turns = count_turns(&any);
        if (turns != seen || any)
            idle = 0;
        seen = turns;
        again = tick(again);
        wait_locked(again ? AGAIN_NANOSECONDS : TICK_NANOSECONDS);
    }
    return argument;
}

/* Where the system refuses the thread, this launch lasts as long as its kernel; the next one tries again. */
static void wake_monitor(void)
{
    pthread_t thread;
    pthread_mutex_lock(&monitor.lock);
    if (!monitor.is_started && worker_thread_start(&thread, "cujit-watch", monitor_thread, NULL)) {
        pthread_detach(thread);
        monitor.is_started = true;
    }
    atomic_store(&monitor.is_asleep, !monitor.is_started);
    pthread_cond_signal(&monitor.wake);
    pthread_mutex_unlock(&monitor.lock);
}

void host_interrupt_after_fork(void)
{
    pthread_mutex_init(&monitor.lock, NULL);
    pthread_cond_init(&monitor.wake, NULL);
    monitor.is_started = false;
    atomic_store(&monitor.is_asleep, true);
    for (HostWorker *worker = atomic_load(&made); worker; worker = worker->next_made) {
        bool is_ours = false;
        for (HostWorker *each = running; each && !is_ours; each = each->outer)
            is_ours = each == worker;
        if (!is_ours)
            atomic_store(&worker->watch, WATCH_OFF);
    }
}
