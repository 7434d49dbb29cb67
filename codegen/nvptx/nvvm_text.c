/* libNVVM of CUDA 13 reads the IR of an LLVM before ours for GPUs from compute capability 10.0 on. What ours has that it
 * has not are attributes, which say what LLVM has found out: libNVVM finds that out again, and those that change what code
 * means stay; and some intrinsics, which become the PTX that they stand for. */
#include "codegen/nvptx/nvvm_text.h"

#include <string.h>

#include "codegen/emit_tools.h"

/* As NVVM IR is specified. */
static const char nvvm_layout[] =
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

/* The version of NVVM IR, then of its debug information. */
static const int nvvm_version[] = {2, 0, 3, 2};

static const char *const kept[] = {"alignstack", "align",    "alwaysinline", "byval", "convergent", "noinline",
                                   "noundef",    "nounwind", "signext",      "sret",  "zeroext"};
enum { KEPT_COUNT = sizeof kept / sizeof *kept, MOST_ATTRIBUTES = 64 };

static bool is_kept(LLVMAttributeRef attribute)
{
    if (LLVMIsStringAttribute(attribute))
        return true; /* whoever does not know one passes over it */
    unsigned kind = LLVMGetEnumAttributeKind(attribute);
    for (int i = 0; i < KEPT_COUNT; i++)
        if (kind == LLVMGetEnumAttributeKindForName(kept[i], strlen(kept[i])))
            return true;
    return false;
}

/* Attributes of functions or of calls: both have the same three functions of LLVM's. */
typedef struct Holder {
    unsigned (*count)(LLVMValueRef, LLVMAttributeIndex);
    void (*get)(LLVMValueRef, LLVMAttributeIndex, LLVMAttributeRef *);
    void (*remove)(LLVMValueRef, LLVMAttributeIndex, unsigned);
} Holder;

static const Holder of_functions = {LLVMGetAttributeCountAtIndex, LLVMGetAttributesAtIndex,
                                    LLVMRemoveEnumAttributeAtIndex};
static const Holder of_calls = {LLVMGetCallSiteAttributeCount, LLVMGetCallSiteAttributes,
                                LLVMRemoveCallSiteEnumAttribute};

static void strip_place(const Holder *holder, LLVMValueRef value, LLVMAttributeIndex place)
{
    LLVMAttributeRef attributes[MOST_ATTRIBUTES];
    unsigned count = holder->count(value, place);
    if (count > MOST_ATTRIBUTES)
        return;
    holder->get(value, place, attributes);
    for (unsigned i = 0; i < count; i++)
        if (!is_kept(attributes[i]))
            holder->remove(value, place, LLVMGetEnumAttributeKind(attributes[i]));
}

static void strip(const Holder *holder, LLVMValueRef value, unsigned parameters)
{
    strip_place(holder, value, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
    for (unsigned i = 0; i <= parameters; i++)
        strip_place(holder, value, i);
}

/* --- intrinsics ----------------------------------------------------------------------------------------------------------- */
typedef struct Unknown {
    const char *name, *ptx, *constraints;
    bool effects;
} Unknown;

static const Unknown unknown[] = {
#define UNKNOWN(name, ptx, constraints, effects) {name, ptx, constraints, effects},
#include "codegen/nvptx/nvvm_unknown.def"
};
enum { UNKNOWN_COUNT = sizeof unknown / sizeof *unknown, MOST_OPERANDS = 2 };

/* The name of the function that is called; "" where that is no function. */
static const char *callee_name(LLVMValueRef call)
{
    size_t size;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &size) : "";
}

static const Unknown *find_unknown(const char *name)
{
    for (int i = 0; i < UNKNOWN_COUNT; i++)
        if (strcmp(unknown[i].name, name) == 0)
            return &unknown[i];
    return NULL;
}

static void replace_by_ptx(Emitter *emitter, LLVMValueRef call, const Unknown *by)
{
    LLVMValueRef operands[MOST_OPERANDS];
    LLVMTypeRef types[MOST_OPERANDS], result = LLVMTypeOf(call);
    unsigned count = LLVMGetNumArgOperands(call);
    bool is_bool = result == emitter->i1;
    LLVMPositionBuilderBefore(emitter->builder, call);
    for (unsigned i = 0; i < count && i < MOST_OPERANDS; i++) {
        operands[i] = LLVMGetOperand(call, i);
        if (LLVMTypeOf(operands[i]) == emitter->i1)
            operands[i] = LLVMBuildZExt(emitter->builder, operands[i], emitter->i32, "");
        types[i] = LLVMTypeOf(operands[i]);
    }
    LLVMTypeRef type = LLVMFunctionType(is_bool ? emitter->i32 : result, types, count, false);
    LLVMValueRef assembly = LLVMGetInlineAsm(type, by->ptx, strlen(by->ptx), by->constraints, strlen(by->constraints),
                                             by->effects, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef made = LLVMBuildCall2(emitter->builder, type, assembly, operands, count, "");
    if (by->effects)
        LLVMAddCallSiteAttribute(made, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 enum_attribute(emitter, "convergent", 0));
    if (is_bool)
        made = LLVMBuildICmp(emitter->builder, LLVMIntNE, made, LLVMConstNull(emitter->i32), "");
    if (result != emitter->void_type)
        LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
}

/* Where a local variable begins and ends is said in other words from LLVM to LLVM, and need not be said. */
static bool is_lifetime(const char *name)
{
    static const char beginning[] = "llvm.lifetime.";
    return strncmp(name, beginning, sizeof beginning - 1) == 0;
}

static void rewrite_call(Emitter *emitter, LLVMValueRef call)
{
    const char *name = callee_name(call);
    const Unknown *by = find_unknown(name);
    if (is_lifetime(name))
        LLVMInstructionEraseFromParent(call);
    else if (by)
        replace_by_ptx(emitter, call, by);
    else
        strip(&of_calls, call, LLVMGetNumArgOperands(call));
}

static void rewrite_calls(Emitter *emitter, LLVMBasicBlockRef block)
{
    for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
        next = LLVMGetNextInstruction(value);
        if (LLVMIsACallInst(value))
            rewrite_call(emitter, value);
    }
}

/* --- the module ------------------------------------------------------------------------------------------------------------ */

/* A kernel is one by its annotation; that it is used has to be said for link-time optimization to keep it. */
static void annotate_kernel(Emitter *emitter, LLVMValueRef function)
{
    static const char word[] = "kernel";
    if (LLVMGetFunctionCallConv(function) != LLVMPTXKernelCallConv)
        return;
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(function),
                               LLVMMDStringInContext2(emitter->context, word, sizeof word - 1),
                               LLVMValueAsMetadata(LLVMConstInt(emitter->i32, 1, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, parts, sizeof parts / sizeof *parts);
    LLVMAddNamedMetadataOperand(emitter->llvm_module, "nvvm.annotations", LLVMMetadataAsValue(emitter->context, node));
    LLVMValueRef used = LLVMAddGlobal(emitter->llvm_module, LLVMArrayType2(emitter->pointer_type, 1), "llvm.used");
    LLVMSetInitializer(used, LLVMConstArray2(emitter->pointer_type, &function, 1));
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
}

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

void make_nvvm_readable(Emitter *emitter)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module); function;
         function = LLVMGetNextFunction(function)) {
        strip(&of_functions, function, LLVMCountParams(function));
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            rewrite_calls(emitter, block);
        annotate_kernel(emitter, function);
    }
    drop_unused_declarations(emitter);
    LLVMSetDataLayout(emitter->llvm_module, nvvm_layout);
    add_version(emitter);
}
