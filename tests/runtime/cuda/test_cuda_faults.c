/* Fault injection: every call of every driver function fails once while everything the runtime can do is done. Each
 * failure becomes one Diag that names the function, and nothing stays alive. */
#include "runtime_tests.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "fake_driver.h"
#include "runtime/cuda/context/cuda_context.h"

/* What failed in one run of everything. */
typedef struct Outcome {
    int failures;
    int staging;   /* what the first large copies made and the device keeps */
    Diag first;
} Outcome;

static const FakeDriver *fake;
static DriverFunctionId victim;
static int victim_call;

static bool step(Outcome *outcome, bool ok, Diag *diag)
{
    if (ok == diag_failed(diag))
        CHECK(!"a call fails exactly when it fills its Diag");
    if (!ok && !outcome->failures++)
        outcome->first = *diag;
    diag_clear(diag);
    return ok;
}

#define STEP(call) step(outcome, (call), &diag)

static void use_host_memory(RtDevice *device, Outcome *outcome)
{
    Diag diag = {0};
    char text[8] = "1234567";
    RtPointer pointer = 0;
    for (RtHostMemory kind = RT_HOST_PINNED; kind <= RT_HOST_MANAGED_BY_HOST; kind++) {
        RtHostBuffer buffer;
        if (STEP(rt_allocate_host(device, kind, 8, &buffer, &diag)) && !STEP(rt_free_host(device, &buffer, &diag)))
            STEP(rt_free_host(device, &buffer, &diag));
    }
    if (STEP(rt_register_host(device, text, 8, &pointer, &diag)))
        STEP(rt_unregister_host(device, text, &diag));
}

static void use_large_copies(RtDevice *device, Outcome *outcome)
{
    enum { LARGE = 16 << 20 };
    Diag diag = {0};
    RtPointer memory = 0;
    char *pageable = calloc(1, LARGE);
    if (STEP(rt_allocate(device, LARGE, &memory, &diag))) {
        int before = fake->alive();
        STEP(rt_copy_to_device(device, memory, pageable, LARGE, NULL, &diag));
        STEP(rt_copy_to_host(device, pageable, memory, LARGE, NULL, &diag));
        outcome->staging = fake->alive() - before;
        if (!STEP(rt_free(device, memory, &diag)))
            STEP(rt_free(device, memory, &diag));
    }
    free(pageable);
}

static void use_memory(RtDevice *device, RtStream *stream, Outcome *outcome)
{
    Diag diag = {0};
    RtPointer a = 0, b = 0;
    char text[8] = "1234567";
    if (STEP(rt_allocate(device, 8, &a, &diag)) && STEP(rt_allocate(device, 8, &b, &diag))) {
        for (int i = 0; i < 2; i++) {
            STEP(rt_copy_to_device(device, a, text, 8, i ? stream : NULL, &diag));
            STEP(rt_copy_to_host(device, text, a, 8, i ? stream : NULL, &diag));
        }
        STEP(rt_copy_on_device(device, b, a, 8, stream, &diag));
        STEP(rt_fill(device, a, 0, 8, stream, &diag));
        TensorMap map = {
            .pointer = 1 << 10, .extents = {64}, .strides = {2}, .box = {64}, .axes = 1, .element_size = 2};
        TensorMapWords words;
        STEP(rt_tensor_map(device, &map, &words, &diag));
    }
    if (!STEP(rt_free(device, a, &diag)))
        STEP(rt_free(device, a, &diag));
    if (!STEP(rt_free(device, b, &diag)))
        STEP(rt_free(device, b, &diag));
    STEP(rt_allocate_ordered(device, 8, &a, &diag));
    if (!STEP(rt_free_ordered(device, a, &diag)))
        STEP(rt_free_ordered(device, a, &diag));
}

static void use_events(RtDevice *device, RtStream *stream, Outcome *outcome)
{
    Diag diag = {0};
    bool done;
    float milliseconds;
    RtEvent *start = rt_event_create(device, true, &diag);
    STEP(start != NULL);
    RtEvent *end = rt_event_create(device, true, &diag);
    STEP(end != NULL);
    if (start && end) {
        STEP(rt_event_record(start, stream, &diag));
        STEP(rt_stream_wait_event(device, stream, start, &diag));
        STEP(rt_event_synchronize(start, &diag));
        STEP(rt_event_query(start, &done, &diag));
        STEP(rt_event_elapsed(start, end, &milliseconds, &diag));
    }
    STEP(rt_stream_query(device, stream, &done, &diag));
    STEP(rt_stream_synchronize(device, stream, &diag));
    rt_event_destroy(start);
    rt_event_destroy(end);
}

static void use_kernel(RtDevice *device, RtStream *stream, Outcome *outcome)
{
    Diag diag = {0};
    int value, blocks;
    KernelImage image = {.name = "k", .code = "ptx", .code_size = 4, .has_deep_stack = true};
    RtLaunch launch = {.grid = {8, 1, 1}, .block = {32, 1, 1}, .stream = stream};
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    if (!STEP(kernel != NULL))
        return;
    STEP(rt_kernel_attribute(kernel, 4, &value, &diag));
    STEP(rt_kernel_occupancy(kernel, 0, &blocks, &value, &diag));
    STEP(rt_kernel_resident_blocks(kernel, 64, 100, &blocks, &diag));
    STEP(rt_launch(kernel, &launch, &diag));
    launch.dynamic_shared = 100000;
    STEP(rt_launch(kernel, &launch, &diag));
    launch.cooperative = true;
    STEP(rt_launch(kernel, &launch, &diag));
    launch.grid[0] = 1024;
    rt_launch(kernel, &launch, &diag);   /* too large: a failure either way */
    STEP(diag.id == DIAG_LAUNCH_SHAPE ? (diag_clear(&diag), true) : !diag_failed(&diag));
    launch.cluster[0] = 16;
    launch.cooperative = false;
    STEP(rt_launch(kernel, &launch, &diag));
    rt_kernel_unload(kernel);
}

/* Before the pool is used: from then on a failure of the synchronization leaves memory that has been freed. */
static void use_ipc(RtDevice *device, Outcome *outcome)
{
    Diag diag = {0};
    size_t size;
    RtExport handle;
    uint64_t former;
    RtPointer memory = 0, start = 0;
    STEP(rt_make_current(device, &former, &diag) && rt_restore_current(device, former, &diag));
    if (!STEP(rt_allocate(device, 8, &memory, &diag)))
        return;
    STEP(rt_memory_range(device, memory, &start, &size, &diag));
    if (STEP(rt_export_memory(device, memory, &handle, &diag)) &&
        STEP(rt_import_memory(device, &handle, &start, &diag)))
        STEP(rt_close_import(device, start, &diag));
    if (!STEP(rt_free(device, memory, &diag)))
        STEP(rt_free(device, memory, &diag));
}

static void use_peers(RtDevice *device, RtStream *stream, Outcome *outcome)
{
    bool can;
    Diag diag = {0};
    uint64_t home;
    RtPointer here = 0, there = 0;
    RtDevice *peer = rt_device(RT_GPU, 1, &diag);
    if (!STEP(peer != NULL))
        return;
    STEP(rt_can_access_peer(device, peer, &can, &diag));
    STEP(rt_enable_peer_access(device, peer, &diag));
    if (STEP(rt_allocate_ordered(device, 8, &here, &diag)) && STEP(rt_allocate_ordered(peer, 8, &there, &diag))) {
        STEP(rt_pointer_is_here(device, there, &can, &diag));
        STEP(rt_pointer_home(device, there, &home, &diag));
        STEP(rt_copy_between(peer, there, device, here, 8, NULL, &diag));
        STEP(rt_copy_between(peer, there, device, here, 8, stream, &diag));
    }
    if (!STEP(rt_free_ordered(device, here, &diag)))
        STEP(rt_free_ordered(device, here, &diag));
    if (!STEP(rt_free_ordered(peer, there, &diag)))
        STEP(rt_free_ordered(peer, there, &diag));
}

/* More than a node can depend on. The driver does not hear of them. */
static void use_many_streams(RtDevice *device, RtPointer memory, Outcome *outcome)
{
    Diag diag = {0};
    for (uint64_t i = 0; i < 17; i++) {
        RtStream *stream = rt_stream_external(device, 0x1000 + i, &diag);
        STEP(rt_fill(device, memory, 0, 8, stream, &diag));
        rt_stream_destroy(stream);
    }
}

static void use_graph(RtDevice *device, RtStream *stream, Outcome *outcome)
{
    Diag diag = {0};
    char bytes[8] = {0};
    RtPointer memory = 0;
    KernelImage image = {.name = "k", .code = "ptx", .code_size = 4};
    RtLaunch launch = {.grid = {8, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}, .cooperative = true};
    RtKernel *kernel = rt_kernel_load(device, &image, &diag);
    if (!STEP(kernel != NULL))
        return;
    RtGraph *graph = rt_graph_create(device, NULL, &diag);
    if (STEP(rt_allocate_ordered(device, 16, &memory, &diag)) && STEP(rt_graph_begin(graph, &diag))) {
        use_many_streams(device, memory, outcome);
        STEP(rt_launch(kernel, &launch, &diag));
        STEP(rt_copy_to_device(device, memory, bytes, 8, NULL, &diag));
        STEP(rt_graph_begin_body(graph, true, memory, 4, NULL, &diag) && rt_fill(device, memory, 0, 8, NULL, &diag) &&
             rt_graph_end_body(graph, &diag));
        if (STEP(rt_graph_end(graph, &diag))) {
            STEP(rt_graph_launch(graph, stream, NULL, NULL, &diag));
            bool replaces = rt_graph_begin_replacing(graph, 18, NULL, NULL, &diag);
            STEP(replaces && rt_launch(kernel, &launch, &diag));
            if (replaces)
                rt_graph_end_replacing(graph);
        }
    }
    rt_graph_destroy(graph);
    if (!STEP(rt_free_ordered(device, memory, &diag)))
        STEP(rt_free_ordered(device, memory, &diag));
    rt_kernel_unload(kernel);
}

static void empty_pools(RtDevice *device, Outcome *outcome)
{
    Diag diag = {0};
    RtDevice *devices[] = {device, rt_device(RT_GPU, 1, &diag)};
    for (int i = 0; i < 4; i++) {
        RtPoolKind kind = i % 2 ? RT_POOL_PINNED : RT_POOL_DEVICE;
        diag_clear(&diag);
        if (devices[i / 2] && !STEP(rt_pool_empty(devices[i / 2], kind, &diag)))
            STEP(rt_pool_empty(devices[i / 2], kind, &diag));
    }
}

/* Code from elsewhere: linked, loaded as a module, asked for what it has. */
static void use_foreign_code(RtDevice *device, Outcome *outcome)
{
    Diag diag = {0};
    LinkItem ptx = {.kind = LINK_PTX, .name = "k", .data = "good", .size = 4}, library = ptx;
    library.kind = LINK_ARCHIVE;
    const LinkItem *items[] = {&ptx, &library};
    RtLinking linking = {.items = items, .count = 2, .device = device, .sm = 90, .max_registers = 32, .lineinfo = true};
    RtCode code;
    if (STEP(rt_link(&linking, &code, &diag)))
        CHECK_TEXT(code.bytes, "linked: 1/k 4/k");
    rt_code_free(&code);
    RtModule *module = rt_module_load(device, "good", "k", 0, &diag);
    if (!STEP(module != NULL))
        return;
    RtKernel *kernel = rt_module_kernel(module, "k", true, &diag);
    if (STEP(kernel != NULL)) {
        size_t offset, size;
        bool is_there, is_known;
        CHECK(rt_kernel_module(kernel) == rt_module_handle(module));
        STEP(rt_kernel_parameter(kernel, 1, &offset, &size, &is_there, &is_known, &diag));
        rt_kernel_unload(kernel);
    }
    RtPointer pointer;
    size_t size;
    STEP(rt_module_global(module, "table", &pointer, &size, &diag));
    rt_module_unload(module);
}

/* Everything the face can do on a device. Another library's context is current while memory is used. */
static void use_everything(Outcome *outcome)
{
    Diag diag = {0};
    bool ok, done;
    int value;
    uint8_t uuid[16];
    size_t available, total;
    rt_gpu_count(NULL, &ok, &diag);
    STEP(ok);
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    if (!STEP(device != NULL))
        return;
    STEP(rt_driver_version(&value, &diag));
    STEP(rt_device_attribute(device, 1, &value, &diag));
    STEP(rt_device_uuid(device, uuid, &diag));
    STEP(rt_memory_info(device, &available, &total, &diag));
    RtStream *stream = rt_stream_create(device, &diag);
    STEP(stream != NULL);
    use_large_copies(device, outcome);
    use_ipc(device, outcome);
    use_memory(device, stream, outcome);
    use_host_memory(device, outcome);
    use_events(device, stream, outcome);
    use_kernel(device, stream, outcome);
    use_graph(device, stream, outcome);
    use_peers(device, stream, outcome);
    use_foreign_code(device, outcome);
    STEP(rt_synchronize(device, &diag));
    empty_pools(device, outcome);
    rt_stream_destroy(stream);
    stream = rt_stream_external(device, (uintptr_t)&fake->non_blocking_stream, &diag);
    STEP(stream != NULL);
    STEP(rt_stream_query(device, stream, &done, &diag));
    rt_stream_destroy(stream);
}

/* Runs in a child: the driver is fresh, its victim fails at one call. */
static void one_fault(void)
{
    Outcome outcome = {0};
    Diag diag = {0};
    char expected[128];
    CHECK(driver_load(NULL, &diag) == DRIVER_READY);
    const char *name = driver_function_info[victim].name;
    fake = dlsym(dlopen(fake_driver_path(), RTLD_NOW | RTLD_NOLOAD), "fake_driver");
    driver.cuCtxSetCurrent((CUcontext)(uintptr_t)0x99);
    fake->fail(name, victim_call, CUDA_ERROR_UNKNOWN);
    use_everything(&outcome);
    bool silent = !strcmp(name, "cuStreamDestroy") || !strcmp(name, "cuEventDestroy") || strstr(name, "Unload") ||
                  !strcmp(name, "cuLinkDestroy") || !strncmp(name, "cuGetError", 10);
    bool loads = !strcmp(name, "cuModuleLoadDataEx") || !strcmp(name, "cuLibraryLoadData") ||
                 !strcmp(name, "cuLibraryGetModule");
    bool links = !strcmp(name, "cuLinkAddData") || !strcmp(name, "cuLinkComplete");
    snprintf(expected, sizeof expected,
             loads || links ? "%s: CUDA_ERROR_UNKNOWN (999)" : "%s failed: CUDA_ERROR_UNKNOWN (999)",
             loads   ? "'"
             : links ? "the driver cannot link k"
                     : name);
    if (!silent && outcome.failures) {
        CHECK(outcome.first.id == (loads   ? DIAG_DRIVER_LINK
                                   : links ? DIAG_LINK
                                           : DIAG_DRIVER_CALL) &&
              outcome.first.code == 999);
        CHECK_CONTAINS(outcome.first.message, expected);
    }
    /* What survives: the retained contexts, and what a failing destroy call could not destroy. */
    enum { PARTS_OF_A_GRAPH = 3 };
    bool destroys = strstr(name, "Destroy") || strstr(name, "Unload") || strstr(name, "cuCtx");
    int contexts = fake->calls("cuDevicePrimaryCtxRetain") - !strcmp(name, "cuDevicePrimaryCtxRetain");
    CHECK(outcome.staging <= 4 * STAGING_WORKERS * STAGING_WORKER_SLOTS);
    int excess = fake->alive() - contexts - outcome.staging;
    if (!CHECK(destroys ? excess <= PARTS_OF_A_GRAPH && excess >= 0 : excess == 0))
        fprintf(stderr, "%s call %d: %d alive beyond the contexts\n", name, victim_call, excess);
}

/* How often a run without faults calls each function, through memory shared with the child that counts. */
static int *call_counts;

static void count_calls(void)
{
    Outcome outcome = {0};
    Diag diag = {0};
    CHECK(driver_load(NULL, &diag) == DRIVER_READY);
    fake = dlsym(dlopen(fake_driver_path(), RTLD_NOW | RTLD_NOLOAD), "fake_driver");
    driver.cuCtxSetCurrent((CUcontext)(uintptr_t)0x99);
    int before[DRIVER_FUNCTION_COUNT];
    for (int id = 0; id < DRIVER_FUNCTION_COUNT; id++)
        before[id] = fake->calls(driver_function_info[id].name);
    use_everything(&outcome);
    CHECK(outcome.failures == 0);
    CHECK_TEXT(outcome.first.message, "");
    CHECK(fake->alive() == 2 + outcome.staging);
    for (int id = 0; id < DRIVER_FUNCTION_COUNT; id++)
        if (!call_counts[id])
            call_counts[id] = fake->calls(driver_function_info[id].name) - before[id];
}

void test_cuda_faults(void)
{
    const char *environment[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), NULL};
    const char *eager[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), "CUDA_MODULE_LOADING", "EAGER", NULL};
    call_counts = shared_memory(DRIVER_FUNCTION_COUNT * sizeof *call_counts);
    in_child_with("a run without faults", count_calls, environment);
    in_child_with("a run that loads all code at once", count_calls, eager);
    if (under_thread_sanitizer) /* a thousand children with one thread each */
        return;
    for (int id = 0; id < DRIVER_FUNCTION_COUNT; id++) {
        victim = (DriverFunctionId)id;
        bool only_elsewhere = id == DRIVER_cuInit || id == DRIVER_cuDevicePrimaryCtxRelease ||
                              id == DRIVER_cuGetErrorName || id == DRIVER_cuGetErrorString;
        if (!CHECK(only_elsewhere || call_counts[id] > 0))
            fprintf(stderr, "%s is never called\n", driver_function_info[id].name);
        for (victim_call = 1; victim_call <= call_counts[id]; victim_call++)
            in_child_with(driver_function_info[id].name, one_fault,
                          id == DRIVER_cuModuleLoadDataEx ? eager : environment);
    }
}
