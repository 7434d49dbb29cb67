/* The CPU as a device, or as several. */
#ifndef CUJIT_RUNTIME_HOST_DEVICE_H
#define CUJIT_RUNTIME_HOST_DEVICE_H

#include <stdatomic.h>

#include "runtime/backend.h"

typedef struct HostDevice {
    RtDevice base;
    int count; /* of CPU devices, which share the memory there is */
    _Atomic size_t allocated; /* bytes of its memory that are in use or kept */
    _Atomic uint32_t streams; /* made so far */
} HostDevice;

/* How many there are: CUJIT_CPU_DEVICES, else one. False with DIAG_HOST_DEVICES where that is no such number. */
bool host_device_count(int *count, Diag *diag);
/* NULL with a diagnostic where there is none of that number. */
RtDevice *host_device_open(int ordinal, Diag *diag);
/* Of one that nobody has seen. */
void host_device_close(RtDevice *device);

#endif
