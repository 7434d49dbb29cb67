/* LLVM's pass pipeline with a pass of ours in its middle: the one thing that LLVM's C interface has no way to ask for. */
#ifndef CUJIT_CODEGEN_PASS_BUILDER_H
#define CUJIT_CODEGEN_PASS_BUILDER_H

#include <stdbool.h>

#include "codegen/llvm.h"

typedef struct PipelineSettings {
    bool vectorizes_loops;
    bool vectorizes_lines; /* of straight code */
    /* For each function, when LLVM is about to vectorize it; or NULL. */
    void (*before_vectorizers)(LLVMValueRef function);
} PipelineSettings;

#ifdef __cplusplus
extern "C"
#endif
    /* Runs passes, in LLVM's textual form, over the module. An error: there is no such pass. */
    LLVMErrorRef run_pass_pipeline(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes,
                                   const PipelineSettings *settings);

#endif
