/* Finding and loading the driver: absent, incomplete, broken, without devices. Each case is a process of its own. */
#include "runtime_tests.h"

#include "runtime/cuda/driver/driver.h"

static void check_absent(const char *text)
{
    Diag diag = {0};
    const char *why = NULL;
    bool ok = false;
    CHECK(rt_gpu_count(&why, &ok, &diag) == 0);
    CHECK(ok && !diag_failed(&diag));
    CHECK_CONTAINS(why ? why : "", text);
    CHECK(rt_gpu_count(NULL, &ok, &diag) == 0 && ok);
    CHECK_FAILS(rt_device(RT_GPU, 0, &diag), &diag, DIAG_DRIVER_MISSING, text);
    int version = 1;
    CHECK_FAILS(rt_driver_version(&version, &diag), &diag, DIAG_DRIVER_MISSING, text);
    CHECK(version == 0);
}

static void check_broken(DiagId id, const char *text)
{
    Diag diag = {0};
    const char *why = "";
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        CHECK(rt_gpu_count(&why, &ok, &diag) == 0 && !ok && !why);
        CHECK_FAILS(ok, &diag, id, text);
    }
    CHECK_FAILS(rt_device(RT_GPU, 0, &diag), &diag, id, text);
}

static void missing_library(void) { check_absent("/nonexistent/libcuda.so.1"); }
static void no_device(void) { check_absent("reports no device"); }
static void stub_library(void) { check_absent("stub"); }
static void failing_init(void)
{
    check_broken(DIAG_DRIVER_CALL, "cuInit failed: CUDA_ERROR_UNKNOWN (999): unknown error");
}
static void missing_symbol(void) { check_broken(DIAG_DRIVER_SYMBOL, "cuMemAlloc_v2; it needs driver 3.2 or newer"); }

static void zero_devices(void)
{
    Diag diag = {0};
    const char *why = NULL;
    bool ok = false;
    CHECK(rt_gpu_count(&why, &ok, &diag) == 0 && ok);
    CHECK_CONTAINS(why ? why : "", "no device");
}

static void missing_optional(void)
{
    Diag diag = {0};
    uint8_t uuid[16];
    RtDevice *device = rt_device(RT_GPU, 0, &diag);
    CHECK_OK(device != NULL, &diag);
    CHECK_FAILS(rt_device_uuid(device, uuid, &diag), &diag, DIAG_DRIVER_SYMBOL,
                "no function cuDeviceGetUuid; it needs driver 9.2");
    RtKernel *kernel = rt_kernel_load(device, &(KernelImage){.name = "k", .code = "ptx", .code_size = 4}, &diag);
    CHECK_OK(kernel != NULL, &diag);
    RtLaunch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK_OK(rt_launch(kernel, &launch, &diag), &diag);
    RtPointer pointer = 0;
    CHECK_OK(rt_allocate_ordered(device, 8, &pointer, &diag) && rt_free_ordered(device, pointer, &diag), &diag);
    launch.cooperative = true;
    CHECK_FAILS(rt_launch(kernel, &launch, &diag), &diag, DIAG_DRIVER_SYMBOL, "cuLaunchKernelEx; it needs driver 11.6");
    rt_kernel_unload(kernel);
}

void test_driver_loading(void)
{
    const char *fake = fake_driver_path();
    const struct {
        const char *what;
        void (*body)(void);
        const char *driver, *fail, *devices;
    } cases[] = {
        {"missing library", missing_library, "/nonexistent/libcuda.so.1", "", "2"},
        {"no device", no_device, fake, "cuInit:1:100", "2"},
        {"zero devices", zero_devices, fake, "", "0"},
        {"stub library", stub_library, fake, "cuInit:1:34", "2"},
        {"failing cuInit", failing_init, fake, "cuInit:1:999", "2"},
        {"missing required function", missing_symbol, fake_driver_incomplete_path(), "", "2"},
        {"missing optional function", missing_optional, fake_driver_old_path(), "", "2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *environment[] = {"CUJIT_DRIVER_LIBRARY",
                                     cases[i].driver,
                                     "FAKE_DRIVER_FAIL",
                                     cases[i].fail,
                                     "FAKE_DRIVER_DEVICES",
                                     cases[i].devices,
                                     NULL};
        in_child_with(cases[i].what, cases[i].body, environment);
    }
    for (int id = 0; id < DRIVER_FUNCTION_COUNT; id++)
        CHECK(driver_function_info[id].version >= 2000 && driver_function_info[id].version < 20000);
}
