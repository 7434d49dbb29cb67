/* Where the arguments of a launch are, and with that where it runs. Not on the path of launches on the only device. */
#ifndef CUJIT_EXT_LAUNCH_DEVICE_H
#define CUJIT_EXT_LAUNCH_DEVICE_H

#include "ext/kernel.h"
#include "ext/object/device_object.h"

/* What is called, for messages. */
typedef struct ExtCallee {
    const char *name;
    ExtKernel *kernel; /* whose parameters the arguments are; NULL: they have numbers */
    PyObject *const *args;
    Py_ssize_t count;
} ExtCallee;

/* The device for a call with these arguments. `device` where that was chosen, by the thread or by a stream, or where no
 * argument is on any; else the one that all are on, or one that reaches them all. NULL with LaunchArgumentError where there
 * is none. */
RtDevice *ext_device_for(ExtState *state, const ExtCallee *callee, RtDevice *device, bool is_chosen);
/* The part of it that is left where a stream is given. */
RtDevice *ext_device_of_given(ExtState *state, PyObject *stream_object, bool *is_chosen);
/* The device that the stream (a Stream or None) belongs to where it was made here, else the thread's. *is_chosen: whether
 * the program has named it. NULL with an exception. */
static inline RtDevice *ext_device_of_stream(ExtState *state, PyObject *stream_object, bool *is_chosen)
{
    if (UNLIKELY(stream_object != Py_None))
        return ext_device_of_given(state, stream_object, is_chosen);
    RtDevice *chosen = ext_chosen_device(state);
    *is_chosen = chosen != NULL;
    return chosen ? chosen : ext_default_device(state);
}
/* Where the memory of an array is, as the driver knows it: not NULL; `device` for memory that has no device. */
RtDevice *ext_device_of_pointer(RtDevice *device, RtPointer pointer);

#endif
