/* Messages of blocks that cannot go on. */
#ifndef CUJIT_RUNTIME_HOST_HANG_H
#define CUJIT_RUNTIME_HOST_HANG_H

#include "runtime/host/threads/host_worker.h"

/* Writes worker->hang: which of the threads [first, end) wait for what. All of them have started or returned. */
void host_describe_hang(HostWorker *worker, uint32_t first, uint32_t end);
/* The same for a thread that calls an operation of its warp or a numbered barrier against the rule. */
void host_describe_misuse(HostWorker *worker, const HostThread *thread, const char *rule);
/* The same for one whose mask names lanes that have returned, or that the block does not have. */
void host_describe_absent(HostWorker *worker, const HostThread *thread, uint32_t lanes);
/* The same for a thread that ends the launch by cuda.trap in that line. */
void host_describe_trap(HostWorker *worker, const HostThread *thread, int32_t line);
/* Moves the message of a block that could not go on from its worker to the job. */
void host_take_report(HostJob *job, HostWorker *worker);
/* Fails with the job's message. */
bool host_fail_report(const HostJob *job, Diag *diag);

#endif
