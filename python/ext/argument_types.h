/* Values as kernel arguments: what type they have, where arrays lie, and their bytes in the parameter buffer. */
#ifndef CUJIT_EXT_ARGUMENT_TYPES_H
#define CUJIT_EXT_ARGUMENT_TYPES_H

#include "ext/ext.h"

/* --- array_view.c -------------------------------------------------------------------------------------------------------- */
/* An array of any kind as a launch sees it. Borrows from the value. */
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

/* --- argument_types.c ---------------------------------------------------------------------------------------------------- */
/* The type of a Python or NumPy number; NULL without an exception for anything else, and with OverflowError for an int
 * beyond 64 bits. */
const Type *ext_number_type(PyObject *value);
/* The number that a member of an enum stands for. New reference; NULL without an exception for anything else. */
PyObject *ext_enum_number(PyObject *value);
/* Whether a NumPy record, which kernels take by reference, can be written to. */
bool ext_record_is_writable(PyObject *record);
/* The type of any value as an argument. NULL with TypeError or OverflowError. */
const Type *ext_argument_type(ExtState *state, PyObject *value, Arena *arena);
/* Writes a number as a scalar of that type, cast as C does; complex: both parts. False with an exception. */
bool ext_store_number(PyObject *value, const Type *type, uint8_t *out);

#endif
