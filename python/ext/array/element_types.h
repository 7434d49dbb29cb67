/* NumPy's dtypes <-> Types. */
#ifndef CUJIT_EXT_ELEMENT_TYPES_H
#define CUJIT_EXT_ELEMENT_TYPES_H

#include "ext/state.h"

/* The element type of a dtype: static, or one that lives as long as the module. NULL with TypeError. */
const Type *ext_element_type(ExtState *state, PyArray_Descr *dtype);
/* The scalar type of a dtype; NULL without an exception when it is no scalar of ours. */
const Type *ext_scalar_of_dtype(PyArray_Descr *dtype);
/* The scalar type of a typestr such as "<f4"; NULL for any other text. */
const Type *ext_scalar_of_typestr(const char *text);
/* New reference. TypeError for what has no dtype. */
PyArray_Descr *ext_dtype_of_type(const Type *type);

#endif
