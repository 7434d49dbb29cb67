/* The function that code from elsewhere calls: takes arguments by numba's or C's convention, and calls the module's first
 * function with their parts. */
#include "codegen/op/export_emit.h"

#include "codegen/emit_tools.h"
#include "codegen/op/c_passing.h"
#include "codegen/op/value/parts.h"

static bool refuse(Emitter *emitter, const char *name, const Type *type)
{
    Buf text = {0};
    type_describe(&text, type);
    const char *shown = arena_string(emitter->arena, buf_text(&text));
    buf_free(&text);
    return diag_fail(emitter->diag, NULL, DIAG_UNSUPPORTED,
                     arena_format(emitter->arena, "%s cannot be called from elsewhere by abi \"%s\", which has no %s",
                                  name, foreign_abi_names[emitter->ir->exported->abi], shown));
}

/* The parts of all parameters; returns how many. */
static uint32_t receive(Emitter *emitter, const CFunction *function, LLVMValueRef llvm, LLVMValueRef *parts)
{
    LLVMValueRef *arguments = ARENA_ARRAY(emitter->arena, LLVMValueRef, function->count + 1);
    LLVMGetParams(llvm, arguments);
    uint32_t argument = function->has_result_pointer, part = 0;
    for (uint32_t i = 0; i < function->value_count; i++) {
        const CPassing *value = &function->values[i];
        argument += c_receive(emitter, value, arguments + argument, parts + part);
        part += part_count(value->type);
    }
    return part;
}

static LLVMValueRef call_inner(Emitter *emitter, const EmittedFunction *inner, LLVMValueRef *arguments, uint32_t count,
                               LLVMValueRef *parts)
{
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, inner->type, inner->llvm, arguments, count, "");
    uint32_t results = part_count(inner->ir->result);
    parts[0] = call;
    for (uint32_t i = 0; i < results && results > 1; i++)
        parts[i] = LLVMBuildExtractValue(emitter->builder, call, i, "");
    return call;
}

void emit_export(Emitter *emitter, const EmittedFunction *inner, const char *name)
{
    const IrFunc *ir = inner->ir;
    const Type *refused;
    CFunction function;
    if (!c_function(emitter, emitter->ir->exported->abi, ir->result, ir->parameter_types, NULL, ir->parameter_count,
                    &function, &refused)) {
        refuse(emitter, name, refused);
        return;
    }
    LLVMValueRef llvm = LLVMAddFunction(emitter->llvm_module, name, c_function_type(&function));
    c_describe_function(&function, llvm);
    add_function_attribute(emitter, llvm, "nounwind", 0);
    if (emitter->ir->exported->is_inlined)
        add_function_attribute(emitter, llvm, "alwaysinline", 0);
    emitter->prologue = LLVMAppendBasicBlockInContext(emitter->context, llvm, "");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(emitter->context, llvm, "");
    LLVMPositionBuilderAtEnd(emitter->builder, body);
    LLVMSetCurrentDebugLocation2(emitter->builder, NULL);
    uint32_t most = part_count(ir->result) + 1;
    LLVMValueRef *parts = ARENA_ARRAY(emitter->arena, LLVMValueRef, most);
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < ir->parameter_count; i++)
        inputs += part_count(ir->parameter_types[i]);
    LLVMValueRef *arguments = ARENA_ARRAY(emitter->arena, LLVMValueRef, inputs + 1);
    uint32_t count = receive(emitter, &function, llvm, arguments);
    call_inner(emitter, inner, arguments, count, parts);
    c_return(emitter, &function, function.has_result_pointer ? LLVMGetParam(llvm, 0) : NULL, parts);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    LLVMBuildBr(emitter->builder, body);
}
