/* Barriers in shared memory, copies of tiles, and multiplication by four warps, in PTX. */
#ifndef CUJIT_CODEGEN_TILE_NVPTX_H
#define CUJIT_CODEGEN_TILE_NVPTX_H

#include "codegen/emit.h"

/* An intrinsic of intrinsic_bulk.def; false when it is none. out: the parts of its result. */
bool emit_tile_nvptx(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
void emit_wgmma_nvptx(Emitter *emitter, const IrValue *value);

#endif
