/* The pass pipeline: LLVM's own for the level asked for. On the CPU device the highest is 2, which vectorizes as 3 does and
 * takes half the time for kernels with loops. */
#include "codegen/emit.h"
#include "codegen/host/llvm_fault.h"
#include "codegen/nvptx/local_atomic.h"
#include "codegen/nvptx/ptxas_fault.h"
#include "codegen/optimize.h"
#include "codegen/pass_builder.h"

static const char *pipeline(const Emitter *emitter)
{
    static const char *const levels[] = {"default<O0>", "default<O1>", "default<O2>", "default<O3>"};
    int level = emitter->options->opt, highest = emitter->target->kind == TARGET_HOST ? 2 : 3;
    return levels[level < 0 ? 0 : level > highest ? highest : level];
}

static bool fail(Emitter *emitter, const char *text)
{
    return diag_fail(emitter->diag, NULL, DIAG_LLVM, emitter->llvm_error[0] ? emitter->llvm_error : text);
}

static bool verify(Emitter *emitter)
{
    char *message = NULL;
    bool is_broken = LLVMVerifyModule(emitter->llvm_module, LLVMReturnStatusAction, &message);
    if (is_broken)
        fail(emitter, message);
    LLVMDisposeMessage(message);
    return !is_broken;
}

bool optimize_module(Emitter *emitter)
{
    if (!verify(emitter))
        return false;
    bool is_host = emitter->target->kind == TARGET_HOST;
    PipelineSettings settings = {.vectorizes = is_host, .before_vectorizers = is_host ? llvm_avoid_faults : NULL};
    LLVMErrorRef error = run_pass_pipeline(emitter->llvm_module, emitter->machine, pipeline(emitter), &settings);
    if (error) {
        char *message = LLVMGetErrorMessage(error);
        fail(emitter, message);
        LLVMDisposeErrorMessage(message);
    }
    if (!is_host) {
        make_local_atomics_plain(emitter);
        ptxas_avoid_faults(emitter);
    }
    return !error && (!emitter->llvm_error[0] || fail(emitter, ""));
}
