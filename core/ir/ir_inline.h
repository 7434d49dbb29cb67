/* Calls that become copies of what they call. */
#ifndef CUJIT_CORE_IR_INLINE_H
#define CUJIT_CORE_IR_INLINE_H

#include "core/ir/ir.h"

/* A copy of the module's kernel in which the calls of the functions that are `inlined`, by their places in the module, are
 * copies of these; none of them may call itself. Where arguments are constants, tests of them are decided. Its blocks are
 * linked. It is the first function of a module in the arena. NULL: there would be too much code. */
IrFunc *ir_inlined_kernel(const IrModule *module, const bool *inlined, Arena *arena);
/* Puts `made`, a kernel whose memory lives as long as the module, in the place of the module's, and removes the device
 * functions that it does not reach; watchers stay. */
void ir_replace_kernel(IrModule *module, IrFunc *made, Arena *arena);

#endif
