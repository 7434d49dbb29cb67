/* What cuda.jit and its kin are given beside the function. */
#ifndef CUJIT_EXT_KERNEL_OPTIONS_H
#define CUJIT_EXT_KERNEL_OPTIONS_H

#include "ext/kernel.h"

/* Reads the keywords of KernelBase (NULL: none) into the kernel. The options among them as a dict, a new reference; NULL with
 * an exception. */
PyObject *ext_read_options(ExtKernel *kernel, PyObject *keywords);

#endif
