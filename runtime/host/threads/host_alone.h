/* Whether a thread is the only one that runs a kernel, and stays so for a while. */
#ifndef CUJIT_RUNTIME_HOST_ALONE_H
#define CUJIT_RUNTIME_HOST_ALONE_H

#include <stdbool.h>

/* Around all that a thread does of a launch. The first waits as long as another thread is alone. */
void host_alone_join(void);
void host_alone_leave(void);
/* Whether no other thread runs a kernel; then none begins until host_alone_end(), which is to come soon, and before anything
 * that may wait or not return. For a thread that has joined. */
bool host_alone_begin(void);
void host_alone_end(void);
/* Until nobody is alone. Who is from then on sees what this thread has changed before, where both go by atomics in one order for
 * all. */
void host_alone_wait(void);
/* In a forked child: its only thread runs what it ran before. */
void host_alone_after_fork(void);

#endif
