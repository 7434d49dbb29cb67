/* Two GPUs over the fake driver, whose memory belongs to the context that it was made in. */
#include "runtime_tests.h"

#include <dlfcn.h>

#include "cuda/fake_driver.h"
#include "runtime/cuda/driver/driver.h"

static const FakeDriver *fake(void) { return dlsym(dlopen(fake_driver_path(), RTLD_NOW | RTLD_NOLOAD), "fake_driver"); }

typedef struct Pair {
    RtDevice *first, *second;
    RtPointer here, there; /* 16 bytes each */
} Pair;

static Pair make_pair(void)
{
    Diag diag = {0};
    Pair pair = {rt_device(RT_GPU, 0, &diag), rt_device(RT_GPU, 1, &diag), 0, 0};
    CHECK_OK(rt_allocate(pair.first, 16, &pair.here, &diag) && rt_allocate(pair.second, 16, &pair.there, &diag), &diag);
    return pair;
}

static void sets(void)
{
    Pair pair = make_pair();
    CHECK(!rt_device_is_alone(pair.first) && !rt_device_is_alone(pair.second));
    CHECK(rt_device_bit(pair.first) == 1 && rt_device_bit(pair.second) == 2);
    CHECK(rt_device_reach(pair.first) == 1 && rt_device_reach(pair.second) == 2);
    Diag diag = {0};
    RtDevice *cpu = rt_device(RT_CPU, 0, &diag);
    CHECK(rt_device_is_alone(cpu) && rt_device_reach(cpu) == rt_device_bit(cpu) && rt_device_bit(cpu) > 2);
    CHECK_OK(rt_synchronize_all(pair.first, &diag), &diag);
    CHECK(fake()->calls("cuCtxSynchronize") == 2);
}

static void homes(void)
{
    Diag diag = {0};
    Pair pair = make_pair();
    uint64_t home = 9;
    RtHostBuffer block;
    CHECK_OK(rt_pointer_home(pair.first, pair.here, &home, &diag) && home == 1, &diag);
    CHECK_OK(rt_pointer_home(pair.first, pair.there + 15, &home, &diag) && home == 2, &diag);
    CHECK_OK(rt_pointer_home(pair.second, (RtPointer)(uintptr_t)&home, &home, &diag) && home == 0, &diag);
    CHECK_OK(rt_allocate_host(pair.first, RT_HOST_PINNED, 16, &block, &diag), &diag);
    CHECK_OK(rt_pointer_home(pair.second, block.device, &home, &diag) && home == 0, &diag);
    int asked = fake()->calls("cuPointerGetAttributes");
    CHECK_OK(rt_pointer_home(pair.first, 0, &home, &diag) && home == 0, &diag);
    CHECK(fake()->calls("cuPointerGetAttributes") == asked);
    bool here = false;
    CHECK_OK(rt_pointer_is_here(pair.second, pair.there, &here, &diag) && here, &diag);
    CHECK_OK(rt_pointer_is_here(pair.second, pair.here, &here, &diag) && !here, &diag);
    CHECK_OK(rt_pointer_is_here(pair.second, (RtPointer)(uintptr_t)&here, &here, &diag) && !here, &diag);
    CHECK(fake()->calls("cuPointerGetAttributes") == asked); /* one attribute is enough for what is here */
    fake()->fail("cuPointerGetAttributes", 1, CUDA_ERROR_UNKNOWN);
    CHECK_FAILS(rt_pointer_home(pair.second, pair.here, &home, &diag), &diag, DIAG_DRIVER_CALL, "CUDA_ERROR_UNKNOWN");
}

static void one_device(void)
{
    Diag diag = {0};
    uint64_t home = 9;
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    RtPointer pointer = 0;
    CHECK(rt_device_is_alone(device));
    CHECK_OK(rt_allocate(device, 16, &pointer, &diag), &diag);
    CHECK_OK(rt_pointer_home(device, pointer, &home, &diag) && home == 0, &diag);
    CHECK(fake()->calls("cuPointerGetAttributes") == 0);
}

static void copies(void)
{
    Diag diag = {0};
    Pair pair = make_pair();
    char text[16] = "between devices";
    RtStream *streams[] = {NULL, rt_stream_create(pair.first, &diag), rt_stream_create(pair.second, &diag)};
    for (int i = 0; i < 3; i++) {
        text[0] = (char)('0' + i);
        CHECK_OK(rt_copy_to_device(pair.first, pair.here, text, 16, NULL, &diag), &diag);
        CHECK_OK(rt_copy_between(pair.second, pair.there, pair.first, pair.here, 16, streams[i], &diag), &diag);
        char got[16] = "";
        CHECK_OK(rt_copy_to_host(pair.second, got, pair.there, 16, NULL, &diag), &diag);
        CHECK_TEXT(got, text);
    }
    CHECK(fake()->calls("cuMemcpyPeer") == 1 && fake()->calls("cuMemcpyPeerAsync") == 2);
    /* In a stream: it waits for the other device, which then waits for it. */
    CHECK(fake()->calls("cuStreamWaitEvent") == 4 && fake()->calls("cuEventCreate") == 4);
    CHECK(fake()->calls("cuEventDestroy") == 4);
    CHECK_OK(rt_copy_between(pair.first, pair.here, pair.first, pair.here, 16, NULL, &diag), &diag);
    CHECK_OK(rt_copy_between(pair.first, 0, pair.second, 0, 0, NULL, &diag), &diag);
    CHECK(fake()->calls("cuMemcpyDtoDAsync") == 1 && fake()->calls("cuMemcpyPeer") == 1);
    const char *const failing[] = {"cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuMemcpyPeerAsync"};
    for (int i = 0; i < 4; i++) {
        int left = fake()->calls("cuEventCreate") - fake()->calls("cuEventDestroy");
        fake()->fail(failing[i], 1, CUDA_ERROR_UNKNOWN);
        diag_clear(&diag);
        CHECK_FAILS(rt_copy_between(pair.second, pair.there, pair.first, pair.here, 16, streams[1], &diag), &diag,
                    DIAG_DRIVER_CALL, failing[i]);
        CHECK(fake()->calls("cuEventCreate") - fake()->calls("cuEventDestroy") == left + (i == 0));
    }
    rt_stream_destroy(streams[1]);
    rt_stream_destroy(streams[2]);
}

static void peers(void)
{
    Diag diag = {0};
    bool can = false;
    Pair pair = make_pair();
    CHECK_OK(rt_can_access_peer(pair.first, pair.second, &can, &diag) && can, &diag);
    CHECK_OK(rt_can_access_peer(pair.first, pair.first, &can, &diag) && !can, &diag);
    CHECK_OK(rt_enable_peer_access(pair.first, pair.first, &diag), &diag);
    CHECK(fake()->calls("cuCtxEnablePeerAccess") == 0);
    fake()->fail("cuMemPoolSetAccess", 1, CUDA_ERROR_UNKNOWN);
    CHECK_FAILS(rt_enable_peer_access(pair.first, pair.second, &diag), &diag, DIAG_DRIVER_CALL, "cuMemPoolSetAccess");
    CHECK(rt_device_reach(pair.first) == 1);
    for (int i = 0; i < 2; i++) { /* it has been enabled already */
        diag_clear(&diag);
        CHECK_OK(rt_enable_peer_access(pair.first, pair.second, &diag), &diag);
        CHECK(rt_device_reach(pair.first) == 3 && rt_device_reach(pair.second) == 2);
    }
}

static void other_processes(void)
{
    Diag diag = {0};
    Pair pair = make_pair();
    RtPointer start = 0, opened = 0, pools = 0;
    size_t size = 0;
    RtExport handle, nonsense = {{1, 2, 3}};
    CHECK_OK(rt_memory_range(pair.first, pair.here + 5, &start, &size, &diag), &diag);
    CHECK(start == pair.here && size == 16);
    CHECK_OK(rt_export_memory(pair.first, pair.here, &handle, &diag), &diag);
    CHECK_OK(rt_import_memory(pair.first, &handle, &opened, &diag) && opened == pair.here, &diag);
    CHECK_OK(rt_close_import(pair.first, opened, &diag) && rt_close_import(pair.first, 0, &diag), &diag);
    CHECK(fake()->calls("cuIpcCloseMemHandle") == 1);
    CHECK_FAILS(rt_import_memory(pair.first, &nonsense, &opened, &diag), &diag, DIAG_SHARED_MEMORY,
                "the process that made it has ended or freed it");
    CHECK(!opened);
    CHECK_OK(rt_allocate_ordered(pair.first, 16, &pools, &diag), &diag);
    CHECK_FAILS(rt_export_memory(pair.first, pools, &handle, &diag), &diag, DIAG_SHARED_MEMORY, "it is of a pool");
    RtDevice *cpu = rt_device(RT_CPU, 0, &diag);
    CHECK_FAILS(rt_export_memory(cpu, pair.here, &handle, &diag), &diag, DIAG_SHARED_MEMORY,
                "of a pool or of the host");
    CHECK_FAILS(rt_import_memory(cpu, &nonsense, &opened, &diag), &diag, DIAG_SHARED_MEMORY, "no IPC handle of a CPU");
    CHECK_FAILS(rt_close_import(cpu, pair.here, &diag), &diag, DIAG_SHARED_MEMORY, "no other process's memory");
    CHECK_OK(rt_memory_range(cpu, pair.here, &start, &size, &diag) && start == pair.here && !size, &diag);
}

static void contexts_of_threads(void)
{
    Diag diag = {0};
    uint64_t former = 7, again = 7;
    Pair pair = make_pair();
    CUcontext current = NULL;
    driver.cuCtxSetCurrent(NULL);
    CHECK_OK(rt_synchronize(pair.second, &diag), &diag);
    driver.cuCtxGetCurrent(&current);
    CHECK(!current); /* only the first device's stays where there was none */
    CHECK_OK(rt_make_current(pair.second, &former, &diag) && former == 0, &diag);
    driver.cuCtxGetCurrent(&current);
    CHECK((uint64_t)(uintptr_t)current == rt_device_context(pair.second));
    CHECK_OK(rt_make_current(pair.first, &again, &diag) && again == rt_device_context(pair.second), &diag);
    CHECK_OK(rt_restore_current(pair.first, again, &diag) && rt_restore_current(pair.second, former, &diag), &diag);
    driver.cuCtxGetCurrent(&current);
    CHECK(!current);
    CHECK(rt_device_context(rt_device(RT_CPU, 0, &diag)) == 0);
}

static int released;
static RtPointer managed = 0x1000;

static bool allocate_managed(RtDevice *device, size_t size, RtPointer *pointer, Diag *diag)
{
    (void)device;
    *pointer = managed;
    return size != 13 || diag_fail(diag, NULL, DIAG_MEMORY_MANAGER, size, "here", "unlucky");
}

static bool release_managed(RtDevice *device, RtPointer pointer)
{
    (void)device;
    released += pointer == managed;
    return pointer == managed;
}

static void memory_managers(void)
{
    Diag diag = {0};
    Pair pair = make_pair();
    RtPointer own = 0, theirs = 0;
    const RtMemoryManager manager = {allocate_managed, release_managed};
    CHECK_OK(rt_allocate_ordered(pair.first, 16, &own, &diag), &diag);
    rt_set_memory_manager(&manager);
    CHECK_OK(rt_allocate_ordered(pair.first, 16, &theirs, &diag) && theirs == managed, &diag);
    CHECK_FAILS(rt_allocate_ordered(pair.first, 13, &theirs, &diag), &diag, DIAG_MEMORY_MANAGER, "unlucky");
    CHECK_OK(rt_allocate_ordered(pair.first, 0, &theirs, &diag) && !theirs, &diag);
    CHECK_OK(rt_free_ordered(pair.first, own, &diag) && rt_free(pair.first, pair.here, &diag), &diag);
    rt_set_memory_manager(NULL); /* what it gave is released by it */
    CHECK_OK(rt_allocate_ordered(pair.first, 16, &own, &diag) && own != managed, &diag);
    CHECK_OK(rt_free_ordered(pair.first, managed, &diag) && rt_free(pair.first, managed, &diag), &diag);
    CHECK(released == 2);
}

static void strangers(void)
{
    Diag diag = {0};
    bool can = true;
    Pair pair = make_pair();
    CHECK_OK(rt_can_access_peer(pair.first, pair.second, &can, &diag) && !can, &diag);
    CHECK_FAILS(rt_enable_peer_access(pair.first, pair.second, &diag), &diag, DIAG_PEER_ACCESS,
                "Fake GPU 0 and Fake GPU 1 cannot use each other's memory");
    CHECK(rt_device_reach(pair.first) == 1);
}

void test_peers(void)
{
    const char *two[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), NULL};
    const char *apart[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), "FAKE_DRIVER_PEERS", "0", NULL};
    const char *alone[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), "FAKE_DRIVER_DEVICES", "1", NULL};
    in_child_with("sets of devices", sets, two);
    in_child_with("whose memory", homes, two);
    in_child_with("copies between devices", copies, two);
    in_child_with("peers", peers, two);
    in_child_with("no peers", strangers, apart);
    in_child_with("other processes", other_processes, two);
    in_child_with("contexts of threads", contexts_of_threads, two);
    in_child_with("memory managers", memory_managers, two);
    in_child_with("whose memory, with one device", one_device, alone);
}
