/* Functions that are PTX of the program's (cujit.extending.asm): inline assembly between the function's parameters and its
 * result. What it may be is checked where it is declared; ptxas checks the rest. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/nvptx/assembly.h"
#include "codegen/op/value/parts.h"

/* LLVM's letter for a register of the type. */
static char constraint(const Type *type)
{
    if (type->kind == TYPE_BOOL)
        return 'b';
    if (type->kind == TYPE_FLOAT && type->size > 2)
        return type->size == 8 ? 'd' : 'f';
    return type->size == 8 ? 'l' : type->size == 4 ? 'r' : 'h';
}

static uint32_t result_count(const Type *result)
{
    return result->kind == TYPE_TUPLE ? result->count : result->kind != TYPE_NONE;
}

static char *constraints_of(Emitter *emitter, const IrFunc *ir)
{
    Buf text = {0};
    for (uint32_t i = 0; i < result_count(ir->result); i++)
        buf_printf(&text, "%s=%c", text.length ? "," : "",
                   constraint(ir->result->kind == TYPE_TUPLE ? ir->result->items[i] : ir->result));
    for (uint32_t i = 0; i < ir->parameter_count; i++)
        buf_printf(&text, "%s%c", text.length ? "," : "", constraint(ir->parameter_types[i]));
    if (!ir->assembly_is_pure)
        buf_add(&text, text.length ? ",~{memory}" : "~{memory}");
    char *made = (char *)arena_string(emitter->arena, buf_text(&text));
    buf_free(&text);
    return made;
}

/* Halves travel as their bits. */
static LLVMTypeRef register_type(Emitter *emitter, const Type *type)
{
    return type_is_half(type) ? LLVMInt16TypeInContext(emitter->context) : part_type(emitter, type);
}

static LLVMTypeRef assembly_type(Emitter *emitter, const IrFunc *ir)
{
    uint32_t results = result_count(ir->result);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, results + ir->parameter_count + 1);
    LLVMTypeRef result = emitter->void_type;
    for (uint32_t i = 0; i < results; i++)
        types[i] = register_type(emitter, ir->result->kind == TYPE_TUPLE ? ir->result->items[i] : ir->result);
    if (results)
        result = results == 1 ? types[0] : LLVMStructTypeInContext(emitter->context, types, results, false);
    for (uint32_t i = 0; i < ir->parameter_count; i++)
        types[results + i] = register_type(emitter, ir->parameter_types[i]);
    return LLVMFunctionType(result, types + results, ir->parameter_count, false);
}

static LLVMValueRef call_assembly(Emitter *emitter, const IrFunc *ir)
{
    LLVMTypeRef type = assembly_type(emitter, ir);
    const char *constraints = constraints_of(emitter, ir);
    LLVMValueRef code = LLVMGetInlineAsm(type, ir->assembly, strlen(ir->assembly), constraints, strlen(constraints),
                                         !ir->assembly_is_pure, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef *arguments = ARENA_ARRAY(emitter->arena, LLVMValueRef, ir->parameter_count + 1);
    for (uint32_t i = 0; i < ir->parameter_count; i++)
        arguments[i] = LLVMBuildBitCast(emitter->builder, emitter->parameters[i],
                                        register_type(emitter, ir->parameter_types[i]), "");
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, type, code, arguments, ir->parameter_count, "");
    if (!ir->assembly_is_pure) /* a barrier, for all that is known */
        LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 enum_attribute(emitter, "convergent", 0));
    return call;
}

static void return_result(Emitter *emitter, const IrFunc *ir, LLVMValueRef result)
{
    uint32_t count = result_count(ir->result);
    LLVMValueRef *parts = ARENA_ARRAY(emitter->arena, LLVMValueRef, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const Type *type = ir->result->kind == TYPE_TUPLE ? ir->result->items[i] : ir->result;
        LLVMValueRef part = count == 1 ? result : LLVMBuildExtractValue(emitter->builder, result, i, "");
        parts[i] = LLVMBuildBitCast(emitter->builder, part, part_type(emitter, type), "");
    }
    if (count == 0)
        LLVMBuildRetVoid(emitter->builder);
    else if (count == 1)
        LLVMBuildRet(emitter->builder, parts[0]);
    else
        LLVMBuildAggregateRet(emitter->builder, parts, count);
}

bool nvptx_emit_assembly(Emitter *emitter, const EmittedFunction *function)
{
    begin_ir_function(emitter, function);
    return_result(emitter, function->ir, call_assembly(emitter, function->ir));
    return true;
}
