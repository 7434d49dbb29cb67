/* Launch shapes that cannot work name the parameter and the limit, on both kinds of device. */
#include "runtime_tests.h"

#include <stdint.h>

static void nothing(HostThread *thread) { (void)thread; }

static void check_limits(RtKernel *kernel, uint32_t kernel_threads)
{
    Diag diag = {0};
    const RtLaunch good = {.grid = {2, 2, 2}, .block = {32, 2, 1}, .dynamic_shared = 1000};
    const struct {
        RtLaunch launch;
        const char *text;
    } cases[] = {
        {{.grid = {0, 1, 1}, .block = {1, 1, 1}}, "griddim.x is 0: every dimension is at least 1"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 0}}, "blockdim.z is 0: every dimension is at least 1"},
        {{.grid = {1u << 31, 1, 1}, .block = {1, 1, 1}}, "griddim.x is 2147483648: the device's limit is 2147483647"},
        {{.grid = {1, 65536, 1}, .block = {1, 1, 1}}, "griddim.y is 65536: the device's limit is 65535"},
        {{.grid = {1, 1, 70000}, .block = {1, 1, 1}}, "griddim.z is 70000: the device's limit is 65535"},
        {{.grid = {1, 1, 1}, .block = {1025, 1, 1}}, "blockdim.x is 1025: the device's limit is 1024"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 65}}, "blockdim.z is 65: the device's limit is 64"},
        {{.grid = {1, 1, 1}, .block = {64, 32, 1}}, "blockdim (64, 32, 1) is 2048 threads: the device's limit is 1024"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 231425},
         "sharedmem is 231425 bytes: the limit for kernel 'k' is 231424 (232448 of a block, less 1024"},
        {{.grid = {3, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}},
         "griddim.x is 3: it must be a multiple of cluster.x, 2"},
    };
    CHECK_OK(rt_launch(kernel, &good, &diag), &diag);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_FAILS(rt_launch(kernel, &cases[i].launch, &diag), &diag, DIAG_LAUNCH_SHAPE, cases[i].text);
    RtLaunch large = {.grid = {1, 1, 1}, .block = {1024, 1, 1}, .dynamic_shared = 231424};
    if (kernel_threads == 1024)
        CHECK_OK(rt_launch(kernel, &large, &diag), &diag);
    else
        CHECK_FAILS(rt_launch(kernel, &large, &diag), &diag, DIAG_LAUNCH_SHAPE,
                    "kernel 'k' runs with at most 512 threads a block");
    rt_kernel_unload(kernel);
}

static void on_gpu(void)
{
    Diag diag = {0};
    KernelImage image = {.name = "k", .code = "ptx", .code_size = 4};
    check_limits(rt_kernel_load(rt_device(RT_GPU, 0, &diag), &image, &diag), 512);
}

void test_launch_limits(void)
{
    Diag diag = {0};
    const char *environment[] = {"CUJIT_DRIVER_LIBRARY", fake_driver_path(), NULL};
    KernelImage image = {.name = "k", .thread_entry = nothing, .static_shared = 1024};
    in_child_with("launch limits of a GPU", on_gpu, environment);
    check_limits(rt_kernel_load(rt_device(RT_CPU, 0, &diag), &image, &diag), 1024);
}
