/* Locks that a thread may hold for as long as a compilation takes. In a forked child each of them is free: the thread that held
 * it is not there. The thread that forks holds none. */
#ifndef CUJIT_CORE_LONG_LOCK_H
#define CUJIT_CORE_LONG_LOCK_H

#include <pthread.h>

typedef struct LongLock LongLock;

struct LongLock {
    pthread_mutex_t mutex;
    LongLock *next, *previous; /* of all that there are */
};

void long_lock_init(LongLock *lock);
/* Nobody holds it. */
void long_lock_destroy(LongLock *lock);

#endif
