/* Indexing, slicing and unpacking of tuples; unpacking of what else has a known number of items. */
#include "frontend/array/lower_array.h"
#include "frontend/array/lower_iterate.h"
#include "frontend/array/lower_unpack.h"
#include "frontend/engine.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_check.h"

/* tuple[start:stop:step] with constant parts. */
static bool slice_tuple(Lower *l, Operand tuple, Operand slice, Operand *out)
{
    int64_t count = tuple.type->count, bounds[3] = {0, count, 1};
    bool given[3];
    for (uint32_t i = 0; i < 3; i++) {
        Operand part = lower_tuple_item(l, slice, i);
        given[i] = part.type->kind != TYPE_NONE;
        if (given[i] && !operand_const_int(part, &bounds[i]))
            return lower_fail(l, DIAG_CONSTANT_REQUIRED, "a slice of a tuple", "");
    }
    if (bounds[2] == 0)
        return lower_fail(l, DIAG_CONSTANT_RANGE, "slice step cannot be zero");
    bool down = bounds[2] < 0;
    int64_t low = down ? -1 : 0, high = down ? count - 1 : count;
    for (int i = 0; i < 2; i++) {
        if (!given[i])
            bounds[i] = (i == 0) == down ? high : low;
        else {
            bounds[i] += bounds[i] < 0 ? count : 0;
            bounds[i] = bounds[i] < low ? low : bounds[i] > high ? high : bounds[i];
        }
    }
    Operand *items = ARENA_ARRAY(l->arena, Operand, count + 1);
    uint32_t kept = 0;
    for (int64_t i = bounds[0]; down ? i > bounds[1] : i < bounds[1]; i += bounds[2])
        items[kept++] = lower_tuple_item(l, tuple, (uint32_t)i);
    *out = lower_make_tuple(l, items, kept, TUPLE_PLAIN);
    return true;
}

bool lower_tuple_index(Lower *l, Operand tuple, Operand index, Operand *out)
{
    int64_t place, count = tuple.type->count;
    if (type_is_tagged(index.type, TUPLE_SLICE))
        return slice_tuple(l, tuple, index, out);
    if (operand_const_int(index, &place)) {
        if (place < -count || place >= count)
            return lower_fail(l, DIAG_CONSTANT_RANGE, "tuple index out of range");
        *out = lower_tuple_item(l, tuple, (uint32_t)(place < 0 ? place + count : place));
        return true;
    }
    if (!type_is_integer(index.type) || count == 0)
        return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, tuple.type), lower_describe(l, index.type), "");
    if (!type_is_homogeneous(tuple.type) && !l->emitting)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the index of a tuple of different types", "");
    if (!type_is_homogeneous(tuple.type))
        return lower_fail(l, DIAG_TYPE_INDEX, lower_describe(l, tuple.type), lower_describe(l, index.type),
                          "; items of different types need a constant index");
    IrValue *wrapped;
    if (!lower_index_value(l, index, emit_int(l, TYPE_OF(INT64), count), &wrapped))
        return false;
    if (l->emitting && lower_checks(l)) {
        const Type *boolean = TYPE_OF(BOOL);
        IrValue *below = emit2(l, IR_LT, boolean, wrapped, emit_int(l, TYPE_OF(INT64), 0));
        IrValue *above = emit2(l, IR_GE, boolean, wrapped, emit_int(l, TYPE_OF(INT64), count));
        emit_check(l, emit2(l, IR_OR, boolean, below, above), "IndexError", "tuple index out of range");
    }
    *out = operand_value(tuple.type->items[0], emit2(l, IR_PICK, tuple.type->items[0], operand_ir(l, tuple), wrapped));
    return true;
}

bool lower_unpack(Lower *l, Operand source, uint32_t index, uint32_t count, Operand *out)
{
    if (type_is_plain_tuple(source.type)) {
        if (source.type->count != count)
            return lower_fail(l, DIAG_UNPACK_COUNT, lower_describe(l, source.type), (int)count);
        *out = lower_tuple_item(l, source, index);
        return true;
    }
    if (type_is_lazy(source.type))
        return lower_all_items(l, source, &source) && lower_unpack(l, source, index, count, out);
    if (source.type->kind == TYPE_ARRAY)   /* the caller answers for the length, as for any index */
        return lower_subscript(l, source, operand_int(l, index), out);
    return lower_fail(l, DIAG_UNPACK_COUNT, lower_describe(l, source.type), (int)count);
}
