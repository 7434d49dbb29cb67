/* Barriers in shared memory, copies of tiles, and multiplication by four warps on the CPU device. */
#ifndef CUJIT_CODEGEN_TILE_HOST_H
#define CUJIT_CODEGEN_TILE_HOST_H

#include "codegen/emit.h"

/* An intrinsic of intrinsic_bulk.def; false when it is none. out: the parts of its result. */
bool emit_tile_host(Emitter *emitter, const IrValue *value, LLVMValueRef *out);

#endif
