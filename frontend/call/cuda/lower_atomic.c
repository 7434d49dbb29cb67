/* cuda.atomic.*: read-modify-write operations on elements of arrays. */
#include <string.h>

#include "frontend/array/lower_array.h"
#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"
#include "frontend/value/overflow_marks.h"

static IrAtomic atomic_kind(IntrinsicId id)
{
    static const IrAtomic kinds[INTRINSIC_COUNT] = {
#define ATOMIC(id, path, operation, parameters, doc) [INTRINSIC_##id] = IR_ATOMIC_##operation,
#include "core/intrinsic/intrinsic.def"
    };
    return kinds[id];
}

/* Bits and counters are for integers; the rest for floats too. */
static bool atomic_accepts(IrAtomic kind, const Type *element)
{
    if (type_is_integer(element))
        return element->kind == TYPE_UINT || (kind != IR_ATOMIC_INC && kind != IR_ATOMIC_DEC);
    if (element->kind == TYPE_BOOL)
        return kind == IR_ATOMIC_EXCH || kind == IR_ATOMIC_CAS;
    if (element->kind != TYPE_FLOAT)
        return false;
    return kind <= IR_ATOMIC_NANMIN || kind == IR_ATOMIC_EXCH || kind == IR_ATOMIC_CAS;
}

/* A keyword that chooses one of some names. */
static bool choice_of(Lower *l, const Call *call, const char *keyword, const char *const *names, int count,
                      uint8_t *out)
{
    const Operand *given = call_keyword(call, keyword);
    Buf list = {0};
    if (!given)
        return *out = 0, true;
    for (int i = 0; i < count; i++) {
        if (operand_is_object(*given, CONSTANT_STRING) && strcmp(given->constant->text, names[i]) == 0)
            return buf_free(&list), *out = (uint8_t)i, true;
        buf_printf(&list, "%s'%s'", i ? ", " : "", names[i]);
    }
    const char *text = arena_format(l->arena, "the %s of an atomic is one of %s", keyword, buf_text(&list));
    buf_free(&list);
    return lower_fail(l, DIAG_CONSTANT_RANGE, text);
}

static bool check_count(Lower *l, const Call *call, uint32_t wanted)
{
    const char *range = arena_format(l->arena, "%u", wanted);
    return call->count == wanted || lower_fail(l, DIAG_CALL_ARITY, call->name, range, "s", (int)call->count);
}

/* The index with integers in place of floats, such as those of math.floor: numba takes them for atomics. */
static bool integer_index(Lower *l, Operand index, Operand *out)
{
    *out = index;
    if (index.type->kind == TYPE_FLOAT)
        return lower_convert(l, index, TYPE_OF(INT64), out);
    if (!type_is_plain_tuple(index.type))
        return true;
    Operand *items = ARENA_ARRAY(l->arena, Operand, index.type->count);
    for (uint32_t i = 0; i < index.type->count; i++)
        if (!integer_index(l, lower_tuple_item(l, index, i), &items[i]))
            return false;
    return *out = lower_make_tuple(l, items, index.type->count, TUPLE_PLAIN), true;
}

bool call_atomic(Lower *l, const Call *call, Operand *out)
{
    bool swap = call->intrinsic == INTRINSIC_CUDA_ATOMIC_COMPARE_AND_SWAP;
    IrAtomic kind = atomic_kind(call->intrinsic);
    uint32_t values = kind == IR_ATOMIC_CAS ? 2 : 1, wanted = values + (swap ? 1 : 2);
    uint8_t scope, order;
    if (!check_count(l, call, wanted) || !choice_of(l, call, "scope", ir_scope_names, IR_SCOPE_COUNT, &scope) ||
        !choice_of(l, call, "order", ir_order_names, IR_ORDER_COUNT, &order))
        return false;
    Operand array = call->arguments[0], index = swap ? operand_int(l, 0) : call->arguments[1];
    if (!integer_index(l, index, &index))
        return false;
    if (array.type->kind != TYPE_ARRAY || index_is_view(array, index))
        return call_refuse(l, call, "; it takes an array and an index of an element");
    if (array.type->read_only)
        return lower_fail(l, DIAG_READ_ONLY, lower_describe(l, array.type));
    const Type *element = array.type->element;
    if (!atomic_accepts(kind, element))
        return call_refuse(l, call, arena_format(l->arena, ": not for elements of %s", lower_describe(l, element)));
    if (type_element_alignment(array.type) < element->size)
        return call_refuse(l, call, ": the elements are fields of packed records and not aligned");
    IrValue *operands[3 + TYPE_MAX_NDIM] = {array.ir};
    uint32_t ndim = array.type->ndim;
    if (!lower_indices(l, array, index, operands + 1))
        return false;
    for (uint32_t i = 0; i < values; i++) {
        Operand converted, value = call->arguments[call->count - values + i];
        if (!type_is_real(value.type))
            return call_refuse(l, call, "");
        bool is_sum = kind == IR_ATOMIC_ADD || kind == IR_ATOMIC_SUB;
        bool may_wrap = is_sum && element->kind == TYPE_UINT; /* -1 is added to unsigned elements, too */
        if (may_wrap ? !lower_convert(l, value, element, &converted) : !overflow_convert(l, value, element, &converted))
            return false;
        operands[1 + ndim + i] = operand_ir(l, converted);
    }
    IrValue *old = emit(l, IR_ATOMIC, element, 1 + ndim + values, operands);
    if (old) {
        old->atomic = kind;
        old->scope = scope;
        old->order = order;
    }
    return *out = operand_value(element, old), true;
}
