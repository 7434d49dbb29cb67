/* Vector forms of elementary functions, for LLVM's vectorizers: a call of the function names them in an attribute, the module
 * declares them. Functions without side effects may be called for lanes that have not asked, so masks need no forms. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/elementary/elementary.h"
#include "codegen/host/vector_call.h"

static bool is_vector_form(LLVMValueRef function)
{
    size_t length;
    return !strncmp(LLVMGetValueName2(function, &length), ELEMENTARY_PREFIX, strlen(ELEMENTARY_PREFIX));
}

static const char *declare_form(Emitter *emitter, const ElementaryFunction *row, unsigned lanes)
{
    const char *name = arena_format(emitter->arena, ELEMENTARY_PREFIX "%s.%u", row->name, lanes);
    if (LLVMGetNamedFunction(emitter->llvm_module, name))
        return name;
    LLVMTypeRef vector = LLVMVectorType(row->is_double ? emitter->f64 : emitter->f32, lanes);
    LLVMTypeRef operands[2] = {vector, vector};
    LLVMTypeRef type = LLVMFunctionType(vector, operands, row->operand_count, false);
    LLVMValueRef function = LLVMAddFunction(emitter->llvm_module, name, type);
    add_function_attribute(emitter, function, "nounwind", 0);
    add_function_attribute(emitter, function, "willreturn", 0);
    add_function_attribute(emitter, function, "memory", 0);
    return name;
}

/* What LLVM knows by its name in C it computes by the C library where the arguments are constants, with other last bits. But
 * it also makes multiplications and roots of powers, which are worth more than equal bits. */
const char *elementary_symbol(Emitter *emitter, const char *name)
{
    if (!find_elementary_function(name) || !strcmp(name, "pow") || !strcmp(name, "powf"))
        return name;
    return arena_format(emitter->arena, ELEMENTARY_PREFIX "%s.1", name);
}

/* By the names of LLVM's "vector function ABI": lanes, a v for each operand, the scalar function, the vector form. */
void describe_vector_forms(Emitter *emitter, const char *symbol, LLVMValueRef call)
{
    const ElementaryFunction *row = find_elementary_symbol(symbol);
    if (!row)
        row = find_elementary_function(symbol);
    if (!row)
        return;
    const char *forms = "";
    for (int width = 1; width < ELEMENTARY_WIDTHS; width++) {
        if (!row->code[width])
            continue;
        const char *name = declare_form(emitter, row, 1u << width);
        forms = arena_format(emitter->arena, "%s%s_ZGV_LLVM_N%d%s_%s(%s)", forms, *forms ? "," : "", 1 << width,
                             row->operand_count == 2 ? "vv" : "v", symbol, name);
    }
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateStringAttribute(emitter->context, "vector-function-abi-variant",
                                                       (unsigned)strlen("vector-function-abi-variant"), forms,
                                                       (unsigned)strlen(forms)));
    add_function_attribute(emitter, LLVMGetCalledValue(call), "speculatable", 0);
}

/* As wide as the forms are: LLVM takes half the width for processors that slow down at the whole one, which they do in the
 * forms anyway. */
static void widen_loops(Emitter *emitter)
{
    uint32_t count, widest = 0;
    const ElementaryFunction *functions = elementary_functions(&count);
    for (uint32_t width = 1; count && width < ELEMENTARY_WIDTHS; width++)
        if (functions[0].code[width])
            widest = (functions[0].is_double ? 64u : 32u) << width;
    const char *bits = arena_format(emitter->arena, "%u", widest);
    for (LLVMValueRef f = LLVMGetFirstFunction(emitter->llvm_module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            add_text_attribute(emitter, f, "prefer-vector-width", bits);
}

void keep_vector_forms(Emitter *emitter)
{
    uint32_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(emitter->llvm_module); f; f = LLVMGetNextFunction(f))
        count += is_vector_form(f);
    if (!count)
        return;
    widen_loops(emitter);
    LLVMValueRef *forms = ARENA_ARRAY(emitter->arena, LLVMValueRef, count);
    count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(emitter->llvm_module); f; f = LLVMGetNextFunction(f))
        if (is_vector_form(f))
            forms[count++] = f;
    LLVMTypeRef type = LLVMArrayType2(emitter->pointer_type, count);
    LLVMValueRef kept = LLVMAddGlobal(emitter->llvm_module, type, "llvm.compiler.used");
    LLVMSetLinkage(kept, LLVMAppendingLinkage);
    LLVMSetSection(kept, "llvm.metadata");
    LLVMSetInitializer(kept, LLVMConstArray2(emitter->pointer_type, forms, count));
}
