/* Device objects, and the device of this thread. */
#ifndef CUJIT_EXT_DEVICE_OBJECT_H
#define CUJIT_EXT_DEVICE_OBJECT_H

#include "ext/state.h"

/* The device of this thread; NULL with an exception. */
RtDevice *ext_current_device(ExtState *state);
/* Whether the thread has said which one it is to be, rather than taken the first. */
bool ext_device_is_chosen(const ExtState *state);
/* The Device object of a device. New reference. */
PyObject *ext_device_object(ExtState *state, RtDevice *device);

#endif
