/* Globals and functions in LLVM 7's text. */
#include <string.h>

#include "codegen/nvptx/nvvm/typed_text.h"
#include "core/base/memory.h"

/* With a space behind it; "" is external. */
static const char *linkage_word(LLVMLinkage linkage)
{
    switch (linkage) {
    case LLVMInternalLinkage: return "internal ";
    case LLVMPrivateLinkage: return "private ";
    case LLVMAppendingLinkage: return "appending ";
    case LLVMWeakAnyLinkage: return "weak ";
    case LLVMWeakODRLinkage: return "weak_odr ";
    case LLVMLinkOnceAnyLinkage: return "linkonce ";
    case LLVMLinkOnceODRLinkage: return "linkonce_odr ";
    case LLVMAvailableExternallyLinkage: return "available_externally ";
    case LLVMCommonLinkage: return "common ";
    default: return "";
    }
}

static void typed_global_variable(TypedText *t, LLVMValueRef global)
{
    LLVMValueRef initializer = LLVMGetInitializer(global);
    const char *section = LLVMGetSection(global);
    typed_global_name(t, global);
    buf_printf(&t->out, " = %s", initializer ? linkage_word(LLVMGetLinkage(global)) : "external ");
    typed_space(t, LLVMGetPointerAddressSpace(LLVMTypeOf(global)));
    buf_add(&t->out, LLVMIsGlobalConstant(global) ? "constant " : "global ");
    typed_type(t, LLVMGlobalGetValueType(global));
    if (initializer) {
        buf_add(&t->out, " ");
        typed_value(t, initializer);
    }
    if (section && *section)
        buf_printf(&t->out, ", section \"%s\"", section);
    if (LLVMGetAlignment(global))
        buf_printf(&t->out, ", align %u", LLVMGetAlignment(global));
    buf_add(&t->out, "\n");
}

/* A parameter that a call passes by value has its type; in the body it is an i8* like any other. */
static void typed_parameters(TypedText *t, LLVMValueRef function, bool is_named)
{
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        LLVMValueRef parameter = LLVMGetParam(function, i);
        LLVMTypeRef by_value = typed_by_value(function, i);
        buf_add(&t->out, i ? ", " : "");
        if (by_value)
            typed_pointer(t, by_value, 0);
        else
            typed_type(t, LLVMTypeOf(parameter));
        typed_attributes(t, function, i + 1);
        if (is_named)
            buf_printf(&t->out, " %%%s%u", by_value ? "p" : "v", typed_number(t, parameter, &t->value_count));
    }
}

static void typed_by_value_casts(TypedText *t, LLVMValueRef function)
{
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        LLVMTypeRef by_value = typed_by_value(function, i);
        uint32_t number = typed_number(t, LLVMGetParam(function, i), &t->value_count);
        if (!by_value)
            continue;
        buf_printf(&t->out, "  %%v%u = bitcast ", number);
        typed_pointer(t, by_value, 0);
        buf_printf(&t->out, " %%p%u to i8*\n", number);
    }
}

static void typed_body(TypedText *t, LLVMValueRef function)
{
    buf_add(&t->out, " {\n");
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        buf_printf(&t->out, "b%u:\n", typed_number(t, block, &t->value_count));
        if (block == LLVMGetFirstBasicBlock(function))
            typed_by_value_casts(t, function);
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each && !t->failed;
             each = LLVMGetNextInstruction(each))
            typed_instruction(t, each);
    }
    buf_add(&t->out, "}\n");
}

static void typed_function_text(TypedText *t, LLVMValueRef function)
{
    bool is_declared = LLVMIsDeclaration(function);
    LLVMTypeRef type = LLVMGlobalGetValueType(function);
    buf_printf(&t->out, "\n%s %s", is_declared ? "declare" : "define",
               is_declared ? "" : linkage_word(LLVMGetLinkage(function)));
    typed_attributes(t, function, LLVMAttributeReturnIndex);
    typed_type(t, LLVMGetReturnType(type));
    buf_add(&t->out, " ");
    typed_global_name(t, function);
    buf_add(&t->out, "(");
    typed_parameters(t, function, !is_declared);
    if (LLVMIsFunctionVarArg(type))
        buf_add(&t->out, LLVMCountParams(function) ? ", ..." : "...");
    buf_add(&t->out, ")");
    typed_attributes(t, function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
    if (is_declared)
        buf_add(&t->out, "\n");
    else
        typed_body(t, function);
}

static void destroy_numbers(void *numbers) { table_destroy(numbers); }

char *typed_text(Emitter *emitter)
{
    TypedText t = {.emitter = emitter, .numbers = table_create()};
    MemoryCleanup cleanup;
    memory_defer(&cleanup, destroy_numbers, t.numbers);
    buf_printf(&t.out, "target datalayout = \"%s\"\ntarget triple = \"%s\"\n\n",
               LLVMGetDataLayoutStr(emitter->llvm_module), LLVMGetTarget(emitter->llvm_module));
    for (LLVMValueRef each = LLVMGetFirstGlobal(emitter->llvm_module); each; each = LLVMGetNextGlobal(each))
        typed_global_variable(&t, each);
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each && !t.failed;
         each = LLVMGetNextFunction(each))
        typed_function_text(&t, each);
    typed_metadata(&t);
    memory_end(&cleanup);
    if (!t.failed)
        return t.out.text;
    buf_free(&t.out);
    return NULL;
}
