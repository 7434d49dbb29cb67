/* What is read of __cuda_array_interface__. */
#ifndef CUJIT_EXT_INTERFACE_VIEW_H
#define CUJIT_EXT_INTERFACE_VIEW_H

#include "ext/array/array_view.h"

/* Fills the view. False with TypeError or ValueError for what is no such interface, or of no array that kernels can use. */
bool ext_view_interface(ExtState *state, PyObject *interface, ExtArrayView *view);
/* Whether it says of the elements nothing but their size, as it does where it has no name for the dtype. */
bool ext_interface_is_opaque(PyObject *interface);

#endif
