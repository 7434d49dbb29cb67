/* The pass pipeline: LLVM's own for the level asked for. On the CPU device the highest is 2, which vectorizes as 3 does and
 * takes half the time for kernels with loops. Very large functions have a shorter one: see module_size.c. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/llvm_fault.h"
#include "codegen/nvptx/float_to_integer.h"
#include "codegen/nvptx/memory/local_atomic.h"
#include "codegen/nvptx/memory/row_address.h"
#include "codegen/nvptx/ptxas_fault.h"
#include "codegen/nvptx/wide_word.h"
#include "codegen/optimize/division.h"
#include "codegen/optimize/long_function.h"
#include "codegen/optimize/long_lives.h"
#include "codegen/optimize/module_size.h"
#include "codegen/optimize/optimize.h"
#include "codegen/optimize/pass_builder.h"
#include "codegen/optimize/product_chain.h"

#define INLINE_FIRST "always-inline,globaldce"
/* What a function put into a struct for its caller, which takes it out of there, is handed on before anybody looks at it. */
#define FOLD_MEMBERS "function(instsimplify,adce)"
/* Passes whose time is proportional to the size of a function. A GPU's code generator computes addresses again for each
 * access unless it is told which offsets are constant. An `if` that becomes a select becomes blocks again on the CPU device,
 * one by one. */
static const char *const linear_passes[] = {
    [TARGET_NVPTX] =
        INLINE_FIRST ",function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-keep-loops>,instsimplify,"
                     "infer-address-spaces,separate-const-offset-from-gep<lower-gep>,"
                     "early-cse<memssa>,adce,simplifycfg<no-keep-loops>)",
    [TARGET_HOST] =
        INLINE_FIRST ",function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-keep-loops;no-speculate-blocks>,"
                     "instsimplify,early-cse<memssa>,adce,simplifycfg<no-keep-loops;no-speculate-blocks>)",
};

/* simplifycfg compares all predecessors of a block, which are as many as the tests that may fail there. */
static const char fewest_passes[] = INLINE_FIRST ",function(sroa<modify-cfg>,early-cse<memssa>)";

static const char *pipeline(const Emitter *emitter, unsigned changes)
{
    static const char *const levels[] = {"default<O0>", "default<O1>", "default<O2>", "default<O3>"};
    if (changes & PIPELINE_FAST_CODE)
        return fewest_passes;
    if (changes & (PIPELINE_LINEAR | PIPELINE_QUICK))
        return linear_passes[emitter->target->kind];
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

static const LeftPass left_on_host[] = {
    /* It hands on what one trip stores to the next one's load, where LLVM's GVN has not. Among the collection's kernels there
     * was one loop with anything for it, which it made slower; what it finds out for each loop takes longer than what the loop
     * vectorizer asks. */
    {.name = "LoopLoadEliminationPass"},
    /* Which functions a pointer may lead to: kernels call by names. */
    {.name = "CalledValuePropagationPass"},
    /* Tidies up behind the vectorizer of lines, as it does in front of that, and again when loops have been written out. */
    {.name = "InstCombinePass", .behind = "VectorCombinePass"},
    {0},
};

/* LLVM looks for operations of one thread that are alike, and compares each with others of its block. In blocks of more
 * instructions, few of them stores, it takes a quarter of a compilation, and has made none of the collection's kernels faster. */
enum { LONGEST_LINES = 300 };

static bool run_passes(Emitter *emitter, const char *passes, unsigned changes)
{
    bool is_host = emitter->target->kind == TARGET_HOST;
    PipelineSettings settings = {.vectorizes_loops = is_host,
                                 .vectorizes_lines = is_host && !(changes & PIPELINE_NO_SLP),
                                 .longest_lines = LONGEST_LINES,
                                 .before_vectorizers = is_host ? llvm_avoid_faults : NULL,
                                 .left = is_host ? left_on_host : NULL};
    LLVMErrorRef error = run_pass_pipeline(emitter->llvm_module, emitter->machine, passes, &settings);
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    fail(emitter, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static bool run_pipeline(Emitter *emitter, unsigned changes)
{
    if (changes & (PIPELINE_LINEAR | PIPELINE_FAST_CODE)) {
        if (!run_passes(emitter, INLINE_FIRST, changes))
            return false;
        promote_long_memory(emitter);
    }
    return run_passes(emitter, pipeline(emitter, changes), changes);
}

/* What the size of the module changes in its passes. Functions that hand over many values and are not inlined even when
 * it is their turn are too much for passes over calls. */
static bool fit_to_size(Emitter *emitter, unsigned *changes)
{
    *changes = 0;
    if (emitter->options->opt <= 0) {
        emitter->is_quick = false;
        return true;
    }
    TargetKind device = emitter->target->kind;
    ModuleSize size = measure_module(emitter);
    *changes = pipeline_for_size(&size, device);
    if (emitter->is_quick && !(*changes & PIPELINE_LINEAR)) {
        *changes |= PIPELINE_QUICK;
        return true;
    }
    emitter->is_quick = false;
    if (!(*changes & PIPELINE_INLINE_FIRST))
        return true;
    if (!run_passes(emitter, INLINE_FIRST "," FOLD_MEMBERS, 0))
        return false;
    size = measure_module(emitter);
    *changes = pipeline_for_size(&size, device);
    if (*changes & PIPELINE_INLINE_FIRST)
        *changes |= PIPELINE_LINEAR;
    return true;
}

/* The code generator, too, leaves out what is not proportional: machine LICM in front of the register allocator, strength
 * reduction and the vectorizer of accesses of a GPU. */
static void skip_optional_code_passes(Emitter *emitter)
{
    static const char inlined[] = "alwaysinline";
    unsigned kind = LLVMGetEnumAttributeKindForName(inlined, sizeof inlined - 1);
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each)) {
        if (LLVMIsDeclaration(each))
            continue;
        LLVMRemoveEnumAttributeAtIndex(each, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
        add_function_attribute(emitter, each, "noinline", 0);
        add_function_attribute(emitter, each, "optnone", 0);
    }
}

/* ptxas takes a loop for one whose trips it can count, and do several at a time, where the branch back is the conditional one.
 * The code generator leaves the order of a branch's targets as it is. */
static void make_loops_plain(Emitter *emitter)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        if (!LLVMIsDeclaration(each))
            branch_back_when_true(each);
}

static void part_loops(Emitter *emitter)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each))
        if (!LLVMIsDeclaration(each))
            part_loops_from_others(each);
}

/* What is known of where arrays begin, told to each access: the code generator joins neighbours by that alone, and the
 * pipeline has not seen it through casts between address spaces. */
static const char alignment_passes[] = "function(infer-address-spaces,infer-alignment)";

bool optimize_module(Emitter *emitter)
{
    unsigned changes;
    if (!verify(emitter) || !fit_to_size(emitter, &changes))
        return false;
    bool done = run_pipeline(emitter, changes);
    if (done && emitter->ir->first->aligned)
        done = run_passes(emitter, alignment_passes, changes);
    if (emitter->target->kind == TARGET_HOST)
        llvm_avoid_code_faults(emitter->llvm_module);
    if (emitter->target->kind == TARGET_NVPTX) {
        make_local_atomics_plain(emitter);
        if (emitter->options->opt)
            widen_words(emitter);
        saturate_by_instructions(emitter);
        ptxas_avoid_faults(emitter);
        make_loops_plain(emitter);
        keep_product_chains(emitter);
        if (emitter->options->opt && !(changes & (PIPELINE_LINEAR | PIPELINE_QUICK)))
            share_row_addresses(emitter);
    }
    keep_divisions_where_they_are(emitter);
    if (changes & PIPELINE_QUICK) { /* with the list of passes that the optimized code takes, too */
        skip_optional_code_passes(emitter);
    } else if (changes & PIPELINE_LINEAR) {
        skip_optional_code_passes(emitter);
        machine_leave_passes(emitter->held, CODE_WITHOUT_STRENGTH_REDUCTION | CODE_WITHOUT_COMBINER);
        part_loops(emitter);
    } else if (has_long_sums(emitter))
        machine_leave_passes(emitter->held, CODE_WITHOUT_STRENGTH_REDUCTION);
    if (changes & PIPELINE_LINEAR && emitter->target->kind == TARGET_HOST)
        tabulate_constants(emitter);
    if (changes & (PIPELINE_LINEAR | PIPELINE_FAST_CODE))
        part_long_blocks(emitter);
    else if (emitter->target->kind == TARGET_HOST && has_long_blocks(emitter))
        machine_leave_passes(emitter->held, CODE_OF_SHORT_BLOCKS);
    if (emitter->options->opt > 0 && !(changes & PIPELINE_FAST_CODE) && shorten_long_lives(emitter))
        changes |= PIPELINE_KEEP_COPIES;
    if (changes & PIPELINE_KEEP_COPIES && emitter->target->kind == TARGET_NVPTX)
        machine_leave_passes(emitter->held, CODE_WITHOUT_COALESCER);
    if (changes & PIPELINE_NO_STRAIGHT_LINES)
        leave_straight_lines(emitter->context);
    if (changes & PIPELINE_FAST_CODE) {
        machine_spoil(emitter->held);
        make_code_fast(emitter->machine);
    }
    return done && (!emitter->llvm_error[0] || fail(emitter, ""));
}
