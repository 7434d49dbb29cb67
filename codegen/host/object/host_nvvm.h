/* Shared by the two files that put LLVM's own operations in the place of a GPU's instructions. */
#ifndef CUJIT_CODEGEN_HOST_NVVM_H
#define CUJIT_CODEGEN_HOST_NVVM_H

#include "codegen/emit.h"

typedef enum Rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP } Rounding;

/* One instruction. */
typedef struct Leaf {
    const char *operation; /* "add", "f2i", with what follows */
    const char *llvm; /* of the row; NULL: the lowering needs none */
    uint32_t operand_count;
    Rounding rounding;
    bool flushes; /* denormal float32 operands and results are zero */
    bool is_approximate;
    LLVMTypeRef type; /* of the result */
} Leaf;

typedef LLVMValueRef (*Lowering)(Emitter *emitter, const Leaf *leaf, LLVMValueRef *x);

typedef struct InstructionRow {
    const char *start; /* of the instruction's name */
    Lowering lowering;
    const char *llvm; /* the LLVM intrinsic, where that is all */
} InstructionRow;

/* The row of an instruction, or of PTX of several that begins with this one. NULL: there is none. */
const InstructionRow *find_instruction(const char *operation);
const InstructionRow *find_sequence(const char *first, uint32_t operands);

/* Whether one of the words behind the name's dots is this one. */
bool has_word(const char *name, const char *word);
/* A denormal float32 as zero. */
LLVMValueRef flushed(Emitter *emitter, LLVMValueRef x);

/* Replaces the intrinsics of NVIDIA GPUs that libdevice's code calls by what computes the same on the host. */
bool lower_nvvm_intrinsics(Emitter *emitter);

#endif
