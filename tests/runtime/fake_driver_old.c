/* The fake driver without the functions that driver.def calls optional. */
#define cuLaunchKernelEx withheld_launch_kernel_ex
#define cuDeviceGetUuid withheld_device_get_uuid
#include "fake_driver.c"
