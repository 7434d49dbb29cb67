/* Which kernels may be at fault when the driver reports one: it does so at some later call, and names none. */
#ifndef CUJIT_RUNTIME_LAUNCH_LOG_H
#define CUJIT_RUNTIME_LAUNCH_LOG_H

#include <stdint.h>

#include "core/diagnostic/diag.h"
#include "runtime/cuda/driver/driver_types.h"

/* The name as a text that lives as long as the process; NULL where there is no memory for it. */
const char *launch_log_name(const char *name);
/* A launch on a device (its number) and a stream's handle; 0: the default stream. Costs a few nanoseconds. */
void launch_log_add(const char *name, int device, uint64_t stream);
/* How many launches there were, to be asked before a synchronization. */
uint64_t launch_log_count(void);
/* What was launched before `count` on that stream is done; stream 0: on any of the device. */
void launch_log_forget(uint64_t count, int device, uint64_t stream);
/* Where the result says that a kernel broke its context: notes which it may have been, and how the line is found. */
void launch_log_explain(Diag *diag, CUresult result);

#endif
