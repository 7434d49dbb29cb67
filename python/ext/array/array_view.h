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

/* A host array with what a launch is to copy. */
typedef struct ExtHostArgument {
    PyObject_HEAD PyObject *array;
    bool copy_in, copy_out;
} ExtHostArgument;

/* An array as a launch sees it. Borrows from the value. */
typedef struct ExtArrayView {
    const Type *element;
    int ndim;
    bool c_contiguous, f_contiguous, read_only;
    bool copy_in, copy_out; /* host arrays */
    bool is_foreign; /* __cuda_array_interface__ of another library */
    bool has_stream; /* stream_handle: work of that library to wait for */
    const int64_t *shape, *strides;
    RtDevice *device; /* NULL: a host array, or foreign */
    RtPointer pointer; /* of device memory */
    PyArrayObject *host; /* NULL for device memory */
    uint64_t stream_handle;
    int64_t own_shape[TYPE_MAX_NDIM], own_strides[TYPE_MAX_NDIM];
} ExtArrayView;

/* 1: an array; 0: not one; -1: one that kernels cannot use, with TypeError or ValueError. */
int ext_array_view(ExtState *state, PyObject *value, ExtArrayView *view);
/* C before F before A. */
static inline ArrayLayout ext_view_layout(const ExtArrayView *view)
{
    return view->c_contiguous ? LAYOUT_C : view->f_contiguous ? LAYOUT_F : LAYOUT_ANY;
}
/* Whether shape and strides (bytes) are contiguous in C and in Fortran order, as NumPy says. */
void ext_contiguity(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, bool *c_contiguous,
                    bool *f_contiguous);

#endif
