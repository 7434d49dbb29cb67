/* The CPU as a device. */
#ifndef CUJIT_RUNTIME_HOST_DEVICE_H
#define CUJIT_RUNTIME_HOST_DEVICE_H

#include "runtime/runtime.h"

/* The one CPU device. */
RtDevice *host_device_open(Diag *diag);

#endif
