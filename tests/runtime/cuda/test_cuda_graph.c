/* Graphs on the fake driver: which nodes there are, and what each depends on. */
#include "runtime_tests.h"

#include <dlfcn.h>

#include "cuda/fake_driver.h"
#include "runtime/cuda/driver/driver.h"

static const FakeDriver *fake(void) { return dlsym(dlopen(fake_driver_path(), RTLD_NOW | RTLD_NOLOAD), "fake_driver"); }

typedef struct Bench {
    RtDevice *device;
    RtKernel *kernel;
    RtGraph *graph;
    RtStream *streams[40];
    RtEvent *event;
    RtPointer memory;
    Diag diag;
} Bench;

static void begin(Bench *bench)
{
    KernelImage image = {.name = "k", .code = "ptx", .code_size = 4};
    *bench = (Bench){0};
    bench->device = rt_device(RT_GPU, 0, &bench->diag);
    bench->kernel = rt_kernel_load(bench->device, &image, &bench->diag);
    for (int i = 0; i < 40; i++)
        bench->streams[i] = rt_stream_create(bench->device, &bench->diag);
    bench->event = rt_event_create(bench->device, false, &bench->diag);
    CHECK_OK(rt_allocate(bench->device, 64, &bench->memory, &bench->diag), &bench->diag);
    bench->graph = rt_graph_create(bench->device, NULL, &bench->diag);
    CHECK_OK(rt_graph_begin(bench->graph, &bench->diag), &bench->diag);
}

static void end_with(Bench *bench, int devices)
{
    rt_graph_destroy(bench->graph);
    CHECK_OK(rt_free(bench->device, bench->memory, &bench->diag), &bench->diag);
    rt_event_destroy(bench->event);
    for (int i = 0; i < 40; i++)
        rt_stream_destroy(bench->streams[i]);
    rt_kernel_unload(bench->kernel);
    CHECK(fake()->alive() == devices);
}

static void end(Bench *bench) { end_with(bench, 1); }

static bool launch(Bench *bench, int stream)
{
    uint64_t parameter = 5;
    RtLaunch launch = {.grid = {1, 1, 1},
                       .block = {32, 1, 1},
                       .stream = stream < 0 ? NULL : bench->streams[stream],
                       .parameters = &parameter,
                       .parameters_size = sizeof parameter};
    return rt_launch(bench->kernel, &launch, &bench->diag);
}

/* Streams go side by side, and the default stream behind and before all of them. */
static void streams_and_events(void)
{
    Bench bench;
    begin(&bench);
    char bytes[8] = {0};
    CHECK(launch(&bench, 0) && launch(&bench, 1) && launch(&bench, 0));
    CHECK(rt_event_record(bench.event, bench.streams[0], &bench.diag));
    CHECK(rt_stream_wait_event(bench.device, bench.streams[2], bench.event, &bench.diag));
    CHECK(launch(&bench, 2) && launch(&bench, -1) && launch(&bench, 1));
    CHECK(rt_fill(bench.device, bench.memory, 1, 8, bench.streams[2], &bench.diag));
    CHECK(rt_copy_to_device(bench.device, bench.memory, bytes, 8, NULL, &bench.diag));
    CHECK(rt_copy_on_device(bench.device, bench.memory, bench.memory + 8, 8, NULL, &bench.diag));
    CHECK(rt_copy_to_host(bench.device, bytes, bench.memory, 8, bench.streams[1], &bench.diag));
    CHECK_OK(rt_graph_end(bench.graph, &bench.diag), &bench.diag);
    CHECK_TEXT(fake()->graph(), "kernel; kernel; kernel(0); kernel(2); kernel(2 1 3); kernel(4); fill(4); in(5 6); "
                                "copy(7); out(8)");
    CHECK(rt_graph_size(bench.graph) == 10 && fake()->graph_launches() == 0);
    CHECK(fake()->calls("cuLaunchKernel") == 0 && fake()->calls("cuMemcpyHtoD") == 0);
    for (int i = 0; i < 3; i++)
        CHECK_OK(rt_graph_launch(bench.graph, bench.streams[i], NULL, NULL, &bench.diag), &bench.diag);
    CHECK(fake()->graph_launches() == 3);
    end(&bench);
}

/* More than a node takes are gathered by nodes that do nothing. */
static void many_streams(void)
{
    Bench bench;
    begin(&bench);
    for (int i = 0; i < 40; i++)
        CHECK(launch(&bench, i));
    CHECK(launch(&bench, -1));
    CHECK_OK(rt_graph_end(bench.graph, &bench.diag), &bench.diag);
    CHECK_CONTAINS(fake()->graph(), "; join(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15); join(40 16 17 ");
    CHECK_CONTAINS(fake()->graph(), "; kernel(41 31 32 33 34 35 36 37 38 39)");
    end(&bench);
}

static void bodies(void)
{
    Bench bench;
    begin(&bench);
    CHECK(launch(&bench, -1));
    CHECK_OK(rt_graph_begin_body(bench.graph, true, bench.memory, 4, NULL, &bench.diag), &bench.diag);
    CHECK(launch(&bench, 0) && launch(&bench, 1));
    CHECK_OK(rt_graph_begin_body(bench.graph, false, bench.memory, 1, NULL, &bench.diag), &bench.diag);
    CHECK(launch(&bench, -1));
    CHECK_OK(rt_graph_end_body(bench.graph, &bench.diag), &bench.diag);
    CHECK(rt_event_record(bench.event, NULL, &bench.diag));
    CHECK_OK(rt_graph_end_body(bench.graph, &bench.diag), &bench.diag);
    CHECK_FAILS(rt_stream_wait_event(bench.device, NULL, bench.event, &bench.diag), &bench.diag, DIAG_CAPTURE,
                "recorded outside of it");
    CHECK(launch(&bench, -1));
    CHECK_OK(rt_graph_end(bench.graph, &bench.diag), &bench.diag);
    CHECK_TEXT(fake()->graph(), "kernel; set(0); while{kernel; kernel; set(0 1); if{kernel}(2); set(3)}(1); kernel(2)");
    CHECK(fake()->calls("cuLibraryLoadData") == 2); /* the kernel's, and the one that sets conditions */
    end(&bench);
}

static void what_is_refused(void)
{
    Bench bench;
    begin(&bench);
    RtPointer other;
    RtDevice *second = rt_device(RT_GPU, 1, &bench.diag);
    RtGraph *another = rt_graph_create(bench.device, NULL, &bench.diag);
    CHECK_FAILS(rt_allocate(bench.device, 8, &other, &bench.diag), &bench.diag, DIAG_CAPTURE, "an allocation");
    CHECK_FAILS(rt_synchronize(bench.device, &bench.diag), &bench.diag, DIAG_CAPTURE, "waiting for the device");
    CHECK_FAILS(rt_fill(second, 1, 0, 8, NULL, &bench.diag), &bench.diag, DIAG_CAPTURE, "another device");
    CHECK_FAILS(rt_copy_between(second, 1, bench.device, bench.memory, 8, NULL, &bench.diag), &bench.diag, DIAG_CAPTURE,
                "a copy between devices");
    CHECK_FAILS(rt_graph_begin(another, &bench.diag), &bench.diag, DIAG_CAPTURE, "another capture");
    CHECK_FAILS(rt_graph_begin_replacing(bench.graph, 0, NULL, NULL, &bench.diag), &bench.diag, DIAG_CAPTURE,
                "update()");
    CHECK_FAILS(rt_graph_end_body(bench.graph, &bench.diag), &bench.diag, DIAG_GRAPH, "no body is open");
    for (int i = 0; i < 7; i++)
        CHECK_OK(rt_graph_begin_body(bench.graph, false, bench.memory, 1, NULL, &bench.diag), &bench.diag);
    CHECK_FAILS(rt_graph_begin_body(bench.graph, false, bench.memory, 1, NULL, &bench.diag), &bench.diag, DIAG_GRAPH,
                "nested too deeply");
    CHECK_FAILS(rt_graph_end(bench.graph, &bench.diag), &bench.diag, DIAG_GRAPH, "a body is still open");
    CHECK_FAILS(rt_graph_launch(bench.graph, NULL, NULL, NULL, &bench.diag), &bench.diag, DIAG_GRAPH, "to its end");
    CHECK_FAILS(rt_graph_begin_replacing(bench.graph, 0, NULL, NULL, &bench.diag), &bench.diag, DIAG_GRAPH,
                "no such launch");
    rt_graph_destroy(another);
    end_with(&bench, 2);
}

static void launches_that_are_replaced(void)
{
    Bench bench;
    begin(&bench);
    CHECK(launch(&bench, -1));
    CHECK_OK(rt_graph_end(bench.graph, &bench.diag), &bench.diag);
    CHECK_OK(rt_graph_begin_replacing(bench.graph, 0, NULL, NULL, &bench.diag), &bench.diag);
    CHECK(launch(&bench, -1));
    CHECK_FAILS(rt_fill(bench.device, bench.memory, 0, 8, NULL, &bench.diag), &bench.diag, DIAG_CAPTURE,
                "anything but the launch");
    rt_graph_end_replacing(bench.graph);
    CHECK(fake()->calls("cuGraphExecKernelNodeSetParams") == 1 && rt_graph_size(bench.graph) == 1);
    CHECK(launch(&bench, -1) && fake()->calls("cuLaunchKernel") == 1);
    end(&bench);
}

void test_graphs(void)
{
    const char *environment[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), NULL};
    in_child_with("streams and events in a graph", streams_and_events, environment);
    in_child_with("many streams in a graph", many_streams, environment);
    in_child_with("bodies of conditions", bodies, environment);
    in_child_with("what a graph refuses", what_is_refused, environment);
    in_child_with("launches that are replaced", launches_that_are_replaced, environment);
}
