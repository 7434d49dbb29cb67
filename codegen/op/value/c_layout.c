/* Structs of C, made of types: offsets of their members; values moved between parts and such memory. */
#include "codegen/op/value/c_layout.h"

#include "codegen/emit_tools.h"
#include "codegen/op/value/parts.h"

enum { MOST_MEMBERS = 8192, POINTER_BYTES = 8 };

/* A layout while it is made. */
typedef struct Builder {
    Emitter *emitter;
    CDialect dialect;
    CLayout *layout;
    uint32_t capacity;
} Builder;

const Type *c_record(const Type *type)
{
    if (type->kind == TYPE_ARRAY && type->ndim == 0)
        type = type->element;
    return type->kind == TYPE_RECORD ? type : NULL;
}

static uint32_t align_up(uint32_t offset, uint32_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

static void add_member(Builder *b, const Type *scalar, uint32_t offset)
{
    CLayout *layout = b->layout;
    if (layout->count == b->capacity) {
        CMember *more = ARENA_ARRAY(b->emitter->arena, CMember, 2 * b->capacity + 8);
        for (uint32_t i = 0; i < layout->count; i++)
            more[i] = layout->members[i];
        layout->members = more;
        b->capacity = 2 * b->capacity + 8;
    }
    layout->members[layout->count++] = (CMember){scalar, offset};
}

/* Bytes and alignment of a type on its own; false where it has no form in C. */
static bool measure(CDialect dialect, const Type *type, uint32_t *size, uint32_t *alignment)
{
    *size = type->size;
    *alignment = type->size;
    if (type_is_pointer(type)) {
        *size = *alignment = POINTER_BYTES;
    } else if (type->kind == TYPE_COMPLEX) {
        *alignment = dialect == DIALECT_CUDA ? type->size : type->size / 2;
    } else if (type_is_vector(type)) {
        *alignment = dialect == DIALECT_CUDA ? type->alignment : type->items[0]->size;
    } else if (type->kind == TYPE_TUPLE) {
        *size = 0, *alignment = 1;
        for (uint32_t i = 0; i < type->count; i++) {
            uint32_t item, own;
            if (!measure(dialect, type->items[i], &item, &own))
                return false;
            *size = align_up(*size, own) + item;
            *alignment = own > *alignment ? own : *alignment;
        }
        *size = align_up(*size, *alignment);
        return type->count > 0 && type_has_trait(type, TRAIT_PRINTED | TRAIT_MEMBER);
    }
    return type_is_pointer(type) || type_is_vector(type) || type_is_scalar(type);
}

static void add_value(Builder *b, const Type *type, uint32_t offset)
{
    if (type_is_pointer(type)) {
        add_member(b, NULL, offset);
    } else if (type->kind == TYPE_COMPLEX) {
        const Type *part = type->scalar == SCALAR_COMPLEX64 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
        add_member(b, part, offset);
        add_member(b, part, offset + part->size);
    } else if (type->kind == TYPE_TUPLE) {
        uint32_t size, alignment;
        for (uint32_t i = 0; i < type->count; i++) {
            measure(b->dialect, type->items[i], &size, &alignment);
            offset = align_up(offset, alignment);
            add_value(b, type->items[i], offset);
            offset += size;
        }
    } else {
        add_member(b, type, offset);
    }
}

static uint32_t field_elements(const TypeField *field)
{
    uint32_t elements = 1;
    for (uint8_t axis = 0; axis < field->ndim; axis++)
        elements *= field->shape[axis];
    return elements;
}

/* What a field of text or time holds, is integers to C. */
static void add_fields(Builder *b, const Type *record, uint32_t offset)
{
    for (uint32_t i = 0; i < record->count && b->layout->count < MOST_MEMBERS; i++) {
        const TypeField *field = &record->fields[i];
        for (uint32_t k = 0; k < field_elements(field) && b->layout->count < MOST_MEMBERS; k++) {
            uint32_t place = offset + field->offset + k * field->type->size;
            if (field->type->kind == TYPE_RECORD)
                add_fields(b, field->type, place);
            else if (type_is_scalar(field->type) || type_is_vector(field->type))
                add_value(b, field->type, place);
            else
                add_member(b, TYPE_OF(UINT8), place);
        }
    }
}

bool c_layout(Emitter *emitter, const Type *type, CDialect dialect, CLayout *out)
{
    *out = (CLayout){0};
    Builder builder = {emitter, dialect, out, 0};
    const Type *record = c_record(type);
    if (record) {
        out->size = record->size;
        out->alignment = record->alignment ? type_common_alignment(record->alignment, record->size) : 1;
        add_fields(&builder, record, 0);
        return record->size > 0;
    }
    if (!measure(dialect, type, &out->size, &out->alignment))
        return false;
    add_value(&builder, type, 0);
    return true;
}

/* --- values ------------------------------------------------------------------------------------------------------------ */
static uint32_t alignment_at(const CLayout *layout, uint32_t offset)
{
    return offset ? type_common_alignment(layout->alignment, offset) : layout->alignment;
}

static void copy_record(Emitter *emitter, const Type *type, LLVMValueRef to, uint32_t to_alignment, LLVMValueRef from,
                        uint32_t from_alignment)
{
    LLVMBuildMemCpy(emitter->builder, to, to_alignment, from, from_alignment, const_i64(emitter, c_record(type)->size));
}

static uint32_t record_alignment(const Type *type)
{
    return type->kind == TYPE_ARRAY ? type_element_alignment(type) : type->alignment ? type->alignment : 1;
}

void store_c(Emitter *emitter, const Type *type, const CLayout *layout, LLVMValueRef address, const LLVMValueRef *parts)
{
    if (c_record(type)) {
        copy_record(emitter, type, address, layout->alignment, parts[0], record_alignment(type));
        return;
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        const CMember *member = &layout->members[i];
        LLVMValueRef place = offset_address(emitter, address, member->offset);
        uint32_t alignment = alignment_at(layout, member->offset);
        if (member->scalar)
            store_parts(emitter, member->scalar, place, alignment, &parts[i]);
        else
            LLVMSetAlignment(LLVMBuildStore(emitter->builder, parts[i], place), alignment);
    }
}

void load_c(Emitter *emitter, const Type *type, const CLayout *layout, LLVMValueRef address, LLVMValueRef *parts)
{
    if (c_record(type)) {
        copy_record(emitter, type, parts[0], record_alignment(type), address, layout->alignment);
        return;
    }
    for (uint32_t i = 0; i < layout->count; i++) {
        const CMember *member = &layout->members[i];
        LLVMValueRef place = offset_address(emitter, address, member->offset);
        uint32_t alignment = alignment_at(layout, member->offset);
        if (member->scalar) {
            load_parts(emitter, member->scalar, place, alignment, &parts[i]);
            continue;
        }
        parts[i] = LLVMBuildLoad2(emitter->builder, emitter->pointer_type, place, "");
        LLVMSetAlignment(parts[i], alignment);
    }
}
