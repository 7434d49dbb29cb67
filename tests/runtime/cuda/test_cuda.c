/* The GPU side over the fake driver: what is called with which values, and that contexts of other libraries are kept. */
#include "runtime_tests.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "fake_driver.h"
#include "runtime/cuda/driver/driver.h"

static const FakeDriver *fake(void) { return dlsym(dlopen(fake_driver_path(), RTLD_NOW | RTLD_NOLOAD), "fake_driver"); }

static KernelImage ptx_image(const char *text)
{
    return (KernelImage){.name = "k", .code = (char *)text, .code_size = strlen(text) + 1};
}

static void devices(void)
{
    Diag diag = {0};
    bool ok;
    int value = 0;
    uint8_t uuid[16];
    size_t available = 0, total = 0;
    CHECK(rt_gpu_count(NULL, &ok, &diag) == 2 && ok);
    RtDevice *device = rt_device(RT_GPU, 1, &diag);
    CHECK_OK(device != NULL, &diag);
    CHECK(rt_device(RT_GPU, 1, &diag) == device);
    CHECK(rt_device_kind(device) == RT_GPU && rt_device_ordinal(device) == 1 && rt_device_sm(device) == 90);
    CHECK_TEXT(rt_device_name(device), "Fake GPU 1");
    CHECK_OK(rt_device_attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE, &value, &diag) && value == 32, &diag);
    CHECK_OK(rt_device_uuid(device, uuid, &diag) && uuid[0] == 11, &diag);
    CHECK_OK(rt_driver_version(&value, &diag) && value == 13000, &diag);
    CHECK_OK(rt_synchronize(device, &diag), &diag);
    CHECK_OK(rt_memory_info(device, &available, &total, &diag) && available < total, &diag);
    CHECK_FAILS(rt_device(RT_GPU, 7, &diag), &diag, DIAG_DRIVER_CALL,
                "cuDeviceGet failed: CUDA_ERROR_INVALID_VALUE (1)");
    CHECK_FAILS(rt_device(RT_GPU, -1, &diag), &diag, DIAG_DRIVER_CALL, "cuDeviceGet failed");
    CHECK_FAILS(rt_device(RT_GPU, 1000, &diag), &diag, DIAG_DRIVER_CALL, "cuDeviceGet failed");
    CHECK(fake()->alive() == 1);
}

static void memory(void)
{
    Diag diag = {0};
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtStream *stream = rt_stream_create(device, &diag);
    RtPointer a = 0, b = 0;
    RtHostBuffer pinned, managed;
    char text[16] = "device memory";
    CHECK_OK(rt_allocate(device, 16, &a, &diag) && rt_allocate(device, 16, &b, &diag), &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 16, &pinned, &diag), &diag);
    CHECK_OK(rt_copy_to_device(device, a, text, 16, stream, &diag), &diag);
    CHECK_OK(rt_copy_on_device(device, b, a, 16, stream, &diag), &diag);
    CHECK_OK(rt_copy_to_host(device, pinned.host, b, 16, stream, &diag), &diag);
    CHECK_TEXT(pinned.host, "device memory");
    CHECK(pinned.device == (RtPointer)(uintptr_t)pinned.host);
    CHECK(fake()->calls("cuMemcpyHtoD") == 0 && fake()->calls("cuMemcpyDtoH") == 0);
    CHECK_OK(rt_fill(device, a, 'x', 15, NULL, &diag) && rt_copy_to_host(device, text, a, 16, NULL, &diag), &diag);
    CHECK_TEXT(text, "xxxxxxxxxxxxxxx");
    CHECK_OK(rt_copy_to_device(device, a, "y", 1, NULL, &diag), &diag);
    CHECK(fake()->calls("cuMemcpyHtoD") == 1 && fake()->calls("cuMemcpyDtoH") == 1);
    CHECK_OK(rt_free(device, a, &diag) && rt_free(device, b, &diag), &diag);
    CHECK_OK(rt_free_host(device, &pinned, &diag), &diag);
    CHECK_OK(rt_allocate(device, 0, &a, &diag) && a == 0 && rt_free(device, a, &diag), &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_MANAGED, 8, &managed, &diag) && managed.host, &diag);
    CHECK_OK(rt_free_host(device, &managed, &diag), &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 0, &pinned, &diag) && !pinned.host, &diag);
    CHECK_OK(rt_free_host(device, &pinned, &diag), &diag);
    CHECK_FAILS(rt_allocate_host(device, RT_HOST_MANAGED, (size_t)1 << 50, &managed, &diag), &diag, DIAG_DEVICE_MEMORY,
                "cannot allocate 1125899906842624 bytes");
    CHECK_FAILS(rt_allocate(device, (size_t)1 << 50, &a, &diag), &diag, DIAG_DEVICE_MEMORY,
                "cannot allocate 1125899906842624 bytes on Fake GPU 0: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
    fake()->fail("cuMemFree", 1, CUDA_ERROR_UNKNOWN);
    fake()->fail("cuGetErrorName", 1, CUDA_ERROR_INVALID_VALUE);
    fake()->fail("cuGetErrorString", 1, CUDA_ERROR_INVALID_VALUE);
    CHECK_FAILS(rt_free(device, 1, &diag), &diag, DIAG_DRIVER_CALL,
                "cuMemFree failed: unknown CUresult (999): no description");
    rt_stream_destroy(stream);
    rt_stream_destroy(NULL);
    CHECK_OK(rt_pool_empty(device, RT_POOL_PINNED, &diag), &diag);
    CHECK(fake()->alive() == 1);
}

/* A stream made elsewhere is met when it is used. */
static void use_external(RtDevice *device, const char *place)
{
    Diag diag = {0};
    bool done = false;
    int calls = fake()->calls("cuStreamGetFlags");
    RtStream *stream = rt_stream_external(device, (uintptr_t)place, &diag);
    CHECK(stream && fake()->calls("cuStreamGetFlags") == calls);
    CHECK_OK(rt_stream_query(device, stream, &done, &diag) && rt_stream_query(device, stream, &done, &diag), &diag);
    CHECK(fake()->calls("cuStreamGetFlags") == calls + 1);
    rt_stream_destroy(stream);
}

/* The driver never hears of what is no address. */
static void no_stream(void)
{
    Diag diag = {0};
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtStream *stream = rt_stream_external(device, 0x1234, &diag);
    RtEvent *event = rt_event_create(device, false, &diag);
    uint8_t bytes[8] = {0};
    RtPointer pointer = 0;
    int calls = fake()->calls("cuStreamSynchronize");
    CHECK_OK(rt_allocate(device, 8, &pointer, &diag), &diag);
    CHECK_FAILS(rt_stream_synchronize(device, stream, &diag), &diag, DIAG_NO_STREAM, "there is no stream at 0x1234");
    CHECK_FAILS(rt_event_record(event, stream, &diag), &diag, DIAG_NO_STREAM, "0x1234");
    CHECK_FAILS(rt_copy_to_device(device, pointer, bytes, 8, stream, &diag), &diag, DIAG_NO_STREAM, "0x1234");
    CHECK_FAILS(rt_fill(device, pointer, 0, 8, stream, &diag), &diag, DIAG_NO_STREAM, "0x1234");
    CHECK(fake()->calls("cuStreamSynchronize") == calls);
    CHECK_OK(rt_free(device, pointer, &diag), &diag);
    rt_event_destroy(event);
    rt_stream_destroy(stream);
}

static void ordered_memory(void)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0, plain = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate(device, 8, &plain, &diag) && rt_free(device, plain, &diag), &diag);
    CHECK(fake()->calls("cuCtxSynchronize") == 0);
    CHECK_OK(rt_allocate_ordered(device, 8, &a, &diag) && rt_allocate_ordered(device, 8, &b, &diag), &diag);
    CHECK_OK(rt_free_ordered(device, a, &diag) && rt_pool_empty(device, RT_POOL_DEVICE, &diag), &diag);
    CHECK(fake()->calls("cuMemAllocAsync") == 2 && fake()->calls("cuMemFreeAsync") == 1);
    CHECK(fake()->calls("cuMemPoolTrimTo") == 1 && fake()->calls("cuCtxSynchronize") == 1);
    CHECK_OK(rt_free(device, b, &diag), &diag);
    CHECK(fake()->calls("cuCtxSynchronize") == 1);
    CHECK_OK(rt_allocate_ordered(device, 0, &a, &diag) && !a && rt_free_ordered(device, 0, &diag), &diag);
    CHECK_FAILS(rt_allocate_ordered(device, (size_t)1 << 50, &a, &diag), &diag, DIAG_DEVICE_MEMORY, "out of memory");
    CHECK_OK(rt_allocate_ordered(device, 8, &a, &diag), &diag);
    use_external(device, &fake()->plain_stream);
    CHECK(fake()->calls("cuStreamGetFlags") == 1 && fake()->calls("cuCtxSynchronize") == 2);
    use_external(device, &fake()->non_blocking_stream);
    CHECK(fake()->calls("cuStreamGetFlags") == 2 && fake()->calls("cuStreamSynchronize") == 1);
    CHECK_OK(rt_allocate_ordered(device, 8, &b, &diag) && fake()->calls("cuMemAlloc") == 2, &diag);
    CHECK_OK(rt_free_ordered(device, a, &diag) && rt_free_ordered(device, b, &diag), &diag);
    CHECK(fake()->calls("cuMemFree") == 2 && fake()->calls("cuCtxSynchronize") == 2);
    CHECK_OK(rt_pool_empty(device, RT_POOL_DEVICE, &diag), &diag);
    CHECK(fake()->calls("cuMemFree") == 4 && fake()->alive() == 1);
}

/* What was released is given again without the driver; what other streams may still use, behind them. */
static void kept_memory(void)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    RtPoolUse use;
    RtHostBuffer pinned, again;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    for (int i = 0; i < 100; i++)
        CHECK_OK(rt_allocate_ordered(device, 1000, &a, &diag) && rt_free_ordered(device, a, &diag), &diag);
    CHECK(fake()->calls("cuMemAllocAsync") == 1 && fake()->calls("cuMemFreeAsync") == 0);
    CHECK_OK(rt_pool_use(device, RT_POOL_DEVICE, &use, &diag), &diag);
    CHECK(use.used_bytes == 0 && use.kept_bytes == 1024 && use.kept_blocks == 1 && use.allocations == 1);
    RtStream *stream = rt_stream_create(device, &diag);
    CHECK_OK(rt_allocate_ordered(device, 1000, &b, &diag) && b == a && rt_free_ordered(device, b, &diag), &diag);
    CHECK(fake()->calls("cuMemsetD8Async") == 1);
    fake()->fail("cuMemsetD8Async", 1, CUDA_ERROR_UNKNOWN);
    CHECK_FAILS(rt_allocate_ordered(device, 1000, &b, &diag), &diag, DIAG_DRIVER_CALL, "cuMemsetD8Async failed");
    CHECK_OK(rt_pool_use(device, RT_POOL_DEVICE, &use, &diag) && use.kept_blocks == 1, &diag);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 10, &pinned, &diag) && rt_free_host(device, &pinned, &diag),
             &diag);
    int waits = fake()->calls("cuCtxSynchronize");
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, 500, &again, &diag) && again.host == pinned.host, &diag);
    CHECK(fake()->calls("cuMemHostAlloc") == 1 && fake()->calls("cuCtxSynchronize") == waits + 1);
    CHECK_OK(rt_free_host(device, &again, &diag), &diag);
    rt_stream_destroy(stream);
}

/* The device is asked again once it has got back what is kept. */
static void memory_that_is_short(void)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    RtPoolUse use;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate_ordered(device, 8, &a, &diag) && rt_free_ordered(device, a, &diag), &diag);
    fake()->fail("cuMemAllocAsync", 1, CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_OK(rt_allocate_ordered(device, 5000, &b, &diag), &diag);
    CHECK_OK(rt_pool_use(device, RT_POOL_DEVICE, &use, &diag), &diag);
    CHECK(use.used_bytes == 5120 && use.kept_blocks == 0);
    CHECK_OK(rt_pool_limit(device, RT_POOL_DEVICE, 6000, &diag), &diag);
    rt_pool_note_place(device, RT_POOL_DEVICE, b, "somewhere.py:7");
    CHECK_FAILS(rt_allocate(device, 1000, &a, &diag), &diag, DIAG_DEVICE_MEMORY,
                "cannot allocate 1000 bytes on Fake GPU 0: the limit is 6000 bytes, of which 5120 are in use: "
                "5120 from somewhere.py:7");
    CHECK_OK(rt_free_ordered(device, b, &diag) && rt_allocate(device, 1000, &a, &diag), &diag);
    CHECK(fake()->calls("cuMemFreeAsync") == 2); /* both together are more than the limit */
    CHECK_OK(rt_free(device, a, &diag), &diag);
    CHECK(fake()->alive() == 1);
}

/* The last word of an allocation is there and known, whichever bytes of it are the array's. */
static void whole_words(void)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(rt_allocate(device, 5, &a, &diag) && rt_allocate_ordered(device, 2, &b, &diag), &diag);
    CHECK(fake()->calls("cuMemsetD8Async") == 2);
    CHECK(memcmp((char *)(uintptr_t)a + 5, "\0\0", 3) == 0 && memcmp((char *)(uintptr_t)b + 2, "\0", 2) == 0);
    CHECK_OK(rt_free(device, a, &diag) && rt_free_ordered(device, b, &diag), &diag);
    for (int i = 0; i < 2; i++) {
        fake()->fail("cuMemsetD8Async", 1, CUDA_ERROR_UNKNOWN);
        bool ok = i ? rt_allocate(device, 1, &a, &diag) : rt_allocate_ordered(device, 1, &a, &diag);
        CHECK_FAILS(ok, &diag, DIAG_DRIVER_CALL, "cuMemsetD8Async failed");
    }
    CHECK_OK(rt_pool_empty(device, RT_POOL_DEVICE, &diag), &diag);
    CHECK(fake()->alive() == 1);
}

/* --- large copies ----------------------------------------------------------------------------------------------------- */
enum { LARGE = (17 << 20) + 12345 };

static void fill_with_pattern(uint32_t *words, uint32_t seed)
{
    for (uint32_t i = 0; i < LARGE / 4; i++)
        words[i] = i * 2654435761u + seed;
}

/* There and back, each byte in its place. */
static void copy_there_and_back(RtDevice *device, RtStream *stream, uint32_t *from, uint32_t seed)
{
    Diag diag = {0};
    RtPointer memory = 0;
    uint32_t *back = calloc(1, LARGE);
    fill_with_pattern(from, seed);
    CHECK_OK(rt_allocate(device, LARGE, &memory, &diag), &diag);
    CHECK_OK(rt_copy_to_device(device, memory, from, LARGE, stream, &diag), &diag);
    CHECK(memcmp((void *)(uintptr_t)memory, from, LARGE) == 0);
    CHECK_OK(rt_copy_to_host(device, back, memory, LARGE, stream, &diag), &diag);
    CHECK(memcmp(back, from, LARGE) == 0);
    CHECK_OK(rt_free(device, memory, &diag), &diag);
    free(back);
}

/* Chunks of pageable memory go through slots; page-locked memory and captured streams are the driver's business. */
static void large_copies(void)
{
    Diag diag = {0};
    RtHostBuffer pinned;
    uint32_t *pageable = malloc(LARGE);
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtStream *captured = rt_stream_external(device, (uintptr_t)&fake()->captured_stream, &diag);
    copy_there_and_back(device, NULL, pageable, 1);
    copy_there_and_back(device, NULL, pageable, 2);
    CHECK(fake()->calls("cuMemcpyHtoDAsync") == 36 && fake()->calls("cuMemcpyDtoHAsync") == 36);
    CHECK(fake()->calls("cuMemcpyHtoD") == 0 && fake()->calls("cuMemcpyDtoH") == 0);
    copy_there_and_back(device, captured, pageable, 3);
    CHECK(fake()->calls("cuMemcpyHtoDAsync") == 37 && fake()->calls("cuMemcpyDtoHAsync") == 37);
    CHECK_OK(rt_allocate_host(device, RT_HOST_PINNED, LARGE, &pinned, &diag), &diag);
    copy_there_and_back(device, NULL, pinned.host, 4);
    CHECK(fake()->calls("cuMemcpyHtoD") == 1 && fake()->calls("cuMemcpyHtoDAsync") == 37);
    CHECK_OK(rt_free_host(device, &pinned, &diag), &diag);
    rt_stream_destroy(captured);
    free(pageable);
}

/* Where there is no page-locked memory the driver copies in its own way; with some of it fewer threads do it. */
static void large_copies_without_pinned_memory(void)
{
    Diag diag = {0};
    uint32_t *pageable = malloc(LARGE);
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    fake()->fail("cuMemHostAlloc", 1, CUDA_ERROR_OUT_OF_MEMORY);
    copy_there_and_back(device, NULL, pageable, 1);
    CHECK(fake()->calls("cuMemcpyHtoD") == 1 && fake()->calls("cuMemcpyDtoH") == 0);
    fake()->fail("cuMemHostAlloc", 3, CUDA_ERROR_OUT_OF_MEMORY);
    copy_there_and_back(device, NULL, pageable, 2);
    CHECK(fake()->calls("cuMemcpyHtoD") == 1 && fake()->calls("cuMemcpyDtoH") == 0);
    free(pageable);
}

static void *copy_in_thread(void *argument)
{
    uint32_t *pageable = malloc(LARGE);
    for (uint32_t k = 0; k < 8; k++)
        copy_there_and_back(argument, NULL, pageable, k);
    free(pageable);
    return NULL;
}

/* One of them has the slots at a time; the others do not wait for it. */
static void large_copies_of_several_threads(void)
{
    Diag diag = {0};
    pthread_t threads[4];
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, copy_in_thread, device);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(fake()->calls("cuMemcpyHtoDAsync") >= 18);
}

static void streams_and_events(void)
{
    Diag diag = {0};
    bool done = false;
    float milliseconds = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtStream *own = rt_stream_create(device, &diag), *external = rt_stream_external(device, 2, &diag);
    RtEvent *start = rt_event_create(device, true, &diag), *end = rt_event_create(device, false, &diag);
    CHECK(rt_stream_handle(NULL) == 0 && rt_stream_handle(own) != 0 && rt_stream_handle(external) == 2);
    CHECK_OK(rt_event_record(start, NULL, &diag) && rt_event_record(end, own, &diag), &diag);
    CHECK_OK(rt_stream_wait_event(device, own, start, &diag) && rt_stream_synchronize(device, NULL, &diag), &diag);
    CHECK_OK(rt_event_synchronize(end, &diag), &diag);
    CHECK_OK(rt_event_elapsed(start, end, &milliseconds, &diag) && milliseconds == 1.5f, &diag);
    CHECK_OK(rt_stream_query(device, own, &done, &diag) && done, &diag);
    CHECK_OK(rt_event_query(end, &done, &diag) && done, &diag);
    fake()->fail("cuStreamQuery", 1, CUDA_ERROR_NOT_READY);
    fake()->fail("cuEventQuery", 1, CUDA_ERROR_NOT_READY);
    CHECK_OK(rt_stream_query(device, own, &done, &diag) && !done, &diag);
    CHECK_OK(rt_event_query(end, &done, &diag) && !done, &diag);
    rt_event_destroy(start);
    rt_event_destroy(end);
    rt_event_destroy(NULL);
    rt_stream_destroy(external);
    CHECK(fake()->calls("cuStreamDestroy") == 0);
    rt_stream_destroy(own);
    CHECK(fake()->alive() == 1);
}

/* Asked for when a kernel is loaded: percent + 1. A driver that refuses is heard. */
static void carveouts(RtDevice *device)
{
    Diag diag = {0};
    const int attribute = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, choices[] = {1, 51, 101};
    KernelImage image = ptx_image("ptx");
    CHECK(fake()->function_attribute(attribute) == -1);
    for (int i = 0; i < 3; i++) {
        image.carveout = choices[i];
        RtKernel *kernel = rt_kernel_load(device, &image, &diag);
        CHECK_OK(kernel != NULL, &diag);
        CHECK(fake()->function_attribute(attribute) == choices[i] - 1);
        rt_kernel_unload(kernel);
    }
    int alive = fake()->alive();
    fake()->fail("cuFuncSetAttribute", 1, CUDA_ERROR_INVALID_VALUE);
    CHECK_FAILS(rt_kernel_load(device, &image, &diag), &diag, DIAG_DRIVER_CALL, "cuFuncSetAttribute failed");
    CHECK(fake()->alive() == alive);
}

/* A checked kernel whose functions call themselves has twice the room that there is without, behind its own frame of 7 bytes;
 * what the program sets in between is heard, and what was set for another kernel is no reason for more. */
static void stacks(RtDevice *device)
{
    Diag diag = {0};
    size_t has = 0;
    KernelImage image = ptx_image("ptx");
    const struct {
        bool is_deep;
        size_t set, left;
    } steps[] = {{false, 0, 1024}, {true, 0, 2064}, {true, 0, 2064}, {true, 4096, 8208}, {true, 0, 8208}};
    for (int i = 0; i < 5; i++) {
        if (steps[i].set)
            driver.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, steps[i].set);
        image.has_deep_stack = steps[i].is_deep;
        RtKernel *kernel = rt_kernel_load(device, &image, &diag);
        CHECK_OK(kernel != NULL && driver_call(&diag, cuCtxGetLimit, &has, CU_LIMIT_STACK_SIZE), &diag);
        CHECK(has == steps[i].left);
        rt_kernel_unload(kernel);
    }
    int alive = fake()->alive();
    fake()->fail("cuCtxGetLimit", 1, CUDA_ERROR_INVALID_VALUE);
    CHECK_FAILS(rt_kernel_load(device, &image, &diag), &diag, DIAG_DRIVER_CALL, "cuCtxGetLimit failed");
    CHECK(fake()->alive() == alive);
}

static void modules(void)
{
    Diag diag = {0};
    int value = 0, blocks = 0, threads = 0;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    KernelImage good = ptx_image(".version 6.3"), bad = ptx_image("bad"), absent = good;
    absent.name = "absent";
    good.max_registers = 40;
    RtKernel *kernel = rt_kernel_load(device, &good, &diag);
    CHECK_OK(kernel != NULL, &diag);
    CHECK(fake()->last_max_registers() == 40);
    CHECK(fake()->calls("cuLibraryLoadData") == 1 && fake()->calls("cuModuleLoadDataEx") == 0);
    CHECK_OK(rt_kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, &value, &diag) && value == 7, &diag);
    CHECK_OK(rt_kernel_occupancy(kernel, 0, &blocks, &threads, &diag) && blocks == 264 && threads == 512, &diag);
    CHECK_OK(rt_kernel_resident_blocks(kernel, 128, 0, &blocks, &diag) && blocks > 0 && blocks % 2 == 0, &diag);
    CHECK_OK(rt_kernel_resident_blocks(kernel, 128, (size_t)1 << 30, &blocks, &diag) && blocks == 0, &diag);
    rt_kernel_unload(kernel);
    rt_kernel_unload(NULL);
    CHECK_OK((kernel = rt_kernel_load(device, &good, &diag)) != NULL, &diag);
    CHECK(fake()->calls("cuLibraryLoadData") == 2 && fake()->calls("cuModuleGetLoadingMode") == 1);
    rt_kernel_unload(kernel);
    carveouts(device);
    stacks(device);
    CHECK_FAILS(rt_kernel_load(device, &bad, &diag), &diag, DIAG_DRIVER_LINK,
                "could not load kernel 'k': unknown CUresult (218): unknown error\nptxas fatal   : bad PTX");
    CHECK_FAILS(rt_kernel_load(device, &absent, &diag), &diag, DIAG_DRIVER_CALL, "cuModuleGetFunction failed");
    CHECK(fake()->alive() == 1);
}

static void launches(void)
{
    Diag diag = {0};
    KernelImage image = ptx_image("ptx");
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    RtStream *stream = rt_stream_external(device, (uintptr_t)&fake()->captured_stream, &diag);
    uint64_t parameter = 0x1122334455667788;
    RtLaunch launch = {.grid = {4, 5, 6}, .block = {8, 2, 1}, .dynamic_shared = 512, .stream = stream};
    const FakeLaunch *last = fake()->last_launch();
    CHECK_OK(rt_launch(kernel, &launch, &diag) && last->parameters_size == 0, &diag);
    launch.parameters = &parameter;
    launch.parameters_size = sizeof parameter;
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    CHECK(last->config.gridDimZ == 6 && last->config.blockDimY == 2 && last->config.sharedMemBytes == 512);
    CHECK((const char *)last->config.hStream == &fake()->captured_stream && last->config.numAttrs == 0);
    CHECK(last->parameters_size == 8 && !memcmp(last->parameters, &parameter, 8));
    int before = fake()->calls("cuFuncSetAttribute");
    for (int i = 0; i < 2; i++) {
        launch.dynamic_shared = 100000;
        CHECK_OK(rt_launch(kernel, &launch, &diag) && fake()->calls("cuFuncSetAttribute") == before + 1, &diag);
    }
    launch.cooperative = true;
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    CHECK(last->config.numAttrs == 1 && last->attributes[0].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    CHECK(last->parameters_size == 8 && !memcmp(last->parameters, &parameter, 8));
    launch.cluster[0] = 4;
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    CHECK(last->config.numAttrs == 2 && last->attributes[1].value.clusterDim.x == 4);
    CHECK(last->attributes[1].value.clusterDim.z == 1);
    launch.starts_early = true;
    CHECK_OK(rt_launch(kernel, &launch, &diag) && last->config.numAttrs == 2, &diag);
    launch.cooperative = false;
    CHECK_OK(rt_launch(kernel, &launch, &diag) && last->config.numAttrs == 2, &diag);
    CHECK(last->attributes[1].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    CHECK(last->attributes[1].value.programmaticStreamSerializationAllowed == 1);
    launch.cooperative = true;
    launch.cluster[1] = 5;
    CHECK_OK(rt_launch(kernel, &launch, &diag) && fake()->calls("cuFuncSetAttribute") == before + 2, &diag);
    launch.grid[0] = 400;
    CHECK_FAILS(rt_launch(kernel, &launch, &diag), &diag, DIAG_LAUNCH_SHAPE, "264 blocks of kernel 'k' fit the device");
    rt_stream_destroy(stream);
    rt_kernel_unload(kernel);
}

/* A kernel that broke its context is heard of later: what may have been it is named, and nothing that was waited for. */
static void faults(void)
{
    Diag diag = {0};
    KernelImage image = ptx_image("ptx");
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    RtLaunch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK_OK(rt_synchronize(device, &diag) && rt_launch(kernel, &launch, &diag), &diag);
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    fake()->fail("cuCtxSynchronize", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(!rt_synchronize(device, &diag) && diag.code == CUDA_ERROR_ILLEGAL_ADDRESS && diag.note_count == 3);
    CHECK(!strcmp(diag.notes[0].message, "launched since the last synchronization: k"));
    CHECK(strstr(diag.notes[1].message, "CUJIT_CHECK=bounds") != NULL);
    CHECK(strstr(diag.notes[2].message, "start it again") != NULL);
    diag_clear(&diag);
    fake()->fail("cuLibraryLoadData", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(!rt_kernel_load(device, &image, &diag) && diag.note_count == 3);
    diag_clear(&diag);
    fake()->fail("cuCtxSynchronize", 1, CUDA_ERROR_INVALID_VALUE);
    CHECK(!rt_synchronize(device, &diag) && diag.note_count == 0);
    diag_clear(&diag);
    CHECK_OK(rt_synchronize(device, &diag), &diag);
    fake()->fail("cuCtxSynchronize", 1, CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(!rt_synchronize(device, &diag) && diag.note_count == 1);
    diag_clear(&diag);
    rt_kernel_unload(kernel);
}

static void raise_in(ExceptionRecord *record, uint32_t code)
{
    *record = (ExceptionRecord){.code = code, .tag = 9, .thread_index = {3}, .state = EXCEPTION_COMPLETE};
}

/* Records of streams: who finds an exception, once, and that it stops a launch. */
static void exceptions(void)
{
    Diag diag = {0};
    KernelImage image = ptx_image("ptx");
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    RtStream *stream = rt_stream_create(device, &diag), *legacy = rt_stream_external(device, 1, &diag);
    RtStream *same = rt_stream_external(device, rt_stream_handle(stream), &diag);
    RtEvent *event = rt_event_create(device, false, &diag);
    uint64_t word = 0, to = 0;
    ExceptionRecord *own = rt_stream_record(device, stream, &diag), *none = rt_stream_record(device, NULL, &diag);
    CHECK(own && none && own != none && rt_stream_record(device, same, &diag) == own);
    CHECK(rt_stream_record(device, legacy, &diag) == none);
    CHECK_OK(rt_synchronize(device, &diag), &diag);
    raise_in(own, 5);
    CHECK_OK(rt_stream_synchronize(device, NULL, &diag), &diag);
    CHECK(!rt_stream_synchronize(device, same, &diag));
    CHECK(diag.raised.code == 5 && diag.raised.tag == 9 && diag.raised.thread_index[0] == 3);
    CHECK(diag.id == DIAG_KERNEL_EXCEPTION && own->state == EXCEPTION_EMPTY);
    diag_clear(&diag);
    CHECK_OK(rt_stream_synchronize(device, stream, &diag), &diag);
    raise_in(own, 6);
    CHECK_FAILS(rt_synchronize(device, &diag), &diag, DIAG_KERNEL_EXCEPTION, "raised");
    raise_in(own, 7);
    CHECK_FAILS(rt_copy_to_host(device, &to, (RtPointer)(uintptr_t)&word, 8, NULL, &diag), &diag, DIAG_KERNEL_EXCEPTION,
                "raised");
    raise_in(own, 8);
    CHECK_OK(rt_event_record(event, stream, &diag), &diag);
    CHECK_FAILS(rt_event_synchronize(event, &diag), &diag, DIAG_KERNEL_EXCEPTION, "raised");
    RtLaunch launch = {.grid = {4, 1, 1}, .block = {8, 1, 1}, .stream = stream};
    int launches_before = fake()->calls("cuLaunchKernel");
    raise_in(own, 9);
    CHECK_FAILS(rt_launch(kernel, &launch, &diag), &diag, DIAG_KERNEL_EXCEPTION, "raised");
    CHECK(fake()->calls("cuLaunchKernel") == launches_before);
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    own->state = EXCEPTION_TAKEN; /* a thread still writes */
    CHECK_OK(rt_stream_synchronize(device, stream, &diag), &diag);
    ExceptionRecord *single = rt_record_take(device, &diag);
    CHECK(single && single != own && single != none && single->state == EXCEPTION_EMPTY);
    raise_in(single, 1);
    CHECK(!rt_record_check(single, &diag) && rt_record_check(single, &diag));
    rt_record_return(device, single);
    CHECK(rt_record_take(device, &diag) == single && single->slots[0] == 0 && single->code == 0);
    rt_event_destroy(event);
    rt_stream_destroy(same);
    rt_stream_destroy(legacy);
    rt_stream_destroy(stream);
    rt_kernel_unload(kernel);
}

static void *use_device(void *device)
{
    Diag diag = {0};
    RtPointer pointer = 0;
    CHECK_OK(rt_allocate(device, 8, &pointer, &diag) && rt_free(device, pointer, &diag), &diag);
    return NULL;
}

static void contexts(void)
{
    Diag diag = {0};
    RtPointer pointer = 0;
    CUcontext current = NULL, other = (CUcontext)(uintptr_t)0x99;
    RtDevice *first = rt_device(RT_GPU, 0, &diag), *second = rt_device(RT_GPU, 1, &diag);
    CHECK_OK(rt_allocate(first, 8, &pointer, &diag) && rt_free(first, pointer, &diag), &diag);
    int switches = fake()->calls("cuCtxSetCurrent");
    use_device(first);
    CHECK(fake()->calls("cuCtxSetCurrent") == switches);
    driver.cuCtxGetCurrent(&current);
    use_device(second);
    driver.cuCtxGetCurrent(&other);
    CHECK(current && current == other);
    other = (CUcontext)(uintptr_t)0x99;
    driver.cuCtxSetCurrent(other);
    use_device(first);
    driver.cuCtxGetCurrent(&current);
    CHECK(current == other);
    pthread_t thread;
    pthread_create(&thread, NULL, use_device, first);
    pthread_join(thread, NULL);
}

static void *open_device(void *result)
{
    Diag diag = {0};
    *(RtDevice **)result = rt_device(RT_GPU, 0, &diag);
    return NULL;
}

static void opened_by_many(void)
{
    enum { THREADS = 16 };
    pthread_t threads[THREADS];
    RtDevice *found[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, open_device, &found[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(found[i] && found[i] == found[0]);
    CHECK(fake()->alive() == 1);
}

void test_cuda(void)
{
    const char *environment[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), NULL};
    const struct {
        const char *what;
        void (*body)(void);
    } cases[] = {
        {"devices", devices},
        {"memory", memory},
        {"ordered memory", ordered_memory},
        {"no stream", no_stream},
        {"kept memory", kept_memory},
        {"memory that is short", memory_that_is_short},
        {"whole words", whole_words},
        {"large copies", large_copies},
        {"large copies without pinned memory", large_copies_without_pinned_memory},
        {"large copies of several threads", large_copies_of_several_threads},
        {"streams and events", streams_and_events},
        {"modules", modules},
        {"launches", launches},
        {"faults", faults},
        {"exceptions", exceptions},
        {"contexts", contexts},
        {"one device opened by many threads", opened_by_many},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        in_child_with(cases[i].what, cases[i].body, environment);
}
