/* How values lie in LLVM registers and in memory: part lists of types, loads and stores of whole values. */
#ifndef CUJIT_CODEGEN_PARTS_H
#define CUJIT_CODEGEN_PARTS_H

#include "codegen/emit.h"

static inline uint32_t part_count(const Type *type) { return type_part_count(type); }
static inline uint32_t part_of_extent(uint32_t axis) { return 1 + axis; }
/* Writes the types of the parts; returns how many. */
uint32_t part_types(Emitter *emitter, const Type *type, LLVMTypeRef *out);
/* Place of the first part of item `index` of a tuple. */
uint32_t part_of_item(const Type *type, uint32_t index);
LLVMTypeRef memory_type(Emitter *emitter, const Type *scalar);
LLVMTypeRef part_type(Emitter *emitter, const Type *scalar);
uint64_t size_in_memory(const Type *type);
/* Scalars and vectors from memory and back; the address is a multiple of `alignment` bytes. */
void load_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment, LLVMValueRef *out);
void store_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment,
                 const LLVMValueRef *parts);
/* Values of any type: bytes, and part by part into memory that is a multiple of 8 bytes away from 0, and back. */
uint32_t value_size(Emitter *emitter, const Type *type);
void load_value(Emitter *emitter, const Type *type, LLVMValueRef address, LLVMValueRef *out);
void store_value(Emitter *emitter, const Type *type, LLVMValueRef address, const LLVMValueRef *parts);
/* The parts of an operand; the only part of a scalar operand. */
LLVMValueRef *operand_parts(Emitter *emitter, const IrValue *value, uint32_t index);
LLVMValueRef operand_scalar(Emitter *emitter, const IrValue *value, uint32_t index);

#endif
