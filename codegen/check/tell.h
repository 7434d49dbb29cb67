/* What a checked kernel tells the device of itself, on a GPU: calls of watchers (core/kernel/watcher.def). */
#ifndef CUJIT_CODEGEN_TELL_H
#define CUJIT_CODEGEN_TELL_H

#include "core/ir/ir.h"

/* In the place of each NOTE and WATCH of the module. Every function gets the launch's state and what the thread keeps as its last
 * parameters, the kernel the state alone. Watchers that nothing calls are taken away. */
void check_tell(IrModule *module);

#endif
