/* Device memory that an object owns. */
#ifndef CUJIT_EXT_BUFFER_OBJECT_H
#define CUJIT_EXT_BUFFER_OBJECT_H

#include "ext/state.h"

typedef struct ExtBuffer {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtPointer pointer;
    size_t size;
    atomic_bool is_shared; /* others may know the address: other libraries, kernels that name the array */
    _Atomic uint32_t arrays; /* that lie in it, views included */
} ExtBuffer;

/* A DeviceBuffer. New reference. */
PyObject *ext_buffer_create(ExtState *state, PyTypeObject *class, RtDevice *device, size_t size);

#endif
