/* One launch while it happens: the parameter buffer, and the host arrays among the arguments. Lives on the stack of the
 * launcher; nothing is allocated for scalars and device arrays. */
#ifndef CUJIT_EXT_LAUNCH_FRAME_H
#define CUJIT_EXT_LAUNCH_FRAME_H

#include "ext/kernel.h"
#include "ext/state.h"
#include "jit/jit.h"

enum { FRAME_BYTES = 4096, FRAME_ARRAYS = 8, FRAME_STREAMS = 4, FRAME_KEPT = 4 };

/* Those of an array's flags that the type tells. */
enum { EXT_PACKED_FLAGS = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_WRITEABLE };

typedef struct ExtHostArray {
    PyArrayObject *array; /* the argument; borrowed, unless is_owned */
    PyArrayObject *temporary; /* contiguous, aligned copy; NULL: the argument's own memory is used */
    const Type *type;
    const AbiField *field; /* of its pointer */
    uint32_t parameter;
    PyArray_Descr *dtype; /* owned; this and the next two: as the array was when it was packed */
    int ndim, flags;
    bool copy_in, copy_out; /* as asked for */
    bool is_owned; /* array was made for the launch, over the memory of a record or of another library's array */
    RtPointer device_pointer; /* GPU: the device copy, owned where it is in no block */
} ExtHostArray;

/* GPU: one piece of device memory for all host arrays of a launch, and what its bytes are on the host. First stand those that
 * go there only, then those that go both ways, then those that come back only. */
typedef struct ExtHostBlock {
    size_t size, in_end, out_begin, out_end; /* size 0: each array has memory of its own */
    RtPointer device; /* owned */
    RtHostBuffer locked; /* of the same layout, owned; none where nothing comes back */
} ExtHostBlock;

typedef struct ExtLaunchFrame {
    /* Of each launch. */
    ExtState *state;
    const ExtKernel *kernel;
    RtDevice *device;
    const JitSpecialization *specialization;
    uint8_t *parameters; /* small, or malloc'd */
    uint64_t elsewhere; /* other devices that arrays are on */
    bool at_home; /* an array is on `device` */
    bool converts; /* numbers may be cast, layouts relaxed */
    bool wait_for_device; /* more foreign streams than fit */
    uint32_t array_count, array_capacity, stream_count, kept_count;
    ExtHostArray *arrays; /* small_arrays, or malloc'd */
    const struct ExtArrayKind *asked; /* the library whose current stream is among them, and for which GPU */
    PyObject *kept_more; /* list: what there is no room for; NULL: nothing */
    PyObject
        *narrowed; /* list of texts: integers that do not fit their parameters, under the check of that; NULL: none */
    int asked_ordinal;
    ExtHostBlock block; /* while they are on a GPU */
    uint64_t streams[FRAME_STREAMS]; /* foreign streams whose work must be done before the launch */
    PyObject *kept[FRAME_KEPT]; /* references to what has memory that goes with it */
    ExtHostArray small_arrays[FRAME_ARRAYS];
    _Alignas(16) uint8_t small[FRAME_BYTES];
} ExtLaunchFrame;

/* The frame has no arrays and streams any more. */
static inline void ext_frame_forget_arrays(ExtLaunchFrame *frame)
{
    for (uint32_t i = 0; i < frame->array_count; i++) {
        Py_DECREF(frame->arrays[i].dtype);
        if (frame->arrays[i].is_owned)
            Py_DECREF(frame->arrays[i].array);
    }
    frame->array_count = 0;
    while (frame->kept_count)
        Py_DECREF(frame->kept[--frame->kept_count]);
    Py_CLEAR(frame->kept_more);
    Py_CLEAR(frame->narrowed);
}

/* Whether the arguments have the specialization's types. */
typedef enum ExtMatch { EXT_MATCH, EXT_MISMATCH, EXT_ERROR } ExtMatch;

static inline void ext_frame_init(ExtLaunchFrame *frame, const ExtKernel *kernel, RtDevice *device)
{
    frame->state = kernel->state;
    frame->kernel = kernel;
    frame->device = device;
    frame->parameters = frame->small;
    frame->arrays = frame->small_arrays;
    frame->array_count = frame->stream_count = frame->kept_count = 0;
    frame->array_capacity = FRAME_ARRAYS;
    frame->wait_for_device = frame->at_home = false;
    frame->elsewhere = 0;
    frame->asked = NULL;
    frame->kept_more = NULL;
    frame->narrowed = NULL;
    frame->block.size = 0;
}

/* Before it is packed once more. */
static inline void ext_frame_forget(ExtLaunchFrame *frame)
{
    ext_frame_forget_arrays(frame);
    frame->stream_count = 0;
    frame->at_home = frame->wait_for_device = false;
    frame->elsewhere = 0;
    frame->asked = NULL;
}

/* argument_pack.c: fills the buffer of a frame that is as it was begun, or has forgotten. *failed_at: the argument that did not match, or that made the exception. */
ExtMatch ext_frame_pack(ExtLaunchFrame *frame, const JitSpecialization *specialization, bool converts,
                        PyObject *const *args, Py_ssize_t *failed_at);
/* argument_pack.c: what the frame keeps until it ends, in a list. New reference. */
PyObject *ext_frame_kept(const ExtLaunchFrame *frame);
/* Writes pointer, extents and strides of an array; with only_pointer the first alone. */
void ext_write_array(uint8_t *parameters, const AbiField *field, const Type *type, bool only_pointer, RtPointer pointer,
                     const int64_t *shape, const int64_t *strides);

/* host_arrays.c, in this order; begin and end need the GIL, the others do not want it. */
/* Makes temporaries and writes the fields of host arrays. LaunchArgumentError where one is not as it was packed. */
bool ext_host_arrays_begin(ExtLaunchFrame *frame);
/* GPU: copies them to the device. Nothing on the CPU device. */
bool ext_host_arrays_copy_in(ExtLaunchFrame *frame, RtStream *stream, Diag *diag);
/* GPU: copies written ones back when `launched`, waits for that, frees the device copies. */
bool ext_host_arrays_copy_back(ExtLaunchFrame *frame, RtStream *stream, bool launched, Diag *diag);
/* Writes temporaries back to the arguments when `launched`; releases everything the frame owns. */
bool ext_frame_end(ExtLaunchFrame *frame, bool launched);
/* Whether it owns nothing: it need not be ended. */
static inline bool ext_frame_is_bare(const ExtLaunchFrame *frame)
{
    return !frame->array_count && !frame->kept_count && frame->arrays == frame->small_arrays &&
           frame->parameters == frame->small;
}

#endif
