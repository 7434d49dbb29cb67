/* Arrays: elements, attributes, and the indices that lead to elements. Views are lower_slice.c's. */
#include <string.h>

#include "frontend/array/lower_array.h"
#include "frontend/array/lower_flat.h"
#include "frontend/array/lower_iterate.h"
#include "frontend/array/lower_pointer.h"
#include "frontend/array/lower_slice.h"
#include "frontend/array/lower_unpack.h"
#include "frontend/compound/lower_dict.h"
#include "frontend/compound/lower_record.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/operand.h"
#include "frontend/value/overflow_marks.h"

static const Type *i64(void) { return TYPE_OF(INT64); }

static Operand extent(Lower *l, Operand array, uint32_t axis)
{
    return operand_value(i64(), emit_extent(l, array, axis));
}

static Operand stride(Lower *l, Operand array, uint32_t axis)
{
    return operand_value(i64(), emit_index_op(l, IR_STRIDE, i64(), array.ir, axis));
}

static bool is_index(const Type *type) { return type->kind == TYPE_BOOL || type_is_integer(type); }

/* The number of axes that an index uses up, and whether each is a plain integer. */
static uint32_t index_items(Lower *l, Operand index, Operand *items, uint32_t most)
{
    if (index.type->kind != TYPE_TUPLE || type_is_tagged(index.type, TUPLE_SLICE)) {
        items[0] = index;
        return 1;
    }
    for (uint32_t i = 0; i < index.type->count && i < most; i++)
        items[i] = lower_tuple_item(l, index, i);
    return index.type->count;
}

bool index_is_view(Operand array, Operand index)
{
    if (index.type->kind != TYPE_TUPLE || type_is_tagged(index.type, TUPLE_SLICE))
        return !is_index(index.type) || array.type->ndim != 1;
    for (uint32_t i = 0; i < index.type->count; i++)
        if (!is_index(index.type->items[i]))
            return true;
    return index.type->count != array.type->ndim;
}

bool lower_index_value(Lower *l, Operand index, IrValue *extent, IrValue **out)
{
    int64_t constant, low = 0, high = 0;
    bool is_constant = operand_const_int(index, &constant);
    bool is_unsigned = index.type->kind != TYPE_INT;
    Operand converted;
    if (!lower_convert(l, index, i64(), &converted))
        return false;
    *out = operand_ir(l, converted);
    if (!l->emitting || is_unsigned || (is_constant && constant >= 0))
        return true;
    if (is_constant) {
        *out = emit2(l, IR_ADD, i64(), extent, *out);
        return true;
    }
    lower_interval(*out, &low, &high);
    if (low < 0)
        *out = emit2(l, IR_WRAP, i64(), *out, extent);
    return true;
}

/* i = cuda.threadIdx; x[i] */
const char *lower_index_hint(Lower *l, Operand index)
{
    const Constant *constant = index.constant;
    const char *path = constant && constant->kind == CONSTANT_INTRINSIC ? intrinsic_info[constant->intrinsic].path : "";
    const char *axis = arena_format(l->arena, "%.*s.x", (int)strcspn(path, " "), path);
    if (intrinsic_by_path(axis) != INTRINSIC_NONE)
        return arena_format(l->arena, "; %s is a number", axis);
    return "; indices are integers, slices or tuples of them";
}

bool lower_indices(Lower *l, Operand array, Operand index, IrValue **indices)
{
    Operand items[TYPE_MAX_NDIM];
    uint32_t count = index_items(l, index, items, TYPE_MAX_NDIM);
    if (count != array.type->ndim)
        return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, array.type), lower_describe(l, index.type), "");
    for (uint32_t i = 0; i < count; i++) {
        if (!is_index(items[i].type))
            return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, array.type), lower_describe(l, index.type),
                              lower_index_hint(l, items[i]));
        int64_t constant;
        bool wraps = items[i].type->kind == TYPE_INT && !(operand_const_int(items[i], &constant) && constant >= 0);
        if (!lower_index_value(l, items[i], wraps ? emit_extent(l, array, i) : NULL, &indices[i]))
            return false;
    }
    return true;
}

/* array["x"], record[0]; NULL where the index is neither a field's name nor its place. */
static const TypeField *named_field(Operand container, Operand index)
{
    if (!is_record_array(container.type))
        return NULL;
    if (operand_is_object(index, CONSTANT_STRING))
        return record_field(container.type, index.constant->text);
    return record_field_at(container.type, index);
}

bool type_is_flat(const Type *type)
{
    if (!type_is_tagged(type, TUPLE_BOUND) || type->items[0]->kind != TYPE_ARRAY)
        return false;
    const Constant *name = type->object;
    return strcmp(name->text, "flat") == 0;
}

static bool is_boxed_integer(const Type *type)
{
    return type->kind == TYPE_ARRAY && type->ndim == 0 && type_is_integer(type->element);
}

/* The index with the integers that arrays of no axes in it hold in their place. */
static Operand unboxed_index(Lower *l, Operand index)
{
    if (is_boxed_integer(index.type)) {
        IrValue *operands[1] = {index.ir};
        return operand_value(index.type->element, emit(l, IR_LOAD, index.type->element, 1, operands));
    }
    if (!type_is_tagged(index.type, TUPLE_PLAIN))
        return index;
    bool has_any = false;
    for (uint32_t i = 0; i < index.type->count; i++)
        has_any |= is_boxed_integer(index.type->items[i]);
    if (!has_any)
        return index;
    Operand *items = ARENA_ARRAY(l->arena, Operand, index.type->count);
    for (uint32_t i = 0; i < index.type->count; i++)
        items[i] = unboxed_index(l, lower_tuple_item(l, index, i));
    return lower_make_tuple(l, items, index.type->count, TUPLE_PLAIN);
}

bool lower_subscript(Lower *l, Operand container, Operand index, Operand *out)
{
    index = unboxed_index(l, index);
    const TypeField *field = named_field(container, index);
    if (field)
        return lower_field(l, container, field, out);
    if (operand_is_enum_class(container))
        return lower_enum_by_name(l, container, index, out);
    if (type_is_tagged(container.type, TUPLE_DICT))
        return lower_dict_item(l, container, index, out);
    if (type_is_vector(container.type) || type_is_plain_tuple(container.type))
        return lower_tuple_index(l, container, index, out);
    if (type_is_tagged(container.type, TUPLE_RANGE) && type_is_integer(index.type)) {
        Operand length, place;
        IrValue *wrapped;
        if (!lower_length(l, container, &length) || !lower_index_value(l, index, operand_ir(l, length), &wrapped))
            return false;
        place = operand_value(i64(), wrapped);
        return lower_item_at(l, container, place, out);
    }
    if (type_is_pointer(container.type))
        return lower_pointer_subscript(l, container, index, out);
    if (type_is_flat(container.type))
        return lower_flat_item(l, lower_tuple_item(l, container, 0), index, out);
    if (container.type->kind != TYPE_ARRAY)
        return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, container.type), lower_describe(l, index.type),
                          container.constant && container.constant->kind == CONSTANT_FUNCTION
                              ? "; kernels cannot launch kernels: call it without [...], or launch it from the host"
                              : "");
    if (index_is_view(container, index) || !type_is_single(container.type->element))
        return lower_view(l, container, index, out);
    IrValue *operands[1 + TYPE_MAX_NDIM] = {container.ir};
    if (!lower_indices(l, container, index, operands + 1))
        return false;
    const Type *element = container.type->element;
    *out = operand_value(element, emit(l, IR_LOAD, element, 1 + container.type->ndim, operands));
    return true;
}

/* What is wrong with a store that names the types alone would not show. */
static const char *why_not_stored(Lower *l, const Type *container, const Type *value)
{
    if (container->kind == TYPE_TUPLE)
        return ": tuples, lists and dicts of a kernel cannot be changed";
    if (container->kind != TYPE_ARRAY)
        return ", which has no elements";
    return value->kind == TYPE_ARRAY
               ? arena_format(l->arena, ": an element is %s", lower_describe(l, container->element))
               : "";
}

bool lower_store_subscript(Lower *l, Operand container, Operand index, Operand value)
{
    index = unboxed_index(l, index);
    if (type_is_pointer(container.type))
        return lower_store_pointer_subscript(l, container, index, value);
    if (type_is_flat(container.type))
        return lower_store_flat_item(l, lower_tuple_item(l, container, 0), index, value);
    if (container.type->kind != TYPE_ARRAY)
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, value.type), lower_describe(l, container.type),
                          why_not_stored(l, container.type, value.type));
    if (container.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, container.type));
    const TypeField *field = named_field(container, index);
    if (field)
        return lower_store_field(l, container, field, value);
    if (index_is_view(container, index) || !type_is_single(container.type->element)) {
        Operand view;
        if (!lower_view(l, container, index, &view))
            return false;
        return lower_fill(l, view, value);
    }
    const Type *element = container.type->element;
    IrValue *operands[2 + TYPE_MAX_NDIM] = {container.ir};
    Operand converted;
    bool fits = type_is_scalar(value.type) && !type_is_vector(element)
                    ? value.type->kind != TYPE_COMPLEX || element->kind == TYPE_COMPLEX
                    : (type_is_time(value.type) && type_is_time(element)) ||
                          (type_is_vector(value.type) && type_is_vector(element));
    if (!fits)
        return lower_fail(l, DIAG_TYPE_STORE, lower_describe(l, value.type), lower_describe(l, container.type),
                          why_not_stored(l, container.type, value.type));
    if (!lower_indices(l, container, index, operands + 1) || !overflow_convert(l, value, element, &converted))
        return false;
    operands[1 + container.type->ndim] = operand_ir(l, converted);
    emit(l, IR_STORE, &type_none, 2 + container.type->ndim, operands);
    return true;
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

static bool array_size(Lower *l, Operand array, Operand *out)
{
    *out = array.type->ndim ? extent(l, array, 0) : operand_int(l, 1);
    for (uint32_t i = 1; i < array.type->ndim; i++)
        if (!lower_binary(l, NB_MULTIPLY, *out, extent(l, array, i), out))
            return false;
    return true;
}

static Operand axes(Lower *l, Operand array, Operand (*get)(Lower *, Operand, uint32_t))
{
    Operand items[TYPE_MAX_NDIM];
    for (uint32_t i = 0; i < array.type->ndim; i++)
        items[i] = get(l, array, i);
    return lower_make_tuple(l, items, array.type->ndim, TUPLE_PLAIN);
}

static Operand element_type(Lower *l, Operand array)
{
    Constant *constant = ARENA_NEW(l->arena, Constant);
    constant->kind = CONSTANT_TYPE;
    constant->type = array.type->element;
    return operand_object(l, constant);
}

Operand lower_same_memory(Lower *l, Operand array, const Type *type, int64_t offset, bool reversed)
{
    if (!l->emitting)
        return operand_value(type, NULL);
    uint32_t n = array.type->ndim;
    IrValue *operands[1 + 3 * TYPE_MAX_NDIM] = {array.ir};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t axis = reversed ? n - 1 - i : i;
        operands[1 + i] = emit_int(l, i64(), 0);
        operands[1 + n + i] = emit_extent(l, array, axis);
        operands[1 + 2 * n + i] = stride(l, array, axis).ir;
    }
    IrValue *value = emit(l, IR_SUBARRAY, type, 1 + 3 * n, operands);
    value->integer = offset;
    return operand_value(type, value);
}

static bool transpose(Lower *l, Operand array, Operand *out)
{
    const Type *t = array.type;
    ArrayLayout layout = t->layout == LAYOUT_C ? LAYOUT_F : t->layout == LAYOUT_F ? LAYOUT_C : LAYOUT_ANY;
    if (t->ndim < 2) {
        *out = array;
        return true;
    }
    *out = lower_same_memory(l, array, type_array_like(l->arena, t, t->ndim, layout), 0, true);
    return true;
}

/* What to write in place of an attribute that arrays of kernels have not. */
static const char *attribute_hint(const char *name)
{
    static const char makes[] =
        ", which would make an array; cuda.local.array(shape, dtype) is one that elements can be copied to";
    static const struct {
        const char *name, *hint;
    } rows[] = {
        {"astype", makes},  {"clip", makes},
        {"cumprod", makes}, {"cumsum", makes},
        {"flatten", makes}, {"repeat", makes},
        {"round", makes},   {"sort", "; cuda.sort sorts whole arrays, outside of kernels"},
        {"take", makes},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].hint;
    return "; known are shape, size, ndim, strides, dtype, itemsize, nbytes, T, real, imag, flat, ctypes, flags";
}

static bool part_of_complex(Lower *l, Operand array, bool imaginary, Operand *out)
{
    const Type *t = array.type;
    if (t->element->kind != TYPE_COMPLEX) {
        if (imaginary)
            return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, lower_describe(l, t), "imag", "; it is not complex");
        *out = array;
        return true;
    }
    const Type *part = t->element->size == 8 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
    const Type *type = type_array_aligned(l->arena, part, t->ndim, LAYOUT_ANY, t->read_only, t->alignment);
    type = type_array_swizzled(l->arena, type, t->swizzle);
    *out = lower_same_memory(l, array, type, imaginary ? part->size : 0, false);
    return true;
}

bool lower_array_attribute(Lower *l, Operand array, const char *name, Operand *out)
{
    const Type *t = array.type;
    Operand size;
    if (strcmp(name, "shape") == 0)
        return *out = axes(l, array, extent), true;
    if (strcmp(name, "strides") == 0)
        return *out = axes(l, array, stride), true;
    if (strcmp(name, "size") == 0)
        return array_size(l, array, out);
    if (strcmp(name, "ndim") == 0)
        return *out = operand_int(l, t->ndim), true;
    if (strcmp(name, "itemsize") == 0)
        return *out = operand_int(l, t->element->size), true;
    if (strcmp(name, "nbytes") == 0)
        return array_size(l, array, &size) && lower_binary(l, NB_MULTIPLY, size, operand_int(l, t->element->size), out);
    if (strcmp(name, "dtype") == 0)
        return *out = element_type(l, array), true;
    if (strcmp(name, "T") == 0)
        return transpose(l, array, out);
    if (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0)
        return part_of_complex(l, array, name[0] == 'i', out);
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, lower_describe(l, t), name, attribute_hint(name));
}
