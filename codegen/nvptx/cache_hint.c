/* Loads and stores that say how they go through the caches. A GPU has them as instructions that LLVM does not know of, so
 * they are inline assembly; on the CPU device they are plain accesses, volatile where a GPU asks memory each time. */
#include <string.h>

#include "codegen/emit.h"

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

static LLVMValueRef load_by_assembly(Emitter *emitter, const IrValue *value, LLVMTypeRef memory, LLVMValueRef address)
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

static void store_by_assembly(Emitter *emitter, const IrValue *value, const Type *scalar, LLVMValueRef address,
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

/* What nobody writes may be read through the texture cache: LLVM does that for invariant loads of global memory. */
static LLVMValueRef load_plain(Emitter *emitter, const IrValue *value, LLVMTypeRef memory, LLVMValueRef address)
{
    LLVMValueRef load = LLVMBuildLoad2(emitter->builder, memory, address, "");
    LLVMSetAlignment(load, (unsigned)LLVMABISizeOfType(emitter->data_layout, memory));
    LLVMSetVolatile(load, value->hint == IR_HINT_CV);
    if (value->hint == IR_HINT_NC) {
        LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, NULL, 0);
        unsigned kind = LLVMGetMDKindIDInContext(emitter->context, "invariant.load", strlen("invariant.load"));
        LLVMSetMetadata(load, kind, LLVMMetadataAsValue(emitter->context, node));
    }
    return load;
}

void emit_hinted_load(Emitter *emitter, const IrValue *value, LLVMValueRef address, LLVMValueRef *out)
{
    LLVMTypeRef memory = memory_type(emitter, value->type);
    bool is_plain = emitter->target->kind == TARGET_HOST || value->hint == IR_HINT_NC;
    for (uint32_t i = 0; i < part_count(value->type); i++) {
        int64_t offset = (int64_t)(i * LLVMABISizeOfType(emitter->data_layout, memory));
        LLVMValueRef place = offset_address(emitter, address, offset);
        out[i] = is_plain ? load_plain(emitter, value, memory, place) : load_by_assembly(emitter, value, memory, place);
        if (value->type->kind == TYPE_BOOL)
            out[i] = LLVMBuildICmp(emitter->builder, LLVMIntNE, out[i], LLVMConstNull(emitter->i8), "");
    }
}

void emit_hinted_store(Emitter *emitter, const IrValue *value, LLVMValueRef address, const LLVMValueRef *parts)
{
    const Type *type = value->operands[0]->type->element;
    LLVMTypeRef memory = memory_type(emitter, type);
    for (uint32_t i = 0; i < part_count(type); i++) {
        int64_t offset = (int64_t)(i * LLVMABISizeOfType(emitter->data_layout, memory));
        LLVMValueRef place = offset_address(emitter, address, offset), part = parts[i];
        if (type->kind == TYPE_BOOL)
            part = LLVMBuildZExt(emitter->builder, part, emitter->i8, "");
        if (emitter->target->kind == TARGET_NVPTX) {
            store_by_assembly(emitter, value, type, place, part);
            continue;
        }
        LLVMValueRef store = LLVMBuildStore(emitter->builder, part, place);
        LLVMSetAlignment(store, (unsigned)LLVMABISizeOfType(emitter->data_layout, memory));
        LLVMSetVolatile(store, value->hint == IR_HINT_WT);
    }
}
