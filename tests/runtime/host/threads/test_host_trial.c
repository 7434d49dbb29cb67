/* Kernels that are faster without help have none, those that are not have it, and both are tried again. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "runtime/host/threads/host_trial.h"
#include "runtime/worker_thread.h"
#include "runtime_tests.h"

/* A launch of 100 blocks that took so many nanoseconds; whether it was to begin alone. */
static bool run_in(HostKernel *kernel, int64_t alone, int64_t shared)
{
    HostJob job = {.kernel = kernel, .block_count = 100};
    bool is_alone = host_try_alone(kernel, 4);
    HostTimes times = {.alone_blocks = is_alone ? 100 : 0, .alone = is_alone ? alone : 0};
    if (!is_alone)
        times = (HostTimes){.shared_blocks = 25, .shared = shared};
    host_trial_note(&job, &times);
    return is_alone;
}

static void better_alone(void)
{
    HostKernel kernel = {.takes_turns = true};
    HostJob job = {.kernel = &kernel, .block_count = 50};
    CHECK(!run_in(&kernel, 5000, 9999999)); /* the first one says nothing */
    CHECK(!run_in(&kernel, 5000, 9000));
    CHECK(host_trial_nanoseconds(&job) == 4500);
    for (int i = 2; i < 200; i++)
        CHECK(run_in(&kernel, 5000, 9000) == (i % 64 != 32));
    CHECK(!host_try_alone(&kernel, 1));
    kernel.takes_turns = false;
    CHECK(!host_try_alone(&kernel, 4));
}

static void better_shared(void)
{
    HostKernel kernel = {.takes_turns = true};
    for (int i = 0; i < 200; i++)
        CHECK(run_in(&kernel, 9000, 5000) == (i == 2 || (i && i % 64 == 0)));
    /* a thread that loses its core now and then says little */
    CHECK(!run_in(&kernel, 9000, 20000));
    CHECK(!host_try_alone(&kernel, 4));
    /* what changes for good is seen */
    int alone = 0;
    for (int i = 0; i < 30; i++)
        alone += run_in(&kernel, 9000, 20000);
    CHECK(alone > 20);
}

static void unknown_kernels_are_not_tried(void)
{
    HostKernel kernel = {0};
    for (int i = 0; i < 100; i++)
        CHECK(!run_in(&kernel, 5000, 9000));
    CHECK(!kernel.trials.launches);
}

static pthread_t launcher;
static _Atomic int inside, elsewhere;

static bool spin(int64_t nanoseconds)
{
    bool has_company = false;
    for (int64_t until = clock_nanoseconds() + nanoseconds; clock_nanoseconds() < until;)
        has_company |= inside > 1;
    return has_company;
}

/* A block is 20 times as slow with another one beside it. */
static void dislike_company(const HostThread *t, int64_t first, int64_t count)
{
    (void)t, (void)first;
    inside++;
    elsewhere += !pthread_equal(pthread_self(), launcher);
    if (spin(count * 2000))
        spin(count * 38000);
    inside--;
}

/* In ten launches one after the other nobody helps; a thread may lose its core, but not each time. */
static void launches_alone(void)
{
    Diag diag = {0};
    KernelImage image = {.name = "k", .blocks_entry = dislike_company, .takes_turns = true};
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
    RtLaunch launch = {.grid = {200, 1, 1}, .block = {32, 1, 1}};
    int helped = 0, alone = 0;
    launcher = pthread_self();
    for (int i = 0; i < 1000 && (alone < 10 || !helped); i++) {
        elsewhere = 0;
        CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
        helped += elsewhere > 0;
        alone = elsewhere ? 0 : alone + 1;
    }
    CHECK(helped && alone == 10);
    rt_kernel_unload(kernel);
}

void test_host_trial(void)
{
    better_alone();
    better_shared();
    unknown_kernels_are_not_tried();
    if (worker_thread_cores() > 1)
        in_child_with("launches alone", launches_alone, (const char *[]){"CUJIT_CPU_THREADS", "2", NULL});
}
