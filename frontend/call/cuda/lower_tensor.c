/* Calls of tensor cores and of asynchronous copies: fragments are tuples of elements, places are an array and an index. */
#include "frontend/array/lower_array.h"
#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/call/cuda/lower_place.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"

/* --- matrix multiplication ------------------------------------------------------------------------------------------ */

static const Type *fragment_type(Lower *l, const Type *element, uint32_t count)
{
    const Type **items = ARENA_ARRAY(l->arena, const Type *, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = element;
    return type_tuple(l->arena, items, count, TUPLE_PLAIN);
}

/* A tuple of `count` numbers, converted to the element type. */
static bool fragment(Lower *l, const Call *call, uint32_t index, const Type *element, uint32_t count, IrValue **out)
{
    Operand given = call->arguments[index];
    bool fits = type_is_plain_tuple(given.type) && given.type->count == count;
    for (uint32_t i = 0; fits && i < count; i++)
        fits = type_is_real(given.type->items[i]);
    if (!fits)
        return call_refuse(l, call,
                           arena_format(l->arena, ": argument %u is a tuple of %u numbers (%s) in each lane", index + 1,
                                        count, lower_describe(l, element)));
    IrValue **items = ARENA_ARRAY(l->arena, IrValue *, count);
    for (uint32_t i = 0; i < count; i++) {
        Operand converted;
        if (!lower_convert(l, lower_tuple_item(l, given, i), element, &converted))
            return false;
        items[i] = operand_ir(l, converted);
    }
    *out = emit(l, IR_TUPLE, fragment_type(l, element, count), count, items);
    return true;
}

bool call_mma(Lower *l, const Call *call, Operand *out)
{
    const MmaShape *mma = &intrinsic_info[call->intrinsic].mma;
    IrValue *operands[3];
    if (!call_arity(l, call, 3, 3))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!fragment(l, call, i, i < 2 ? mma->input : mma->output, mma_fragment_count(mma, i), &operands[i]))
            return false;
    const Type *type = fragment_type(l, mma->output, mma_fragment_count(mma, 2));
    *out = operand_value(type, emit_intrinsic(l, call->intrinsic, type, 3, operands));
    return true;
}

/* --- places in memory ----------------------------------------------------------------------------------------------- */

bool lower_place(Lower *l, const Call *call, Operand array, Operand index, Operand *out)
{
    if (array.type->kind != TYPE_ARRAY || array.type->ndim == 0 || index_is_view(array, index))
        return call_refuse(l, call, "; it takes an array and an index of an element");
    if (array.type->layout != LAYOUT_C)
        return call_refuse(l, call, ": the array must be C-contiguous, so that elements are neighbours");
    uint32_t ndim = array.type->ndim;
    IrValue *operands[1 + TYPE_MAX_NDIM] = {array.ir};
    if (!lower_indices(l, array, index, operands + 1))
        return false;
    const Type *type = type_array(l->arena, array.type->element, 0, LAYOUT_C, array.type->read_only);
    type = type_array_swizzled(l->arena, type, array.type->swizzle);
    IrValue *reference = emit(l, IR_SUBARRAY, type, 1 + ndim, operands);
    if (reference)
        reference->hint = (uint8_t)((1u << ndim) - 1);
    *out = operand_value(type, reference);
    return true;
}

bool lower_check_shared(Lower *l, const Call *call, Operand array, const char *rule)
{
    const IrValue *memory = array.ir ? ir_memory_of(array.ir) : NULL;
    bool is_elsewhere = memory && ((memory->op == IR_PARAM && l->instance->is_kernel) || memory->op == IR_LOCAL ||
                                   memory->op == IR_DATA);
    return !is_elsewhere || call_refuse(l, call, rule);
}

/* ldmatrix_x4(array, row, column) */
bool call_ldmatrix(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 3, 3))
        return false;
    Operand array = call->arguments[0], reference;
    if (array.type->kind != TYPE_ARRAY || array.type->ndim != 2 || !type_is_scalar(array.type->element) ||
        array.type->element->size != 2)
        return call_refuse(l, call, "; it takes a 2-D shared array of 16-bit elements, a row and a column");
    Operand index = lower_make_tuple(l, call->arguments + 1, 2, TUPLE_PLAIN);
    if (!lower_check_shared(l, call, array, ": it loads from shared memory") ||
        !lower_place(l, call, array, index, &reference))
        return false;
    const Type *type = fragment_type(l, array.type->element, 2 * intrinsic_info[call->intrinsic].matrices);
    *out = operand_value(type, emit_intrinsic(l, call->intrinsic, type, 1, &reference.ir));
    return true;
}

/* --- asynchronous copies -------------------------------------------------------------------------------------------- */

bool call_copy(Lower *l, const Call *call, Operand *out)
{
    int64_t count;
    Operand to, from;
    if (!call_arity(l, call, 5, 5))
        return false;
    if (!operand_const_int(call->arguments[4], &count))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the count of cuda.cp_async", "");
    if (!lower_place(l, call, call->arguments[0], call->arguments[1], &to) ||
        !lower_place(l, call, call->arguments[2], call->arguments[3], &from))
        return false;
    if (!type_equal(to.type->element, from.type->element))
        return call_refuse(l, call, ": both arrays have elements of one type");
    if (to.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, call->arguments[0].type));
    int64_t size = count * (int64_t)to.type->element->size;
    if (size != 4 && size != 8 && size != 16)
        return lower_fail(l, DIAG_CONSTANT_RANGE,
                          arena_format(l->arena, "cuda.cp_async copies 4, 8 or 16 bytes, not %lld", (long long)size));
    if (!lower_check_shared(l, call, call->arguments[0], ": it copies into shared memory"))
        return false;
    IntrinsicId id = size == 4 ? INTRINSIC_CP_ASYNC_4 : size == 8 ? INTRINSIC_CP_ASYNC_8 : INTRINSIC_CP_ASYNC_16;
    emit_intrinsic(l, id, &type_none, 2, (IrValue *[]){to.ir, from.ir});
    return *out = operand_none(), true;
}

bool call_commit(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 0, 0))
        return false;
    emit_intrinsic(l, call->intrinsic, &type_none, 0, NULL);
    return *out = operand_none(), true;
}

bool call_wait(Lower *l, const Call *call, Operand *out)
{
    int64_t groups;
    if (!call_arity(l, call, 1, 1))
        return false;
    if (!operand_const_int(call->arguments[0], &groups) || groups < 0 || groups > 1024)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the number of groups of cuda.cp_async_wait", ", not below 0");
    IrValue *count = emit_int(l, TYPE_OF(INT32), groups);
    emit_intrinsic(l, call->intrinsic, &type_none, 1, &count);
    return *out = operand_none(), true;
}
