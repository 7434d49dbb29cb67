/* Small helpers over LLVM's builder: constants, attributes, intrinsic calls. */
#ifndef CUJIT_CODEGEN_EMIT_TOOLS_H
#define CUJIT_CODEGEN_EMIT_TOOLS_H

#include "codegen/emit.h"

LLVMValueRef const_i64(Emitter *emitter, int64_t value);
LLVMValueRef const_i32(Emitter *emitter, int32_t value);
LLVMAttributeRef enum_attribute(Emitter *emitter, const char *name, uint64_t value);
void add_function_attribute(Emitter *emitter, LLVMValueRef function, const char *name, uint64_t value);
void add_text_attribute(Emitter *emitter, LLVMValueRef function, const char *name, const char *value);
/* range(type low, high) with high excluded, for a parameter (1 and up) or the result (0). */
LLVMAttributeRef range_attribute(Emitter *emitter, unsigned bits, int64_t low, int64_t high);
/* !range metadata on a load; high excluded. */
void set_load_range(Emitter *emitter, LLVMValueRef load, int64_t low, int64_t high);
LLVMValueRef call_llvm(Emitter *emitter, const char *name, LLVMTypeRef overload, uint32_t count,
                       LLVMValueRef *arguments);
/* An LLVM intrinsic whose overloads are given. */
LLVMValueRef call_llvm_overloaded(Emitter *emitter, const char *name, LLVMTypeRef *overloads, uint32_t overload_count,
                                  uint32_t count, LLVMValueRef *arguments);
/* A declared function of the module without side effects. */
LLVMValueRef call_pure(Emitter *emitter, const char *symbol, LLVMTypeRef result, uint32_t count,
                       LLVMValueRef *arguments);
/* Sets fast-math flags where the value is an instruction that has them; returns the value. */
LLVMValueRef with_flags(LLVMValueRef value, unsigned flags);
/* A property of a loop: its name, and what it is. NULL: nothing but its name. */
LLVMMetadataRef loop_property(Emitter *emitter, const char *name, LLVMMetadataRef of);
/* A node of up to two properties for a loop's branches back. It refers to itself, which keeps loops apart. */
LLVMValueRef loop_node(Emitter *emitter, const LLVMMetadataRef *properties, unsigned count);
/* Puts the node on a branch back. */
void set_loop_node(Emitter *emitter, LLVMValueRef branch, LLVMValueRef node);
/* Says of a branch back that its loop is over threads or blocks, for who measures the module. */
void mark_host_loop(Emitter *emitter, LLVMValueRef branch);
/* Whether that was said; it is no longer. */
bool take_host_loop_mark(Emitter *emitter, LLVMValueRef branch);
LLVMBasicBlockRef new_block(Emitter *emitter);
/* Each instruction of the module, which the visitor may erase; what it adds beside that is not visited. */
void visit_instructions(Emitter *emitter, void (*visit)(Emitter *emitter, LLVMValueRef instruction, void *user),
                        void *user);
/* Bytes behind an address; in bounds. */
LLVMValueRef offset_address(Emitter *emitter, LLVMValueRef address, int64_t bytes);
/* A static alloca in the function's prologue. */
LLVMValueRef prologue_alloca(Emitter *emitter, uint64_t size, uint32_t alignment);

#endif
