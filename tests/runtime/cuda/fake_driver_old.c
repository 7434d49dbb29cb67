/* The fake driver without the functions that driver.def calls optional. */
#define cuLaunchKernelEx withheld_launch_kernel_ex
#define cuDeviceGetUuid withheld_device_get_uuid
#define cuMemAllocAsync withheld_mem_alloc_async
#define cuMemFreeAsync withheld_mem_free_async
#define cuDeviceGetDefaultMemPool withheld_get_pool
#define cuMemPoolGetAttribute withheld_pool_get
#define cuMemPoolSetAttribute withheld_pool_set
#include "fake_driver.c"
