/* Implementations of what a kernel's code calls and the program has overloaded. */
#ifndef CUJIT_EXT_IMPLEMENTATIONS_H
#define CUJIT_EXT_IMPLEMENTATIONS_H

#include "ext/kernel.h"

/* Asks Python for those that calls with arguments of these types need, until none is missing. The kernel is prepared. False
 * with an exception: out of memory, or an interrupt; what fails otherwise is an error of the call. */
bool ext_choose_implementations(ExtKernel *kernel, const Type *const *types, uint32_t count);

#endif
