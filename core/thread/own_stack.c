/* What is left of a thread's stack, and a thread for the length of one call. */
#include "core/thread/own_stack.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/memory.h"

typedef struct Call {
    void (*work)(void *argument);
    void *argument;
    MemoryGuard *guard;
    bool has_memory;
    size_t bytes, missing; /* of the stack: asked for, and not there; then nothing was called */
} Call;

/* The C library puts the thread-local variables of all libraries on a thread's stack, and does not say how large they are. */
static _Atomic size_t taken_by_variables;

/* The process's first thread: the name of its program lies where its stack begins. The C library reads the list of all of the
 * process's mappings for that. NULL where the stack has no limit. */
static char *lowest_of_process(void)
{
    struct rlimit limit;
    unsigned long top = getauxval(AT_EXECFN);
    return top && !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < top ? (char *)top - limit.rlim_cur : NULL;
}

static char *lowest_of_thread(void)
{
    pthread_attr_t attributes;
    void *address = NULL;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return NULL;
    pthread_attr_getstack(&attributes, &address, &size);
    pthread_attr_destroy(&attributes);
    return address;
}

/* 0 where it is not known. The system is asked once for each thread. */
static size_t stack_left(void)
{
    static _Thread_local char *lowest;
    char here;
    if (!lowest && syscall(SYS_gettid) == getpid())
        lowest = lowest_of_process();
    if (!lowest || &here < lowest) /* in the child of another thread's fork, the first thread has that one's stack */
        lowest = lowest_of_thread();
    return lowest && &here > lowest ? (size_t)(&here - lowest) : 0;
}

static void *run(void *argument)
{
    Call *call = argument;
    size_t left = stack_left();
    call->missing = left && left < call->bytes ? call->bytes - left : 0;
    if (call->missing)
        return NULL;
    call->has_memory = memory_lend_guard(call->guard, call->work, call->argument);
    return NULL;
}

int start_without_signals(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument)
{
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int error = pthread_create(thread, attributes, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Calls it in a thread with a stack of that size. 0 or the errno that says why there is none. */
static int run_in_thread(Call *call, size_t size)
{
    enum { PAGE = 1 << 16 };
    pthread_t thread;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    error = pthread_attr_setstacksize(&attributes, (size + PAGE - 1) / PAGE * PAGE);
    error = error ? error : start_without_signals(&thread, &attributes, run, call);
    pthread_attr_destroy(&attributes);
    return error ? error : pthread_join(thread, NULL);
}

bool with_stack(size_t bytes, void (*work)(void *argument), void *argument, Diag *diag)
{
    enum { MARGIN = 1 << 16 };
    Call call = {work, argument, memory_own_guard(), .bytes = bytes};
    assert(work && bytes);
    if (stack_left() >= bytes) {
        work(argument);
        return true;
    }
    do {
        taken_by_variables += call.missing;
        int error = run_in_thread(&call, bytes + MARGIN + taken_by_variables);
        if (error)
            return diag_fail(diag, NULL, DIAG_COMPILER_THREAD, strerror(error));
    } while (call.missing);
    if (!call.has_memory)
        memory_fail(0);
    return true;
}
