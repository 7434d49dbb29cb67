/* Waits for another thread that ask, now and then, whether to go on. */
#ifndef CUJIT_CORE_ASKING_WAIT_H
#define CUJIT_CORE_ASKING_WAIT_H

#include <pthread.h>
#include <stdbool.h>

/* Waits until has_come(what), which whoever makes it so broadcasts by the condition. The lock is held, here as there, and open
 * while `interrupted` is asked: every 50 ms, or never where it is NULL. False where that says to stop waiting; what is waited
 * for may have come in the meantime. */
bool wait_asking(pthread_cond_t *come, pthread_mutex_t *lock, bool (*has_come)(const void *what), const void *what,
                 bool (*interrupted)(void));

#endif
