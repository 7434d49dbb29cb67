/* How values lie in LLVM registers and in memory: part lists of types, loads and stores of whole values. */
#include "codegen/emit.h"

#include <assert.h>
#include "codegen/emit_tools.h"
#include "codegen/op/value/parts.h"

LLVMTypeRef part_type(Emitter *emitter, const Type *scalar) { return emitter->scalar_types[scalar->scalar]; }

LLVMTypeRef memory_type(Emitter *emitter, const Type *scalar)
{
    return scalar->kind == TYPE_BOOL ? emitter->i8 : part_type(emitter, scalar);
}

uint32_t part_types(Emitter *emitter, const Type *type, LLVMTypeRef *out)
{
    uint32_t count = part_count(type), written = 0;
    switch (type->kind) {
    case TYPE_NONE:
    case TYPE_DATETIME:
    case TYPE_TIMEDELTA:
    case TYPE_RECORD:
    case TYPE_CHARS:
    case TYPE_OBJECT: break;
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
        for (uint32_t i = 0; i < count; i++)
            out[i] = part_type(emitter, type);
        break;
    case TYPE_ARRAY:
        out[0] = emitter->pointer_type;
        for (uint32_t i = 1; i < count; i++)
            out[i] = emitter->i64;
        break;
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            written += part_types(emitter, type->items[i], out + written);
        break;
    }
    return count;
}

uint32_t part_of_item(const Type *type, uint32_t index)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < index; i++)
        place += part_count(type->items[i]);
    return place;
}

uint64_t size_in_memory(const Type *type) { return type->size; }

/* --- loads and stores ------------------------------------------------------------------------------------------------ */

/* A scalar that is less aligned than the target's loads and stores ask for is moved in pieces that are aligned. */
static uint32_t piece_count(Emitter *emitter, LLVMTypeRef type, uint32_t alignment)
{
    uint32_t size = (uint32_t)LLVMABISizeOfType(emitter->data_layout, type);
    return emitter->lowering->splits_unaligned && alignment < size ? size / alignment : 1;
}

static LLVMValueRef load_aligned(Emitter *emitter, LLVMTypeRef type, LLVMValueRef address, uint32_t alignment)
{
    assert(alignment && !(alignment & (alignment - 1)));
    LLVMValueRef value = LLVMBuildLoad2(emitter->builder, type, address, "");
    LLVMSetAlignment(value, alignment);
    return value;
}

static LLVMValueRef load_memory(Emitter *emitter, LLVMTypeRef type, LLVMValueRef address, uint32_t alignment)
{
    uint32_t count = piece_count(emitter, type, alignment);
    if (count == 1)
        return load_aligned(emitter, type, address, alignment);
    LLVMTypeRef piece = LLVMIntTypeInContext(emitter->context, alignment * 8);
    LLVMTypeRef whole = LLVMIntTypeInContext(emitter->context, alignment * count * 8);
    LLVMValueRef bits = NULL;
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef part = load_aligned(emitter, piece, offset_address(emitter, address, i * alignment), alignment);
        part = LLVMBuildZExt(emitter->builder, part, whole, "");
        part = LLVMBuildShl(emitter->builder, part, LLVMConstInt(whole, i * alignment * 8, false), "");
        bits = bits ? LLVMBuildOr(emitter->builder, bits, part, "") : part;
    }
    return LLVMBuildBitCast(emitter->builder, bits, type, "");
}

/* The lowest byte of a float, for a store (ptxas_fault.def: byte_of_float). An operation on integers in between, which LLVM
 * cannot remove, keeps ptxas to the bits. */
static LLVMValueRef byte_of_float(Emitter *emitter, LLVMValueRef bits)
{
    static const char text[] = "and.b32 $0, $1, 255;", constraints[] = "=r,r";
    LLVMTypeRef type = LLVMFunctionType(emitter->i32, &emitter->i32, 1, false);
    LLVMValueRef mask = LLVMGetInlineAsm(type, text, sizeof text - 1, constraints, sizeof constraints - 1, false, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef word = LLVMBuildIntCast2(emitter->builder, bits, emitter->i32, false, "");
    LLVMValueRef low = LLVMBuildCall2(emitter->builder, type, mask, &word, 1, "");
    return LLVMBuildTrunc(emitter->builder, low, emitter->i8, "");
}

static bool is_byte_of_float(LLVMValueRef value)
{
    if (!LLVMIsATruncInst(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) != 8)
        return false;
    LLVMValueRef bits = LLVMGetOperand(value, 0);
    if (!LLVMIsABitCastInst(bits))
        return false;
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(bits, 0)));
    return kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind || kind == LLVMFloatTypeKind ||
           kind == LLVMDoubleTypeKind;
}

static void store_aligned(Emitter *emitter, LLVMValueRef value, LLVMValueRef address, uint32_t alignment)
{
    if (emitter->lowering->splits_unaligned && is_byte_of_float(value))
        value = byte_of_float(emitter, LLVMGetOperand(value, 0));
    assert(alignment && !(alignment & (alignment - 1)));
    LLVMSetAlignment(LLVMBuildStore(emitter->builder, value, address), alignment);
}

static void store_memory(Emitter *emitter, LLVMValueRef value, LLVMValueRef address, uint32_t alignment)
{
    uint32_t count = piece_count(emitter, LLVMTypeOf(value), alignment);
    if (count == 1) {
        store_aligned(emitter, value, address, alignment);
        return;
    }
    LLVMTypeRef piece = LLVMIntTypeInContext(emitter->context, alignment * 8);
    LLVMTypeRef whole = LLVMIntTypeInContext(emitter->context, alignment * count * 8);
    LLVMValueRef bits = LLVMBuildBitCast(emitter->builder, value, whole, "");
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef shift = LLVMConstInt(whole, i * alignment * 8, false);
        LLVMValueRef part = i ? LLVMBuildLShr(emitter->builder, bits, shift, "") : bits;
        part = LLVMBuildTrunc(emitter->builder, part, piece, "");
        store_aligned(emitter, part, offset_address(emitter, address, i * alignment), alignment);
    }
}

/* Vectors of 2 and 4 move at once where they are aligned as a whole. */
static bool moves_at_once(const Type *vector, uint32_t alignment)
{
    return vector->count % 2 == 0 && alignment >= vector->alignment;
}

static void load_vector(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment, LLVMValueRef *out)
{
    LLVMTypeRef item = part_type(emitter, type->items[0]);
    uint32_t size = type->items[0]->size;
    if (!moves_at_once(type, alignment)) {
        for (uint32_t i = 0; i < type->count; i++)
            out[i] = load_memory(emitter, item, offset_address(emitter, address, i * size),
                                 alignment < size ? alignment : size);
        return;
    }
    LLVMValueRef whole = load_aligned(emitter, LLVMVectorType(item, type->count), address, alignment);
    for (uint32_t i = 0; i < type->count; i++)
        out[i] = LLVMBuildExtractElement(emitter->builder, whole, const_i32(emitter, (int32_t)i), "");
}

static void store_vector(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment,
                         const LLVMValueRef *parts)
{
    uint32_t size = type->items[0]->size;
    if (!moves_at_once(type, alignment)) {
        for (uint32_t i = 0; i < type->count; i++)
            store_memory(emitter, parts[i], offset_address(emitter, address, i * size),
                         alignment < size ? alignment : size);
        return;
    }
    LLVMValueRef whole = LLVMGetPoison(LLVMVectorType(part_type(emitter, type->items[0]), type->count));
    for (uint32_t i = 0; i < type->count; i++)
        whole = LLVMBuildInsertElement(emitter->builder, whole, parts[i], const_i32(emitter, (int32_t)i), "");
    LLVMSetAlignment(LLVMBuildStore(emitter->builder, whole, address), alignment);
}

/* The second one lies where the first one ends. */
static uint32_t second_alignment(const Type *complex, uint32_t alignment)
{
    return alignment < complex->size / 2 ? alignment : complex->size / 2;
}

void load_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment, LLVMValueRef *out)
{
    if (type_is_vector(type)) {
        load_vector(emitter, type, address, alignment, out);
        return;
    }
    LLVMTypeRef memory = memory_type(emitter, type);
    out[0] = load_memory(emitter, memory, address, alignment);
    if (type->kind == TYPE_BOOL)
        out[0] = LLVMBuildICmp(emitter->builder, LLVMIntNE, out[0], LLVMConstNull(emitter->i8), "");
    if (type->kind == TYPE_COMPLEX)
        out[1] = load_memory(emitter, memory, offset_address(emitter, address, type->size / 2),
                             second_alignment(type, alignment));
}

void store_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment,
                 const LLVMValueRef *parts)
{
    if (type_is_vector(type)) {
        store_vector(emitter, type, address, alignment, parts);
        return;
    }
    LLVMValueRef first = parts[0];
    if (type->kind == TYPE_BOOL)
        first = LLVMBuildZExt(emitter->builder, first, emitter->i8, "");
    store_memory(emitter, first, address, alignment);
    if (type->kind == TYPE_COMPLEX)
        store_memory(emitter, parts[1], offset_address(emitter, address, type->size / 2),
                     second_alignment(type, alignment));
}

/* Types of a value's parts in memory and where they lie; returns the bytes of all. */
static uint32_t place_parts(Emitter *emitter, const Type *type, LLVMTypeRef *types, uint32_t *places)
{
    uint32_t count = part_types(emitter, type, types), end = 0;
    for (uint32_t i = 0; i < count; i++) {
        types[i] = types[i] == emitter->i1 ? emitter->i8 : types[i];
        uint32_t size = (uint32_t)LLVMABISizeOfType(emitter->data_layout, types[i]);
        places[i] = (end + size - 1) / size * size;
        end = places[i] + size;
    }
    return end;
}

uint32_t value_size(Emitter *emitter, const Type *type)
{
    uint32_t count = part_count(type);
    return place_parts(emitter, type, ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1),
                       ARENA_ARRAY(emitter->arena, uint32_t, count + 1));
}

void load_value(Emitter *emitter, const Type *type, LLVMValueRef address, LLVMValueRef *out)
{
    uint32_t count = part_count(type), *places = ARENA_ARRAY(emitter->arena, uint32_t, count + 1);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    LLVMTypeRef *registers = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    place_parts(emitter, type, types, places);
    part_types(emitter, type, registers);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = (uint32_t)LLVMABISizeOfType(emitter->data_layout, types[i]);
        out[i] = load_aligned(emitter, types[i], offset_address(emitter, address, places[i]), size);
        if (registers[i] != types[i])
            out[i] = LLVMBuildICmp(emitter->builder, LLVMIntNE, out[i], LLVMConstNull(types[i]), "");
    }
}

void store_value(Emitter *emitter, const Type *type, LLVMValueRef address, const LLVMValueRef *parts)
{
    uint32_t count = part_count(type), *places = ARENA_ARRAY(emitter->arena, uint32_t, count + 1);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    place_parts(emitter, type, types, places);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = (uint32_t)LLVMABISizeOfType(emitter->data_layout, types[i]);
        bool is_bit = LLVMTypeOf(parts[i]) == emitter->i1;
        LLVMValueRef part = is_bit ? LLVMBuildZExt(emitter->builder, parts[i], emitter->i8, "") : parts[i];
        store_aligned(emitter, part, offset_address(emitter, address, places[i]), size);
    }
}

LLVMValueRef *operand_parts(Emitter *emitter, const IrValue *value, uint32_t index)
{
    return emitter->parts[value->operands[index]->id];
}

LLVMValueRef operand_scalar(Emitter *emitter, const IrValue *value, uint32_t index)
{
    return operand_parts(emitter, value, index)[0];
}
