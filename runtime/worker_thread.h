/* Threads that the runtime starts for itself. */
#ifndef CUJIT_RUNTIME_WORKER_THREAD_H
#define CUJIT_RUNTIME_WORKER_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* How many cores this process may use; at least 1. */
int worker_thread_cores(void);
/* The core that the calling thread is on now; -1: unknown. */
int worker_thread_core(void);
/* False where the system refuses a further thread. The name, static text, is shown by debuggers: at
 * most 15 characters. */
bool worker_thread_start(pthread_t *thread, const char *name, void *(*run)(void *argument), void *argument);

#endif
