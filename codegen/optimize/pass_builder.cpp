/* One of two files in C++, with host_jit.cpp: LLVM's C interface runs pipelines, but has no way to put a pass into one, nor
 * to leave one of a machine's out, to keep those, or to change its level or a condition to its opposite. */
#include "codegen/optimize/pass_builder.h"

#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/RegisterTargetPassConfigCallback.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

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

struct Selection {
    CodeChange change;
    void *state;
};

/* Code generators are told of it by a callback of the process, which knows neither module nor machine of ours. */
thread_local Selection before_selection;

struct BeforeSelection : llvm::FunctionPass {
    static char ID;

    BeforeSelection() : FunctionPass(ID) {}

    bool runOnFunction(llvm::Function &function) override
    {
        if (!before_selection.change)
            return false;
        before_selection.change(before_selection.state, llvm::wrap(&function));
        return true;
    }
    void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesCFG(); }
};

char BeforeSelection::ID;

void add_before_selection(llvm::TargetMachine &machine, llvm::PassManagerBase &, llvm::TargetPassConfig *passes)
{
    if (!before_selection.change || machine.getOptLevel() == llvm::CodeGenOptLevel::None)
        return;
    std::unique_ptr<llvm::Pass> last(llvm::createCodeGenPrepareLegacyPass());
    passes->insertPass(last->getPassID(), new BeforeSelection);
}

/* A machine's passes cannot be taken out of its list, but each asks its context whether it is wanted. */
struct WithoutStraightLines : llvm::OptPassGate {
    bool isEnabled() const override { return true; }
    bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override { return pass != "slsr"; }
};

/* Whether it goes through memory by steps that only the launch knows: LLVM vectorizes it for steps of one element, and other
 * launches run what that leaves. */
bool has_open_steps(const llvm::Loop &loop)
{
    for (const llvm::BasicBlock *block : loop.blocks())
        for (const llvm::Instruction &each : *block)
            if (each.getOpcode() == llvm::Instruction::Mul && each.getType()->isIntegerTy() &&
                !llvm::isa<llvm::Constant>(each.getOperand(0)) && !llvm::isa<llvm::Constant>(each.getOperand(1)))
                return true;
    return false;
}

/* What a vectorized loop leaves for one element at a time is short, but LLVM writes out eight trips of it where it has put a
 * test of addresses in front: most of the code of a small kernel, and a third of the time that is spent on it. */
void keep_remainders_small(llvm::Function &function)
{
    static const char runtime_disable[] = "llvm.loop.unroll.runtime.disable";
    llvm::LLVMContext &context = function.getContext();
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        llvm::MDNode *properties = loop->getLoopID();
        if (!properties || !llvm::findOptionMDForLoopID(properties, "llvm.loop.isvectorized") ||
            llvm::findOptionMDForLoopID(properties, runtime_disable) || has_open_steps(*loop))
            continue;
        llvm::MDNode *property = llvm::MDNode::get(context, llvm::MDString::get(context, runtime_disable));
        loop->setLoopID(llvm::makePostTransformationMetadata(context, properties, {}, {property}));
    }
}

void behind_pass(llvm::StringRef pass, llvm::Any unit, const llvm::PreservedAnalyses &)
{
    if (pass != "LoopVectorizePass")
        return;
    if (const auto *function = llvm::any_cast<const llvm::Function *>(&unit))
        keep_remainders_small(const_cast<llvm::Function &>(**function));
}

/* Long, and hardly any store in it: stores next to each other are what most vectors of lines begin with, and as single ones
 * they would be compared with each other by the code generator. */
bool is_too_long_for_lines(const llvm::BasicBlock &block, unsigned longest)
{
    constexpr unsigned SELDOM = 16;
    auto stores = llvm::count_if(block, [](const llvm::Instruction &each) { return llvm::isa<llvm::StoreInst>(each); });
    return block.size() > longest && (size_t)stores * SELDOM < block.size();
}

bool leaves_lines(llvm::StringRef pass, const llvm::Any &unit, unsigned longest)
{
    const auto *function = llvm::any_cast<const llvm::Function *>(&unit);
    return pass == "SLPVectorizerPass" && function && llvm::any_of(**function, [=](const llvm::BasicBlock &block) {
               return is_too_long_for_lines(block, longest);
           });
}

/* Strength reduction of loops skips functions that are not to be optimized, but what it wants beforehand, the users of counters,
 * is found for them all the same: LLVM asks of each loop how often it runs, given the ends of all loops before it. The register
 * coalescer does not skip them, and goes through all copies that it could not join yet behind each block; what it asks for, where
 * each register lives, takes a bit of each block for each. The machine's scheduler asks for that, too, and does nothing for GPUs. */
struct PassList : llvm::legacy::PassManager {
    unsigned left;

    explicit PassList(unsigned left) : left(left) {}

    bool leaves(llvm::AnalysisID pass) const
    {
        return (left & CODE_WITHOUT_STRENGTH_REDUCTION && pass == loop_strength_reduction()) ||
               (left & CODE_WITHOUT_COALESCER &&
                (pass == &llvm::RegisterCoalescerID || pass == &llvm::MachineSchedulerID));
    }

    void add(llvm::Pass *pass) override
    {
        if (leaves(pass->getPassID()))
            delete pass;
        else
            llvm::legacy::PassManager::add(pass);
    }

    static llvm::AnalysisID loop_strength_reduction()
    {
        static const llvm::AnalysisID id =
            std::unique_ptr<llvm::Pass>(llvm::createLoopStrengthReducePass())->getPassID();
        return id;
    }
};

} // namespace

struct CodePasses {
    llvm::SmallVector<char, 0> code;
    llvm::raw_svector_ostream stream{code};
    PassList passes;

    explicit CodePasses(unsigned left) : passes(left) {}
};

LLVMErrorRef run_pass_pipeline(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes,
                               const PipelineSettings *settings)
{
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = settings->vectorizes_loops;
    options.SLPVectorization = settings->vectorizes_lines;
    options.LoopInterleaving = false;
    llvm::PassInstrumentationCallbacks watch;
    watch.registerAfterPassCallback(behind_pass);
    watch.registerShouldRunOptionalPassCallback([=](llvm::StringRef pass, llvm::Any unit) {
        return !(settings->without && pass == settings->without) && !leaves_lines(pass, unit, settings->longest_lines);
    });
    llvm::PassBuilder builder(reinterpret_cast<llvm::TargetMachine *>(machine), options, std::nullopt, &watch);
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

void branch_back_when_true(LLVMValueRef function)
{
    llvm::SmallVector<std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>, 16> edges;
    llvm::FindFunctionBackedges(*llvm::unwrap<llvm::Function>(function), edges);
    llvm::IRBuilder<> builder(llvm::unwrap(function)->getContext());
    for (const auto &[from, to] : edges) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(const_cast<llvm::Instruction *>(from->getTerminator()));
        if (!branch || !branch->isConditional() || branch->getSuccessor(1) != to ||
            llvm::is_contained(edges,
                               std::make_pair(from, static_cast<const llvm::BasicBlock *>(branch->getSuccessor(0)))))
            continue;
        builder.SetInsertPoint(branch);
        llvm::InvertBranch(branch, builder);
    }
}

void split_blocks(LLVMValueRef function, unsigned longest)
{
    llvm::SmallVector<llvm::Instruction *, 16> firsts;
    for (llvm::BasicBlock &block : *llvm::unwrap<llvm::Function>(function)) {
        unsigned count = 0;
        for (auto each = block.getFirstNonPHIOrDbgOrAlloca(); each != block.end(); ++each)
            if (++count > longest) {
                firsts.push_back(&*each);
                count = 1;
            }
    }
    for (llvm::Instruction *first : llvm::reverse(firsts)) /* so that each is moved once */
        first->getParent()->splitBasicBlock(first);
}

void part_loops_from_others(LLVMValueRef function)
{
    llvm::DominatorTree dominators(*llvm::unwrap<llvm::Function>(function));
    llvm::LoopInfo loops(dominators);
    llvm::SmallVector<llvm::Loop *, 4> outer_first = loops.getLoopsInPreorder();
    /* What is put in now is a part of no loop that was found, and is met in front of heads only where loops end. So all that comes
     * in front is done before; and behind, an inner loop's new block may be where one around it ends. */
    for (llvm::Loop *loop : outer_first)
        if (!loop->getLoopPreheader())
            llvm::InsertPreheaderForLoop(loop, nullptr, nullptr, nullptr, false);
    for (llvm::Loop *loop : llvm::reverse(outer_first))
        llvm::formDedicatedExitBlocks(loop, nullptr, nullptr, nullptr, false);
}

void leave_straight_lines(LLVMContextRef context)
{
    static WithoutStraightLines gate;
    llvm::unwrap(context)->setOptPassGate(gate);
}

void make_code_fast(LLVMTargetMachineRef machine)
{
    reinterpret_cast<llvm::TargetMachine *>(machine)->setOptLevel(llvm::CodeGenOptLevel::None);
}

CodePasses *make_code_passes(LLVMTargetMachineRef machine, LLVMCodeGenFileType type, unsigned left)
{
    auto passes = std::make_unique<CodePasses>(left);
    auto kind = type == LLVMAssemblyFile ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
    auto *maker = reinterpret_cast<llvm::TargetMachine *>(machine);
    return maker->addPassesToEmitFile(passes->passes, passes->stream, nullptr, kind) ? nullptr : passes.release();
}

const char *run_code_passes(CodePasses *passes, LLVMModuleRef module, size_t *size)
{
    passes->code.clear();
    passes->passes.run(*llvm::unwrap(module));
    *size = passes->code.size();
    passes->code.push_back(0);
    return passes->code.data();
}

void free_code_passes(CodePasses *passes) { delete passes; }

void change_before_selection(CodeChange change, void *state)
{
    static const auto *const forever = new llvm::RegisterTargetPassConfigCallback(add_before_selection);
    (void)forever;
    before_selection = {change, state};
}
