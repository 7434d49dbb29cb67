/* Launches that end before their kernel does. */
#ifndef CUJIT_RUNTIME_HOST_INTERRUPT_H
#define CUJIT_RUNTIME_HOST_INTERRUPT_H

#include "runtime/host/threads/host_worker.h"

/* HostWorker.watch. */
typedef enum HostWatch {
    WATCH_OFF, /* nobody may signal the thread */
    WATCH_ON,
    WATCH_TAKEN, /* a signal is on its way, or the thread attends to one */
} HostWatch;

/* Whether no more of the launch is wanted. */
static inline bool job_cancelled(HostJob *job) { return atomic_load_explicit(&job->cancelled, memory_order_relaxed); }

/* Once for each worker that is made. */
void host_watch_add(HostWorker *worker);
/* Around all that a thread does of a job with a worker; a launch from inside of what a launch asks stands in another. */
void host_watch_begin(HostWorker *worker, HostJob *job);
void host_watch_end(HostWorker *worker);
/* The thread that attended to a signal is ready for the next one. */
void host_watch_again(HostWorker *worker);

/* For the worker's thread: whether the launch is to end. The launching one asks RtLaunch.interrupted. */
bool host_asks_to_end(HostWorker *worker);
/* Ends a launch: its blocks that run are left where they are by host_interrupt_workers(), further ones do not start. */
void host_cancel(HostJob *job);
/* Signals the threads that run blocks of a cancelled job. Some may be where they cannot stop: once more, then. */
void host_interrupt_workers(HostJob *job);
bool host_fail_cancelled(const HostJob *job, Diag *diag);

/* In a service that a kernel has called: attends to a signal that came while the thread was in one. May not return. */
void host_attend_now(HostWorker *worker);
static inline void host_attend(HostWorker *worker)
{
    if (atomic_load_explicit(&worker->attention, memory_order_relaxed))
        host_attend_now(worker);
}
/* The same for the worker that this thread runs, if any. */
void host_attend_here(void);

/* In a forked child: its only thread runs what it ran before. */
void host_interrupt_after_fork(void);

#endif
