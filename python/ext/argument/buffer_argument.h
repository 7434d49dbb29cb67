/* Arguments that are host arrays of another library: what Python knows as a buffer, and lists. */
#ifndef CUJIT_EXT_BUFFER_ARGUMENT_H
#define CUJIT_EXT_BUFFER_ARGUMENT_H

#include "ext/kernel.h"

/* The NumPy array over the memory of a buffer (array.array, memoryview, bytearray, ctypes' arrays) that is no argument by
 * itself. New reference. NULL without an exception for all else: what is an argument, what is no buffer, bytes; with
 * TypeError or ValueError for a buffer that cannot be read and for an argument that kernels cannot use. */
PyObject *ext_buffer_array(ExtState *state, PyObject *value);

/* The arguments as a tuple with arrays in the place of buffers, and of lists where a signature says what they are to be.
 * New reference; NULL without an exception where there are none, with LaunchArgumentError where one is no array. */
PyObject *ext_with_arrays(ExtKernel *kernel, PyObject *const *args, Py_ssize_t count);

#endif
