/* Instructions as inline PTX. */
#ifndef CUJIT_CODEGEN_NVPTX_NVVM_PTX_H
#define CUJIT_CODEGEN_NVPTX_NVVM_PTX_H

#include "codegen/emit.h"

/* What inline PTX does beside computing its result. BY_NUMBER: the operands are numbers in the instruction. */
typedef enum PtxEffect { PTX_COMPUTES, PTX_ACTS, PTX_ACTS_BY_NUMBER, PTX_CONVERGES } PtxEffect;

/* A call of PTX at the builder's place: $0 is the result, or the first value of a struct, and the operands follow. What has
 * no register of its own size travels in a larger one, a bool as 32 bits that are not 0, halves and vectors as their bits.
 * NULL where a value does not fit a register. */
LLVMValueRef call_ptx(Emitter *emitter, const char *ptx, LLVMTypeRef result, LLVMValueRef *operands, unsigned count,
                      PtxEffect effect);

/* The name of the function that is called; "" where that is no function. */
const char *callee_name(LLVMValueRef call);

/* Puts PTX in the place of a call of an intrinsic that libNVVM does not know (nvvm_unknown.def); leaves others. */
void replace_by_ptx(Emitter *emitter, LLVMValueRef call);

#endif
