/* What is done while another library captures a graph, over the fake driver: it must not lose what it has captured. */
#include "runtime_tests.h"

#include <dlfcn.h>

#include "fake_driver.h"
#include "runtime/cuda/driver/driver.h"

static const FakeDriver *fake(void) { return dlsym(dlopen(fake_driver_path(), RTLD_NOW | RTLD_NOLOAD), "fake_driver"); }

static RtKernel *load(RtDevice *device, Diag *diag)
{
    char code[] = "ptx";
    KernelImage image = {.name = "k", .code = code, .code_size = sizeof code};
    return rt_kernel_load(device, &image, diag);
}

/* On the stream that does not synchronize with the default one. */
static bool launch(RtDevice *device, RtKernel *kernel, Diag *diag)
{
    RtStream *stream = rt_stream_external(device, (uintptr_t)&fake()->non_blocking_stream, diag);
    RtLaunch what = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream};
    bool ok = rt_launch(kernel, &what, diag);
    rt_stream_destroy(stream);
    return ok;
}

/* The stream that is captured may be the first of its kind that a launch is on. */
static void first_launch(bool has_memory)
{
    Diag diag = {0};
    RtPointer memory = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = load(device, &diag);
    if (has_memory)
        CHECK_OK(rt_allocate_ordered(device, 8, &memory, &diag), &diag);
    fake()->capture(FAKE_NON_BLOCKING_CAPTURE);
    int launches = fake()->calls("cuLaunchKernel");
    CHECK_OK(launch(device, kernel, &diag) && launch(device, kernel, &diag), &diag);
    CHECK(!fake()->captures_end() && fake()->calls("cuLaunchKernel") == launches + 2);
    CHECK(fake()->calls("cuStreamSynchronize") == has_memory && fake()->calls("cuCtxSynchronize") == 0);
    fake()->capture(FAKE_NO_CAPTURE);
    rt_kernel_unload(kernel);
}

static void first_launch_without_memory(void) { first_launch(false); }
static void first_launch_with_memory(void) { first_launch(true); }

/* Where the default stream is captured with another, nothing can be ordered behind it: that is said, and no more is lost. */
static void first_launch_beside_a_capture(void)
{
    Diag diag = {0};
    RtPointer memory = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = load(device, &diag);
    CHECK_OK(rt_allocate_ordered(device, 8, &memory, &diag), &diag);
    fake()->capture(FAKE_BLOCKING_CAPTURE);
    CHECK_FAILS(launch(device, kernel, &diag), &diag, DIAG_DRIVER_CALL, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (906)");
    CHECK(!fake()->captures_end());
    fake()->capture(FAKE_NO_CAPTURE);
    CHECK_OK(launch(device, kernel, &diag), &diag);
    rt_kernel_unload(kernel);
}

/* Compilations of other threads load modules, and the garbage collector frees what it finds. */
static void what_streams_do_not_order(void)
{
    Diag diag = {0};
    bool done;
    RtPointer apart = 0, kept = 0;
    RtHostBuffer pinned, managed;
    char host[16];
    RtPointer registered;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    fake()->capture(FAKE_NON_BLOCKING_CAPTURE);
    RtKernel *kernel = load(device, &diag);
    RtModule *module = rt_module_load(device, "ptx", "m", 0, &diag);
    CHECK(kernel && module);
    CHECK_OK(rt_allocate(device, 8, &apart, &diag) && rt_free(device, apart, &diag), &diag);
    CHECK_OK(rt_allocate_ordered(device, 8, &kept, &diag) && rt_free(device, kept, &diag), &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 8, &pinned, &diag) && rt_free_host(device, &pinned, &diag),
             &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_MANAGED, 8, &managed, &diag), &diag);
    CHECK_OK(rt_free_host(device, &managed, &diag), &diag);
    CHECK_OK(rt_register_host(device, host, sizeof host, &registered, &diag), &diag);
    CHECK_OK(rt_unregister_host(device, host, &diag), &diag);
    RtStream *stream = rt_stream_create(device, &diag);
    RtEvent *event = rt_event_create(device, false, &diag);
    CHECK(stream && event);
    rt_stream_destroy(stream);
    rt_kernel_unload(kernel);
    rt_module_unload(module);
    CHECK(!fake()->captures_end());
    CHECK(!rt_event_query(event, &done, &diag)); /* the program's own question is refused as before */
    CHECK_TEXT(fake()->captures_end(), "cuEventQuery");
    rt_event_destroy(event);
}

/* Memory that another library may still use is waited for when it is given away again, not when it is freed. */
static void lent_memory(void)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate_ordered(device, 1000, &a, &diag) && rt_free(device, a, &diag), &diag);
    CHECK(fake()->calls("cuCtxSynchronize") == 0);
    CHECK_OK(rt_allocate_ordered(device, 1000, &b, &diag) && a == b, &diag);
    CHECK(fake()->calls("cuCtxSynchronize") == 1);
    CHECK_OK(rt_free_ordered(device, b, &diag) && rt_allocate_ordered(device, 1000, &b, &diag) && a == b, &diag);
    CHECK(fake()->calls("cuCtxSynchronize") == 1);
    CHECK_OK(rt_free(device, b, &diag) && rt_pool_empty(device, RT_POOL_DEVICE, &diag), &diag);
    CHECK(fake()->calls("cuMemFree") == 1 && fake()->calls("cuMemFreeAsync") == 0);
    CHECK(fake()->calls("cuCtxSynchronize") == 3); /* before it is freed, and before the driver's pool is trimmed */
}

/* A wait that fails leaves the memory to be waited for. */
static void lent_memory_that_is_not_settled(void)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate_ordered(device, 1000, &a, &diag) && rt_free(device, a, &diag), &diag);
    fake()->fail("cuCtxSynchronize", 1, CUDA_ERROR_UNKNOWN);
    CHECK_FAILS(rt_allocate_ordered(device, 1000, &b, &diag), &diag, DIAG_DRIVER_CALL, "cuCtxSynchronize failed");
    CHECK_OK(rt_allocate_ordered(device, 1000, &b, &diag) && a == b, &diag);
    CHECK(fake()->calls("cuCtxSynchronize") == 2);
}

/* Nor is it freed then: what is kept is there. */
static void lent_memory_that_is_given_back(void)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate_ordered(device, 1000, &a, &diag) && rt_free(device, a, &diag), &diag);
    int alive = fake()->alive();
    fake()->fail("cuCtxSynchronize", 1, CUDA_ERROR_UNKNOWN);
    CHECK_FAILS(rt_pool_empty(device, RT_POOL_DEVICE, &diag), &diag, DIAG_DRIVER_CALL, "cuCtxSynchronize failed");
    CHECK(fake()->alive() == alive);
    CHECK_OK(rt_allocate_ordered(device, 1000, &b, &diag) && a == b, &diag);
    CHECK_OK(rt_free(device, b, &diag) && rt_pool_empty(device, RT_POOL_DEVICE, &diag), &diag);
    CHECK(fake()->alive() == alive - 1);
}

/* What cuMemFree waits for by itself, and what has to be waited for, be it too large to be kept or too much: it is until the
 * next time that the driver is asked for memory. */
static void what_is_freed_during_a_capture(void)
{
    Diag diag = {0};
    RtPoolUse use;
    size_t total;
    RtPointer apart = 0, large = 0, several[3] = {0}, shared = 0, more = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = load(device, &diag);
    CHECK_OK(rt_pool_total(device, RT_POOL_DEVICE, &total, &diag), &diag);
    CHECK_OK(rt_allocate(device, 8, &apart, &diag) && rt_allocate_ordered(device, total / 4, &large, &diag), &diag);
    for (int i = 0; i < 3; i++)
        CHECK_OK(rt_allocate_ordered(device, total / 12, &several[i], &diag), &diag);
    CHECK_OK(rt_allocate_ordered(device, total / 4, &shared, &diag), &diag);
    fake()->capture(FAKE_NON_BLOCKING_CAPTURE);
    CHECK_OK(launch(device, kernel, &diag) && rt_free(device, apart, &diag), &diag);
    CHECK(fake()->calls("cuMemFree") == 1);
    CHECK_OK(rt_free_ordered(device, large, &diag) && rt_free(device, shared, &diag), &diag);
    for (int i = 0; i < 3; i++)
        CHECK_OK(rt_free_ordered(device, several[i], &diag), &diag);
    CHECK(!fake()->captures_end() && fake()->calls("cuMemFree") == 1);
    CHECK_OK(rt_pool_use(device, RT_POOL_DEVICE, &use, &diag) && use.kept_blocks == 5, &diag);
    fake()->capture(FAKE_NO_CAPTURE);
    CHECK_OK(rt_allocate_ordered(device, 512, &more, &diag), &diag);
    CHECK(fake()->calls("cuMemFree") == 6 && fake()->calls("cuCtxSynchronize") == 1);
    CHECK_OK(rt_pool_use(device, RT_POOL_DEVICE, &use, &diag) && use.kept_blocks == 0, &diag);
    rt_kernel_unload(kernel);
}

/* A graph that has been launched may be at work. */
static void graph_that_goes(bool is_launched)
{
    Diag diag = {0};
    RtLaunch what = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = load(device, &diag);
    RtGraph *graph = rt_graph_create(device, NULL, &diag);
    CHECK_OK(rt_graph_begin(graph, &diag) && rt_launch(kernel, &what, &diag) && rt_graph_end(graph, &diag), &diag);
    if (is_launched)
        CHECK_OK(rt_graph_launch(graph, NULL, NULL, NULL, &diag), &diag);
    else
        fake()->capture(FAKE_NON_BLOCKING_CAPTURE);
    rt_graph_destroy(graph);
    CHECK(!fake()->captures_end() && fake()->calls("cuCtxSynchronize") == is_launched);
    CHECK(fake()->calls("cuGraphExecDestroy") == 1 && fake()->calls("cuGraphDestroy") == 1);
    fake()->capture(FAKE_NO_CAPTURE);
    rt_kernel_unload(kernel);
}

static void graph_that_was_not_launched(void) { graph_that_goes(false); }
static void graph_that_was_launched(void) { graph_that_goes(true); }

/* Whoever holds a lock hears of the wait before it begins. */
static void lent_memory_at_once(void)
{
    bool waits = false;
    Diag diag = {0};
    RtPointer a = 0, b = 0, c = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate_at_once(device, 1000, &a, &waits, &diag) && !waits && rt_free(device, a, &diag), &diag);
    CHECK(!rt_allocate_at_once(device, 1000, &b, &waits, &diag) && waits && !diag_failed(&diag));
    CHECK(fake()->calls("cuCtxSynchronize") == 0);
    CHECK_OK(rt_allocate_at_once(device, 5000, &c, &waits, &diag) && !waits, &diag);
    CHECK_OK(rt_allocate_ordered(device, 1000, &b, &diag) && a == b, &diag);
    CHECK_OK(rt_free_ordered(device, b, &diag) && rt_allocate_at_once(device, 1000, &b, &waits, &diag), &diag);
    CHECK(a == b && !waits && fake()->calls("cuCtxSynchronize") == 1);
    CHECK_OK(rt_free_ordered(device, b, &diag) && rt_pool_limit(device, RT_POOL_DEVICE, 9000, &diag), &diag);
    CHECK(!rt_allocate_at_once(device, 3500, &b, &waits, &diag) && waits && !diag_failed(&diag));
    CHECK_OK(rt_allocate_ordered(device, 3500, &b, &diag), &diag);
}

static void pinned_memory_that_is_not_settled(void)
{
    Diag diag = {0};
    RtPoolUse use;
    RtHostBuffer a, b;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 1000, &a, &diag) && rt_free_host(device, &a, &diag), &diag);
    fake()->fail("cuCtxSynchronize", 1, CUDA_ERROR_UNKNOWN);
    CHECK_FAILS(rt_allocate_host(device, RT_HOST_PINNED, 1000, &b, &diag), &diag, DIAG_DRIVER_CALL,
                "cuCtxSynchronize failed");
    CHECK_OK(rt_pool_use(device, RT_POOL_PINNED, &use, &diag), &diag);
    CHECK(use.used_bytes == 0 && use.kept_bytes == 1024);
    CHECK(fake()->calls("cuMemFreeAsync") == 0 && fake()->calls("cuMemFree") == 0);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 1000, &b, &diag) && a.host == b.host, &diag);
}

void test_cuda_capture(void)
{
    const char *environment[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), NULL};
    const struct {
        const char *what;
        void (*body)(void);
    } cases[] = {
        {"the first launch on a captured stream", first_launch_without_memory},
        {"the same, with memory", first_launch_with_memory},
        {"the first launch beside a capture", first_launch_beside_a_capture},
        {"what streams do not order", what_streams_do_not_order},
        {"lent memory", lent_memory},
        {"lent memory that is not settled", lent_memory_that_is_not_settled},
        {"lent memory that is given back", lent_memory_that_is_given_back},
        {"what is freed during a capture", what_is_freed_during_a_capture},
        {"a graph that was not launched", graph_that_was_not_launched},
        {"a graph that was launched", graph_that_was_launched},
        {"lent memory at once", lent_memory_at_once},
        {"pinned memory that is not settled", pinned_memory_that_is_not_settled},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        in_child_with(cases[i].what, cases[i].body, environment);
}
