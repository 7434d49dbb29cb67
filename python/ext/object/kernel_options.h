/* What cuda.jit and its kin are given beside the function. */
#ifndef CUJIT_EXT_KERNEL_OPTIONS_H
#define CUJIT_EXT_KERNEL_OPTIONS_H

#include "ext/kernel.h"

/* Reads the keywords of KernelBase (NULL: none) into the kernel, and keeps the options among them as a dict. False with an
 * exception. */
bool ext_read_options(ExtKernel *kernel, PyObject *keywords);

#endif
