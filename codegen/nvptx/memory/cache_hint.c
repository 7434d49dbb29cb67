/* Loads and stores of a GPU that say how they go through the caches: instructions that LLVM does not know of, so they are
 * inline assembly. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/nvptx/memory/cache_hint.h"
#include "codegen/op/value/parts.h"

/* Whether the array's memory is global for certain: a parameter of the kernel, or a part of one. */
static bool is_global(Emitter *emitter, const IrValue *array)
{
    return ir_memory_of(array)->op == IR_PARAM && emitter->function->is_kernel;
}

/* How PTX and LLVM's constraints call a scalar of memory: ".b32" and "r". */
static const char *type_suffix(const Type *scalar)
{
    static const char *const names[] = {[1] = "b8", [2] = "b16", [4] = "b32", [8] = "b64"};
    return names[scalar->kind == TYPE_COMPLEX ? scalar->size / 2 : scalar->size];
}

static char constraint(LLVMTypeRef type)
{
    return LLVMGetIntTypeWidth(type) == 64 ? 'l' : LLVMGetIntTypeWidth(type) == 32 ? 'r' : 'h';
}

/* The integer that carries the bits in a register: 8 bits travel in 16. */
static LLVMTypeRef register_type(Emitter *emitter, LLVMTypeRef memory)
{
    uint64_t bits = LLVMABISizeOfType(emitter->data_layout, memory) * 8;
    return LLVMIntTypeInContext(emitter->context, bits < 16 ? 16 : (unsigned)bits);
}

static LLVMValueRef call_assembly(Emitter *emitter, LLVMTypeRef type, const char *text, const char *constraints,
                                  LLVMValueRef *arguments, uint32_t count)
{
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                                         LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(emitter->builder, type, code, arguments, count, "");
}

static const char *instruction(Emitter *emitter, const IrValue *value, const char *verb, const Type *scalar,
                               const char *operands)
{
    const char *space = is_global(emitter, value->operands[0]) ? ".global" : "";
    return arena_format(emitter->arena, "%s%s.%s.%s %s;", verb, space, ir_hint_names[value->hint], type_suffix(scalar),
                        operands);
}

LLVMValueRef load_with_hint(Emitter *emitter, const IrValue *value, LLVMTypeRef memory, LLVMValueRef address)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef word = register_type(emitter, memory), argument = emitter->pointer_type;
    const char *text = instruction(emitter, value, "ld", value->type, "$0, [$1]");
    const char *constraints = arena_format(emitter->arena, "=%c,l,~{memory}", constraint(word));
    LLVMTypeRef type = LLVMFunctionType(word, &argument, 1, false);
    LLVMValueRef bits = call_assembly(emitter, type, text, constraints, &address, 1);
    if (LLVMABISizeOfType(emitter->data_layout, memory) == 1)
        bits = LLVMBuildTrunc(builder, bits, emitter->i8, "");
    return LLVMBuildBitCast(builder, bits, memory, "");
}

void store_with_hint(Emitter *emitter, const IrValue *value, const Type *scalar, LLVMValueRef address,
                     LLVMValueRef part)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef memory = LLVMTypeOf(part), word = register_type(emitter, memory);
    uint64_t size = LLVMABISizeOfType(emitter->data_layout, memory);
    LLVMValueRef bits = LLVMBuildBitCast(builder, part, LLVMIntTypeInContext(emitter->context, (unsigned)size * 8), "");
    bits = LLVMBuildZExt(builder, bits, word, "");
    LLVMTypeRef arguments[2] = {emitter->pointer_type, word};
    const char *text = instruction(emitter, value, "st", scalar, "[$0], $1");
    const char *constraints = arena_format(emitter->arena, "l,%c,~{memory}", constraint(word));
    call_assembly(emitter, LLVMFunctionType(emitter->void_type, arguments, 2, false), text, constraints,
                  (LLVMValueRef[]){address, bits}, 2);
}
