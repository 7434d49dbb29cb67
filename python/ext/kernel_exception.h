/* Exceptions that threads of a kernel raise. */
#ifndef CUJIT_EXT_KERNEL_EXCEPTION_H
#define CUJIT_EXT_KERNEL_EXCEPTION_H

#include "ext/kernel.h"

/* What a thread of a kernel raised (DIAG_KERNEL_EXCEPTION). Always NULL. */
PyObject *ext_raise_from_kernel(const Diag *diag);
/* Makes the kernel known by a number for that, and forgets it. False with an exception. */
bool ext_number_kernel(ExtKernel *kernel);
void ext_forget_kernel(ExtKernel *kernel);

#endif
