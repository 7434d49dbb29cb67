/* Methods of KernelBase that look inside, and what other inspecting functions share. */
#ifndef CUJIT_EXT_KERNEL_INSPECTION_H
#define CUJIT_EXT_KERNEL_INSPECTION_H

#include "ext/kernel.h"

PyObject *ext_kernel_compile(ExtKernel *self, PyObject *types);
PyObject *ext_kernel_compiled_types(ExtKernel *self, PyObject *ignored);
PyObject *ext_kernel_loaded_types(ExtKernel *self, PyObject *ignored);
PyObject *ext_kernel_variant_counts(ExtKernel *self, PyObject *ignored);
PyObject *ext_kernel_quick_counts(ExtKernel *self, PyObject *ignored);
PyObject *ext_kernel_result_type(ExtKernel *self, PyObject *types);
/* Likewise, of results that arrays are to hold: an error where none can. */
PyObject *ext_kernel_stored_type(ExtKernel *self, PyObject *types);
PyObject *ext_kernel_inspect(ExtKernel *self, PyObject *args, PyObject *kwargs);
PyObject *ext_kernel_attribute(ExtKernel *self, PyObject *args);
PyObject *ext_kernel_resident_blocks(ExtKernel *self, PyObject *args);
PyObject *ext_kernel_occupancy(ExtKernel *self, PyObject *args, PyObject *kwargs);
/* sm: a number, or None for the current device. False with an exception. */
bool ext_read_target(ExtState *state, PyObject *sm, Target *target);
/* A str of malloc'd text, which is freed; text NULL: the diagnostic's exception. */
PyObject *ext_take_text(char *text, const Diag *diag);

#endif
