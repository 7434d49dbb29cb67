/* Launches on the CPU device while the n-th request for memory fails, for each n until none is left: a diagnostic or success.
 * Each in a child, whose pool has no workers yet; the sanitizers see what is lost. */
#include "runtime_tests.h"

#include "core/base/memory.h"
#include "core/intrinsic/intrinsic.h"

enum { MOST = 1000 };

static void add_thread(HostThread *t)
{
    t->services->barrier(t, 0);
    t->shared[t->linear_thread] = 1;
    t->services->barrier(t, 0);
}

static void add_blocks(const HostThread *frame, int64_t first, int64_t count)
{
    _Atomic int64_t *sum = *(_Atomic int64_t *const *)frame->parameters;
    *sum += count + first - first;
}

static bool launch(const KernelImage *image, Diag *diag)
{
    _Atomic int64_t sum = 0, *parameter = &sum;
    RtDevice *device = rt_device(RT_CPU, 0, diag);
    RtKernel *kernel = device ? rt_kernel_load(device, image, diag) : NULL;
    RtLaunch wanted = {.grid = {4, 1, 1}, .block = {64, 1, 1}, .dynamic_shared = 64, .parameters = &parameter};
    bool ok = kernel && rt_launch(kernel, &wanted, diag);
    CHECK(!ok || !image->blocks_entry || sum == 4);
    if (kernel)
        rt_kernel_unload(kernel);
    return ok;
}

/* A stream with events, and device memory. */
static bool use_objects(const KernelImage *image, Diag *diag)
{
    (void)image;
    RtPointer memory = 0;
    RtDevice *device = rt_device(RT_CPU, 0, diag);
    RtStream *stream = device ? rt_stream_create(device, diag) : NULL;
    RtEvent *event = stream ? rt_event_create(device, true, diag) : NULL;
    bool ok = event && rt_event_record(event, stream, diag) && rt_allocate(device, 4096, &memory, diag) &&
              rt_free(device, memory, diag);
    rt_event_destroy(event);
    rt_stream_destroy(stream);
    return ok;
}

static const struct {
    const char *what;
    bool (*work)(const KernelImage *image, Diag *diag);
    KernelImage image;
} cases[] = {
    {"blocks", launch, {.name = "blocks", .blocks_entry = add_blocks, .context_size = 64}},
    {"barriers", launch, {.name = "barriers", .thread_entry = add_thread, .static_shared = 64, .local_size = 4096}},
    {"grid", launch, {.name = "grid", .thread_entry = add_thread, .static_shared = 64, .effects = EFFECT_GRID_SYNC}},
    {"objects", use_objects, {.name = "none"}},
};

static struct {
    int which;
    long n;
    bool for_good;
    long *failures;
} attempt;

static void try_once(void)
{
    Diag diag = {.id = DIAG_NONE};
    memory_fail_at(attempt.n, attempt.for_good);
    bool ok = cases[attempt.which].work(&cases[attempt.which].image, &diag);
    *attempt.failures = memory_failures();
    memory_fail_at(0, false);
    bool is_for_memory = diag.id == DIAG_NO_MEMORY || diag.id == DIAG_DEVICE_MEMORY || diag.id == DIAG_HOST_STACK ||
                         diag.id == DIAG_HOST_THREADS;
    if (!CHECK(ok ? !diag_failed(&diag) : *attempt.failures && is_for_memory))
        fprintf(stderr, "%s, request %ld: %s\n", cases[attempt.which].what, attempt.n, diag.message);
    diag_clear(&diag);
    CHECK_OK(cases[attempt.which].work(&cases[attempt.which].image, &diag), &diag);
}

void test_no_memory_for_launches(void)
{
    if (under_thread_sanitizer) /* a thousand children with one thread each */
        return;
    attempt.failures = shared_memory(sizeof *attempt.failures);
    for (attempt.which = 0; attempt.which < (int)(sizeof cases / sizeof *cases); attempt.which++)
        for (int for_good = 0; for_good < 2; for_good++) {
            attempt.for_good = for_good;
            *attempt.failures = 1;
            for (attempt.n = 1; *attempt.failures && attempt.n < MOST; attempt.n++)
                in_child(cases[attempt.which].what, try_once);
            CHECK(attempt.n > 2 && attempt.n < MOST);
        }
}
