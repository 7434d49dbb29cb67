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
/* The type of a NumPy number and where its bytes are, in its object; NULL without an exception for anything else, and for
 * the rarer classes of numbers. */
const Type *ext_numpy_number(PyObject *value, const void **bytes);
/* --- class_types.c --------------------------------------------------------------------------------------------------------- */
/* The type of what a class of named tuples or dataclasses makes, with items of none. NULL without an exception for any other
 * class. */
const Type *ext_class_type(ExtState *state, PyObject *class, Arena *arena);
/* The field names of such a class as a tuple. New reference; NULL without an exception for any other class. */
PyObject *ext_class_fields(PyObject *class);
/* Whether calling the class does more than filling the fields in order. */
bool ext_class_has_own_constructor(PyObject *class);
/* A dict of field names and their defaults. New reference; NULL with an exception. */
PyObject *ext_class_defaults(PyObject *class);

/* --- enum_types.c ---------------------------------------------------------------------------------------------------------- */
/* The type of a member of an enum: of none where its value is no number. NULL without an exception for anything else. */
const Type *ext_enum_type(ExtState *state, PyObject *value, Arena *arena);
/* The type of an enum's members whatever they are: of the number that most of them have, or of none. */
const Type *ext_enum_class_type(ExtState *state, PyObject *class, Arena *arena);
/* The type of any value as an argument. NULL with TypeError or OverflowError. */
const Type *ext_argument_type(ExtState *state, PyObject *value, Arena *arena);
/* Writes a number as a scalar of that type, cast as C does; complex: both parts. False with an exception. */
bool ext_store_number(PyObject *value, const Type *type, uint8_t *out);

#endif
