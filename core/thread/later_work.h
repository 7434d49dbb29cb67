/* Work that is done later, one piece after the other on a thread of its own, and that whoever wants to may wait for. */
#ifndef CUJIT_CORE_LATER_WORK_H
#define CUJIT_CORE_LATER_WORK_H

#include <stdbool.h>

typedef enum LaterStep { LATER_NOTHING, LATER_WAITS, LATER_GOES_ON, LATER_IS_DONE } LaterStep;

/* work(argument) is the caller's to set, the rest is zeroed. It stays where it is until later_take_back(). */
typedef struct LaterWork LaterWork;
struct LaterWork {
    void (*work)(void *argument);
    void *argument;
    LaterWork *next; /* in the queue */
    LaterStep step; /* under its lock */
    unsigned process; /* that it was begun in: a forked child has another number */
};

/* Has it done, where that was not begun in this process. Where the system refuses a thread it is done here and now. */
void later_begin(LaterWork *work);
/* Whether nobody does it, and it is not done: it was begun in a process that this one was forked from, or given up. */
bool later_is_lost(const LaterWork *work);
/* Waits for it, if it was begun in this process and until it is given up; false where `interrupted`, which may be NULL and
 * is asked every 50 ms, says to stop waiting. */
bool later_wait(LaterWork *work, bool (*interrupted)(void));
/* The same for all that was begun. Where it is interrupted, nobody waits for what goes on any more, and what has not begun
 * is as if nobody had asked for it. */
bool later_wait_for_all(bool (*interrupted)(void));
/* It is not done, if that has not begun, and waited for, if it has. False where nobody waits any more: it goes on, and needs
 * what it works on. */
bool later_take_back(LaterWork *work);

#endif
