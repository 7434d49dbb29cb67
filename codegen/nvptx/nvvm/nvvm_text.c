/* libNVVM of CUDA 13 reads the IR of two LLVMs. From compute capability 10.0 on it is one before ours: what ours has that it
 * has not are attributes (nvvm_attributes.c) and some intrinsics, which become the PTX that they stand for (nvvm_ptx.c).
 * Before, it is LLVM 7, whose pointers have types: there instructions that are newer become older ones first (llvm7_rewrite.c,
 * llvm7_atomic.c), and the text is our own (typed_module.c). */
#include "codegen/nvptx/nvvm/nvvm_text.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/nvptx/nvvm/llvm7_rewrite.h"
#include "codegen/nvptx/nvvm/nvvm_attributes.h"
#include "codegen/nvptx/nvvm/nvvm_ptx.h"
#include "codegen/nvptx/nvvm/typed_text.h"
#include "core/base/memory.h"

/* As NVVM IR is specified. */
static const char nvvm_layout[] =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

/* The version of NVVM IR, then of its debug information. */
static const int nvvm_version[] = {2, 0, 3, 2};

enum { FIRST_AFTER_LLVM7 = 100 };

bool nvvm_reads_llvm7(const Target *target)
{
    return target->kind == TARGET_NVPTX && target->gpu->sm < FIRST_AFTER_LLVM7;
}

static bool has_prefix(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

/* Where a local variable begins and ends is said in other words from LLVM to LLVM, and need not be said. */
static bool is_needless(const char *name)
{
    return has_prefix(name, "llvm.lifetime.") || has_prefix(name, "llvm.experimental.noalias.scope.decl");
}

static void rewrite_calls(Emitter *emitter, LLVMBasicBlockRef block)
{
    for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
        next = LLVMGetNextInstruction(value);
        if (!LLVMIsACallInst(value))
            continue;
        if (is_needless(callee_name(value)))
            LLVMInstructionEraseFromParent(value);
        else
            replace_by_ptx(emitter, value);
    }
}

/* --- kernels ------------------------------------------------------------------------------------------------------------ */

static void add_annotation(Emitter *emitter, LLVMValueRef function, const char *word, unsigned value)
{
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(function),
                               LLVMMDStringInContext2(emitter->context, word, strlen(word)),
                               LLVMValueAsMetadata(LLVMConstInt(emitter->i32, value, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, parts, sizeof parts / sizeof *parts);
    LLVMAddNamedMetadataOperand(emitter->llvm_module, "nvvm.annotations", LLVMMetadataAsValue(emitter->context, node));
}

/* What ours says in attributes, LLVM 7 knows as annotations. */
static void annotate_bounds(Emitter *emitter, LLVMValueRef function)
{
    static const char *const words[][2] = {{"nvvm.maxntid", "maxntidx"},
                                           {"nvvm.minctasm", "minctasm"},
                                           {"nvvm.maxnreg", "maxnreg"},
                                           {"nvvm.maxclusterrank", "maxclusterrank"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        LLVMAttributeRef bound = LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                                               words[i][0], (unsigned)strlen(words[i][0]));
        unsigned length;
        if (bound)
            add_annotation(emitter, function, words[i][1],
                           (unsigned)strtoul(LLVMGetStringAttributeValue(bound, &length), NULL, 10));
    }
}

/* A kernel is one by its annotation; that it is used has to be said for link-time optimization to keep it. */
static void annotate_kernel(Emitter *emitter, LLVMValueRef function)
{
    if (LLVMGetFunctionCallConv(function) != LLVMPTXKernelCallConv)
        return;
    add_annotation(emitter, function, "kernel", 1);
    if (emitter->for_llvm7)
        annotate_bounds(emitter, function);
    LLVMValueRef used = LLVMAddGlobal(emitter->llvm_module, LLVMArrayType2(emitter->pointer_type, 1), "llvm.used");
    LLVMSetInitializer(used, LLVMConstArray2(emitter->pointer_type, &function, 1));
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
}

/* --- the module ------------------------------------------------------------------------------------------------------------ */

static void add_version(Emitter *emitter)
{
    enum { COUNT = sizeof nvvm_version / sizeof *nvvm_version };
    LLVMMetadataRef numbers[COUNT];
    for (int i = 0; i < COUNT; i++)
        numbers[i] = LLVMValueAsMetadata(LLVMConstInt(emitter->i32, (unsigned)nvvm_version[i], false));
    LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, numbers, COUNT);
    LLVMAddNamedMetadataOperand(emitter->llvm_module, "nvvmir.version", LLVMMetadataAsValue(emitter->context, node));
}

static void drop_unused_declarations(Emitter *emitter)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module), next; function; function = next) {
        next = LLVMGetNextFunction(function);
        if (LLVMIsDeclaration(function) && !LLVMGetFirstUse(function))
            LLVMDeleteFunction(function);
    }
}

static char *text_of_llvm(LLVMModuleRef module)
{
    char *printed = LLVMPrintModuleToString(module);
    char *text = memory_try(strlen(printed) + 1);
    if (text)
        strcpy(text, printed);
    LLVMDisposeMessage(printed);
    return text ? text : (memory_fail(1), NULL);
}

char *make_nvvm_text(Emitter *emitter)
{
    if (emitter->for_llvm7)
        LLVMStripModuleDebugInfo(emitter->llvm_module);
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module); function;
         function = LLVMGetNextFunction(function)) {
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
            rewrite_calls(emitter, block);
            if (emitter->for_llvm7 && !rewrite_for_llvm7(emitter, block))
                return NULL;
        }
        annotate_kernel(emitter, function);
        if (!emitter->for_llvm7)
            strip_attributes(function);
    }
    drop_unused_declarations(emitter);
    LLVMSetDataLayout(emitter->llvm_module, nvvm_layout);
    add_version(emitter);
    return emitter->for_llvm7 ? typed_text(emitter) : text_of_llvm(emitter->llvm_module);
}
