/* CUDA's device math library: links the functions that a module calls, each from its own piece of bitcode, and settles
 * what they ask of __nvvm_reflect. */
#include <stdlib.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/libdevice.h"
#include "codegen/libdevice_angles.h"
#include "codegen/libdevice_data.h"
#include "core/base/table.h"

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

/* --- what several functions have in common ------------------------------------------------------------------------------ */

/* Functions that stay functions, such as the reduction of large angles, which sin and cos call. */
static bool is_helper(LLVMValueRef function)
{
    size_t length;
    return !LLVMIsDeclaration(function) && !strncmp(LLVMGetValueName2(function, &length), "__internal_", 11);
}

/* A helper that the module has from another function of the library already; NULL: it has none. */
static LLVMValueRef find_linked(Emitter *emitter, const Table *linked, LLVMValueRef helper)
{
    size_t length;
    const char *name = LLVMGetValueName2(helper, &length);
    return table_get(linked, name, length) ? LLVMGetNamedFunction(emitter->llvm_module, name) : NULL;
}

/* The helper is declared instead: the linker finds that of the module, which it sees for as long. */
static void share(LLVMValueRef helper, LLVMValueRef linked)
{
    size_t length;
    LLVMTypeRef type = LLVMGlobalGetValueType(helper);
    const char *name = LLVMGetValueName2(linked, &length);
    LLVMSetValueName2(helper, "", 0);
    LLVMReplaceAllUsesWith(helper, LLVMAddFunction(LLVMGetGlobalParent(helper), name, type));
    LLVMDeleteFunction(helper);
    LLVMSetLinkage(linked, LLVMExternalLinkage);
}

static void share_helpers(Emitter *emitter, Table *linked, LLVMModuleRef library)
{
    static char known;
    for (LLVMValueRef each = LLVMGetFirstFunction(library), next; each; each = next) {
        next = LLVMGetNextFunction(each);
        if (!is_helper(each))
            continue;
        LLVMValueRef found = find_linked(emitter, linked, each);
        size_t length;
        const char *name = LLVMGetValueName2(each, &length);
        if (found)
            share(each, found);
        else if (!LLVMGetNamedFunction(emitter->llvm_module, name)) /* else it gets another name */
            table_set(linked, name, length, &known);
    }
}

static void hide_helpers(Emitter *emitter, const Table *linked)
{
    for (LLVMValueRef each = LLVMGetFirstFunction(emitter->llvm_module); each; each = LLVMGetNextFunction(each)) {
        size_t length;
        const char *name = LLVMGetValueName2(each, &length);
        if (is_helper(each) && table_get(linked, name, length))
            LLVMSetLinkage(each, LLVMInternalLinkage);
    }
}

/* --- linking ------------------------------------------------------------------------------------------------------------ */

/* Linking drops what the declaration said: that it does nothing but compute. LLVM computes it once for two calls with the
 * same numbers only while they are calls. */
static void keep_pure(Emitter *emitter, LLVMValueRef linked)
{
    add_function_attribute(emitter, linked, "nounwind", 0);
    add_function_attribute(emitter, linked, "willreturn", 0);
    add_function_attribute(emitter, linked, "memory", 0);
}

static bool is_pure(LLVMValueRef declared)
{
    static const char memory[] = "memory";
    unsigned kind = LLVMGetEnumAttributeKindForName(memory, sizeof memory - 1);
    LLVMAttributeRef found =
        LLVMGetEnumAttributeAtIndex(declared, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
    return found && LLVMGetEnumAttributeValue(found) == 0;
}

static bool link_function(Emitter *emitter, Table *helpers, const LibdeviceFunction *function)
{
    bool computes_only = is_pure(LLVMGetNamedFunction(emitter->llvm_module, function->name));
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange((const char *)function->bitcode, function->size, function->name, false);
    LLVMModuleRef library = NULL;
    bool failed = LLVMParseBitcodeInContext2(emitter->context, buffer, &library);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed)
        return diag_fail(emitter->diag, NULL, DIAG_LLVM, "the math library does not load");
    LLVMSetTarget(library, LLVMGetTarget(emitter->llvm_module));
    LLVMSetModuleDataLayout(library, emitter->data_layout);
    reduce_angles(library);
    share_helpers(emitter, helpers, library);
    if (LLVMLinkModules2(emitter->llvm_module, library))
        return diag_fail(emitter->diag, NULL, DIAG_LLVM, emitter->llvm_error);
    hide_helpers(emitter, helpers);
    LLVMValueRef linked = LLVMGetNamedFunction(emitter->llvm_module, function->name);
    LLVMSetLinkage(linked, LLVMInternalLinkage);
    add_function_attribute(emitter, linked, "alwaysinline", 0);
    if (computes_only)
        keep_pure(emitter, linked);
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

static bool link_wanted(Emitter *emitter, Table *helpers)
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
        if (!link_function(emitter, helpers, found))
            return false;
        next = LLVMGetFirstFunction(emitter->llvm_module); /* linking replaces the declaration */
    }
    return true;
}

bool link_libdevice(Emitter *emitter)
{
    Table *helpers = table_create();
    bool done = link_wanted(emitter, helpers);
    table_destroy(helpers);
    hide_angle_tables(emitter->llvm_module);
    if (done)
        answer_reflect(emitter);
    return done;
}
