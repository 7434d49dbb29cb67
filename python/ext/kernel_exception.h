/* Exceptions that threads of a kernel raise. */
#ifndef CUJIT_EXT_KERNEL_EXCEPTION_H
#define CUJIT_EXT_KERNEL_EXCEPTION_H

#include "ext/kernel.h"

/* What a thread of a kernel raised (DIAG_KERNEL_EXCEPTION). Always NULL. */
PyObject *ext_raise_from_kernel(const Diag *diag);
/* Warns of what went wrong in a launch's arithmetic, and frees it. False with an exception, which a filter made of it; not
 * where the launch has failed, which is what is to be raised. */
bool ext_warn_of_overflows(JitOverflows *overflows, bool has_failed);
/* Likewise of arguments, before a launch: texts in a list. raises: OverflowError in place of warnings. False with an
 * exception. */
bool ext_warn_of_arguments(PyObject *texts, bool raises);
/* Makes the kernel known by a number for that; 0 where its options say that it raises nothing. False with an exception. */
bool ext_number_kernel(ExtKernel *kernel, uint32_t *number);
/* Nothing where the number is 0. An exception stays pending. */
void ext_forget_number(ExtState *state, uint32_t number);

#endif
