/* Calls of functions from elsewhere, by numba's or C's convention (core/foreign.h). What is linked to them is no business
 * of codegen: here they are symbols. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/c_passing.h"
#include "codegen/op/value/parts.h"

/* The symbol as a function of that type; NULL with a diagnostic where it is something else already. */
static LLVMValueRef declare(Emitter *emitter, const IrValue *value, const CFunction *function)
{
    const char *symbol = value->foreign->symbol;
    LLVMTypeRef type = c_function_type(function);
    LLVMValueRef known = LLVMGetNamedFunction(emitter->llvm_module, symbol);
    if (known && (LLVMGlobalGetValueType(known) != type || LLVMCountBasicBlocks(known))) {
        const char *why = LLVMCountBasicBlocks(known) || emitter->functions[0].llvm == known
                              ? "the kernel has a function of that name, too"
                              : "it is declared twice, with different types";
        diag_fail(emitter->diag, &value->pos, DIAG_UNSUPPORTED,
                  arena_format(emitter->arena, "%s cannot be called: %s", symbol, why));
        return NULL;
    }
    if (known)
        return known;
    LLVMValueRef llvm = LLVMAddFunction(emitter->llvm_module, symbol, type);
    add_function_attribute(emitter, llvm, "convergent", 0);
    add_function_attribute(emitter, llvm, "nounwind", 0);
    c_describe_function(function, llvm);
    return llvm;
}

/* What is declared to be passed; the memory of a record that is the result, behind the parameters, is not. */
static bool choose_convention(Emitter *emitter, const IrValue *value, CFunction *function)
{
    const ForeignFunction *foreign = value->foreign;
    const Type **types = ARENA_ARRAY(emitter->arena, const Type *, foreign->parameter_count + 1);
    for (uint32_t i = 0; i < foreign->parameter_count; i++)
        types[i] = value->operands[i]->type;
    const Type *refused, *result = foreign->result->kind == TYPE_RECORD ? foreign->result : value->type;
    if (c_function(emitter, foreign->abi, result, types, foreign->by_pointer, foreign->parameter_count, function,
                   &refused))
        return true;
    Buf text = {0};
    type_describe(&text, refused);
    const char *why = arena_format(emitter->arena, "%s cannot be called: abi \"%s\" has no %s", foreign->symbol,
                                   foreign_abi_names[foreign->abi], buf_text(&text));
    buf_free(&text);
    return diag_fail(emitter->diag, &value->pos, DIAG_UNSUPPORTED, why);
}

void emit_op_FOREIGN(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    CFunction function;
    for (uint32_t i = 0; i < part_count(value->type); i++)
        out[i] = LLVMGetUndef(emitter->pointer_type);
    LLVMValueRef callee = choose_convention(emitter, value, &function) ? declare(emitter, value, &function) : NULL;
    if (!callee)
        return;
    LLVMValueRef *arguments = ARENA_ARRAY(emitter->arena, LLVMValueRef, function.count + 1);
    LLVMValueRef memory = c_result_memory(emitter, &function);
    uint32_t count = memory != NULL;
    arguments[0] = memory;
    for (uint32_t i = 0; i < function.value_count; i++)
        count += c_pass(emitter, &function.values[i], operand_parts(emitter, value, i), arguments + count);
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, c_function_type(&function), callee, arguments, count, "");
    c_describe_call(&function, call);
    bool has_record = value->foreign->result->kind == TYPE_RECORD;
    LLVMValueRef *parts = has_record ? operand_parts(emitter, value, value->foreign->parameter_count) : out;
    c_take_result(emitter, &function, call, memory, parts);
}
