/* Records: an element of an array of records is a reference to it, in the shape of an array without axes; a field of an
 * array of records is an array of that field. */
#include <string.h>

#include "frontend/lower.h"

bool is_record_array(const Type *type) { return type->kind == TYPE_ARRAY && type->element->kind == TYPE_RECORD; }

const TypeField *record_field(const Type *array, const char *name)
{
    const Type *record = array->element;
    for (uint32_t i = 0; i < record->count; i++)
        if (strcmp(record->fields[i].name, name) == 0)
            return &record->fields[i];
    return NULL;
}

/* The field's type, aligned no better than its place in the record lets it be. */
static const Type *placed_type(Lower *l, const Type *record, const TypeField *field)
{
    uint32_t alignment = record->alignment ? record->alignment : 1;
    while (field->offset % alignment || record->size % alignment)
        alignment /= 2;
    if (alignment >= field->type->alignment)
        return field->type;
    Type *type = arena_copy(l->arena, field->type, sizeof *type);
    type->alignment = alignment;
    return type;
}

static Operand field_view(Lower *l, Operand array, const TypeField *field)
{
    const Type *from = array.type, *element = placed_type(l, from->element, field);
    ArrayLayout layout = from->ndim == 0 ? LAYOUT_C : LAYOUT_ANY;
    const Type *type = type_array(l->arena, element, from->ndim, layout, from->read_only);
    return lower_same_memory(l, array, type, field->offset, false);
}

/* A reference's scalar field is its value; any other field a view. */
bool lower_field(Lower *l, Operand array, const TypeField *field, Operand *out)
{
    Operand view = field_view(l, array, field);
    if (view.type->ndim > 0 || !type_is_scalar(view.type->element))
        return *out = view, true;
    return *out = operand_value(view.type->element, emit1(l, IR_LOAD, view.type->element, view.ir)), true;
}

static bool copy_record(Lower *l, Operand target, Operand source)
{
    if (source.type->kind != TYPE_ARRAY || source.type->ndim != 0 ||
        !type_equal(source.type->element, target.type->element))
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, source.type), lower_describe(l, target.type->element),
                          "");
    const Type *record = target.type->element;
    for (uint32_t i = 0; i < record->count; i++) {
        Operand value;
        if (!lower_field(l, source, &record->fields[i], &value) ||
            !lower_store_field(l, target, &record->fields[i], value))
            return false;
    }
    return true;
}

bool lower_store_record(Lower *l, Operand target, Operand value)
{
    if (target.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, target.type));
    if (target.type->ndim != 0)
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, value.type), lower_describe(l, target.type),
                          "; assign the records in a loop");
    return copy_record(l, target, value);
}

bool lower_store_field(Lower *l, Operand array, const TypeField *field, Operand value)
{
    if (array.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, array.type));
    Operand view = field_view(l, array, field);
    if (view.type->element->kind == TYPE_RECORD)
        return lower_store_record(l, view, value);
    return lower_fill(l, view, value);
}
