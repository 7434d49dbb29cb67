/* cuda.ldca(array, index) and its like: loads and stores of elements that say how they go through the caches. */
#include "frontend/array/lower_array.h"
#include "frontend/array/lower_pointer.h"
#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/overflow_marks.h"

static IrHint hint_of(IntrinsicId id)
{
    static const IrHint hints[INTRINSIC_COUNT] = {
#define CACHED_LOAD(id, path, hint, doc) [INTRINSIC_##id] = IR_HINT_##hint,
#define CACHED_STORE(id, path, hint, doc) [INTRINSIC_##id] = IR_HINT_##hint,
#include "core/intrinsic/intrinsic.def"
    };
    return hints[id];
}

/* operands: the array and its indices. */
static bool element_of(Lower *l, const Call *call, IrValue **operands, const Type **array)
{
    Operand given = call->arguments[0], index = call->arguments[1];
    if (type_is_pointer(given.type)) {
        if (!lower_pointed(l, given, index, &given))
            return false;
        index = operand_int(l, 0);
    }
    bool is_element = given.type->kind == TYPE_ARRAY && !index_is_view(given, index);
    if (!is_element || !type_is_scalar(given.type->element))
        return call_refuse(l, call, "; it takes an array of numbers and the index of an element");
    const Type *element = given.type->element;
    uint32_t part = element->kind == TYPE_COMPLEX ? element->size / 2 : element->size;
    if (type_element_alignment(given.type) < part)
        return call_refuse(l, call, ": the elements are fields of packed records and not aligned");
    *array = given.type;
    operands[0] = operand_ir(l, given);
    return lower_indices(l, given, index, operands + 1);
}

bool call_cached_load(Lower *l, const Call *call, Operand *out)
{
    IrValue *operands[1 + TYPE_MAX_NDIM];
    const Type *array;
    if (!call_arity(l, call, 2, 2) || !element_of(l, call, operands, &array))
        return false;
    IrValue *value = emit(l, IR_LOAD, array->element, 1 + array->ndim, operands);
    if (value)
        value->hint = hint_of(call->intrinsic);
    return *out = operand_value(array->element, value), true;
}

bool call_cached_store(Lower *l, const Call *call, Operand *out)
{
    IrValue *operands[2 + TYPE_MAX_NDIM];
    const Type *array;
    Operand converted;
    if (!call_arity(l, call, 3, 3) || !element_of(l, call, operands, &array))
        return false;
    if (array->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, array));
    if (!type_is_scalar(call->arguments[2].type))
        return call_refuse(l, call, "");
    if (!overflow_convert(l, call->arguments[2], array->element, &converted))
        return false;
    operands[1 + array->ndim] = operand_ir(l, converted);
    IrValue *value = emit(l, IR_STORE, &type_none, 2 + array->ndim, operands);
    if (value)
        value->hint = hint_of(call->intrinsic);
    return *out = operand_none(), true;
}
