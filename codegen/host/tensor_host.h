/* Tensor cores and asynchronous copies on the CPU device: lanes meet with the addresses of their fragments, and the
 * runtime multiplies. */
#ifndef CUJIT_CODEGEN_TENSOR_HOST_H
#define CUJIT_CODEGEN_TENSOR_HOST_H

#include "codegen/emit.h"

bool emit_tensor_host(Emitter *emitter, const IrValue *value, LLVMValueRef *out);

#endif
