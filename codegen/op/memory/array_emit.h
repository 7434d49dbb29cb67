/* Arrays: extents, strides, element addresses, loads and stores, views, and where arrays of a kernel's own live. */
#ifndef CUJIT_CODEGEN_ARRAY_EMIT_H
#define CUJIT_CODEGEN_ARRAY_EMIT_H

#include "codegen/emit.h"

/* Address of the element whose indices are value's operands from `first_index` on. */
LLVMValueRef element_address(Emitter *emitter, const IrValue *value, uint32_t first_index);
/* Likewise of an array with gaps. */
LLVMValueRef strided_address(Emitter *emitter, const Type *array, const LLVMValueRef *parts,
                             LLVMValueRef *const *indices);
/* Bytes from one item of the axis to the next, of an array's parts. */
LLVMValueRef array_stride(Emitter *emitter, const Type *type, const LLVMValueRef *parts, uint32_t axis);
/* Bytes that the first item of a SHARED or LOCAL value's array is a multiple of. */
uint32_t storage_alignment(const IrValue *value);
/* Where an element of the array may lie, in bytes. */
uint32_t access_alignment(const IrValue *array);
/* Bytes of a LOCAL value's array, alignment included. */
uint64_t local_array_size(const IrValue *value);
/* cuda.wide.load and cuda.wide.store. */
void emit_wide_load(Emitter *emitter, const IrValue *value, LLVMValueRef *out);
void emit_wide_store(Emitter *emitter, const IrValue *value);

#endif
