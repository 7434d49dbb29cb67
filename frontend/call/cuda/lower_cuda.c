/* cuda.*: places in the grid, shared and local arrays, bits. */
#include <string.h>

#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/call/cuda/lower_device.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/grid_place.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"

bool call_grid(Lower *l, const Call *call, Operand *out)
{
    int64_t axes;
    if (!call_arity(l, call, 1, 1))
        return false;
    if (!operand_const_int(call->arguments[0], &axes))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, arena_format(l->arena, "the argument of %s", call->name), "");
    if (axes < 1 || axes > 3)
        return lower_fail(l, DIAG_CONSTANT_RANGE, arena_format(l->arena, "%s() takes 1, 2 or 3", call->name));
    Operand places[3];
    for (uint32_t i = 0; i < axes; i++)
        places[i] = call->intrinsic == INTRINSIC_CUDA_GRID ? lower_grid_place(l, i) : lower_grid_extent(l, i);
    *out = axes == 1 ? places[0] : lower_make_tuple(l, places, (uint32_t)axes, TUPLE_PLAIN);
    return true;
}

/* --- shared and local arrays -------------------------------------------------------------------------------------- */

static bool constant_shape(Lower *l, const Call *call, Operand shape, IrStorage *storage, int *ndim)
{
    bool is_tuple = type_is_plain_tuple(shape.type);
    *ndim = is_tuple ? (int)shape.type->count : 1;
    if (*ndim == 0)
        return lower_fail(l, DIAG_CONSTANT_RANGE, arena_format(l->arena, "%s has at least one axis", call->name));
    if (*ndim > TYPE_MAX_NDIM)
        return lower_fail(l, DIAG_CONSTANT_RANGE, "an array has at most 8 dimensions");
    for (int i = 0; i < *ndim; i++) {
        Operand extent = is_tuple ? lower_tuple_item(l, shape, (uint32_t)i) : shape;
        if (!operand_const_int(extent, &storage->shape[i]))
            return lower_fail(l, DIAG_CONSTANT_REQUIRED, arena_format(l->arena, "the shape of %s", call->name),
                              "; use a literal, a global or a captured variable");
        if (storage->shape[i] < 0)
            return lower_fail(l, DIAG_CONSTANT_RANGE, "an extent cannot be negative");
    }
    return true;
}

static bool alignment_of(Lower *l, const Call *call, IrStorage *storage)
{
    int64_t alignment;
    if (call->count < 3 || call->arguments[2].type->kind == TYPE_NONE)
        return true;
    if (!operand_const_int(call->arguments[2], &alignment))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the alignment", "");
    if (alignment < 1 || alignment > 1024 || (alignment & (alignment - 1)))
        return lower_fail(l, DIAG_CONSTANT_RANGE, "the alignment must be a power of two from 1 to 1024");
    storage->alignment = (uint32_t)alignment;
    return true;
}

/* A row of the array is what is exchanged within, so that it lies as a copied tile does. */
static bool swizzle_of(Lower *l, const Call *call, const Type *element, int ndim, IrStorage *storage, uint8_t *out)
{
    const Operand *given = call_keyword(call, "swizzle");
    int64_t swizzle = 0;
    if (given && !operand_const_int(*given, &swizzle))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the swizzle", "");
    if (swizzle && swizzle != 32 && swizzle != 64 && swizzle != 128)
        return lower_fail(l, DIAG_CONSTANT_RANGE, "the swizzle must be 0, 32, 64 or 128");
    *out = (uint8_t)swizzle;
    if (!swizzle)
        return true;
    int64_t row = storage->shape[ndim - 1] * (int64_t)element->size;
    if (ndim < 2 || row != swizzle || element->kind < TYPE_BOOL || element->kind > TYPE_FLOAT)
        return lower_fail(l, DIAG_CONSTANT_RANGE,
                          arena_format(l->arena,
                                       "with swizzle=%d an array has at least two axes, and the numbers along the last "
                                       "one are %d bytes, not %lld",
                                       (int)swizzle, (int)swizzle, (long long)row));
    uint32_t pattern = (uint32_t)swizzle * 8;
    storage->alignment = storage->alignment > pattern ? storage->alignment : pattern;
    return true;
}

/* Of the variable that the value is assigned to. */
static const char *name_of_variable(const Lower *l)
{
    const SsaAssignment *assignment = l->instance->code->is_library ? NULL : l->instance->ssa->assignments;
    while (assignment && assignment->value != l->value)
        assignment = assignment->next;
    return assignment ? assignment->name : NULL;
}

bool call_storage(Lower *l, const Call *call, Operand *out)
{
    bool is_shared = call->intrinsic == INTRINSIC_CUDA_SHARED_ARRAY;
    if (!call_arity(l, call, 2 + call->keyword_count, 3 + call->keyword_count))
        return false;
    const Type *element = operand_dtype(l, call->arguments[1]);
    if (!element && operand_is_object(call->arguments[1], CONSTANT_STRING))
        return lower_fail(l, DIAG_CONSTANT_RANGE,
                          arena_format(l->arena, "'%s' is no dtype", call->arguments[1].constant->text));
    if (!element || !type_is_element(element))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, arena_format(l->arena, "the dtype of %s", call->name),
                          ", a type such as float32");
    IrStorage *storage = ARENA_NEW(l->arena, IrStorage);
    int ndim;
    if (!constant_shape(l, call, call->arguments[0], storage, &ndim) || !alignment_of(l, call, storage))
        return false;
    uint8_t swizzle = 0;
    if (!swizzle_of(l, call, element, ndim, storage, &swizzle))
        return false;
    storage->dynamic = is_shared && ndim == 1 && storage->shape[0] == 0;
    storage->name = l->emitting ? name_of_variable(l) : NULL;
    const Type *type = type_array(l->arena, element, ndim, LAYOUT_C, false);
    type = type_array_swizzled(l->arena, type, swizzle);
    IrValue *value = emit(l, is_shared ? IR_SHARED : IR_LOCAL, type, 0, NULL);
    if (value)
        value->storage = storage;
    return *out = operand_value(type, value), true;
}

bool call_array_like(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 1, 1))
        return false;
    if (call->arguments[0].type->kind != TYPE_ARRAY) /* any array as it is: what is constant already is so */
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the argument of cuda.const.array_like",
                          "; pass a NumPy array that is a global or captured variable");
    return *out = call->arguments[0], true;
}

/* --- bits --------------------------------------------------------------------------------------------------------- */

bool call_bits(Lower *l, const Call *call, Operand *out)
{
    static const struct {
        IntrinsicId id;
        PromotionId rule;
        IrOp op;
    } rows[] = {{INTRINSIC_CUDA_POPC, PROMOTION_BIT_COUNT, IR_POPCOUNT},
                {INTRINSIC_CUDA_CLZ, PROMOTION_BIT_COUNT, IR_LEADZEROS},
                {INTRINSIC_CUDA_BREV, PROMOTION_BREV, IR_BITREVERSE},
                {INTRINSIC_CUDA_FFS, PROMOTION_FFS, IR_TRAILZEROS}};
    uint32_t row = 0;
    while (rows[row].id != call->intrinsic)
        row++;
    if (!call_arity(l, call, 1, 1))
        return false;
    Operand x = call->arguments[0], converted;
    const Type *type = type_is_scalar(x.type) ? type_promote(rows[row].rule, x.type, NULL) : NULL;
    if (!type)
        return call_refuse(l, call, "");
    const Type *work = call->intrinsic == INTRINSIC_CUDA_FFS && x.type->size == 8 ? TYPE_OF(UINT64) : type;
    if (!lower_convert(l, x, work, &converted))
        return false;
    IrValue *value = operand_ir(l, converted), *counted = emit1(l, rows[row].op, work, value);
    if (call->intrinsic == INTRINSIC_CUDA_FFS) {
        IrValue *one = emit_int(l, work, 1), *zero = emit_int(l, work, 0);
        IrValue *is_zero = emit2(l, IR_EQ, TYPE_OF(BOOL), value, zero);
        counted = emit3(l, IR_SELECT, work, is_zero, zero, emit2(l, IR_ADD, work, counted, one));
    }
    return lower_convert(l, operand_value(work, counted), type, out);
}

bool call_select(Lower *l, const Call *call, Operand *out)
{
    Operand truth, x, y;
    if (!call_arity(l, call, 3, 3))
        return false;
    const Type *type = lower_join_types(l, call->arguments[1].type, call->arguments[2].type);
    if (!type || !type_is_scalar(type))
        return call_refuse(l, call, "");
    if (!lower_truth(l, call->arguments[0], &truth) || !lower_convert(l, call->arguments[1], type, &x) ||
        !lower_convert(l, call->arguments[2], type, &y))
        return false;
    *out = operand_value(type, emit_of3(l, IR_SELECT, type, truth, x, y));
    return true;
}

/* What the library's functions find wrong with constants. */
bool call_refusal(Lower *l, const Call *call, Operand *out)
{
    (void)out;
    bool has_text = call->count == 1 && operand_is_object(call->arguments[0], CONSTANT_STRING);
    return lower_fail(l, DIAG_CONSTANT_RANGE, has_text ? call->arguments[0].constant->text : call->name);
}

/* --- clusters ----------------------------------------------------------------------------------------------------- */

bool call_map_shared(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 2, 2))
        return false;
    Operand array = call->arguments[0], rank;
    if (array.type->kind != TYPE_ARRAY || !type_is_integer(call->arguments[1].type))
        return call_refuse(l, call, "; it takes a shared array and the rank of a block");
    if (!lower_convert(l, call->arguments[1], TYPE_OF(INT32), &rank))
        return false;
    IrValue *operands[] = {array.ir, operand_ir(l, rank)};
    return *out = operand_value(array.type, emit_intrinsic(l, call->intrinsic, array.type, 2, operands)), true;
}

/* The casts of cuda.bf16 and cuda.fp16: the bits stay. */
static const struct {
    IntrinsicId id;
    ScalarId from, to;
} casts[] = {
    {INTRINSIC_BF16_AS_INT16, SCALAR_BFLOAT16, SCALAR_INT16},
    {INTRINSIC_BF16_AS_UINT16, SCALAR_BFLOAT16, SCALAR_UINT16},
    {INTRINSIC_BF16_INT16_BITS, SCALAR_INT16, SCALAR_BFLOAT16},
    {INTRINSIC_BF16_UINT16_BITS, SCALAR_UINT16, SCALAR_BFLOAT16},
    {INTRINSIC_FP16_AS_INT16, SCALAR_FLOAT16, SCALAR_INT16},
    {INTRINSIC_FP16_AS_UINT16, SCALAR_FLOAT16, SCALAR_UINT16},
    {INTRINSIC_FP16_INT16_BITS, SCALAR_INT16, SCALAR_FLOAT16},
    {INTRINSIC_FP16_UINT16_BITS, SCALAR_UINT16, SCALAR_FLOAT16},
};

bool call_bits_as(Lower *l, const Call *call, Operand *out)
{
    size_t row = 0;
    while (casts[row].id != call->intrinsic)
        row++;
    const Type *from = &type_scalars[casts[row].from], *to = &type_scalars[casts[row].to];
    Operand converted;
    if (!call_arity(l, call, 1, 1))
        return false;
    if (!type_is_real(call->arguments[0].type))
        return call_refuse(l, call, "");
    if (!lower_convert(l, call->arguments[0], from, &converted))
        return false;
    return *out = operand_value(to, emit1(l, IR_BITCAST, to, operand_ir(l, converted))), true;
}
