/* One of two files in C++, with host_jit.cpp: LLVM's C interface runs pipelines, but has no way to put a pass into one, nor
 * to leave one of a machine's out, to keep those, or to change its level or a condition to its opposite. */
#include "codegen/optimize/pass_builder.h"

#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/DominanceFrontier.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
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

bool leaves_pass(const LeftPass *left, llvm::StringRef pass, llvm::StringRef before)
{
    for (; left && left->name; left++)
        if (pass == left->name && (!left->behind || before == left->behind))
            return true;
    return false;
}

/* Behind the code generator's passes over LLVM IR, which would join the parts. */
struct ShortBlocks : llvm::FunctionPass {
    static char ID;

    ShortBlocks() : FunctionPass(ID) {}

    bool runOnFunction(llvm::Function &function) override
    {
        split_blocks(llvm::wrap(&function), LONGEST_BLOCK);
        return true;
    }
};

char ShortBlocks::ID;

/* Strength reduction of loops skips functions that are not to be optimized, but what it wants beforehand, the users of counters,
 * is found for them all the same: LLVM asks of each loop how often it runs, given the ends of all loops before it. The machine's
 * combiner does not skip them, and finds anew how deep the operations of a block lie for each that it may change. Nor does the
 * register coalescer, which goes through all copies that it could not join yet behind each block; what it asks for, where each
 * register lives, takes a bit of each block for each. The machine's scheduler asks for that, too, and does nothing for GPUs.
 * Without these nobody needs the last uses of registers, which are found likewise. The scheduler of a processor's finished code
 * would see parts of a block joined again. */
struct PassList : llvm::legacy::PassManager {
    unsigned left;

    explicit PassList(unsigned left) : left(left) {}

    bool leaves(llvm::AnalysisID pass) const
    {
        return (left & CODE_WITHOUT_STRENGTH_REDUCTION && pass == loop_strength_reduction()) ||
               (left & CODE_WITHOUT_COMBINER && pass == &llvm::MachineCombinerID) ||
               (left & CODE_WITHOUT_COALESCER &&
                (pass == &llvm::RegisterCoalescerID || pass == &llvm::MachineSchedulerID ||
                 pass == &llvm::LiveVariablesID)) ||
               (left & CODE_OF_SHORT_BLOCKS && pass == &llvm::PostRASchedulerID);
    }

    void add(llvm::Pass *pass) override
    {
        llvm::AnalysisID id = pass->getPassID();
        if (leaves(id))
            delete pass;
        else
            llvm::legacy::PassManager::add(pass);
        if (left & CODE_OF_SHORT_BLOCKS && id == last_before_selection())
            llvm::legacy::PassManager::add(new ShortBlocks);
    }

    static llvm::AnalysisID last_before_selection()
    {
        static const llvm::AnalysisID id =
            std::unique_ptr<llvm::Pass>(llvm::createCodeGenPrepareLegacyPass())->getPassID();
        return id;
    }

    static llvm::AnalysisID loop_strength_reduction()
    {
        static const llvm::AnalysisID id =
            std::unique_ptr<llvm::Pass>(llvm::createLoopStrengthReducePass())->getPassID();
        return id;
    }
};

/* Memory of a function's own becomes values, all of it in one walk down the dominator tree. A phi is wherever control flow brings
 * different stores together and something may be loaded afterwards. */
class Promotion
{
  public:
    explicit Promotion(llvm::Function &function) : function(function), dominators(function) {}

    void run()
    {
        for (llvm::Instruction &each : function.getEntryBlock())
            if (auto *memory = llvm::dyn_cast<llvm::AllocaInst>(&each))
                add(memory);
        find_loading();
        frontiers.analyze(dominators);
        for (unsigned i = 0; i < variables.size(); i++)
            place_phis(i);
        walk();
        for (llvm::Instruction *each : replaced)
            each->eraseFromParent();
        for (const Variable &each : variables)
            each.memory->eraseFromParent();
    }

  private:
    struct Variable {
        llvm::AllocaInst *memory;
        llvm::Type *type;
        llvm::Value *value; /* at the place that the walk is at */
    };

    struct Phi {
        llvm::PHINode *phi;
        unsigned variable;
    };

    llvm::Function &function;
    llvm::DominatorTree dominators;
    llvm::DominanceFrontier frontiers;
    llvm::SmallVector<Variable, 0> variables;
    llvm::DenseMap<const llvm::Value *, unsigned> numbers; /* of memory */
    llvm::DenseMap<const llvm::BasicBlock *, llvm::SmallVector<Phi, 1>> phis;
    llvm::SmallPtrSet<const llvm::BasicBlock *, 32> loading; /* blocks with loads, and those before them */
    llvm::SmallVector<std::pair<unsigned, llvm::Value *>, 0>
        earlier; /* values of variables that the walk goes back to */
    llvm::SmallVector<llvm::Instruction *, 0> replaced;

    /* What a load or store of memory as a whole has there; NULL: it is something else. */
    static llvm::Type *accessed(const llvm::Use &use)
    {
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(use.getUser()))
            return load->isSimple() ? load->getType() : nullptr;
        auto *store = llvm::dyn_cast<llvm::StoreInst>(use.getUser());
        bool is_address = store && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex();
        return is_address && store->isSimple() ? store->getValueOperand()->getType() : nullptr;
    }

    /* Inlined functions tell where their memory is in use. */
    static bool is_lifetime(const llvm::User *user)
    {
        auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
        return call && call->isLifetimeStartOrEnd();
    }

    void add(llvm::AllocaInst *memory)
    {
        llvm::Type *type = nullptr;
        for (const llvm::Use &use : memory->uses()) {
            if (is_lifetime(use.getUser()))
                continue;
            llvm::Type *each = accessed(use);
            if (!each || (type && each != type))
                return;
            type = each;
        }
        if (!type)
            return;
        for (llvm::User *user : memory->users())
            if (is_lifetime(user))
                replaced.push_back(llvm::cast<llvm::Instruction>(user));
        numbers[memory] = variables.size();
        variables.push_back({memory, type, llvm::UndefValue::get(type)});
    }

    void find_loading()
    {
        llvm::SmallVector<const llvm::BasicBlock *, 0> waiting;
        for (const Variable &each : variables)
            for (const llvm::User *user : each.memory->users())
                if (llvm::isa<llvm::LoadInst>(user))
                    waiting.push_back(llvm::cast<llvm::Instruction>(user)->getParent());
        while (!waiting.empty()) {
            const llvm::BasicBlock *block = waiting.pop_back_val();
            if (loading.insert(block).second)
                waiting.append(llvm::pred_begin(block), llvm::pred_end(block));
        }
    }

    void place_phis(unsigned variable)
    {
        const Variable &own = variables[variable];
        llvm::SmallVector<llvm::BasicBlock *, 8> waiting;
        llvm::SmallPtrSet<llvm::BasicBlock *, 8> done;
        for (llvm::User *user : own.memory->users())
            if (llvm::isa<llvm::StoreInst>(user))
                waiting.push_back(llvm::cast<llvm::Instruction>(user)->getParent());
        while (!waiting.empty()) {
            auto found = frontiers.find(waiting.pop_back_val());
            if (found == frontiers.end())
                continue;
            for (llvm::BasicBlock *join : found->second) {
                if (!loading.contains(join) || !done.insert(join).second)
                    continue;
                auto *phi = llvm::PHINode::Create(own.type, llvm::pred_size(join), "", join->begin());
                phis[join].push_back({phi, variable});
                waiting.push_back(join);
            }
        }
    }

    void set(unsigned variable, llvm::Value *value)
    {
        earlier.emplace_back(variable, variables[variable].value);
        variables[variable].value = value;
    }

    void access(llvm::Instruction &instruction)
    {
        auto found = numbers.find(llvm::getLoadStorePointerOperand(&instruction));
        if (found == numbers.end())
            return;
        if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
            set(found->second, store->getValueOperand());
        else
            instruction.replaceAllUsesWith(variables[found->second].value);
        replaced.push_back(&instruction);
    }

    void enter(llvm::BasicBlock *block)
    {
        auto own = phis.find(block);
        if (own != phis.end())
            for (const Phi &each : own->second)
                set(each.variable, each.phi);
        for (llvm::Instruction &each : *block)
            access(each);
        for (llvm::BasicBlock *next : llvm::successors(block)) {
            auto others = phis.find(next);
            if (others != phis.end())
                for (const Phi &each : others->second)
                    each.phi->addIncoming(variables[each.variable].value, block);
        }
    }

    void leave(std::size_t until)
    {
        while (earlier.size() > until) {
            const auto &[variable, value] = earlier.pop_back_val();
            variables[variable].value = value;
        }
    }

    void walk()
    {
        struct Step {
            llvm::DomTreeNode *node;
            llvm::DomTreeNode::iterator next;
            std::size_t before; /* values that there were earlier, when it was entered */
        };
        llvm::SmallVector<Step, 0> steps;
        auto enter_node = [&](llvm::DomTreeNode *node) {
            steps.push_back({node, node->begin(), earlier.size()});
            enter(node->getBlock());
        };
        enter_node(dominators.getRootNode());
        while (!steps.empty()) {
            if (steps.back().next != steps.back().node->end()) {
                enter_node(*steps.back().next++);
                continue;
            }
            leave(steps.back().before);
            steps.pop_back();
        }
        for (llvm::BasicBlock &block : function) /* what nothing leads to */
            if (!dominators.isReachableFromEntry(&block)) {
                enter(&block);
                leave(0);
            }
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
    llvm::StringRef before;
    watch.registerShouldRunOptionalPassCallback([&before, settings](llvm::StringRef pass, llvm::Any unit) {
        bool is_left = leaves_pass(settings->left, pass, before);
        before = pass;
        return !is_left && !leaves_lines(pass, unit, settings->longest_lines);
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

bool has_longer_block(LLVMValueRef function, unsigned longest)
{
    return llvm::any_of(*llvm::unwrap<llvm::Function>(function), [=](llvm::BasicBlock &block) {
        return std::distance(block.getFirstNonPHIOrDbgOrAlloca(), block.end()) > longest;
    });
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

void promote_together(LLVMValueRef function) { Promotion(*llvm::unwrap<llvm::Function>(function)).run(); }

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

void set_attributes(LLVMValueRef function, const PlacedAttribute *attributes, size_t count)
{
    llvm::SmallVector<std::pair<unsigned, llvm::Attribute>, 0> list;
    for (const PlacedAttribute &each : llvm::ArrayRef(attributes, count))
        list.emplace_back(each.place, llvm::unwrap(each.attribute));
    auto *changed = llvm::unwrap<llvm::Function>(function);
    changed->setAttributes(llvm::AttributeList::get(changed->getContext(), list));
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
