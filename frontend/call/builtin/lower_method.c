/* Methods of arrays that need no memory: other views of the same elements, fill, item; and slices' indices(). */
#include <string.h>

#include "frontend/array/lower_array.h"
#include "frontend/array/lower_flat.h"
#include "frontend/call/builtin/lower_method.h"
#include "frontend/compound/lower_class.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/lower_operator.h"
#include "frontend/value/operand.h"

static const Type *i64(void) { return TYPE_OF(INT64); }

static Operand extent(Lower *l, Operand array, uint32_t axis)
{
    return operand_value(i64(), emit_extent(l, array, axis));
}

/* An array in C order over the memory that starts where `array` does. */
static Operand c_view(Lower *l, Operand array, const Type *element, const Operand *extents, uint32_t ndim)
{
    const Type *type =
        type_array_aligned(l->arena, element, (int)ndim, LAYOUT_C, array.type->read_only, array.type->alignment);
    type = type_array_swizzled(l->arena, type, array.type->swizzle);
    if (!l->emitting)
        return operand_value(type, NULL);
    IrValue *operands[1 + 3 * TYPE_MAX_NDIM] = {array.ir}, *stride = emit_int(l, i64(), element->size);
    uint32_t from = array.type->ndim;
    for (uint32_t i = 0; i < from; i++)
        operands[1 + i] = emit_int(l, i64(), 0);
    for (uint32_t i = ndim; i-- > 0;) {
        operands[1 + from + i] = operand_ir(l, extents[i]);
        operands[1 + from + ndim + i] = stride;
        stride = emit2(l, IR_MUL, i64(), stride, operands[1 + from + i]);
    }
    return operand_value(type, emit(l, IR_SUBARRAY, type, 1 + from + 2 * ndim, operands));
}

static bool require_contiguous(Lower *l, Operand array, const Call *call)
{
    if (array.type->layout == LAYOUT_C)
        return true;
    return call_refuse(
        l, call,
        arena_format(l->arena, ": %s is not known to be contiguous in C order", lower_describe(l, array.type)));
}

static bool call_transpose(Lower *l, Operand array, const Call *call, Operand *out)
{
    return call_arity(l, call, 0, 0) && lower_array_attribute(l, array, "T", out);
}

static bool call_ravel(Lower *l, Operand array, const Call *call, Operand *out)
{
    Operand size;
    if (!call_arity(l, call, 0, 0) || !require_contiguous(l, array, call) ||
        !lower_array_attribute(l, array, "size", &size))
        return false;
    return *out = c_view(l, array, array.type->element, &size, 1), true;
}

/* What the extents other than `left_out` leave over of the array's size. */
static bool leftover(Lower *l, Operand array, const Operand *extents, uint32_t count, uint32_t left_out, Operand *out)
{
    Operand product = operand_int(l, 1), size;
    for (uint32_t i = 0; i < count; i++)
        if (i != left_out && !lower_binary(l, NB_MULTIPLY, product, extents[i], &product))
            return false;
    return lower_array_attribute(l, array, "size", &size) && lower_binary(l, NB_FLOOR_DIVIDE, size, product, out);
}

/* The one extent that is -1 is what the others leave over. */
static bool infer_extents(Lower *l, Operand array, Operand *extents, uint32_t count)
{
    Operand given[TYPE_MAX_NDIM], rest, is_unknown;
    int64_t constant;
    int unknown = 0;
    for (uint32_t i = 0; i < count; i++) {
        given[i] = extents[i];
        unknown += operand_const_int(extents[i], &constant) && constant == -1;
    }
    if (unknown > 1)
        return lower_fail(l, DIAG_CONSTANT_RANGE, "only one extent can be -1");
    for (uint32_t i = 0; i < count; i++) {
        bool is_constant = operand_const_int(given[i], &constant);
        if (is_constant ? constant != -1 : unknown)
            continue;
        if (!leftover(l, array, given, count, i, &rest) ||
            !lower_compare(l, COMPARE_LT, given[i], operand_int(l, 0), &is_unknown))
            return false;
        extents[i] =
            is_constant ? rest : operand_value(i64(), emit_of3(l, IR_SELECT, i64(), is_unknown, rest, given[i]));
    }
    return true;
}

/* "cannot reshape array of size {} into shape ({},{})", NumPy's words. */
static const char *reshape_format(Lower *l, uint32_t count)
{
    const char *shape = "";
    for (uint32_t i = 0; i < count; i++)
        shape = arena_format(l->arena, "%s%s{}", shape, i ? "," : "");
    return arena_format(l->arena, "cannot reshape array of size {} into shape (%s%s)", shape, count == 1 ? "," : "");
}

/* A shape with more elements would lead behind the array. No extent is negative: a product that wraps could be the size. */
static bool check_shape(Lower *l, Operand array, const Operand *extents, uint32_t count)
{
    Operand size;
    if (!lower_checks_bounds(l))
        return true;
    if (!lower_array_attribute(l, array, "size", &size))
        return false;
    IrValue *product = emit_int(l, i64(), 1), *sign = emit_int(l, i64(), 0);
    IrValue *values[1 + TYPE_MAX_NDIM] = {operand_ir(l, size)};
    for (uint32_t i = 0; i < count; i++) {
        values[1 + i] = operand_ir(l, extents[i]);
        product = emit2(l, IR_MUL, i64(), product, values[1 + i]);
        sign = emit2(l, IR_OR, i64(), sign, values[1 + i]);
    }
    IrValue *differs = emit2(l, IR_NE, TYPE_OF(BOOL), product, values[0]);
    IrValue *is_negative = emit2(l, IR_LT, TYPE_OF(BOOL), sign, emit_int(l, i64(), 0));
    emit_bounds_check(l, emit2(l, IR_OR, TYPE_OF(BOOL), differs, is_negative), "ValueError", reshape_format(l, count),
                      1 + count, values);
    return true;
}

static bool call_reshape(Lower *l, Operand array, const Call *call, Operand *out)
{
    Operand extents[TYPE_MAX_NDIM];
    bool is_tuple = call->count == 1 && call->arguments[0].type->kind == TYPE_TUPLE;
    uint32_t count = is_tuple ? call->arguments[0].type->count : call->count;
    if (count > TYPE_MAX_NDIM || call->keyword_count)
        return call_refuse(l, call, "");
    if (!require_contiguous(l, array, call))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        Operand given = is_tuple ? lower_tuple_item(l, call->arguments[0], i) : call->arguments[i];
        if (!type_is_integer(given.type))
            return call_refuse(l, call, "");
        if (!lower_convert(l, given, i64(), &extents[i]))
            return false;
    }
    if (!infer_extents(l, array, extents, count) || !check_shape(l, array, extents, count))
        return false;
    return *out = c_view(l, array, array.type->element, extents, count), true;
}

static bool call_view(Lower *l, Operand array, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    const Type *element = operand_dtype(l, call->arguments[0]);
    uint32_t ndim = array.type->ndim, old = array.type->element->size;
    if (!element || !type_is_single(element) || ndim == 0)
        return call_refuse(l, call, "");
    if (element->size == old) {
        const Type *type = type_array_aligned(l->arena, element, (int)ndim, array.type->layout, array.type->read_only,
                                              array.type->alignment);
        type = type_array_swizzled(l->arena, type, array.type->swizzle);
        return *out = lower_same_memory(l, array, type, 0, false), true;
    }
    Operand extents[TYPE_MAX_NDIM], bytes;
    if (!require_contiguous(l, array, call))
        return false;
    for (uint32_t i = 0; i < ndim; i++)
        extents[i] = extent(l, array, i);
    if (!lower_binary(l, NB_MULTIPLY, extents[ndim - 1], operand_int(l, old), &bytes) ||
        !lower_binary(l, NB_FLOOR_DIVIDE, bytes, operand_int(l, element->size), &extents[ndim - 1]))
        return false;
    return *out = c_view(l, array, element, extents, ndim), true;
}

/* Whether the extent of an array is known where code is emitted: of storage, of constants, and of views of such. */
static bool known_extent(const IrValue *array, uint32_t axis, int64_t *extent)
{
    if ((array->op == IR_LOCAL || array->op == IR_SHARED) && !array->storage->dynamic)
        return *extent = array->storage->shape[axis], true;
    if (array->op == IR_DATA)
        return *extent = array->array->shape[axis], true;
    if (array->op != IR_SUBARRAY)
        return false;
    const IrValue *given = array->operands[1 + array->operands[0]->type->ndim + axis];
    if (given->op == IR_EXTENT)
        return known_extent(given->operands[0], given->index, extent);
    return given->op == IR_CONST ? (*extent = given->integer, true) : false;
}

/* A local array with the same elements, whose size must be known. */
static bool call_copy(Lower *l, Operand array, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 0, 0))
        return false;
    uint32_t ndim = array.type->ndim;
    const Type *type = type_array(l->arena, array.type->element, (int)ndim, LAYOUT_C, false);
    if (!ndim || !type_is_element(array.type->element))
        return call_refuse(l, call, ", an array with axes");
    if (!l->emitting)
        return *out = operand_value(type, NULL), true;
    IrStorage *storage = ARENA_NEW(l->arena, IrStorage);
    for (uint32_t i = 0; i < ndim; i++)
        if (!known_extent(array.ir, i, &storage->shape[i]))
            return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the shape of an array that is copied",
                              ": the copy is a local array; cuda.local.array(shape, dtype) has a shape of its own");
    IrValue *memory = emit(l, IR_LOCAL, type, 0, NULL);
    memory->storage = storage;
    *out = operand_value(type, memory);
    return lower_fill(l, *out, array);
}

static bool call_fill(Lower *l, Operand array, const Call *call, Operand *out)
{
    *out = operand_none();
    if (!call_arity(l, call, 1, 1))
        return false;
    if (array.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, array.type));
    return lower_fill(l, array, call->arguments[0]);
}

/* As a number, through which PTX of the program's may write. */
static Operand address_of(Lower *l, Operand array)
{
    IrValue *address = emit1(l, IR_ADDRESS, i64(), array.ir);
    if (address && !array.type->read_only)
        address->hint = IR_ESCAPES;
    return operand_value(i64(), address);
}

/* array.ctypes.data and such: `group` is "ctypes", "flags" or "flat". */
bool lower_array_group(Lower *l, Operand array, const char *group, const char *name, Operand *out)
{
    ArrayLayout layout = array.type->layout;
    bool is_line = array.type->ndim <= 1 && layout != LAYOUT_ANY;
    if (strcmp(group, "ctypes") == 0) {
        if (strcmp(name, "data") == 0)
            return *out = address_of(l, array), true;
        if (strcmp(name, "shape") == 0 || strcmp(name, "strides") == 0)
            return lower_array_attribute(l, array, name, out);
    } else if (strcmp(group, "flags") == 0) {
        bool is_c = layout == LAYOUT_C || is_line, is_f = layout == LAYOUT_F || is_line;
        if (strcmp(name, "c_contiguous") == 0)
            return *out = operand_bool(l, is_c), true;
        if (strcmp(name, "f_contiguous") == 0)
            return *out = operand_bool(l, is_f), true;
        if (strcmp(name, "contiguous") == 0)
            return *out = operand_bool(l, is_c || is_f), true;
        if (strcmp(name, "writeable") == 0)
            return *out = operand_bool(l, !array.type->read_only), true;
    }
    return lower_fail(l, DIAG_ATTRIBUTE_UNKNOWN, arena_format(l->arena, "array.%s", group), name, "");
}

static bool call_item(Lower *l, Operand array, const Call *call, Operand *out)
{
    if (call->count == 1 && call->arguments[0].type->kind != TYPE_TUPLE)
        return lower_flat_item(l, array, call->arguments[0], out);
    Operand index =
        call->count == 1 ? call->arguments[0] : lower_make_tuple(l, call->arguments, call->count, TUPLE_PLAIN);
    return lower_subscript(l, array, index, out);
}

static bool call_itemset(Lower *l, Operand array, const Call *call, Operand *out)
{
    *out = operand_none();
    if (call->count == 0 || call->keyword_count)
        return call_refuse(l, call, "");
    Operand value = call->arguments[call->count - 1];
    Operand index =
        call->count == 2 ? call->arguments[0] : lower_make_tuple(l, call->arguments, call->count - 1, TUPLE_PLAIN);
    if (call->count != 2 || index.type->kind == TYPE_TUPLE || array.type->ndim == 1)
        return lower_store_subscript(l, array, index, value);
    return lower_store_flat_item(l, array, index, value);
}

typedef struct Method {
    const char *name;
    bool (*call)(Lower *l, Operand array, const Call *call, Operand *out);
} Method;

static const Method methods[] = {
    {"transpose", call_transpose}, {"ravel", call_ravel}, {"reshape", call_reshape},
    {"view", call_view},           {"fill", call_fill},   {"item", call_item},
    {"itemset", call_itemset},     {"copy", call_copy},   {NULL, NULL},
};

/* The reduction that the code can name as a method of arrays, such as sum; NULL where there is none. */
static const Constant *reduction(const Lower *l, const char *name)
{
    const CodeSnapshot *code = l->instance->code;
    for (uint32_t i = 0; i < code->method_count; i++)
        if (strcmp(code->method_names[i], name) == 0)
            return code->methods[i];
    return NULL;
}

bool is_array_method(const Lower *l, const char *name)
{
    for (int i = 0; methods[i].name; i++)
        if (strcmp(methods[i].name, name) == 0)
            return true;
    if (reduction(l, name))
        return true;
    return strcmp(name, "flat") == 0 || strcmp(name, "ctypes") == 0 || strcmp(name, "flags") == 0;
}

bool lower_array_method(Lower *l, Operand array, const Call *call, Operand *out)
{
    for (int i = 0; methods[i].name; i++)
        if (strcmp(methods[i].name, call->name) == 0)
            return methods[i].call(l, array, call, out);
    const Constant *function = reduction(l, call->name);
    return function ? lower_class_method(l, array, function, call, out) : lower_fail(l, DIAG_TYPE_CALL, call->name, "");
}
