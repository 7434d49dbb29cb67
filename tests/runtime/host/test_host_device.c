/* The CPU device beside launching: attributes, memory, streams and events, kernel questions. */
#include "runtime_tests.h"

#include <stdlib.h>
#include <time.h>

#include "runtime/cuda/driver/driver_types.h"

static void attributes(RtDevice *device)
{
    Diag diag = {0};
    const int expected[][2] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    };
    int value = 0;
    uint8_t uuid[16];
    size_t available = 0, total = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK_OK(rt_device_attribute(device, expected[i][0], &value, &diag), &diag);
        CHECK(value == expected[i][1]);
    }
    CHECK_OK(rt_device_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &value, &diag) && value > 0, &diag);
    CHECK(rt_device(RT_CPU, 0, &diag) == device && rt_device_kind(device) == RT_CPU && rt_device_sm(device) == 0);
    CHECK_CONTAINS(rt_device_name(device), "CPU");
    CHECK_OK(rt_device_uuid(device, uuid, &diag), &diag);
    CHECK_OK(rt_memory_info(device, &available, &total, &diag) && available && available <= total, &diag);
    CHECK_OK(rt_synchronize(device, &diag), &diag);
}

static void memory(RtDevice *device)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    RtHostBuffer pinned;
    char text[8] = "1234567";
    const size_t large = 5 << 20;
    CHECK_OK(rt_allocate(device, 8, &a, &diag) && rt_allocate(device, large, &b, &diag) && b % 256 == 0, &diag);
    CHECK_OK(rt_copy_to_device(device, a, text, 8, NULL, &diag), &diag);
    CHECK_OK(rt_copy_on_device(device, b + large - 8, a, 8, NULL, &diag), &diag);
    CHECK_OK(rt_fill(device, a, 0, 8, NULL, &diag), &diag);
    memset(text, 0, sizeof text);
    CHECK_OK(rt_copy_to_host(device, text, b + large - 8, 8, NULL, &diag), &diag);
    CHECK_TEXT(text, "1234567");
    CHECK_OK(rt_copy_to_host(device, text, 0, 0, NULL, &diag), &diag);
    CHECK_OK(rt_free(device, a, &diag) && rt_free(device, b, &diag) && rt_free(device, 0, &diag), &diag);
    CHECK_OK(rt_allocate_ordered(device, 8, &a, &diag) && a && rt_free_ordered(device, a, &diag), &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 100, &pinned, &diag) && pinned.host, &diag);
    CHECK(pinned.device == (RtPointer)(uintptr_t)pinned.host);
    CHECK_OK(rt_free_host(device, &pinned, &diag), &diag);
    CHECK_OK(rt_register_host(device, text, 8, &a, &diag) && a == (RtPointer)(uintptr_t)text, &diag);
    CHECK_OK(rt_unregister_host(device, text, &diag), &diag);
    CHECK_FAILS(rt_allocate(device, (size_t)1 << 60, &a, &diag), &diag, DIAG_DEVICE_MEMORY,
                "cannot allocate 1152921504606846976 bytes on CPU");
    CHECK(a == 0);
}

/* A load waits for a store to an address with the same last 12 bits. */
static void places_in_pages(RtDevice *device)
{
    enum { COUNT = 16, SMALL = 1 << 16, LARGE = 5 << 20 };
    Diag diag = {0};
    RtPointer arrays[2 * COUNT] = {0}, start = 0;
    size_t size = 0;
    bool taken[4096 / 256] = {false};
    for (int i = 0; i < 2 * COUNT; i++) {
        CHECK_OK(rt_allocate_ordered(device, i < COUNT ? SMALL : LARGE, &arrays[i], &diag), &diag);
        CHECK(arrays[i] % 256 == 0);
        bool *place = &taken[arrays[i] % 4096 / 256];
        CHECK(*place == (i >= COUNT)); /* each is taken once by the small ones, and once by the large ones */
        *place = i < COUNT;
        CHECK_OK(rt_memory_range(device, arrays[i], &start, &size, &diag) && start == arrays[i], &diag);
    }
    for (int i = 0; i < 2 * COUNT; i++)
        CHECK_OK(rt_free_ordered(device, arrays[i], &diag), &diag);
}

static void streams_and_events(RtDevice *device)
{
    Diag diag = {0};
    bool done = false;
    float milliseconds = 0;
    RtStream *own = rt_stream_create(device, &diag), *external = rt_stream_external(device, 5, &diag);
    RtEvent *start = rt_event_create(device, true, &diag), *end = rt_event_create(device, true, &diag);
    CHECK_OK(rt_event_record(start, own, &diag), &diag);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    CHECK_OK(rt_event_record(end, NULL, &diag) && rt_event_synchronize(end, &diag), &diag);
    CHECK_OK(rt_event_elapsed(start, end, &milliseconds, &diag) && milliseconds > 4 && milliseconds < 2000, &diag);
    CHECK_OK(rt_stream_wait_event(device, own, end, &diag) && rt_stream_synchronize(device, own, &diag), &diag);
    CHECK_OK(rt_stream_query(device, external, &done, &diag) && done, &diag);
    CHECK_OK(rt_event_query(end, &done, &diag) && done, &diag);
    CHECK(rt_stream_handle(external) == 5);
    rt_event_destroy(start);
    rt_event_destroy(end);
    rt_stream_destroy(own);
    rt_stream_destroy(external);
}

static void nothing(HostThread *thread) { (void)thread; }

static void kernels(RtDevice *device)
{
    Diag diag = {0};
    int value = 0, blocks = 0, threads = 0;
    KernelImage image = {.name = "k", .thread_entry = nothing, .static_shared = 100, .local_size = 40};
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    const int expected[][2] = {
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 100},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 40},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, 16},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024 - 100},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK_OK(rt_kernel_attribute(kernel, expected[i][0], &value, &diag), &diag);
        CHECK(value == expected[i][1]);
    }
    CHECK_OK(rt_kernel_occupancy(kernel, 0, &blocks, &threads, &diag) && blocks > 0 && threads == 256, &diag);
    CHECK_OK(rt_kernel_resident_blocks(kernel, 1024, 0, &blocks, &diag) && blocks >= 1, &diag);
    CHECK_OK(rt_kernel_resident_blocks(kernel, 1025, 0, &blocks, &diag) && blocks == 0, &diag);
    rt_kernel_unload(kernel);
}

void test_host_device(void)
{
    Diag diag = {0};
    RtDevice *device = rt_device(RT_CPU, 0, &diag);
    CHECK_OK(device != NULL, &diag);
    attributes(device);
    memory(device);
    places_in_pages(device);
    streams_and_events(device);
    kernels(device);
}
