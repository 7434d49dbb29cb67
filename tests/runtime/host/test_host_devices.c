/* Several CPU devices: how many, whose memory is whose, peers, copies, and memory for other processes. */
#include "runtime_tests.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void numbers(void)
{
    Diag diag = {0};
    int count = 0;
    CHECK_OK(rt_cpu_count(&count, &diag) && count == 3, &diag);
    RtDevice *first = rt_device(RT_CPU, 0, &diag), *last = rt_device(RT_CPU, 2, &diag);
    CHECK(first && last && first != last && rt_device(RT_CPU, 2, &diag) == last);
    CHECK(rt_device_ordinal(last) == 2 && !rt_device_is_alone(first));
    CHECK(rt_device_bit(first) != rt_device_bit(last) && rt_device_in(rt_device_bit(last), &diag) == last);
    CHECK_CONTAINS(rt_device_name(last), "CPU 2");
    CHECK_FAILS(rt_device(RT_CPU, 3, &diag), &diag, DIAG_NO_HOST_DEVICE, "there is no CPU device 3, of 3");
    CHECK_FAILS(rt_device(RT_CPU, -1, &diag), &diag, DIAG_NO_HOST_DEVICE, "there is no CPU device -1");
    uint8_t uuids[2][16];
    CHECK_OK(rt_device_uuid(first, uuids[0], &diag) && rt_device_uuid(last, uuids[1], &diag), &diag);
    CHECK(memcmp(uuids[0], uuids[1], 16) != 0);
}

static void wrong_number(void)
{
    Diag diag = {0};
    CHECK_FAILS(rt_device(RT_CPU, 0, &diag), &diag, DIAG_HOST_DEVICES, "expected a number from 1 to 16");
}

static void homes(void)
{
    Diag diag = {0};
    RtDevice *first = rt_device(RT_CPU, 0, &diag), *second = rt_device(RT_CPU, 1, &diag);
    RtPointer here = 0, there = 0, start = 0;
    RtHostBuffer pinned;
    uint64_t home = 7;
    size_t size = 0;
    bool is_here = false, can = false;
    char text[16] = "between devices";
    CHECK_OK(rt_allocate(first, 16, &here, &diag) && rt_allocate_ordered(second, 100, &there, &diag), &diag);
    CHECK_OK(rt_pointer_home(first, there + 99, &home, &diag) && home == rt_device_bit(second), &diag);
    CHECK_OK(rt_pointer_is_here(first, here + 15, &is_here, &diag) && is_here, &diag);
    CHECK_OK(rt_pointer_is_here(first, there, &is_here, &diag) && !is_here, &diag);
    CHECK_OK(rt_pointer_home(first, (RtPointer)(uintptr_t)text, &home, &diag) && !home, &diag);
    CHECK_OK(rt_allocate_host(second, RT_HOST_PINNED, 100, &pinned, &diag), &diag);
    CHECK_OK(rt_pointer_home(first, pinned.device, &home, &diag) && !home, &diag);
    CHECK_OK(rt_memory_range(first, there + 5, &start, &size, &diag) && start == there && size >= 100, &diag);
    CHECK(rt_device_reach(first) == rt_device_bit(first));
    CHECK_OK(rt_can_access_peer(first, second, &can, &diag) && can, &diag);
    CHECK_OK(rt_enable_peer_access(first, second, &diag) && rt_enable_peer_access(first, second, &diag), &diag);
    CHECK(rt_device_reach(first) == (rt_device_bit(first) | rt_device_bit(second)));
    CHECK(rt_device_reach(second) == rt_device_bit(second));
    CHECK_OK(rt_copy_to_device(first, here, text, 16, NULL, &diag), &diag);
    CHECK_OK(rt_copy_between(second, there, first, here, 16, NULL, &diag), &diag);
    memset(text, 0, sizeof text);
    CHECK_OK(rt_copy_to_host(second, text, there, 16, NULL, &diag), &diag);
    CHECK_TEXT(text, "between devices");
    CHECK_OK(rt_free_host(second, &pinned, &diag) && rt_free(first, here, &diag), &diag);
    CHECK_OK(rt_free_ordered(second, there, &diag), &diag);
    CHECK_FAILS(rt_free(first, (RtPointer)(uintptr_t)text, &diag), &diag, DIAG_DRIVER_CALL,
                "no allocation starts there");
}

static void streams(void)
{
    Diag diag = {0};
    RtStream *made[4];
    for (int i = 0; i < 4; i++) {
        made[i] = rt_stream_create(rt_device(RT_CPU, i / 2, &diag), &diag);
        CHECK_OK(made[i] && rt_stream_handle(made[i]) > 2 && rt_stream_is_own(made[i]), &diag);
        for (int k = 0; k < i; k++)
            CHECK(rt_stream_handle(made[k]) != rt_stream_handle(made[i]));
    }
    for (int i = 0; i < 4; i++)
        rt_stream_destroy(made[i]);
}

/* In a fork: opens the parent's memory, reads and changes it. */
static int child_status(RtDevice *device, const RtExport *handle)
{
    Diag diag = {0};
    RtPointer opened = 0;
    bool is_here = false;
    if (!rt_import_memory(device, handle, &opened, &diag) || !rt_pointer_is_here(device, opened, &is_here, &diag))
        return 1;
    char *bytes = (char *)(uintptr_t)opened;
    if (!is_here || strcmp(bytes, "shared") != 0)
        return 2;
    strcpy(bytes, "changed");
    return rt_close_import(device, opened, &diag) && !rt_close_import(device, opened, &diag) ? 0 : 3;
}

static void other_processes(void)
{
    Diag diag = {0};
    RtDevice *device = rt_device(RT_CPU, 1, &diag), *other = rt_device(RT_CPU, 0, &diag);
    RtPointer pointer = 0, pools = 0, opened = 0;
    RtExport handle, again;
    char text[16] = "shared";
    int status = -1;
    CHECK_OK(rt_allocate(device, 100000, &pointer, &diag) && rt_allocate_ordered(device, 16, &pools, &diag), &diag);
    CHECK_OK(rt_copy_to_device(device, pointer, text, 16, NULL, &diag), &diag);
    CHECK_FAILS(rt_export_memory(device, pools, &handle, &diag), &diag, DIAG_SHARED_MEMORY, "it is of a pool");
    CHECK_FAILS(rt_export_memory(device, pointer + 8, &handle, &diag), &diag, DIAG_SHARED_MEMORY, "it is of a pool");
    CHECK_FAILS(rt_export_memory(other, pointer, &handle, &diag), &diag, DIAG_SHARED_MEMORY, "it is of a pool");
    CHECK_OK(rt_export_memory(device, pointer, &handle, &diag) && rt_export_memory(device, pointer, &again, &diag),
             &diag);
    CHECK(memcmp(&handle, &again, sizeof handle) == 0);
    CHECK_OK(rt_copy_to_host(device, text, pointer, 16, NULL, &diag), &diag);
    CHECK_TEXT(text, "shared"); /* where it lay */
    CHECK_FAILS(rt_import_memory(device, &handle, &opened, &diag), &diag, DIAG_SHARED_MEMORY, "in another process");
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        _exit(child_status(device, &handle));
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK_OK(rt_copy_to_host(device, text, pointer, 16, NULL, &diag), &diag);
    CHECK_TEXT(text, "changed");
    CHECK_OK(rt_free(device, pointer, &diag) && rt_free_ordered(device, pools, &diag), &diag);
    fflush(NULL);
    child = fork();
    if (!child)
        _exit(rt_import_memory(device, &handle, &opened, &diag) || !strstr(diag.message, "no memory behind this"));
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

void test_host_devices(void)
{
    static const char *const three[] = {"CUJIT_CPU_DEVICES", "3", NULL}, *const none[] = {"CUJIT_CPU_DEVICES", "0",
                                                                                          NULL};
    in_child_with("numbers", numbers, three);
    in_child_with("a wrong number", wrong_number, none);
    in_child_with("homes", homes, three);
    in_child_with("streams", streams, three);
    in_child_with("other processes", other_processes, three);
}
