/* Device memory that an object owns. */
#ifndef CUJIT_EXT_BUFFER_OBJECT_H
#define CUJIT_EXT_BUFFER_OBJECT_H

#include "ext/state.h"

typedef struct ExtBuffer {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtPointer pointer;
    size_t size;
    atomic_bool is_shared; /* other libraries may know the address */
} ExtBuffer;

/* A DeviceBuffer. New reference. */
PyObject *ext_buffer_create(ExtState *state, PyTypeObject *class, RtDevice *device, size_t size);

#endif
