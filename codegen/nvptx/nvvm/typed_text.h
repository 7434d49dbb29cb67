/* A module as LLVM 7 reads it, where pointers have types. All of ours are i8* (of their address space): what an instruction
 * accesses gets its type by a bitcast in front of it, and what it gives becomes i8* again. */
#ifndef CUJIT_CODEGEN_NVPTX_TYPED_TEXT_H
#define CUJIT_CODEGEN_NVPTX_TYPED_TEXT_H

#include "codegen/emit.h"
#include "core/base/buf.h"
#include "core/base/table.h"

/* The text of a module that llvm7_rewrite.h has gone over. memory_free() it; NULL with a diagnostic. */
char *typed_text(Emitter *emitter);

typedef struct TypedText {
    Emitter *emitter;
    Buf out;
    Table *numbers; /* of instructions, parameters, blocks and metadata, 1 and up */
    uint32_t value_count, cast_count, metadata_count;
    LLVMValueRef *metadata; /* nodes by their number - 1; of the arena */
    uint32_t metadata_capacity;
    LLVMValueRef place; /* the instruction that is printed; NULL: none */
    bool failed;
} TypedText;

/* --- typed_value.c ---------------------------------------------------------------------------------------------------- */
void typed_type(TypedText *t, LLVMTypeRef type);
/* "i8*" or that of another type and space. */
void typed_pointer(TypedText *t, LLVMTypeRef pointee, unsigned space);
/* What stands for a value where its type is known. */
void typed_value(TypedText *t, LLVMValueRef value);
/* Type and value. */
void typed_operand(TypedText *t, LLVMValueRef value);
/* A global's name; no i8* but a pointer to what it is. */
void typed_global_name(TypedText *t, LLVMValueRef global);
/* The text in quotation marks, as LLVM writes names, strings and assembly. */
void typed_quoted(TypedText *t, const char *text, size_t length);
/* The type of what a GEP of a type by these indices leads to. */
LLVMTypeRef typed_element(LLVMTypeRef source, LLVMValueRef instruction);
/* The number of a parameter, an instruction, a block or metadata, which gets one when it is first asked for. */
uint32_t typed_number(TypedText *t, const void *thing, uint32_t *count);
/* "addrspace(3) ", or "" for 0. */
void typed_space(TypedText *t, unsigned space);
bool typed_fail(TypedText *t, const char *what);

/* --- typed_instruction.c ------------------------------------------------------------------------------------------------- */
void typed_instruction(TypedText *t, LLVMValueRef instruction);
/* The type that byval gives a parameter, NULL: none. Index from 0, of a function or a call. */
LLVMTypeRef typed_by_value(LLVMValueRef function_or_call, unsigned index);
/* Attributes of a parameter (from 1), a result (0) or a function that LLVM 7 knows, each with a space in front. */
void typed_attributes(TypedText *t, LLVMValueRef function_or_call, LLVMAttributeIndex index);

/* --- typed_metadata.c ---------------------------------------------------------------------------------------------------- */
/* What an instruction carries: ", !range !4". */
void typed_attachments(TypedText *t, LLVMValueRef instruction);
/* The module's named metadata, then all nodes that were named so far. */
void typed_metadata(TypedText *t);

#endif
