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

/* What a GPU's loads and stores of the type ask for: each number at a multiple of its size. */
static uint32_t required_alignment(const Type *type)
{
    uint32_t most = 1;
    if (type->kind == TYPE_COMPLEX)
        return type->size / 2;
    if (type->kind != TYPE_RECORD)
        return type->size ? type->size : 1;
    for (uint32_t i = 0; i < type->count; i++) {
        uint32_t field = required_alignment(type->fields[i].type);
        most = field > most ? field : most;
    }
    return most;
}

/* Records start where all their fields could be aligned; a field whose place in the record spoils that is refused. */
static bool field_view(Lower *l, Operand array, const TypeField *field, Operand *out)
{
    const Type *from = array.type;
    uint32_t alignment = required_alignment(field->type);
    if (field->offset % alignment || from->element->size % alignment)
        return lower_fail(l, DIAG_UNSUPPORTED,
                          arena_format(l->arena,
                                       "field '%s' at byte %u of a record of %u bytes is not aligned to %u "
                                       "bytes; make the dtype with align=True",
                                       field->name, field->offset, from->element->size, alignment));
    ArrayLayout layout = from->ndim == 0 ? LAYOUT_C : LAYOUT_ANY;
    const Type *type = type_array(l->arena, field->type, from->ndim, layout, from->read_only);
    return *out = lower_same_memory(l, array, type, field->offset, false), true;
}

/* A reference's scalar field is its value; any other field a view. */
bool lower_field(Lower *l, Operand array, const TypeField *field, Operand *out)
{
    Operand view;
    if (!field_view(l, array, field, &view))
        return false;
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
    Operand view;
    if (!field_view(l, array, field, &view))
        return false;
    if (view.type->element->kind == TYPE_RECORD)
        return lower_store_record(l, view, value);
    return lower_fill(l, view, value);
}
