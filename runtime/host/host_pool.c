/* Threads of the CPU device. They start with the first launches that can use them, wait for launches, and help whichever
 * has blocks left. The launching thread works too, so every launch progresses by itself and launches from many threads
 * cannot wait for each other. After a fork the child starts threads of its own.
 *
 * To wake a thread that sleeps takes longer than a brief launch. So a thread that has helped looks for further work for a
 * while before it sleeps, and so does a launching thread for its helpers' end: launches that follow each other closely call
 * nobody through the system. Who looks leaves the lock alone until it is given a ticket. */
#include "runtime/host/host_pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "runtime/host/observe/host_checker.h"
#include "runtime/host/threads/host_alone.h"
#include "runtime/host/threads/host_hang.h"
#include "runtime/host/threads/host_interrupt.h"
#include "runtime/host/threads/host_trial.h"
#include "runtime/worker_thread.h"

enum {
    MAX_POOL_THREADS = 4096,
    HELPED_NANOSECONDS = 10000, /* for which it is worth to wake a thread */
    HELPED_AWAKE_NANOSECONDS = 5000, /* the same where it is awake, or soon will be */
    BRIEF_NANOSECONDS = 40000,
    LOOK_NANOSECONDS = 30000, /* before a thread sleeps */
    LOCK_TRIES = 100,
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* a job came; a pool thread left a job */
    HostJob *jobs; /* launches in progress */
    HostWorker *idle; /* workers that no thread uses */
    int threads, sleeping, looking; /* pool threads that started or start; of these, waiting for work, and about to */
    _Atomic int64_t last_end; /* of a launch for several, by the clock */
    _Alignas(64) _Atomic int tickets; /* for threads that look; taken without the lock */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* --- how many ------------------------------------------------------------------------------------------------------- */
static int known_cores(void)
{
    static _Atomic int cores;
    if (!cores)
        cores = worker_thread_cores();
    return cores;
}

bool host_pool_size(int *count, Diag *diag)
{
    const char *text = getenv("CUJIT_CPU_THREADS");
    if (text && *text) {
        char *end, message[160];
        long number = strtol(text, &end, 10);
        if (!*end && number >= 1 && number <= MAX_POOL_THREADS) {
            *count = (int)number;
            return true;
        }
        snprintf(message, sizeof message, "CUJIT_CPU_THREADS=%.60s: expected a number from 1 to %d", text,
                 MAX_POOL_THREADS);
        return diag_fail(diag, NULL, DIAG_HOST_THREADS, message);
    }
    *count = known_cores();
    return true;
}

/* --- looking instead of sleeping ------------------------------------------------------------------------------------ */
static inline void rest(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* It is held for much less time than it takes to sleep. */
static void lock_pool(void)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (!pthread_mutex_trylock(&pool.lock))
            return;
        rest();
    }
    pthread_mutex_lock(&pool.lock);
}

/* Where threads share cores, who looks keeps others from their work; likewise on a core that a helper shares with the
 * launching thread, which is asked for each of them. */
static bool may_look(int participants) { return participants <= known_cores(); }

static int64_t look_until_locked(void)
{
    assert(pthread_mutex_trylock(&pool.lock));
    return may_look(pool.threads + 1) ? clock_nanoseconds() + LOOK_NANOSECONDS : 0;
}

static bool take_ticket(void)
{
    int there = atomic_load_explicit(&pool.tickets, memory_order_relaxed);
    return there > 0 && atomic_compare_exchange_strong_explicit(&pool.tickets, &there, there - 1, memory_order_relaxed,
                                                                memory_order_relaxed);
}

/* False where that time has passed already. Who has no ticket in the end asks for work once more before it sleeps. */
static bool look_for_work_locked(int64_t until)
{
    enum { TRIES = 16 };
    assert(pthread_mutex_trylock(&pool.lock));
    if (!until || clock_nanoseconds() >= until)
        return false;
    pool.looking++;
    pthread_mutex_unlock(&pool.lock);
    for (bool has_ticket = false; !has_ticket && clock_nanoseconds() < until;)
        for (int i = 0; i < TRIES && !(has_ticket = take_ticket()); i++)
            rest();
    lock_pool();
    if (!--pool.looking)
        atomic_store_explicit(&pool.tickets, 0, memory_order_relaxed);
    return true;
}

static void look_for_end(const HostJob *job)
{
    enum { TRIES = 16 };
    int64_t until = clock_nanoseconds() + LOOK_NANOSECONDS;
    while (atomic_load_explicit(&job->users, memory_order_relaxed) && clock_nanoseconds() < until)
        for (int i = 0; i < TRIES && atomic_load_explicit(&job->users, memory_order_relaxed); i++)
            rest();
}

/* --- workers -------------------------------------------------------------------------------------------------------- */
static HostWorker *take_idle_locked(void)
{
    HostWorker *worker = pool.idle;
    if (worker)
        pool.idle = worker->next_idle;
    return worker;
}

HostWorker *host_pool_borrow(void)
{
    lock_pool();
    HostWorker *worker = take_idle_locked();
    pthread_mutex_unlock(&pool.lock);
    return worker ? worker : host_worker_create();
}

void host_pool_return(HostWorker *worker)
{
    lock_pool();
    worker->next_idle = pool.idle;
    pool.idle = worker;
    pthread_mutex_unlock(&pool.lock);
}

/* --- pool threads --------------------------------------------------------------------------------------------------- */
static bool has_blocks(HostJob *job)
{
    return !atomic_load_explicit(&job->closed, memory_order_relaxed) &&
           !atomic_load_explicit(&job->is_over, memory_order_relaxed);
}

static HostJob *find_job_locked(void)
{
    assert(pthread_mutex_trylock(&pool.lock));
    for (HostJob *job = pool.jobs; job; job = job->next)
        if (has_blocks(job) && job->users < job->most_helpers)
            return job;
    return NULL;
}

static bool start_thread_unlocked(void);

/* No more of them than threads that look. */
static void give_ticket_locked(void)
{
    assert(pthread_mutex_trylock(&pool.lock));
    if (atomic_load_explicit(&pool.tickets, memory_order_relaxed) < pool.looking)
        atomic_fetch_add_explicit(&pool.tickets, 1, memory_order_relaxed);
}

/* Asks for `count` threads more: such as look for work, then such as sleep, else new ones. Every thread that finds work asks
 * for two, so the launching thread pays for one only, and a first launch that is over soon for no others. The lock is left
 * while threads start. */
static void call_for_help_locked(HostJob *job, int count)
{
    assert(pthread_mutex_trylock(&pool.lock));
    for (int i = 0; i < count && has_blocks(job) && job->users < job->most_helpers; i++) {
        if (i < pool.looking)
            give_ticket_locked();
        else if (i < pool.looking + pool.sleeping)
            pthread_cond_signal(&pool.work);
        else if (pool.threads >= job->most_helpers || !start_thread_unlocked())
            return;
    }
}

static void *pool_thread(void *argument)
{
    HostWorker *worker = argument;
    int64_t look_until = 0;
    lock_pool();
    for (;;) {
        HostJob *job = find_job_locked();
        if (!job && look_for_work_locked(look_until))
            continue;
        if (!job) {
            pool.sleeping++;
            pthread_cond_wait(&pool.work, &pool.lock);
            pool.sleeping--;
            look_until = look_until_locked();
            continue;
        }
        bool shares_core = worker_thread_core() == job->core;
        job->shares_core |= shares_core;
        atomic_fetch_add(&job->users, 1);
        call_for_help_locked(job, 2);
        pthread_mutex_unlock(&pool.lock);
        if (host_worker_prepare(worker, job))
            atomic_store(&job->closed, true); /* no memory: leave it to the others */
        else
            host_job_work(job, worker, INT64_MAX);
        lock_pool();
        look_until = shares_core ? 0 : look_until_locked();
        assert(job->users > 0);
        if (atomic_fetch_sub(&job->users, 1) == 1)
            pthread_cond_broadcast(&pool.done);
    }
    return NULL;
}

/* Where the system refuses further threads, those there are do the work. */
static bool start_thread_unlocked(void)
{
    pthread_t thread;
    int place = ++pool.threads;
    pthread_mutex_unlock(&pool.lock);
    HostWorker *worker = host_worker_create();
    if (worker) {
        worker->is_of_pool = true;
        worker->place = place;
    }
    bool is_started = worker && worker_thread_start(&thread, "cujit-cpu", pool_thread, worker);
    if (is_started)
        pthread_detach(thread);
    pthread_mutex_lock(&pool.lock);
    if (is_started)
        return true;
    pool.threads--;
    if (worker) {
        worker->is_of_pool = false;
        worker->place = 0;
        worker->next_idle = pool.idle;
        pool.idle = worker;
    }
    return false;
}

/* --- fork ----------------------------------------------------------------------------------------------------------- */
static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&pool.lock); }

/* Of a thread that forked in their middle, in a signal's handler. What pool threads have taken of them is lost. */
static HostJob *jobs_of_thread(HostJob *jobs, pthread_t thread)
{
    HostJob *own = NULL, **end = &own;
    for (; jobs; jobs = jobs->next)
        if (pthread_equal(jobs->launcher, thread)) {
            if (jobs->users) {
                jobs->lost_users = true;
                atomic_store(&jobs->is_over, true);
            }
            jobs->users = 0;
            *end = jobs;
            end = &jobs->next;
        }
    *end = NULL;
    return own;
}

/* The child has one thread: pool threads, their workers and launches of other threads stayed behind. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.jobs = jobs_of_thread(pool.jobs, pthread_self());
    pool.threads = pool.sleeping = pool.looking = 0;
    pool.tickets = 0;
    host_interrupt_after_fork();
    host_alone_after_fork();
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

/* --- running -------------------------------------------------------------------------------------------------------- */
static void add_job_locked(HostJob *job)
{
    HostJob **end = &pool.jobs;
    while (*end)
        end = &(*end)->next;
    *end = job;
}

static void remove_job_locked(HostJob *job)
{
    HostJob **place = &pool.jobs;
    while (*place != job)
        place = &(*place)->next;
    *place = job->next;
}

/* Asks whether the launch is to end, and if so, ends what pool threads do of it. */
static void ask_unlocked(HostJob *job)
{
    pthread_mutex_unlock(&pool.lock);
    if (!job_cancelled(job) && job->launch->interrupted())
        host_cancel(job);
    if (job_cancelled(job))
        host_interrupt_workers(job);
    pthread_mutex_lock(&pool.lock);
}

static void wait_for_users_locked(HostJob *job)
{
    enum { ASK = 50000000, INTERRUPT = 1000000 };
    while (job->users && !job->launch->interrupted)
        pthread_cond_wait(&pool.done, &pool.lock);
    while (job->users) {
        int64_t until = clock_nanoseconds() + (job_cancelled(job) ? INTERRUPT : ASK);
        struct timespec time = clock_time(until);
        while (job->users && clock_nanoseconds() < until)
            pthread_cond_clockwait(&pool.done, &pool.lock, CLOCK_MONOTONIC, &time);
        if (job->users)
            ask_unlocked(job);
    }
}

/* Returns the nanoseconds that it has taken. */
static int64_t ask_for_help(HostJob *job, int participants)
{
    int64_t begin = clock_nanoseconds();
    lock_pool();
    if (!job->most_helpers) {
        job->core = worker_thread_core();
        add_job_locked(job);
    }
    job->most_helpers = participants - 1;
    call_for_help_locked(job, 1);
    pthread_mutex_unlock(&pool.lock);
    return clock_nanoseconds() - begin;
}

static void leave_job(HostJob *job, int participants)
{
    if (may_look(participants) && !atomic_load_explicit(&job->shares_core, memory_order_relaxed))
        look_for_end(job);
    lock_pool();
    remove_job_locked(job);
    wait_for_users_locked(job);
    pthread_mutex_unlock(&pool.lock);
}

static int64_t brief_nanoseconds(const HostJob *job)
{
    int64_t trial = job->tries_alone ? host_trial_nanoseconds(job) : 0;
    return trial > BRIEF_NANOSECONDS ? trial : BRIEF_NANOSECONDS;
}

/* Waking others takes longer than a brief launch: a kernel that was brief the last time has some time alone, or with few; then
 * all may help. */
static void run_job(HostJob *job, HostWorker *worker, int participants)
{
    int64_t begin = clock_nanoseconds(), until = begin + brief_nanoseconds(job), asked = 0;
    HostTimes times = {0};
    if (job->few == 1) {
        times.alone_blocks = host_job_work(job, worker, until);
        times.alone = clock_nanoseconds() - begin;
    } else if (job->few < participants) {
        asked = ask_for_help(job, job->few);
        times.shared_blocks = host_job_work(job, worker, until);
    }
    if (!atomic_load_explicit(&job->is_over, memory_order_relaxed)) { /* also where a helper has closed it */
        atomic_store_explicit(&job->chunk, job->least_chunk, memory_order_relaxed);
        asked += ask_for_help(job, participants);
        times.shared_blocks += host_job_work(job, worker, INT64_MAX);
    }
    int64_t end = clock_nanoseconds(), done = times.alone_blocks + times.shared_blocks;
    if (job->most_helpers)
        leave_job(job, participants);
    int64_t last_end = clock_nanoseconds();
    atomic_store_explicit(&pool.last_end, last_end, memory_order_relaxed);
    if (!done || job_cancelled(job))
        return;
    atomic_store_explicit(&job->kernel->block_nanoseconds, (float)(end - begin - asked) / (float)done,
                          memory_order_relaxed);
    times.shared = last_end - begin - times.alone;
    host_trial_note(job, &times);
}

/* Those that a launch calls shortly after another one are, or will be for the next. */
static bool are_awake(int participants)
{
    return may_look(participants) &&
           clock_nanoseconds() < atomic_load_explicit(&pool.last_end, memory_order_relaxed) + LOOK_NANOSECONDS;
}

int host_pool_few(const HostJob *job, int participants)
{
    float block = atomic_load_explicit(&job->kernel->block_nanoseconds, memory_order_relaxed);
    if (block <= 0 || job->kernel->takes_next)
        return participants;
    float worth =
        block * (float)job->block_count / (are_awake(participants) ? HELPED_AWAKE_NANOSECONDS : HELPED_NANOSECONDS);
    int few = 1;
    while (few < participants && 2 * (float)few <= worth)
        few *= 2;
    return few < participants ? few : participants;
}

bool host_pool_run(HostJob *job, int participants, Diag *diag)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    job->launcher = pthread_self();
    HostWorker *worker = host_pool_borrow();
    int error = worker ? host_worker_prepare(worker, job) : ENOMEM;
    if (!error) {
        if (participants > 1 && job->block_count > 1)
            run_job(job, worker, participants);
        else
            host_job_work(job, worker, INT64_MAX);
    }
    if (worker) {
        host_check_leave_worker(worker);
        host_pool_return(worker);
    }
    if (job_cancelled(job))
        return host_fail_cancelled(job, diag);
    if (job->lost_users)
        return diag_fail(diag, NULL, DIAG_HOST_FORK, job->kernel->base.name);
    if (job->hangs)
        return host_fail_report(job, diag);
    if (!error)
        return true;
    const uint32_t *block = job->launch->block;
    return diag_fail(diag, NULL, DIAG_HOST_STACK, (int)(block[0] * block[1] * block[2]), strerror(error));
}
