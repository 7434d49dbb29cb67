/* Records: an element of an array of records is a reference to it, in the shape of an array without axes; a field of an
 * array of records is an array of that field, with the field's own axes behind. */
#include <string.h>

#include "frontend/compound/lower_record.h"
#include "frontend/engine.h"
#include "frontend/value/operand.h"

bool is_record_array(const Type *type) { return type->kind == TYPE_ARRAY && type->element->kind == TYPE_RECORD; }

const TypeField *record_field(const Type *array, const char *name)
{
    const Type *record = array->element;
    for (uint32_t i = 0; i < record->count; i++)
        if (strcmp(record->fields[i].name, name) == 0)
            return &record->fields[i];
    return NULL;
}

const TypeField *record_field_at(const Type *array, Operand index)
{
    int64_t place;
    const Type *record = array->element;
    if (array->ndim != 0 || record->kind != TYPE_RECORD || !operand_const_int(index, &place))
        return NULL;
    place += place < 0 ? record->count : 0;
    return place >= 0 && place < record->count ? &record->fields[place] : NULL;
}

/* The view's memory: the array's axes, then those of the field. */
static IrValue *emit_field_view(Lower *l, Operand array, const TypeField *field, const Type *type)
{
    const Type *i64 = TYPE_OF(INT64);
    uint32_t outer = array.type->ndim, ndim = type->ndim;
    IrValue *operands[1 + 3 * TYPE_MAX_NDIM] = {array.ir};
    IrValue **extents = operands + 1 + outer, **strides = extents + ndim;
    for (uint32_t i = 0; i < outer; i++) {
        operands[1 + i] = emit_int(l, i64, 0);
        extents[i] = emit_extent(l, array, i);
        strides[i] = emit_index_op(l, IR_STRIDE, i64, array.ir, i);
    }
    int64_t stride = field->type->size;
    for (uint32_t i = field->ndim; i-- > 0; stride *= field->shape[i]) {
        extents[outer + i] = emit_int(l, i64, field->shape[i]);
        strides[outer + i] = emit_int(l, i64, stride);
    }
    IrValue *view = emit(l, IR_SUBARRAY, type, 1 + outer + 2 * ndim, operands);
    view->integer = field->offset;
    return view;
}

/* What a record's place and size do to a field's alignment is known by the view's type. */
static bool field_view(Lower *l, Operand array, const TypeField *field, Operand *out)
{
    const Type *from = array.type;
    uint32_t ndim = (uint32_t)from->ndim + field->ndim;
    if (ndim > TYPE_MAX_NDIM)
        return lower_fail(l, DIAG_UNSUPPORTED, "a view of more than 8 dimensions is not supported");
    ArrayLayout layout = from->ndim == 0 ? LAYOUT_C : LAYOUT_ANY;
    uint32_t alignment = type_common_alignment(type_element_alignment(from), field->offset);
    const Type *type = type_array_aligned(l->arena, field->type, (int)ndim, layout, from->read_only, alignment);
    type = type_array_swizzled(l->arena, type, from->swizzle);
    return *out = operand_value(type, l->emitting ? emit_field_view(l, array, field, type) : NULL), true;
}

/* A field that is named must lie at a multiple of its size from the record's start, as numba asks; whole records are copied
 * however they are laid out. */
static bool check_place(Lower *l, const TypeField *field)
{
    uint32_t natural = type_natural_alignment(field->type);
    if (field->offset % natural == 0)
        return true;
    return lower_fail(l, DIAG_UNSUPPORTED,
                      arena_format(l->arena,
                                   "field '%s' at byte %u of its record is not aligned to %u bytes; make the dtype "
                                   "with align=True",
                                   field->name, field->offset, natural));
}

/* A reference's scalar field is its value; any other field a view. */
bool lower_field(Lower *l, Operand array, const TypeField *field, Operand *out)
{
    Operand view;
    if (!check_place(l, field) || !field_view(l, array, field, &view))
        return false;
    if (view.type->ndim > 0 || !type_is_single(view.type->element))
        return *out = view, true;
    return *out = operand_value(view.type->element, emit1(l, IR_LOAD, view.type->element, view.ir)), true;
}

static bool copy_field(Lower *l, Operand target, Operand source, const TypeField *field)
{
    Operand from, to;
    if (!field_view(l, source, field, &from) || !field_view(l, target, field, &to))
        return false;
    return lower_fill(l, to, from);
}

/* target and source: references to records. */
bool lower_store_record(Lower *l, Operand target, Operand source)
{
    if (source.type->kind != TYPE_ARRAY || source.type->ndim != 0 ||
        !type_equal(source.type->element, target.type->element))
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, source.type), lower_describe(l, target.type->element),
                          "");
    const Type *record = target.type->element;
    for (uint32_t i = 0; i < record->count; i++)
        if (!copy_field(l, target, source, &record->fields[i]))
            return false;
    return true;
}

bool lower_store_field(Lower *l, Operand array, const TypeField *field, Operand value)
{
    if (array.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, array.type));
    Operand view;
    return check_place(l, field) && field_view(l, array, field, &view) && lower_fill(l, view, value);
}
