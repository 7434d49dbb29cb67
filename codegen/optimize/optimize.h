/* The pass pipeline: LLVM's own for the level asked for. */
#ifndef CUJIT_CODEGEN_OPTIMIZE_H
#define CUJIT_CODEGEN_OPTIMIZE_H

#include "codegen/emit.h"

bool optimize_module(Emitter *emitter);

#endif
