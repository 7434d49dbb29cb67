/* One LLVM module from one IR module: context and types, declarations of all functions, then their bodies. */
#ifndef CUJIT_CODEGEN_MODULE_EMIT_H
#define CUJIT_CODEGEN_MODULE_EMIT_H

#include "codegen/emit.h"

/* Makes context, machine, module and types. The emitter's inputs are set, the rest zero. */
bool emitter_open(Emitter *emitter);
void emitter_close(Emitter *emitter);
bool emit_module(Emitter *emitter);

#endif
