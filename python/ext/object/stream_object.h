/* Stream objects, and what else can be given as a stream. */
#ifndef CUJIT_EXT_STREAM_OBJECT_H
#define CUJIT_EXT_STREAM_OBJECT_H

#include "ext/state.h"

typedef struct ExtStream {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtStream *stream; /* owned; NULL: the default stream */
    atomic_bool is_closed;
} ExtStream;

/* False with ValueError for a Stream that has been closed; True for others, and for None. */
bool ext_stream_is_open(PyObject *stream_object);

/* Whether any thread is in a `with stream:`. */
static inline bool ext_has_entered_streams(const ExtState *state)
{
    return atomic_load_explicit(&state->entered_streams, memory_order_relaxed);
}
/* The part of it that is left where a thread has entered a stream. */
PyObject *ext_entered_stream(ExtState *state, const RtDevice *device);
/* The innermost `with stream:` of this thread, where the stream is of that device; borrowed. NULL, without an exception:
 * none. */
static inline PyObject *ext_current_stream(ExtState *state, const RtDevice *device)
{
    return ext_has_entered_streams(state) ? ext_entered_stream(state, device) : NULL;
}
/* ext_given_stream, but where that is None the current stream. */
PyObject *ext_stream_object(ExtState *state, PyObject *stream, RtDevice *device);
/* A Stream or None for what a program may give as stream: None, 0, a Stream, a handle, an object with __cuda_stream__.
 * New reference. */
PyObject *ext_given_stream(ExtState *state, PyObject *stream, RtDevice *device);
static inline RtStream *ext_rt_stream(PyObject *stream_object)
{
    return stream_object == Py_None ? NULL : ((ExtStream *)stream_object)->stream;
}

#endif
