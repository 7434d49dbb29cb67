/* An addition that nobody else can come between needs no lock: where one thread of the process runs a kernel, and no other, of
 * this launch or another one. One may begin at any time, so that a thread which is alone says so for as long as it makes use of
 * it, and others wait before they run kernels:
 *
 *     alone        is_used = true;  if (running == 1) add, add, add;  is_used = false
 *     who begins   running++;       while (is_used) wait
 *
 * Each writes before it reads what the other one writes, in one order for all: either the first sees that it is not alone, or
 * the second sees that it has to wait. So does who gives memory to another process: it marks the memory, and then waits. */
#include "runtime/host/threads/host_alone.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static _Atomic int running; /* threads that run kernels, those twice that do so in the middle of one */
static _Atomic bool is_used;
static _Thread_local int joined; /* by this thread */

void host_alone_wait(void)
{
    while (atomic_load(&is_used))
        sched_yield();
}

void host_alone_join(void)
{
    joined++;
    atomic_fetch_add(&running, 1);
    host_alone_wait();
}

void host_alone_leave(void)
{
    assert(joined > 0);
    joined--;
    atomic_fetch_sub(&running, 1);
}

bool host_alone_begin(void)
{
    if (joined != 1 || atomic_load_explicit(&running, memory_order_relaxed) != 1)
        return false;
    atomic_store(&is_used, true);
    if (atomic_load(&running) == 1)
        return true;
    host_alone_end();
    return false;
}

void host_alone_end(void) { atomic_store_explicit(&is_used, false, memory_order_release); }

void host_alone_after_fork(void)
{
    atomic_store(&running, joined);
    atomic_store(&is_used, false);
}
