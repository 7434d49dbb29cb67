/* Loads and stores of a GPU that say how they go through the caches: instructions that LLVM does not know of, so they are
 * inline assembly. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/nvptx/memory/cache_hint.h"
#include "codegen/op/value/parts.h"
#include "core/ir/ir_graph.h"

/* Whether the array's memory is global for certain: a parameter of the kernel, or a part of one. */
static bool is_global(Emitter *emitter, const IrValue *array)
{
    const IrFunc *function = emitter->function;
    const IrValue *memory = ir_memory_of(array);
    return memory->op == IR_PARAM && function->is_kernel &&
           !(function->passed && may_be_passed_by_value(function->passed[memory->index]));
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

static const char *space_of(Emitter *emitter, const IrValue *value)
{
    return is_global(emitter, value->operands[0]) ? ".global" : "";
}

static const char *instruction(Emitter *emitter, const IrValue *value, const char *verb, const Type *scalar,
                               const char *operands)
{
    return arena_format(emitter->arena, "%s%s.%s.%s %s;", verb, space_of(emitter, value), ir_hint_names[value->hint],
                        type_suffix(scalar), operands);
}

/* Whether a loop may read the same place each time, until another thread writes it: its own, or one of a caller. */
static bool may_wait(const Emitter *emitter, const IrValue *value)
{
    if (!emitter->function->is_kernel)
        return true;
    const IrGraph *graph = ir_graph(emitter->function, emitter->arena);
    const IrLoop *loop = graph->loop_of[value->block->id];
    for (uint32_t i = 0; loop && i < value->operand_count; i++)
        if (!ir_is_invariant(graph, loop, value->operands[i]))
            return false;
    return loop != NULL;
}

/* ptxas (13.0) reads what ld.cv and ld.cg name once for a loop that does nothing else, and drops the loop. Loads that it
 * may not take for one, by the same machine instruction, or "". */
static const char *strong_load(Emitter *emitter, const IrValue *value)
{
    const char *how = value->hint == IR_HINT_CV ? "volatile" : value->hint == IR_HINT_CG ? "relaxed.gpu" : "";
    return *how && may_wait(emitter, value) ? arena_format(emitter->arena, "ld.%s%s.%s $0, [$1];", how,
                                                           space_of(emitter, value), type_suffix(value->type))
                                            : "";
}

LLVMValueRef load_with_hint(Emitter *emitter, const IrValue *value, LLVMTypeRef memory, LLVMValueRef address)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef word = register_type(emitter, memory), argument = emitter->pointer_type;
    const char *strong = strong_load(emitter, value);
    const char *text = *strong ? strong : instruction(emitter, value, "ld", value->type, "$0, [$1]");
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
