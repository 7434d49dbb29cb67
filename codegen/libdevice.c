/* CUDA's device math library: links the functions that a module calls, each from its own piece of bitcode, and settles
 * what they ask of __nvvm_reflect. */
#include <stdlib.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/libdevice.h"
#include "codegen/libdevice_data.h"

static int compare_name(const void *key, const void *row)
{
    return strcmp(key, ((const LibdeviceFunction *)row)->name);
}

static const LibdeviceFunction *find(const char *name)
{
    return bsearch(name, libdevice_functions, libdevice_function_count, sizeof *libdevice_functions, compare_name);
}

bool libdevice_has(const char *name) { return find(name) != NULL; }

static bool is_wanted(LLVMValueRef function)
{
    size_t length;
    return LLVMIsDeclaration(function) && !strncmp(LLVMGetValueName2(function, &length), "__nv_", 5);
}

static bool link_function(Emitter *emitter, const LibdeviceFunction *function)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange((const char *)function->bitcode, function->size, function->name, false);
    LLVMModuleRef library = NULL;
    bool failed = LLVMParseBitcodeInContext2(emitter->context, buffer, &library);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed)
        return diag_fail(emitter->diag, NULL, DIAG_LLVM, "the math library does not load");
    LLVMSetTarget(library, LLVMGetTarget(emitter->llvm_module));
    LLVMSetModuleDataLayout(library, emitter->data_layout);
    if (LLVMLinkModules2(emitter->llvm_module, library))
        return diag_fail(emitter->diag, NULL, DIAG_LLVM, emitter->llvm_error);
    LLVMValueRef linked = LLVMGetNamedFunction(emitter->llvm_module, function->name);
    LLVMSetLinkage(linked, LLVMInternalLinkage);
    add_function_attribute(emitter, linked, "alwaysinline", 0);
    return true;
}

enum { HOST_ARCH = 900 }; /* the CPU device computes as this architecture does */

/* The architecture as libdevice is told it. From 7.3 on it uses tanh.approx, which PTX has from 7.0 on. */
static int arch_for_libdevice(const Target *target)
{
    if (target->kind == TARGET_HOST)
        return HOST_ARCH;
    return target->gpu->ptx < 70 ? 720 : target->gpu->sm * 10;
}

/* What libdevice asks; the answers choose between exact and fast code. */
static int reflect_answer(Emitter *emitter, const char *question, size_t length)
{
    const CompileOptions *options = emitter->options;
    bool is_gpu = emitter->target->kind == TARGET_NVPTX, is_fast = is_gpu && options->fastmath & FLOAT_AFN;
    const char *questions[] = {"__CUDA_FTZ", "__CUDA_PREC_SQRT", "__CUDA_PREC_DIV", "__CUDA_ARCH"};
    const int answers[] = {is_gpu && (options->fastmath & FLOAT_FLUSH) != 0, !is_fast, !is_fast,
                           arch_for_libdevice(emitter->target)};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        if (length >= strlen(questions[i]) && !strncmp(question, questions[i], length) && !questions[i][length])
            return answers[i];
    return 0;
}

static void answer_reflect_call(Emitter *emitter, LLVMValueRef call)
{
    LLVMValueRef argument = LLVMGetOperand(call, 0);
    while (LLVMIsAConstantExpr(argument))
        argument = LLVMGetOperand(argument, 0);
    LLVMValueRef text = LLVMIsAGlobalVariable(argument) ? LLVMGetInitializer(argument) : NULL;
    size_t length = 0;
    const char *question = text && LLVMIsConstantString(text) ? LLVMGetAsString(text, &length) : "";
    if (length && !question[length - 1])
        length--;
    LLVMReplaceAllUsesWith(call, const_i32(emitter, reflect_answer(emitter, question, length)));
    LLVMInstructionEraseFromParent(call);
}

static void answer_reflect(Emitter *emitter)
{
    LLVMValueRef function = LLVMGetNamedFunction(emitter->llvm_module, "__nvvm_reflect");
    if (!function)
        return;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetFirstUse(function))
        answer_reflect_call(emitter, LLVMGetUser(use));
    LLVMDeleteFunction(function);
}

bool link_libdevice(Emitter *emitter)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module), next; function; function = next) {
        next = LLVMGetNextFunction(function);
        if (!is_wanted(function))
            continue;
        size_t length;
        const char *name = LLVMGetValueName2(function, &length);
        const LibdeviceFunction *found = find(name);
        if (!found)
            return diag_fail(emitter->diag, NULL, DIAG_LLVM,
                             arena_format(emitter->arena, "the math library has no %s", name));
        if (!link_function(emitter, found))
            return false;
        next = LLVMGetFirstFunction(emitter->llvm_module);   /* linking replaces the declaration */
    }
    answer_reflect(emitter);
    return true;
}
