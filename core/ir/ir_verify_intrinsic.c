/* The types of an intrinsic's operands and result, by its row. */
#include "core/ir/ir_verify.h"

static bool has_shape(const Type *type, char shape)
{
    switch (shape) {
    case 'b': return type->kind == TYPE_BOOL;
    case 'i':
    case 'u':
    case 'v':
    case 'w': return type_is_integer(type) && type->size == 4;
    case 'l':
    case 'q': return type_is_integer(type) && type->size == 8;
    case 'x': return type_is_integer(type) && type->size >= 4;
    case 'f': return type->kind == TYPE_FLOAT && type->size == 4;
    case 'd': return type->kind == TYPE_FLOAT && type->size == 8;
    case 'p': return type->kind == TYPE_ARRAY && type->ndim == 0;
    case 'c': return type->kind == TYPE_INT && type->size == 4;
    default: return type->kind == TYPE_NONE;
    }
}

static const char *shape_text(char shape)
{
    switch (shape) {
    case 'b': return "bool";
    case 'i':
    case 'u':
    case 'v':
    case 'w': return "i32 or u32";
    case 'l':
    case 'q': return "i64 or u64";
    case 'x': return "an integer of 32 or 64 bits";
    case 'f': return "f32";
    case 'd': return "f64";
    case 'p': return "a place in an array";
    case 'c': return "i32";
    default: return "none";
    }
}

/* Array, place, and for a store a tuple of elements; a load gives one. */
static bool verify_wide(const IrValue *value, Diag *diag)
{
    bool is_load = value->intrinsic == INTRINSIC_CUDA_WIDE_LOAD;
    const Type *array = value->operands[0]->type, *items = is_load ? value->type : value->operands[2]->type;
    if (array->kind != TYPE_ARRAY || array->ndim != 1 || array->layout == LAYOUT_ANY || !type_is_scalar(array->element))
        return fail_operand(diag, value, 0, "an array of scalars with one axis and no gaps");
    if (!is_load && array->read_only)
        return fail_operand(diag, value, 0, "writable");
    bool fits = items->kind == TYPE_TUPLE && items->count > 0;
    for (uint32_t i = 0; fits && i < items->count; i++)
        fits = type_equal(items->items[i], array->element);
    if (!fits)
        return verify_fail(diag, value, "a wide access is of a tuple of elements");
    return expect_int64(diag, value, 1, 2) && (is_load || expect_result(diag, value, &type_none));
}

static bool is_fragment(const Type *type, const Type *element, uint32_t count)
{
    bool fits = type->kind == TYPE_TUPLE && type->count == count;
    for (uint32_t i = 0; fits && i < type->count; i++)
        fits = type_equal(type->items[i], element);
    return fits;
}

static bool verify_mma(const IrValue *value, Diag *diag)
{
    const MmaShape *mma = &intrinsic_info[value->intrinsic].mma;
    for (uint32_t i = 0; i < 3; i++)
        if (!is_fragment(value->operands[i]->type, i < 2 ? mma->input : mma->output, mma_fragment_count(mma, i)))
            return fail_operand(diag, value, i, "a fragment of the row's shape");
    return is_fragment(value->type, mma->output, mma_fragment_count(mma, 2)) ||
           fail_type(diag, value, "the result", value->type, "a fragment of the row's shape");
}

static bool verify_device(const IrValue *value, Diag *diag)
{
    const char *shape = intrinsic_info[value->intrinsic].shape;
    if (value->intrinsic == INTRINSIC_CUDA_WIDE_LOAD || value->intrinsic == INTRINSIC_CUDA_WIDE_STORE)
        return verify_wide(value, diag);
    if (intrinsic_info[value->intrinsic].family == FAMILY_MMA)
        return verify_mma(value, diag);
    if (!shape)
        return true;
    if (!has_shape(value->type, shape[0]))
        return fail_type(diag, value, "the result", value->type, shape_text(shape[0]));
    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (!has_shape(value->operands[i]->type, shape[1 + i]))
            return fail_operand(diag, value, i, shape_text(shape[1 + i]));
        bool alike = (shape[0] == 'x' || shape[0] == 'v') && shape[1 + i] == shape[0];
        if (alike && !expect_operand(diag, value, i, value->type))
            return false;
    }
    return true;
}

/* Types as the signature has them; several results are a tuple. */
static bool verify_libdevice(const IrValue *value, Diag *diag)
{
    IntrinsicSignature signature = intrinsic_signature(value->intrinsic);
    if (!expect_count(diag, value, signature.argument_count))
        return false;
    for (uint32_t i = 0; i < signature.argument_count; i++)
        if (!expect_operand(diag, value, i, signature.arguments[i]))
            return false;
    if (signature.result_count == 1)
        return expect_result(diag, value, signature.results[0]);
    Type tuple = {.kind = TYPE_TUPLE, .tag = TUPLE_PLAIN, .count = signature.result_count, .items = signature.results};
    return expect_result(diag, value, &tuple);
}

bool verify_intrinsic(const IrValue *value, Diag *diag)
{
    if ((unsigned)value->intrinsic >= INTRINSIC_COUNT)
        return verify_fail(diag, value, "unknown intrinsic %u", (unsigned)value->intrinsic);
    const IntrinsicInfo *info = &intrinsic_info[value->intrinsic];
    if (info->kind == INTRINSIC_KIND_BUILTIN || info->kind == INTRINSIC_KIND_NONE)
        return verify_fail(diag, value, "%s is not an IR intrinsic", info->id);
    if (info->arity >= 0 && !expect_count(diag, value, (uint32_t)info->arity))
        return false;
    if (info->kind == INTRINSIC_KIND_REGISTER)
        return expect_result(diag, value, info->type);
    if (info->kind == INTRINSIC_KIND_DEVICE)
        return verify_device(value, diag);
    if (info->kind == INTRINSIC_KIND_LIBDEVICE)
        return verify_libdevice(value, diag);
    if (value->type->kind != TYPE_FLOAT && value->type->kind != TYPE_COMPLEX)
        return fail_type(diag, value, "the result", value->type, "a float");
    return expect_all(diag, value, value->type);
}
