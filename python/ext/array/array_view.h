/* Arrays of any kind: NumPy's, ours, and those of other libraries. */
#ifndef CUJIT_EXT_ARRAY_VIEW_H
#define CUJIT_EXT_ARRAY_VIEW_H

#include "ext/state.h"

typedef struct ExtDeviceArray {
    PyObject_HEAD ExtState *state;
    RtDevice *device;
    RtPointer pointer;
    const Type *element; /* NULL: a dtype that kernels cannot use */
    PyArray_Descr *dtype;
    PyObject *base;
    int ndim;
    bool c_contiguous, f_contiguous, read_only;
    int64_t size; /* elements */
    int64_t shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
} ExtDeviceArray;
/* NULL with an exception where its __init__ has not been called. */
RtDevice *ext_device_of_array(const ExtDeviceArray *array);

/* A host array with what a launch is to copy. */
typedef struct ExtHostArgument {
    PyObject_HEAD PyObject *array;
    bool copy_in, copy_out;
} ExtHostArgument;

/* An array as a launch sees it. Borrows from the value, and from what `owner` keeps. */
typedef struct ExtArrayView {
    const Type *element;
    int ndim;
    bool c_contiguous, f_contiguous, read_only;
    bool copy_in, copy_out; /* host arrays */
    bool is_foreign; /* another library's, in memory that a device reaches */
    bool has_stream; /* stream_handle: work of that library to wait for */
    const struct ExtArrayKind *kind; /* ext_current_stream_of(kind) tells what to wait for; NULL: has_stream does */
    int ordinal; /* foreign: of the GPU whose memory it is; -1: not said */
    const int64_t *shape, *strides;
    RtDevice *device; /* NULL: a host array, or foreign */
    RtPointer pointer; /* of device memory */
    PyArrayObject *host; /* NULL for device memory */
    PyObject *owner; /* a reference to be released when the memory is not used any more, or NULL */
    uint64_t stream_handle;
    int64_t own_shape[TYPE_MAX_NDIM], own_strides[TYPE_MAX_NDIM];
} ExtArrayView;

/* 1: an array; 0: not one; -1: one that kernels cannot use, with an exception. Only 1 leaves an owner. */
int ext_array_view(ExtState *state, PyObject *value, ExtArrayView *view);
/* C before F before A. */
static inline ArrayLayout ext_view_layout(const ExtArrayView *view)
{
    return view->c_contiguous ? LAYOUT_C : view->f_contiguous ? LAYOUT_F : LAYOUT_ANY;
}
#endif
