/* PTX of cujit's own in the middle of a function: what LLVM has no intrinsic for. */
#include <string.h>

#include "codegen/emit_tools.h"
#include "codegen/nvptx/inline_ptx.h"

LLVMValueRef inline_ptx(Emitter *emitter, const char *text, const char *constraints, LLVMTypeRef result, uint32_t count,
                        LLVMValueRef *arguments, bool is_convergent)
{
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    for (uint32_t i = 0; i < count; i++)
        types[i] = LLVMTypeOf(arguments[i]);
    const char *all = arena_format(emitter->arena, "%s%s~{memory}", constraints, *constraints ? "," : "");
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, strlen(text), all, strlen(all), true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, type, code, arguments, count, "");
    if (is_convergent)
        LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 enum_attribute(emitter, "convergent", 0));
    return call;
}

LLVMValueRef opaque_copy(Emitter *emitter, LLVMValueRef number)
{
    LLVMTypeRef type = LLVMTypeOf(number), function = LLVMFunctionType(type, &type, 1, false);
    const char *constraints = type == emitter->i32 ? "=r,0" : "=l,0";
    LLVMValueRef nothing = LLVMGetInlineAsm(function, "", 0, constraints, strlen(constraints), false, false,
                                            LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(emitter->builder, function, nothing, &number, 1, "");
}

LLVMValueRef shared_word(Emitter *emitter, LLVMValueRef address)
{
    LLVMTypeRef shared = LLVMPointerTypeInContext(emitter->context, ADDRESS_SHARED);
    LLVMValueRef place = LLVMBuildAddrSpaceCast(emitter->builder, address, shared, "");
    return LLVMBuildPtrToInt(emitter->builder, place, emitter->i32, "");
}
