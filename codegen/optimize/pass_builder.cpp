/* The only file in C++: LLVM's C interface runs pipelines, but has no way to put a pass into one, nor
 * to change a machine's level. */
#include "codegen/optimize/pass_builder.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

namespace
{

struct BeforeVectorizers : llvm::PassInfoMixin<BeforeVectorizers> {
    void (*change)(LLVMValueRef function);

    explicit BeforeVectorizers(void (*change)(LLVMValueRef function)) : change(change) {}

    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &)
    {
        change(llvm::wrap(&function));
        llvm::PreservedAnalyses preserved;
        preserved.preserveSet<llvm::CFGAnalyses>();
        return preserved;
    }
};

} // namespace

LLVMErrorRef run_pass_pipeline(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes,
                               const PipelineSettings *settings)
{
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = settings->vectorizes_loops;
    options.SLPVectorization = settings->vectorizes_lines;
    options.LoopInterleaving = false;
    llvm::PassBuilder builder(reinterpret_cast<llvm::TargetMachine *>(machine), options);
    if (settings->before_vectorizers)
        builder.registerVectorizerStartEPCallback([=](llvm::FunctionPassManager &pipeline, llvm::OptimizationLevel) {
            pipeline.addPass(BeforeVectorizers(settings->before_vectorizers));
        });

    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);

    llvm::ModulePassManager pipeline;
    if (llvm::Error error = builder.parsePassPipeline(pipeline, passes))
        return llvm::wrap(std::move(error));
    pipeline.run(*llvm::unwrap(module), modules);
    return nullptr;
}

void make_code_fast(LLVMTargetMachineRef machine)
{
    reinterpret_cast<llvm::TargetMachine *>(machine)->setOptLevel(llvm::CodeGenOptLevel::None);
}
