/* The runtime on a real GPU, where this machine has one: what the fake driver cannot know. Skipped elsewhere. */
#include "runtime_tests.h"

#include <pthread.h>
#include <stdlib.h>

/* add(pointer, number): pointer[global thread] += number, by way of dynamic shared memory. */
static const char add_ptx[] = ".version %s\n.target %s\n.address_size 64\n"
                              ".extern .shared .align 16 .b8 room[];\n"
                              ".visible .entry add(.param .u64 pointer, .param .u32 number)\n{\n"
                              "  .reg .b32 %%r<8>;\n  .reg .b64 %%d<6>;\n"
                              "  ld.param.u64 %%d0, [pointer];\n  ld.param.u32 %%r0, [number];\n"
                              "  mov.u32 %%r1, %%ctaid.x;\n  mov.u32 %%r2, %%ntid.x;\n  mov.u32 %%r3, %%tid.x;\n"
                              "  mad.lo.u32 %%r4, %%r1, %%r2, %%r3;\n"
                              "  mul.wide.u32 %%d1, %%r4, 4;\n  add.u64 %%d2, %%d0, %%d1;\n"
                              "  mov.u64 %%d3, room;\n  mul.wide.u32 %%d4, %%r3, 4;\n  add.u64 %%d5, %%d3, %%d4;\n"
                              "  ld.global.u32 %%r5, [%%d2];\n  st.shared.u32 [%%d5], %%r5;\n  bar.sync 0;\n"
                              "  ld.shared.u32 %%r6, [%%d5];\n  add.u32 %%r7, %%r6, %%r0;\n"
                              "  st.global.u32 [%%d2], %%r7;\n  ret;\n}\n";

enum { BLOCKS = 8, THREADS = 128, COUNT = BLOCKS * THREADS };

typedef struct AddParameters {
    uint64_t pointer;
    uint32_t number;
} AddParameters;

static RtKernel *load_add(RtDevice *device, bool newest)
{
    Diag diag = {0};
    char text[2048];
    snprintf(text, sizeof text, add_ptx, newest ? "7.8" : "6.3", newest ? "sm_90" : "sm_75");
    KernelImage image = {.name = "add", .code = text, .code_size = strlen(text) + 1};
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    CHECK_OK(kernel != NULL, &diag);
    return kernel;
}

/* Launches once on zeros and checks that every number was added. */
static void check_add(RtDevice *device, RtKernel *kernel, RtLaunch launch)
{
    Diag diag = {0};
    uint32_t values[COUNT], wrong = 0;
    AddParameters parameters = {.number = 7};
    launch.grid[0] = BLOCKS;
    launch.block[0] = THREADS;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.parameters = &parameters;
    launch.parameters_size = 12;
    CHECK_OK(rt_allocate(device, sizeof values, &parameters.pointer, &diag), &diag);
    CHECK_OK(rt_fill(device, parameters.pointer, 0, sizeof values, launch.stream, &diag), &diag);
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    CHECK_OK(rt_copy_to_host(device, values, parameters.pointer, sizeof values, launch.stream, &diag), &diag);
    CHECK_OK(rt_stream_synchronize(device, launch.stream, &diag), &diag);
    for (int i = 0; i < COUNT; i++)
        wrong += values[i] != 7;
    CHECK(wrong == 0);
    CHECK_OK(rt_free(device, parameters.pointer, &diag), &diag);
}

/* Memory that is freed and allocated again while the kernel that uses it may still run. */
static void ordered_memory(void)
{
    Diag diag = {0};
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = load_add(device, false);
    RtStream *streams[2] = {rt_stream_create(device, &diag), rt_stream_create(device, &diag)};
    uint32_t values[COUNT], wrong = 0;
    for (int i = 0; i < 200; i++) {
        AddParameters parameters = {.number = (uint32_t)i};
        RtLaunch launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .dynamic_shared = THREADS * 4};
        launch.stream = streams[i % 2];
        launch.parameters = &parameters;
        launch.parameters_size = 12;
        CHECK_OK(rt_allocate_ordered(device, sizeof values, &parameters.pointer, &diag), &diag);
        CHECK_OK(rt_fill(device, parameters.pointer, 0, sizeof values, launch.stream, &diag), &diag);
        CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
        if (i % 20 == 19) {
            CHECK_OK(rt_copy_to_host(device, values, parameters.pointer, sizeof values, NULL, &diag), &diag);
            for (int j = 0; j < COUNT; j++)
                wrong += values[j] != (uint32_t)i;
        }
        CHECK_OK((i % 3 ? rt_free_ordered : rt_free)(device, parameters.pointer, &diag), &diag);
    }
    CHECK(wrong == 0);
    rt_stream_destroy(streams[0]);
    rt_stream_destroy(streams[1]);
    rt_kernel_unload(kernel);
}

static void launches(void)
{
    Diag diag = {0};
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(device != NULL, &diag);
    CHECK(rt_device_sm(device) >= 50 && *rt_device_name(device));
    RtKernel *kernel = load_add(device, false);
    RtStream *stream = rt_stream_create(device, &diag);
    const uint32_t room = THREADS * 4;
    check_add(device, kernel, (RtLaunch){.dynamic_shared = room});
    check_add(device, kernel, (RtLaunch){.dynamic_shared = room, .stream = stream});
    check_add(device, kernel, (RtLaunch){.dynamic_shared = 60000});
    check_add(device, kernel, (RtLaunch){.dynamic_shared = room, .cooperative = true});
    if (rt_device_sm(device) >= 90) {
        RtKernel *newest = load_add(device, true);
        check_add(device, newest, (RtLaunch){.dynamic_shared = room, .cluster = {4, 1, 1}});
        check_add(device, newest, (RtLaunch){.dynamic_shared = room, .cluster = {2, 1, 1}, .cooperative = true});
        rt_kernel_unload(newest);
    }
    RtLaunch huge = {.grid = {1 << 20, 1, 1}, .block = {THREADS, 1, 1}, .dynamic_shared = room, .cooperative = true};
    AddParameters parameters = {0};
    huge.parameters = &parameters;
    huge.parameters_size = 12;
    CHECK_FAILS(rt_launch(kernel, &huge, &diag), &diag, DIAG_LAUNCH_SHAPE, "too large for a cooperative launch");
    rt_stream_destroy(stream);
    rt_kernel_unload(kernel);
}

static void modules(void)
{
    Diag diag = {0};
    int registers = 0, blocks = 0, threads = 0;
    char text[2048];
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    snprintf(text, sizeof text, add_ptx, "6.3", "sm_75");
    KernelImage image = {.name = "add", .code = text, .code_size = strlen(text) + 1, .max_registers = 32};
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    CHECK_OK(kernel != NULL, &diag);
    CHECK_OK(rt_kernel_attribute(kernel, 4, &registers, &diag) && registers > 0 && registers <= 32, &diag);
    CHECK_OK(rt_kernel_occupancy(kernel, 0, &blocks, &threads, &diag) && blocks > 0 && threads % 32 == 0, &diag);
    check_add(device, kernel, (RtLaunch){.dynamic_shared = THREADS * 4});
    rt_kernel_unload(kernel);
    KernelImage bad = {.name = "bad", .code = ".version 6.3\n.target sm_75\nnonsense\n", .code_size = 37};
    CHECK_FAILS(rt_kernel_load(device, &bad, &diag), &diag, DIAG_DRIVER_LINK, "CUDA_ERROR_INVALID_PTX (218)");
    CHECK_FAILS(rt_kernel_load(device, &bad, &diag), &diag, DIAG_DRIVER_LINK, "ptxas");
}

static void *on_other_thread(void *kernel_and_device)
{
    void **both = kernel_and_device;
    check_add(both[1], both[0], (RtLaunch){.dynamic_shared = THREADS * 4});
    return NULL;
}

static void threads_and_events(void)
{
    Diag diag = {0};
    pthread_t thread;
    float milliseconds = -1;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = load_add(device, false);
    RtEvent *start = rt_event_create(device, true, &diag), *end = rt_event_create(device, true, &diag);
    CHECK_OK(rt_event_record(start, NULL, &diag), &diag);
    pthread_create(&thread, NULL, on_other_thread, (void *[]){kernel, device});
    pthread_join(thread, NULL);
    CHECK_OK(rt_event_record(end, NULL, &diag) && rt_event_synchronize(end, &diag), &diag);
    CHECK_OK(rt_event_elapsed(start, end, &milliseconds, &diag) && milliseconds > 0, &diag);
    rt_event_destroy(start);
    rt_event_destroy(end);
    rt_kernel_unload(kernel);
    RtPointer pointer = 0;
    CHECK_FAILS(rt_allocate(device, (size_t)1 << 50, &pointer, &diag), &diag, DIAG_DEVICE_MEMORY,
                "CUDA_ERROR_OUT_OF_MEMORY (2)");
}

/* Ends the context, and so the child. */
static void illegal_address(void)
{
    Diag diag = {0};
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = load_add(device, false);
    AddParameters parameters = {0};
    RtLaunch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 4, .parameters = &parameters};
    launch.parameters_size = 12;
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    CHECK_FAILS(rt_synchronize(device, &diag), &diag, DIAG_DRIVER_CALL,
                "cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    rt_kernel_unload(kernel);
}

/* Runs in a child too: a process that has used the driver cannot fork users of it. */
static int *gpu_count;

static void count_gpus(void)
{
    Diag diag = {0};
    bool ok;
    *gpu_count = rt_gpu_count(NULL, &ok, &diag);
    CHECK_OK(ok, &diag);
}

void test_gpu(void)
{
    gpu_count = shared_memory(sizeof *gpu_count);
    if (!under_address_sanitizer)
        in_child("counting GPUs", count_gpus);
    if (!*gpu_count) {
        puts("no GPU: its tests are skipped");
        return;
    }
    in_child("launches on the GPU", launches);
    in_child("ordered memory on the GPU", ordered_memory);
    in_child("modules on the GPU", modules);
    in_child("threads and events on the GPU", threads_and_events);
    in_child("an illegal address on the GPU", illegal_address);
}
