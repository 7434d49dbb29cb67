/* Tensor cores and asynchronous copies in PTX: elements of fragments packed into the registers that the instructions
 * take. */
#ifndef CUJIT_CODEGEN_TENSOR_NVPTX_H
#define CUJIT_CODEGEN_TENSOR_NVPTX_H

#include "codegen/emit.h"

/* Rows of intrinsic_tensor.def; false for others. */
bool emit_tensor_nvptx(Emitter *emitter, const IrValue *value, LLVMValueRef *out);

#endif
