/* What LLVM's C interface has no way to ask for: a pass of ours in the middle of its pipeline, a pass less there, another
 * level for a machine, a branch the other way round, a block in two, variables out of memory together, a pass less of the
 * code generator's, its passes again, many attributes at once. */
#ifndef CUJIT_CODEGEN_PASS_BUILDER_H
#define CUJIT_CODEGEN_PASS_BUILDER_H

#include <stdbool.h>

#include "codegen/llvm.h"

/* A pass that is left out, by the name of its class. */
typedef struct LeftPass {
    const char *name;
    const char *behind; /* only where it comes next behind this one; NULL: everywhere */
} LeftPass;

typedef struct PipelineSettings {
    bool vectorizes_loops;
    /* Of straight code, in functions whose blocks have at most longest_lines instructions, or many stores. */
    bool vectorizes_lines;
    unsigned longest_lines;
    /* For each function, when LLVM is about to vectorize it; or NULL. */
    void (*before_vectorizers)(LLVMValueRef function);
    const LeftPass *left; /* passes that are left out, up to one without a name; or NULL */
} PipelineSettings;

#ifdef __cplusplus
extern "C" {
#endif

/* Runs passes, in LLVM's textual form, over the module. An error: there is no such pass. */
LLVMErrorRef run_pass_pipeline(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes,
                               const PipelineSettings *settings);
/* A change to each function between the code generator's passes over LLVM IR, which make loops anew, and its choice of
 * instructions; NULL: no more, for modules that this thread makes code of. A machine of make_code_fast() has no such place. */
typedef void (*CodeChange)(void *state, LLVMValueRef function);
void change_before_selection(CodeChange change, void *state);
/* Conditional branches that lead back to the head of a loop are taken where their condition holds. */
void branch_back_when_true(LLVMValueRef function);
/* Whether the function has a block of more instructions than that, but for its phis and allocas; parts all such blocks. */
bool has_longer_block(LLVMValueRef function, unsigned longest);
void split_blocks(LLVMValueRef function, unsigned longest);
/* Memory of the function's own that is loaded and stored as a whole becomes values, as by mem2reg, which looks for each anew at all
 * blocks below its stores. */
void promote_together(LLVMValueRef function);
/* Each loop has a block in front of it and blocks behind it that no other loop has, as the code generator wants them: it would
 * count all blocks below anew for each that it puts there. */
void part_loops_from_others(LLVMValueRef function);
typedef struct PlacedAttribute {
    unsigned place; /* of a parameter, from 1 on */
    LLVMAttributeRef attribute;
} PlacedAttribute;
/* All that the function has, by place: LLVMAddAttributeAtIndex() makes the whole list anew for each. */
void set_attributes(LLVMValueRef function, const PlacedAttribute *attributes, size_t count);
/* Code generators leave straight-line strength reduction out for all modules of the context. */
void leave_straight_lines(LLVMContextRef context);
/* From now on the machine makes code as fast as it can, whatever the code is like. */
void make_code_fast(LLVMTargetMachineRef machine);

/* The passes of a machine's code generator, set up: which takes a fourth of a small kernel's way to PTX. They make code of one
 * module after the other, each the same as if they were new. */
typedef struct CodePasses CodePasses;
/* Instructions of a block: code generators compare the accesses of one block with each other, and more. */
enum { LONGEST_BLOCK = 1000 };
/* What is not among them, even for functions that are not to be optimized; bits. */
enum {
    CODE_WITHOUT_STRENGTH_REDUCTION = 1, /* of loops, and what is found out for it */
    CODE_WITHOUT_COMBINER = 2, /* of a block's operations, which makes chains of them shorter */
    CODE_WITHOUT_COALESCER = 4, /* nor where registers live: a GPU's copies between them stay, for ptxas to join them */
    CODE_OF_SHORT_BLOCKS = 8 /* split_blocks() in front of the choice of instructions, and no scheduler behind it all */
};
/* NULL: the machine makes no such code. It has to live as long as they do. */
CodePasses *make_code_passes(LLVMTargetMachineRef machine, LLVMCodeGenFileType type, unsigned left);
/* The code, with a NUL behind it, until they are run again. */
const char *run_code_passes(CodePasses *passes, LLVMModuleRef module, size_t *size);
void free_code_passes(CodePasses *passes);

#ifdef __cplusplus
}
#endif

#endif
