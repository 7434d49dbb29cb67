/* Threads of the CPU device. They start with the first launches that can use them, wait for launches, and help whichever
 * has blocks left. The launching thread works too, so every launch progresses by itself and launches from many threads
 * cannot wait for each other. After a fork the child starts threads of its own. */
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
#include "runtime/worker_thread.h"

enum {
    MAX_POOL_THREADS = 4096,
    HELPED_NANOSECONDS = 10000,
    BRIEF_NANOSECONDS = 40000,
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* a job came; a pool thread left a job */
    HostJob *jobs; /* launches in progress */
    HostWorker *idle; /* workers that no thread uses */
    int threads, sleeping; /* pool threads that started or start; of these, waiting for work */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* --- how many ------------------------------------------------------------------------------------------------------- */
bool host_pool_size(int *count, Diag *diag)
{
    static _Atomic int cores;
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
    if (!cores)
        cores = worker_thread_cores();
    *count = cores;
    return true;
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
    pthread_mutex_lock(&pool.lock);
    HostWorker *worker = take_idle_locked();
    pthread_mutex_unlock(&pool.lock);
    return worker ? worker : host_worker_create();
}

void host_pool_return(HostWorker *worker)
{
    pthread_mutex_lock(&pool.lock);
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

/* Asks for `count` threads more: such as sleep, else new ones. Every thread that finds work asks for two, so the launching
 * thread pays for one only, and a first launch that is over soon for no others. The lock is left while threads start. */
static void call_for_help_locked(HostJob *job, int count)
{
    assert(pthread_mutex_trylock(&pool.lock));
    for (int i = 0; i < count && has_blocks(job) && job->users < job->most_helpers; i++) {
        if (i < pool.sleeping)
            pthread_cond_signal(&pool.work);
        else if (pool.threads >= job->most_helpers || !start_thread_unlocked())
            return;
    }
}

static void *pool_thread(void *argument)
{
    HostWorker *worker = argument;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        HostJob *job = find_job_locked();
        if (!job) {
            pool.sleeping++;
            pthread_cond_wait(&pool.work, &pool.lock);
            pool.sleeping--;
            continue;
        }
        job->users++;
        call_for_help_locked(job, 2);
        pthread_mutex_unlock(&pool.lock);
        if (host_worker_prepare(worker, job))
            atomic_store(&job->closed, true); /* no memory: leave it to the others */
        else
            host_job_work(job, worker, INT64_MAX);
        pthread_mutex_lock(&pool.lock);
        assert(job->users > 0);
        if (--job->users == 0)
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
    pool.threads = pool.sleeping = 0;
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
        struct timespec time = {until / 1000000000, until % 1000000000};
        while (job->users && clock_nanoseconds() < until)
            pthread_cond_clockwait(&pool.done, &pool.lock, CLOCK_MONOTONIC, &time);
        if (job->users)
            ask_unlocked(job);
    }
}

static void ask_for_help(HostJob *job, int participants)
{
    pthread_mutex_lock(&pool.lock);
    if (!job->most_helpers)
        add_job_locked(job);
    job->most_helpers = participants - 1;
    call_for_help_locked(job, 1);
    pthread_mutex_unlock(&pool.lock);
}

static void leave_job(HostJob *job)
{
    pthread_mutex_lock(&pool.lock);
    remove_job_locked(job);
    wait_for_users_locked(job);
    pthread_mutex_unlock(&pool.lock);
}

/* Waking others takes longer than a brief launch: a kernel that was brief the last time has some time alone, or with few; then
 * all may help. */
static void run_job(HostJob *job, HostWorker *worker, int participants)
{
    int64_t begin = clock_nanoseconds(), until = begin + BRIEF_NANOSECONDS, done = 0;
    if (job->few == 1) {
        done = host_job_work(job, worker, until);
    } else if (job->few < participants) {
        ask_for_help(job, job->few);
        done = host_job_work(job, worker, until);
    }
    if (!atomic_load_explicit(&job->is_over, memory_order_relaxed)) { /* also where a helper has closed it */
        atomic_store_explicit(&job->chunk, job->least_chunk, memory_order_relaxed);
        ask_for_help(job, participants);
        done += host_job_work(job, worker, INT64_MAX);
    }
    int64_t end = clock_nanoseconds();
    if (job->most_helpers)
        leave_job(job);
    if (done && !job_cancelled(job))
        atomic_store_explicit(&job->kernel->block_nanoseconds, (float)(end - begin) / (float)done,
                              memory_order_relaxed);
}

int host_pool_few(const HostJob *job, int participants)
{
    float block = atomic_load_explicit(&job->kernel->block_nanoseconds, memory_order_relaxed);
    if (block <= 0 || job->kernel->takes_next)
        return participants;
    float worth = block * (float)job->block_count / HELPED_NANOSECONDS;
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
