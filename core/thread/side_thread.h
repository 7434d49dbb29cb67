/* Long work whose caller may stop waiting for it. */
#ifndef CUJIT_CORE_SIDE_THREAD_H
#define CUJIT_CORE_SIDE_THREAD_H

#include "core/diagnostic/diag.h"

typedef struct SideWork {
    void (*work)(void *argument);
    void (*left)(
        void *argument); /* called behind work(), there, where the caller has not waited: it owns the argument */
    bool (*interrupted)(void); /* asked every 50 ms, here: whether to stop waiting */
    void *argument;
} SideWork;

/* Does the work on a thread that has no signals, and waits for it. False with DIAG_INTERRUPTED where it was left to itself,
 * and with another diagnostic where the system refuses a thread; then nothing was called. */
bool beside(const SideWork *work, const char *what, Diag *diag);
/* The same of work that nobody waits for: left() is called in any case, `interrupted` never. */
bool leave_beside(const SideWork *work, Diag *diag);
/* Has a thread wait for work, with memory of its own at hand, so that the first work does not wait for a thread. Without one
 * where the system refuses it. */
void prepare_beside(void);

#endif
