/* Arrays on a device. */
#ifndef CUJIT_EXT_DEVICE_ARRAY_OBJECT_H
#define CUJIT_EXT_DEVICE_ARRAY_OBJECT_H

#include "ext/array/array_view.h"

/* A new array on the device of `like`, of its shape in C order, of a subclass of DeviceArrayBase. New reference. */
PyObject *ext_device_array_like(const ExtDeviceArray *like, PyTypeObject *class, const Type *element,
                                PyArray_Descr *dtype);

#endif
