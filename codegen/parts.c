/* How values lie in LLVM registers and in memory: part lists of types, loads and stores of whole values. */
#include "codegen/emit.h"

uint32_t part_count(const Type *type)
{
    uint32_t count = 0;
    switch (type->kind) {
    case TYPE_NONE:
    case TYPE_OBJECT: return 0;
    case TYPE_BOOL:
    case TYPE_INT:
    case TYPE_UINT:
    case TYPE_FLOAT: return 1;
    case TYPE_COMPLEX: return 2;
    case TYPE_ARRAY: return 1u + type->ndim * (type->layout == LAYOUT_ANY ? 2u : 1u);
    case TYPE_TUPLE:
    case TYPE_RECORD: break;
    }
    for (uint32_t i = 0; i < type->count; i++)
        count += part_count(type->kind == TYPE_TUPLE ? type->items[i] : type->fields[i].type);
    return count;
}

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
    case TYPE_RECORD:
        for (uint32_t i = 0; i < type->count; i++)
            written +=
                part_types(emitter, type->kind == TYPE_TUPLE ? type->items[i] : type->fields[i].type, out + written);
        break;
    }
    return count;
}

uint32_t part_of_item(const Type *type, uint32_t index)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < index; i++)
        place += part_count(type->kind == TYPE_TUPLE ? type->items[i] : type->fields[i].type);
    return place;
}

uint64_t size_in_memory(const Type *type) { return type->size; }

/* Complex numbers are only as aligned as their parts: that is all NumPy promises. */
uint32_t alignment_in_memory(const Type *type)
{
    uint32_t alignment = type->alignment ? type->alignment : 1;
    if (type->kind == TYPE_COMPLEX && alignment > type->size / 2)
        return type->size / 2;
    return alignment;
}

static uint32_t alignment_at(uint32_t alignment, uint32_t offset)
{
    while (offset % alignment)
        alignment /= 2;
    return alignment;
}

static LLVMValueRef load_scalar(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment)
{
    LLVMValueRef value = LLVMBuildLoad2(emitter->builder, memory_type(emitter, type), address, "");
    LLVMSetAlignment(value, alignment);
    if (type->kind == TYPE_BOOL)
        return LLVMBuildICmp(emitter->builder, LLVMIntNE, value, LLVMConstNull(emitter->i8), "");
    return value;
}

void load_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment, LLVMValueRef *out)
{
    if (type->kind == TYPE_COMPLEX) {
        uint32_t half = type->size / 2;
        out[0] = load_scalar(emitter, type, address, alignment_at(alignment, half));
        out[1] = load_scalar(emitter, type, offset_address(emitter, address, half), alignment_at(alignment, half));
    } else if (type->kind == TYPE_RECORD) {
        for (uint32_t i = 0; i < type->count; i++)
            load_parts(emitter, type->fields[i].type, offset_address(emitter, address, type->fields[i].offset),
                       alignment_at(alignment, type->fields[i].offset), out + part_of_item(type, i));
    } else if (type_is_scalar(type)) {
        out[0] = load_scalar(emitter, type, address, alignment);
    }
}

static void store_scalar(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment,
                         LLVMValueRef value)
{
    if (type->kind == TYPE_BOOL)
        value = LLVMBuildZExt(emitter->builder, value, emitter->i8, "");
    LLVMSetAlignment(LLVMBuildStore(emitter->builder, value, address), alignment);
}

void store_parts(Emitter *emitter, const Type *type, LLVMValueRef address, uint32_t alignment,
                 const LLVMValueRef *parts)
{
    if (type->kind == TYPE_COMPLEX) {
        uint32_t half = type->size / 2;
        store_scalar(emitter, type, address, alignment_at(alignment, half), parts[0]);
        store_scalar(emitter, type, offset_address(emitter, address, half), alignment_at(alignment, half), parts[1]);
    } else if (type->kind == TYPE_RECORD) {
        for (uint32_t i = 0; i < type->count; i++)
            store_parts(emitter, type->fields[i].type, offset_address(emitter, address, type->fields[i].offset),
                        alignment_at(alignment, type->fields[i].offset), parts + part_of_item(type, i));
    } else if (type_is_scalar(type)) {
        store_scalar(emitter, type, address, alignment, parts[0]);
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
