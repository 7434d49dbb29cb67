/* Work runs where there is enough stack: in this thread, or in one that has it. */
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

#include "check.h"
#include "core/thread/own_stack.h"
#include "core_tests.h"

enum { SMALL = 2 << 20, LARGE = 4 << 20 };

/* A library's: the C library takes the room for it from every stack. */
static _Thread_local volatile char variables[256 << 10];

typedef struct Seen {
    size_t bytes;
    pthread_t thread;
    int sum;
} Seen;

/* Touches as much stack as it was promised. */
static void use_stack(void *argument)
{
    Seen *seen = argument;
    volatile char room[seen->bytes];
    seen->thread = pthread_self();
    variables[0] = 1;
    for (size_t i = 0; i < seen->bytes; i += 1024)
        room[i] = 1;
    for (size_t i = 0; i < seen->bytes; i += 1024)
        seen->sum += room[i];
}

static void check_with(size_t bytes, bool is_here)
{
    Seen seen = {.bytes = bytes - (16 << 10)};
    Diag diag = {0};
    CHECK(with_stack(bytes, use_stack, &seen, &diag) && !diag_failed(&diag));
    CHECK((size_t)seen.sum == (seen.bytes + 1023) / 1024);
    CHECK(!pthread_equal(seen.thread, pthread_self()) == !is_here);
}

static void *check_in_thread(void *unused)
{
    check_with(SMALL / 8, true);
    check_with(LARGE, false);
    return unused;
}

/* The process's first thread has what the system lets it grow to, and no more. */
static void check_first_thread(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > 64 << 20)
        return;
    check_with(limit.rlim_cur - (512 << 10), true);
    check_with(limit.rlim_cur + (64 << 10), false);
}

void test_own_stack(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    Diag diag = {0};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, SMALL);
    if (CHECK(!pthread_create(&thread, &attributes, check_in_thread, NULL)))
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    check_with(SMALL / 8, true);
    check_first_thread();
    CHECK(!with_stack(SIZE_MAX / 4, use_stack, NULL, &diag) && diag.id == DIAG_COMPILER_THREAD);
}
