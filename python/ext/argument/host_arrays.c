/* Host arrays as arguments. GPU: each has a device copy of its own for the launch, and comes back where the kernel may
 * have written to it. CPU device: the kernel works on the array itself, except where that would show. */
#include "ext/argument/launch_frame.h"

/* Arrays of so many bytes together share their copies; those that only go to the device, where they fit the stack. */
enum { BLOCK_BYTES = 256 << 10, PLAIN_BYTES = 4096, PLACE_ALIGNMENT = 256 };

static bool is_written(const ExtLaunchFrame *frame, const ExtHostArray *each)
{
    return jit_written(frame->specialization)[each->parameter];
}

/* Whether what the kernel wrote belongs into the argument. */
static bool comes_back(const ExtLaunchFrame *frame, const ExtHostArray *each)
{
    return each->copy_out && is_written(frame, each);
}

static PyArrayObject *memory_of(const ExtHostArray *each) { return each->temporary ? each->temporary : each->array; }

/* First and last byte of an array's memory. */
static void byte_range(PyArrayObject *array, const char **first, const char **last)
{
    *first = PyArray_BYTES(array);
    *last = *first + PyArray_ITEMSIZE(array) - 1;
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        npy_intp reach = (PyArray_DIM(array, axis) - 1) * PyArray_STRIDE(array, axis);
        *(reach < 0 ? first : last) += reach;
    }
}

static bool overlap(PyArrayObject *a, PyArrayObject *b)
{
    const char *a_first, *a_last, *b_first, *b_last;
    if (PyArray_SIZE(a) == 0 || PyArray_SIZE(b) == 0)
        return false;
    byte_range(a, &a_first, &a_last);
    byte_range(b, &b_first, &b_last);
    return a_first <= b_last && b_first <= a_last;
}

/* On the CPU device: whether the kernel's work on the array would differ from its work on a copy of its own. */
static bool would_show(const ExtLaunchFrame *frame, const ExtHostArray *each)
{
    if (is_written(frame, each) && !each->copy_out)
        return true;
    for (uint32_t i = 0; i < frame->array_count; i++) {
        const ExtHostArray *other = &frame->arrays[i];
        if (other != each && (is_written(frame, each) || is_written(frame, other)) &&
            overlap(each->array, other->array))
            return true;
    }
    return false;
}

static bool needs_temporary(const ExtLaunchFrame *frame, const ExtHostArray *each)
{
    if (!PyArray_ISALIGNED(each->array))
        return true;
    if (rt_device_kind(frame->device) == RT_CPU)
        return would_show(frame, each);
    return !PyArray_IS_C_CONTIGUOUS(each->array) && !PyArray_IS_F_CONTIGUOUS(each->array);
}

/* Code of the program that ran while other arguments were packed may have changed the array. Its memory, extents and strides
 * are only now written down. */
static bool check_as_packed(const ExtLaunchFrame *frame, const ExtHostArray *each)
{
    PyArrayObject *array = each->array;
    const char *what = PyArray_NDIM(array) != each->ndim                          ? "dimensions"
                       : PyArray_DESCR(array) != each->dtype                      ? "dtype"
                       : (PyArray_FLAGS(array) & EXT_PACKED_FLAGS) != each->flags ? "memory layout or writeable flag"
                                                                                  : NULL;
    if (!what)
        return true;
    PyErr_Format(PyExc_ValueError,
                 "the array's %s changed during the launch, by what another argument runs to tell what it is", what);
    ext_raise_argument(frame->kernel, each->parameter);
    return false;
}

/* A plain array: a class that is derived from NumPy's has no say, whose code might change the others. */
static PyArrayObject *make_temporary(const ExtHostArray *each)
{
    PyArrayObject *made = (PyArrayObject *)PyArray_NewLikeArray(each->array, NPY_KEEPORDER, NULL, 0);
    if (made && each->copy_in && PyArray_CopyInto(made, each->array) < 0)
        Py_CLEAR(made);
    return made;
}

bool ext_host_arrays_begin(ExtLaunchFrame *frame)
{
    for (uint32_t i = 0; i < frame->array_count; i++)
        if (!check_as_packed(frame, &frame->arrays[i]))
            return false;
    for (uint32_t i = 0; i < frame->array_count; i++) {
        ExtHostArray *each = &frame->arrays[i];
        if (needs_temporary(frame, each) && !(each->temporary = make_temporary(each)))
            return false;
        PyArrayObject *memory = memory_of(each);
        ext_write_array(frame->parameters, each->field, each->type, jit_abi(frame->specialization)->only_pointers,
                        (RtPointer)(uintptr_t)PyArray_DATA(memory), (const int64_t *)PyArray_DIMS(memory),
                        (const int64_t *)PyArray_STRIDES(memory));
    }
    return true;
}

/* --- arrays in one block --------------------------------------------------------------------------------------------- */
static size_t bytes_of(const ExtHostArray *each) { return (size_t)PyArray_NBYTES(memory_of(each)); }

/* The order of arrays in a block: see ExtHostBlock. */
typedef enum Way { WAY_IN, WAY_BOTH, WAY_OUT, WAY_NONE, WAYS } Way;

static Way way_of(const ExtLaunchFrame *frame, const ExtHostArray *each)
{
    bool out = comes_back(frame, each);
    return each->copy_in ? (out ? WAY_BOTH : WAY_IN) : out ? WAY_OUT : WAY_NONE;
}

/* Gives each array its place, counted from the block's beginning. */
static void lay_out(ExtLaunchFrame *frame)
{
    size_t ends[WAYS], size = 0;
    for (Way way = WAY_IN; way < WAYS; way++) {
        for (uint32_t i = 0; i < frame->array_count; i++) {
            ExtHostArray *each = &frame->arrays[i];
            if (way_of(frame, each) != way)
                continue;
            each->device_pointer = size;
            size += (bytes_of(each) + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
        }
        ends[way] = size;
    }
    frame->block =
        (ExtHostBlock){.size = size, .in_end = ends[WAY_BOTH], .out_begin = ends[WAY_IN], .out_end = ends[WAY_OUT]};
}

static bool comes_any_back(const ExtLaunchFrame *frame) { return frame->block.out_end > frame->block.out_begin; }

static void gather(const ExtLaunchFrame *frame, char *memory)
{
    for (uint32_t i = 0; i < frame->array_count; i++) {
        const ExtHostArray *each = &frame->arrays[i];
        if (each->copy_in)
            memcpy(memory + each->device_pointer, PyArray_DATA(memory_of(each)), bytes_of(each));
    }
}

static void scatter(const ExtLaunchFrame *frame)
{
    const ExtHostBlock *block = &frame->block;
    for (uint32_t i = 0; i < frame->array_count; i++) {
        const ExtHostArray *each = &frame->arrays[i];
        if (comes_back(frame, each))
            memcpy(PyArray_DATA(memory_of(each)), (char *)block->locked.host + (each->device_pointer - block->device),
                   bytes_of(each));
    }
}

/* Where something comes back, the launch waits, and its page-locked memory is free again then. Else the driver takes the
 * bytes out of plain memory before it returns. */
static bool send(ExtLaunchFrame *frame, RtStream *stream, Diag *diag)
{
    char plain[PLAIN_BYTES];
    ExtHostBlock *block = &frame->block;
    if (comes_any_back(frame) && !rt_allocate_host(frame->device, RT_HOST_PINNED, block->size, &block->locked, diag))
        return false;
    char *memory = block->locked.host ? block->locked.host : plain;
    gather(frame, memory);
    return rt_allocate_ordered(frame->device, block->size, &block->device, diag) &&
           rt_send(frame->device, block->device, memory, block->in_end, stream, diag);
}

static bool copy_block_in(ExtLaunchFrame *frame, RtStream *stream, Diag *diag)
{
    bool ok = send(frame, stream, diag);
    for (uint32_t i = 0; i < frame->array_count; i++) {
        ExtHostArray *each = &frame->arrays[i];
        each->device_pointer += frame->block.device;
        memcpy(frame->parameters + each->field->offset, &each->device_pointer, sizeof each->device_pointer);
    }
    return ok;
}

static bool receive(ExtLaunchFrame *frame, RtStream *stream, Diag *diag)
{
    const ExtHostBlock *block = &frame->block;
    char *memory = (char *)block->locked.host + block->out_begin;
    if (!rt_receive(frame->device, memory, block->device + block->out_begin, block->out_end - block->out_begin, stream,
                    diag) &&
        diag->id != DIAG_KERNEL_EXCEPTION)
        return false;
    if (!rt_stream_synchronize(frame->device, stream, diag) && diag->id != DIAG_KERNEL_EXCEPTION)
        return false;
    scatter(frame);
    return !diag_failed(diag);
}

static bool copy_block_back(ExtLaunchFrame *frame, RtStream *stream, bool launched, Diag *diag)
{
    ExtHostBlock *block = &frame->block;
    bool ok = launched && (!comes_any_back(frame) || receive(frame, stream, diag));
    block->locked.is_idle = ok;
    ok &= rt_free_host(frame->device, &block->locked, diag);
    return ok & (!block->device || rt_free_ordered(frame->device, block->device, diag));
}

/* Small ones, whose copies cost more by their number than by their bytes. Another library may record what is ordered on a
 * stream of its own, and do it again when plain memory is gone. */
static bool fit_in_block(ExtLaunchFrame *frame, const RtStream *stream)
{
    lay_out(frame);
    bool may_be_plain = rt_stream_handle(stream) == 0;
    return frame->block.size <= (comes_any_back(frame) ? BLOCK_BYTES : may_be_plain ? PLAIN_BYTES : 0);
}

/* --- the copies ------------------------------------------------------------------------------------------------------- */
static bool copy_in_apart(ExtLaunchFrame *frame, RtStream *stream, Diag *diag)
{
    for (uint32_t i = 0; i < frame->array_count; i++) {
        ExtHostArray *each = &frame->arrays[i];
        PyArrayObject *memory = memory_of(each);
        size_t size = (size_t)PyArray_NBYTES(memory);
        if (!rt_allocate_ordered(frame->device, size, &each->device_pointer, diag))
            return false;
        if (size && each->copy_in &&
            !rt_copy_to_device(frame->device, each->device_pointer, PyArray_DATA(memory), size, stream, diag))
            return false;
        memcpy(frame->parameters + each->field->offset, &each->device_pointer, sizeof each->device_pointer);
    }
    return true;
}

bool ext_host_arrays_copy_in(ExtLaunchFrame *frame, RtStream *stream, Diag *diag)
{
    if (rt_device_kind(frame->device) == RT_CPU)
        return true;
    if (fit_in_block(frame, stream))
        return copy_block_in(frame, stream, diag);
    frame->block.size = 0;
    for (uint32_t i = 0; i < frame->array_count; i++)
        frame->arrays[i].device_pointer = 0;
    return copy_in_apart(frame, stream, diag);
}

static bool copy_back(ExtLaunchFrame *frame, RtStream *stream, Diag *diag)
{
    bool any = false;
    for (uint32_t i = 0; i < frame->array_count; i++) {
        ExtHostArray *each = &frame->arrays[i];
        PyArrayObject *memory = memory_of(each);
        size_t size = (size_t)PyArray_NBYTES(memory);
        if (!size || !comes_back(frame, each))
            continue;
        any = true;
        if (!rt_copy_to_host(frame->device, PyArray_DATA(memory), each->device_pointer, size, stream, diag) &&
            diag->id != DIAG_KERNEL_EXCEPTION)
            return false;
    }
    bool done = !any || rt_stream_synchronize(frame->device, stream, diag);
    return done && !diag_failed(diag);
}

bool ext_host_arrays_copy_back(ExtLaunchFrame *frame, RtStream *stream, bool launched, Diag *diag)
{
    if (rt_device_kind(frame->device) == RT_CPU)
        return true;
    if (frame->block.size)
        return copy_block_back(frame, stream, launched, diag);
    bool ok = launched && copy_back(frame, stream, diag);
    for (uint32_t i = 0; i < frame->array_count; i++)
        if (frame->arrays[i].device_pointer)
            ok &= rt_free_ordered(frame->device, frame->arrays[i].device_pointer, diag);
    return ok;
}

bool ext_frame_end(ExtLaunchFrame *frame, bool launched)
{
    bool ok = true;
    for (uint32_t i = 0; i < frame->array_count; i++) {
        ExtHostArray *each = &frame->arrays[i];
        if (!each->temporary)
            continue;
        if (ok && launched && comes_back(frame, each))
            ok = PyArray_CopyInto(each->array, each->temporary) == 0;
        Py_DECREF(each->temporary);
    }
    ext_frame_forget_arrays(frame);
    if (frame->arrays != frame->small_arrays)
        PyMem_Free(frame->arrays);
    if (frame->parameters != frame->small)
        PyMem_Free(frame->parameters);
    return ok;
}
