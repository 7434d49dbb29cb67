/* Two GPUs over the fake driver, whose memory belongs to the context that it was made in. */
#include "runtime_tests.h"

#include <dlfcn.h>

#include "fake_driver.h"
#include "runtime/cuda/driver.h"

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
    in_child_with("whose memory, with one device", one_device, alone);
}
