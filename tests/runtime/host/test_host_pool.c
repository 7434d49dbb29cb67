/* The CPU device's threads: launches from many threads at once, forks before, after and during launches, how many. */
#include "runtime_tests.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host/host_pool.h"
#include "runtime/worker_thread.h"

static RtKernel *load(HostThreadEntry entry)
{
    Diag diag = {0};
    KernelImage image = {.name = "k", .thread_entry = entry, .static_shared = 4};
    return rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
}

/* Every thread adds one to its block's sum by way of shared memory and barriers. */
static void count_threads(HostThread *t)
{
    _Atomic long *total = *(_Atomic long *const *)t->parameters;
    int *shared = (int *)(void *)t->shared;
    if (!t->linear_thread)
        *shared = 0;
    t->services->barrier(t, 0);
    ++*shared;
    t->services->barrier(t, 0);
    if (!t->linear_thread)
        *total += *shared;
}

static bool launch_once(RtKernel *kernel, uint32_t blocks, uint32_t threads)
{
    Diag diag = {0};
    _Atomic long total = 0, *parameter = &total;
    RtLaunch launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .parameters = &parameter};
    bool ok = rt_launch(kernel, &launch, &diag);
    return ok && total == (long)blocks * threads;
}

static void *launch_many(void *kernel)
{
    intptr_t wrong = 0;
    for (uint32_t i = 0; i < 200; i++)
        wrong += !launch_once(kernel, 1 + i % 40, 1 + i * 7 % 100);
    return (void *)wrong;
}

static void concurrent_launches(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    void *wrong;
    RtKernel *kernel = load(count_threads);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, launch_many, kernel);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
    rt_kernel_unload(kernel);
}

static void forks(void)
{
    RtKernel *kernel = load(count_threads);
    pthread_t thread;
    void *wrong;
    CHECK(launch_once(kernel, 100, 10));
    pthread_create(&thread, NULL, launch_many, kernel);
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t child = fork();
        if (!child) {
            alarm(60);
            _exit(launch_once(kernel, 300, 7) && launch_once(kernel, 1, 1024) ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(launch_once(kernel, 50, 3));
    }
    pthread_join(thread, &wrong);
    CHECK(!wrong);
    rt_kernel_unload(kernel);
}

/* The launching thread forks, as a signal's handler may, when both are in the launch; the other one stays until then. */
typedef struct Fork {
    _Atomic int arrived;
    pthread_t launcher;
    _Atomic pid_t child;
} Fork;

static void fork_in_the_middle(HostThread *t)
{
    Fork *here = *(Fork *const *)t->parameters;
    ++here->arrived;
    while (here->arrived < 2)
        sched_yield();
    if (pthread_equal(pthread_self(), here->launcher))
        here->child = fork();
    else
        while (!here->child)
            sched_yield();
}

static void fork_in_a_launch(void)
{
    Diag diag = {0};
    int status;
    Fork here = {.launcher = pthread_self()}, *parameter = &here;
    RtKernel *kernel = load(fork_in_the_middle), *counting = load(count_threads);
    RtLaunch launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter};
    bool ok = rt_launch(kernel, &launch, &diag);
    if (!here.child) {
        alarm(60);
        _exit(ok || diag.id != DIAG_HOST_FORK || !launch_once(counting, 300, 7));
    }
    CHECK_OK(ok, &diag);
    CHECK(waitpid(here.child, &status, 0) == here.child && status == 0);
    rt_kernel_unload(kernel);
    rt_kernel_unload(counting);
}

/* Blocks wait for each other (never do that): passes only if as many threads as asked for work at once. */
static void meet(HostThread *t)
{
    _Atomic int *arrived = *(_Atomic int *const *)t->parameters;
    ++*arrived;
    while (*arrived < t->grid_dim[0])
        sched_yield();
}

static void three_threads(void)
{
    Diag diag = {0};
    int count;
    _Atomic int arrived = 0, *parameter = &arrived;
    RtKernel *kernel = load(meet);
    CHECK_OK(rt_device_attribute(rt_device(RT_CPU, 0, &diag), 16, &count, &diag) && count == 3, &diag);
    RtLaunch launch = {.grid = {3, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter};
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    rt_kernel_unload(kernel);
}

/* As many threads come as each launch needs: those that sleep, or are about to, or are on their way to a launch that is over;
 * and further ones where these are too few. */
static void meetings(void)
{
    static const uint32_t sizes[] = {2, 2, 2, 3, 1, 3, 2, 4};
    RtKernel *meeting = load(meet), *counting = load(count_threads);
    for (int i = 0; i < 408; i++) {
        Diag diag = {0};
        _Atomic int arrived = 0, *parameter = &arrived;
        uint32_t size = i < 8 ? 2 : sizes[i % 8];
        RtLaunch launch = {.grid = {size, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter};
        setenv("CUJIT_CPU_THREADS", i < 8 ? "2" : "4", true);
        CHECK_OK(rt_launch(meeting, &launch, &diag), &diag);
        CHECK(i < 8 || i % 5 || launch_once(counting, 2, 1));
        usleep(i % 3 * 100);
    }
    rt_kernel_unload(meeting);
    rt_kernel_unload(counting);
}

static int count_tasks(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *each; folder && (each = readdir(folder));)
        count += each->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

/* A launch that is soon over waits for no threads that it has no work for; one that needs all of them has them. */
static void threads_as_needed(void)
{
    Diag diag = {0};
    _Atomic int arrived = 0, *parameter = &arrived;
    RtKernel *counting = load(count_threads), *meeting = load(meet);
    CHECK(launch_once(counting, 2, 1));
    CHECK(count_tasks() <= 32);
    RtLaunch launch = {.grid = {64, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter};
    CHECK_OK(rt_launch(meeting, &launch, &diag), &diag);
    CHECK(count_tasks() >= 64);
    rt_kernel_unload(meeting);
    rt_kernel_unload(counting);
}

/* Bytes of it that are in use. */
static rlim_t address_space(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%ld", &pages) == 1);
    if (statm)
        fclose(statm);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static pthread_t launching_thread;

static void stay_on_thread(HostThread *t)
{
    _Atomic long *elsewhere = *(_Atomic long *const *)t->parameters;
    *elsewhere += !pthread_equal(pthread_self(), launching_thread);
}

static void one_thread(void)
{
    Diag diag = {0};
    _Atomic long elsewhere = 0, *parameter = &elsewhere;
    RtKernel *kernel = load(stay_on_thread);
    launching_thread = pthread_self();
    RtLaunch launch = {.grid = {1000, 1, 1}, .block = {2, 1, 1}, .parameters = &parameter};
    CHECK_OK(rt_launch(kernel, &launch, &diag) && elsewhere == 0, &diag);
    rt_kernel_unload(kernel);
}

/* Counts pieces of rows of 4 blocks. */
static void cut_rows(const HostThread *t, int64_t first, int64_t count)
{
    _Atomic long *cut = *(_Atomic long *const *)t->parameters;
    *cut += first % 4 || count % 4;
}

static void whole_rows(void)
{
    Diag diag = {0};
    _Atomic long cut = 0, *parameter = &cut;
    KernelImage image = {.name = "k", .blocks_entry = cut_rows};
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
    RtLaunch launch = {.grid = {4, 16, 1}, .block = {32, 8, 1}, .parameters = &parameter};
    CHECK_OK(rt_launch(kernel, &launch, &diag) && cut == 0, &diag);
    rt_kernel_unload(kernel);
}

enum { WORKERS = 4, BLOCKS = 4096 };

/* The blocks that each thread began with. */
typedef struct Begins {
    _Atomic int count;
    int64_t blocks[WORKERS];
} Begins;

/* A thread goes on when all have begun. */
static void note_begin(const HostThread *t, int64_t first, int64_t count)
{
    static _Thread_local bool has_begun;
    (void)count;
    Begins *begins = *(Begins *const *)t->parameters;
    if (has_begun)
        return;
    has_begun = true;
    begins->blocks[begins->count++] = first;
    while (begins->count < WORKERS)
        sched_yield();
}

static int compare_blocks(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

static void parts_of_workers(void)
{
    Diag diag = {0};
    Begins begins = {0}, *parameter = &begins;
    KernelImage image = {.name = "k", .blocks_entry = note_begin};
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
    RtLaunch launch = {.grid = {1, BLOCKS, 1}, .block = {32, 1, 1}, .parameters = &parameter};
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    qsort(begins.blocks, WORKERS, sizeof *begins.blocks, compare_blocks);
    for (int i = 0; i < WORKERS; i++)
        CHECK(begins.blocks[i] == i * BLOCKS / WORKERS);
    rt_kernel_unload(kernel);
}

enum { FEW_THREADS = 16, LEAST_CHUNK = BLOCKS / FEW_THREADS / 16 }; /* what each takes when all take part */

static RtKernel *load_blocks(HostBlocksEntry entry)
{
    Diag diag = {0};
    KernelImage image = {.name = "k", .blocks_entry = entry};
    return rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
}

/* Of a kernel whose last launch had work of 10 us for as many threads as that. */
static void launch_blocks(RtKernel *kernel, float threads, void *state)
{
    Diag diag = {0};
    ((HostKernel *)kernel)->block_nanoseconds = threads * 10000 / BLOCKS;
    RtLaunch launch = {.grid = {1, BLOCKS, 1}, .block = {32, 1, 1}, .parameters = &state};
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
}

typedef struct Few {
    pthread_t launcher;
    int number; /* of the launch, from 1 */
    _Atomic int begun, again; /* threads; second calls of those whose first one was larger */
    _Atomic int larger_first; /* threads whose first call was larger */
    _Atomic int in_first_half; /* threads of the pool that began in the launching thread's half */
    _Atomic int larger; /* calls with more blocks than each takes when all take part */
    _Atomic int64_t largest, blocks;
} Few;

/* The launching thread's first call takes longer than a brief launch, and until a helper has come; then all come. */
static void take_long(const HostThread *t, int64_t first, int64_t count)
{
    static _Thread_local int number;
    static _Thread_local bool was_larger;
    Few *few = *(Few *const *)t->parameters;
    bool is_launcher = pthread_equal(pthread_self(), few->launcher), is_first = number != few->number;
    number = few->number;
    few->blocks += count;
    few->larger += count > LEAST_CHUNK;
    if (few->largest < count)
        few->largest = count;
    few->in_first_half += is_first && !is_launcher && first < BLOCKS / 2;
    few->again += !is_first && was_larger;
    was_larger = is_first && count > LEAST_CHUNK;
    few->larger_first += was_larger;
    few->begun += is_first;
    while (few->begun < (is_first && is_launcher ? 2 : FEW_THREADS))
        sched_yield();
    if (is_first && is_launcher)
        usleep(200);
    while (!was_larger && !(is_first && is_launcher) && few->again < few->larger_first)
        sched_yield();
}

/* Two begin, each in its own half, with chunks of four times the size; those that come later leave the launching thread its
 * half, too. Where it takes long to call the other one, the launch is no longer brief when the first begins, but not each time. */
static void few_that_take_long(void)
{
    RtKernel *kernel = load_blocks(take_long);
    bool were_larger = false;
    for (int i = 1; i <= 1000 && !were_larger; i++) {
        Few few = {.launcher = pthread_self(), .number = i};
        launch_blocks(kernel, 2.5F, &few);
        CHECK(few.blocks == BLOCKS && few.begun == FEW_THREADS && !few.in_first_half);
        CHECK(few.largest <= 4 * LEAST_CHUNK && few.larger <= 2);
        were_larger = few.largest == 4 * LEAST_CHUNK && few.larger == 2;
    }
    CHECK(were_larger);
    rt_kernel_unload(kernel);
}

/* Blocks of the launching thread's calls, and how many calls of others had more than each takes when all take part. */
typedef struct Alone {
    pthread_t launcher;
    int calls;
    int64_t counts[BLOCKS];
    _Atomic int larger;
} Alone;

enum { LONG_CALL = 6 };

static void take_long_at_last(const HostThread *t, int64_t first, int64_t count)
{
    (void)first;
    Alone *alone = *(Alone *const *)t->parameters;
    if (pthread_equal(pthread_self(), alone->launcher)) {
        if (alone->calls == LONG_CALL)
            usleep(200);
        alone->counts[alone->calls++] = count;
    } else {
        alone->larger += count > LEAST_CHUNK;
    }
}

/* One begins, with chunks that double up to an eighth of all, until the launch is no longer brief. A thread may lose its core
 * before that, but not each time. */
static void one_that_takes_long(void)
{
    static const int64_t growing[LONG_CALL + 1] = {16, 32, 64, 128, 256, 512, 512};
    RtKernel *kernel = load_blocks(take_long_at_last);
    bool has_grown = false;
    for (int i = 0; i < 1000 && !has_grown; i++) {
        static Alone alone;
        alone = (Alone){.launcher = pthread_self()};
        launch_blocks(kernel, 1, &alone);
        has_grown = !memcmp(alone.counts, growing, sizeof growing);
        CHECK(!alone.larger);
        for (int call = LONG_CALL + 1; call < alone.calls; call++)
            CHECK(alone.counts[call] <= LEAST_CHUNK);
    }
    CHECK(has_grown);
    rt_kernel_unload(kernel);
}

typedef struct Depth {
    pthread_t launcher;
    _Atomic uintptr_t frame; /* of the blocks that it runs; the others wait for it */
} Depth;

static void note_depth(const HostThread *t, int64_t first, int64_t count)
{
    (void)first, (void)count;
    Depth *depth = *(Depth *const *)t->parameters;
    if (pthread_equal(pthread_self(), depth->launcher))
        depth->frame = (uintptr_t)__builtin_frame_address(0);
    while (!depth->frame)
        sched_yield();
}

/* It has room for as many parts as there are. */
static void stack_of_a_launch(void)
{
    Depth of_one = {.launcher = pthread_self()}, of_all = {.launcher = pthread_self()};
    RtKernel *kernel = load_blocks(note_depth);
    launch_blocks(kernel, 1, &of_one);
    launch_blocks(kernel, FEW_THREADS, &of_all);
    size_t parts = (of_one.frame - of_all.frame) / sizeof(HostPart); /* sanitizers may lay them out otherwise */
    CHECK(parts >= FEW_THREADS - 1 && parts <= FEW_THREADS + 1);
    rt_kernel_unload(kernel);
}

/* Each has work for 10 us, by what was seen last. */
static void few_for_brief_launches(void)
{
    HostKernel kernel = {.blocks_entry = note_begin};
    HostJob job = {.kernel = &kernel, .block_count = 400};
    CHECK(host_pool_few(&job, 16) == 16);
    kernel.block_nanoseconds = 20;
    CHECK(host_pool_few(&job, 16) == 1);
    kernel.block_nanoseconds = 60;
    CHECK(host_pool_few(&job, 16) == 2);
    kernel.block_nanoseconds = 190;
    CHECK(host_pool_few(&job, 16) == 4 && host_pool_few(&job, 3) == 3);
    kernel.block_nanoseconds = 1e6F;
    CHECK(host_pool_few(&job, 16) == 16 && host_pool_few(&job, 24) == 24);
    kernel.takes_next = true;
    kernel.block_nanoseconds = 20; /* threads that wait for another block would wait for ever */
    CHECK(host_pool_few(&job, 16) == 16);
}

static void meet_in_a_row(RtKernel *meeting, int launches)
{
    for (int i = 0; i < launches; i++) {
        Diag diag = {0};
        _Atomic int arrived = 0, *parameter = &arrived;
        RtLaunch launch = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter};
        CHECK_OK(rt_launch(meeting, &launch, &diag), &diag);
    }
}

/* How often threads of the process have gone to sleep. */
static long sleeps(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Nanoseconds that the process's threads were ready and had no core; 0 where the system does not tell. */
static long long waited_for_cores(void)
{
    long long waited = 0, ran, thread_waited;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry = threads ? readdir(threads) : NULL; entry; entry = readdir(threads)) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%lld %lld", &ran, &thread_waited) == 2)
            waited += thread_waited;
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return waited;
}

/* In launches that follow each other closely nobody sleeps, where the system gives each thread a core. Where other work takes
 * the cores it does so for some of many short rows, unless that work goes before all others. Later all sleep. */
static void launches_in_a_row(void)
{
    enum { LAUNCHES = 10, MOST_SLEEPS = 3, ROWS = 10000, ROWS_WITHOUT = 500, MOST_WAITED = 50000 };
    RtKernel *meeting = load(meet);
    bool found = false, had_cores = false;
    for (int i = 0; i < (had_cores ? ROWS : ROWS_WITHOUT) && !found; i++) {
        long before = sleeps();
        long long waited = waited_for_cores();
        meet_in_a_row(meeting, LAUNCHES);
        found = sleeps() - before <= MOST_SLEEPS;
        had_cores |= waited_for_cores() - waited < MOST_WAITED;
        usleep(1000);
    }
    if (had_cores || found)
        CHECK(found);
    else
        printf("launches in a row: other work had the cores in %d rows: nothing was asked\n", ROWS_WITHOUT);
    double before = processor_seconds();
    usleep(100000);
    CHECK(processor_seconds() - before < 0.02);
    rt_kernel_unload(meeting);
}

/* Shortly after a launch a helper is awake, or soon will be: it is worth less work. */
static void few_in_a_row(void)
{
    HostKernel kernel = {.blocks_entry = note_begin, .block_nanoseconds = 30};
    HostJob job = {.kernel = &kernel, .block_count = 400};
    RtKernel *meeting = load(meet);
    int few = 1;
    for (int i = 0; i < 1000 && few == 1; i++) {
        meet_in_a_row(meeting, 1);
        few = host_pool_few(&job, 2);
    }
    CHECK(few == 2);
    kernel.block_nanoseconds = 20;
    meet_in_a_row(meeting, 1);
    CHECK(host_pool_few(&job, 2) == 1);
    kernel.block_nanoseconds = 30;
    usleep(1000);
    CHECK(host_pool_few(&job, 2) == 1);
    rt_kernel_unload(meeting);
}

/* It takes longer than the last time, and one of the threads that were asked has no memory for it. */
static void sleep_for_each_chunk(const HostThread *t, int64_t first, int64_t count)
{
    (void)first;
    _Atomic long *blocks = *(_Atomic long *const *)t->parameters;
    *blocks += count;
    usleep(200);
}

static void no_memory_for_helpers(void)
{
    Diag diag = {0};
    _Atomic long blocks = 0, *parameter = &blocks;
    KernelImage image = {.name = "k", .blocks_entry = sleep_for_each_chunk, .context_size = 65536};
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
    RtLaunch launch = {.grid = {1000, 1, 1}, .block = {1024, 1, 1}, .parameters = &parameter};
    setenv("CUJIT_CPU_THREADS", "1", true); /* this thread has its memory */
    CHECK_OK(rt_launch(kernel, &launch, &diag) && blocks == 1000, &diag);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = address_space() + (48 << 20);
    setrlimit(RLIMIT_AS, &limit);
    setenv("CUJIT_CPU_THREADS", "4", true);
    blocks = 0;
    ((HostKernel *)kernel)->block_nanoseconds = 30; /* two take part at first */
    CHECK_OK(rt_launch(kernel, &launch, &diag) && blocks == 1000, &diag);
    rt_kernel_unload(kernel);
}

static void bad_thread_count(void)
{
    Diag diag = {0};
    RtKernel *kernel = load(count_threads);
    RtLaunch launch = {.grid = {10, 1, 1}, .block = {2, 1, 1}};
    CHECK_FAILS(rt_launch(kernel, &launch, &diag), &diag, DIAG_HOST_THREADS, "expected a number from 1 to 4096");
    rt_kernel_unload(kernel);
}

/* Pool threads take no signals: they interrupt the program's own thread. */
static pthread_t signalled;
static void on_signal(int number) { (void)number, signalled = pthread_self(); }

static void signals(void)
{
    RtKernel *kernel = load(count_threads);
    CHECK(launch_once(kernel, 1000, 2));
    signal(SIGUSR1, on_signal);
    kill(getpid(), SIGUSR1);
    CHECK(pthread_equal(signalled, pthread_self()));
    rt_kernel_unload(kernel);
}

/* No room for stacks: a Diag, and the next launch that fits works. */
static void no_memory(void)
{
    Diag diag = {0};
    KernelImage image = {.name = "k", .thread_entry = count_threads, .local_size = 4 << 20};
    RtKernel *kernel = rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag);
    struct rlimit before, limit;
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = 512 << 20;
    setrlimit(RLIMIT_AS, &limit);
    RtLaunch launch = {.grid = {10, 1, 1}, .block = {1024, 1, 1}};
    CHECK_FAILS(rt_launch(kernel, &launch, &diag), &diag, DIAG_HOST_STACK, "stacks of 1024 threads of a block: Cannot");
    CHECK(launch_once(kernel, 10, 16));
    setrlimit(RLIMIT_AS, &before);
    CHECK(launch_once(kernel, 10, 1024));
    rt_kernel_unload(kernel);
}

void test_host_pool(void)
{
    in_child_with("one thread", one_thread, (const char *[]){"CUJIT_CPU_THREADS", "1", NULL});
    in_child_with("three threads", three_threads, (const char *[]){"CUJIT_CPU_THREADS", "3", NULL});
    in_child("meetings", meetings);
    in_child_with("threads as needed", threads_as_needed, (const char *[]){"CUJIT_CPU_THREADS", "64", NULL});
    in_child_with("whole rows", whole_rows, (const char *[]){"CUJIT_CPU_THREADS", "3", NULL});
    in_child_with("parts of workers", parts_of_workers, (const char *[]){"CUJIT_CPU_THREADS", "4", NULL});
    in_child_with("few that take long", few_that_take_long, (const char *[]){"CUJIT_CPU_THREADS", "16", NULL});
    in_child_with("one that takes long", one_that_takes_long, (const char *[]){"CUJIT_CPU_THREADS", "16", NULL});
    in_child_with("stack of a launch", stack_of_a_launch, (const char *[]){"CUJIT_CPU_THREADS", "16", NULL});
    few_for_brief_launches();
    if (worker_thread_cores() > 1) {
        in_child_with("launches in a row", launches_in_a_row, (const char *[]){"CUJIT_CPU_THREADS", "2", NULL});
        in_child_with("few in a row", few_in_a_row, (const char *[]){"CUJIT_CPU_THREADS", "2", NULL});
    }
    in_child_with("no number of threads", bad_thread_count, (const char *[]){"CUJIT_CPU_THREADS", "many", NULL});
    in_child_with("too few threads", bad_thread_count, (const char *[]){"CUJIT_CPU_THREADS", "0", NULL});
    if (!under_address_sanitizer && !under_thread_sanitizer) { /* they need the address space */
        in_child("no memory for stacks", no_memory);
        in_child("no memory for helpers", no_memory_for_helpers);
    }
    if (!under_thread_sanitizer) {
        in_child("signals", signals);
        in_child("forks", forks);
        in_child_with("fork in a launch", fork_in_a_launch, (const char *[]){"CUJIT_CPU_THREADS", "2", NULL});
    }
    concurrent_launches();
    in_child_with("many threads", concurrent_launches, (const char *[]){"CUJIT_CPU_THREADS", "24", NULL});
}
