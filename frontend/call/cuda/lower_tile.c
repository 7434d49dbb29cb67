/* Calls of barriers in shared memory, of copies of tiles, and of what orders them: rows of PTX are told by their shapes. */
#include <string.h>

#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/call/cuda/lower_device.h"
#include "frontend/call/cuda/lower_place.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"

enum { TILE_MOST_AXES = 5 };

static bool barrier_place(Lower *l, const Call *call, Operand barriers, Operand index, IrValue **out)
{
    Operand place;
    bool fits = barriers.type->kind == TYPE_ARRAY && type_equal(barriers.type->element, TYPE_OF(UINT64)) &&
                !barriers.type->swizzle;
    if (!fits)
        return call_refuse(l, call, "; barriers are elements of a shared array of uint64");
    if (!lower_check_shared(l, call, barriers, ": barriers are in shared memory") ||
        !lower_place(l, call, barriers, index, &place))
        return false;
    *out = place.ir;
    return true;
}

static bool constant(Lower *l, const Call *call, Operand given, IrValue **out)
{
    int64_t number;
    if (!operand_const_int(given, &number) || number < 0 || number > 1024)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, arena_format(l->arena, "the argument of %s", call->name),
                          ", not below 0");
    *out = emit_int(l, TYPE_OF(INT32), number);
    return true;
}

bool call_tile_row(Lower *l, const Call *call, Operand *out)
{
    const IntrinsicInfo *row = &intrinsic_info[call->intrinsic];
    Operand given[CALL_MAX_PARAMETERS];
    IrValue *operands[CALL_MAX_PARAMETERS];
    if (!call_bind(l, call, given))
        return false;
    for (uint32_t i = 0, next = 0; i < (uint32_t)row->arity; i++) {
        char shape = row->shape[1 + i];
        bool ok = shape == 'p'   ? barrier_place(l, call, given[next], given[next + 1], &operands[i])
                  : shape == 'c' ? constant(l, call, given[next], &operands[i])
                                 : call_shaped_argument(l, call, i, given[next], &operands[i]);
        if (!ok)
            return false;
        next += shape == 'p' ? 2 : 1;
    }
    const Type *type = row->shape[0] == 'b' ? TYPE_OF(BOOL) : &type_none;
    IrValue *value = emit_intrinsic(l, call->intrinsic, type, (uint32_t)row->arity, operands);
    return *out = type == &type_none ? operand_none() : operand_value(type, value), true;
}

/* Registers of a thread: what setmaxnreg takes. */
bool call_register_count(Lower *l, const Call *call, Operand *out)
{
    int64_t registers;
    if (!call_arity(l, call, 1, 1))
        return false;
    if (!operand_const_int(call->arguments[0], &registers) || registers < 24 || registers > 256 || registers % 8)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, arena_format(l->arena, "the argument of %s", call->name),
                          ", a multiple of 8 from 24 to 256");
    return call_tile_row(l, call, out);
}

/* --- tensor maps ------------------------------------------------------------------------------------------------------ */

/* What cuda.tensor_map() makes: its words, and the array that it is a map of. */
static bool map_of(Lower *l, const Call *call, Operand given, Operand *words, const Type **array)
{
    uint32_t place_of_words, place_of_array;
    bool is_map = given.type->kind == TYPE_TUPLE && given.type->names && given.type->name &&
                  strcmp(given.type->name, "TensorMap") == 0 && type_member(given.type, "words", &place_of_words) &&
                  type_member(given.type, "array", &place_of_array);
    if (!is_map)
        return call_refuse(l, call, "; it takes what cuda.tensor_map() has made, as an argument of the kernel");
    *words = lower_tuple_item(l, given, place_of_words);
    *array = given.type->items[place_of_array];
    return true;
}

/* Where the box begins, an int32 for each axis of the array. */
static bool box_index(Lower *l, const Call *call, Operand index, const Type *array, IrValue **out, uint32_t *count)
{
    bool is_tuple = type_is_plain_tuple(index.type);
    *count = is_tuple ? index.type->count : 1;
    if (*count != array->ndim || *count > TILE_MOST_AXES)
        return call_refuse(
            l, call,
            arena_format(l->arena, ": the index has an integer for each of the map's %u axes", (unsigned)array->ndim));
    for (uint32_t i = 0; i < *count; i++) {
        Operand item = is_tuple ? lower_tuple_item(l, index, i) : index, converted;
        if (!type_is_integer(item.type))
            return call_refuse(l, call, ": indices of boxes are integers");
        if (!lower_convert(l, item, TYPE_OF(INT32), &converted))
            return false;
        out[i] = operand_ir(l, converted);
    }
    return true;
}

static bool check_tile(Lower *l, const Call *call, Operand tile, const Type *array)
{
    if (tile.type->kind != TYPE_ARRAY || tile.type->layout != LAYOUT_C)
        return call_refuse(l, call, ": tiles are shared arrays, contiguous in C order");
    if (tile.type->element->size != array->element->size)
        return call_refuse(l, call,
                           arena_format(l->arena, ": the map is of elements of %u bytes, the tile of %u",
                                        array->element->size, tile.type->element->size));
    return lower_check_shared(l, call, tile, ": tiles are in shared memory");
}

/* tma.load(to, map, index, barriers, barrier, multicast=mask); operands: to, map, barrier, mask, then the index. */
bool call_tma_load(Lower *l, const Call *call, Operand *out)
{
    const Operand *mask = call_keyword(call, "multicast");
    IrValue *operands[4 + TILE_MOST_AXES];
    Operand words, converted = operand_int_typed(l, TYPE_OF(INT32), 0);
    const Type *array;
    uint32_t count;
    if (!call_arity(l, call, mask ? 6 : 5, mask ? 6 : 5) || !map_of(l, call, call->arguments[1], &words, &array) ||
        !check_tile(l, call, call->arguments[0], array) ||
        !box_index(l, call, call->arguments[2], array, operands + 4, &count) ||
        !barrier_place(l, call, call->arguments[3], call->arguments[4], &operands[2]))
        return false;
    if (mask && !type_is_integer(mask->type))
        return call_refuse(l, call, ": multicast is a mask of ranks");
    if (mask && !lower_convert(l, *mask, TYPE_OF(INT32), &converted))
        return false;
    operands[0] = call->arguments[0].ir;
    operands[1] = words.ir;
    operands[3] = operand_ir(l, converted);
    IntrinsicId id = mask ? INTRINSIC_TMA_LOAD_MULTICAST : INTRINSIC_TMA_LOAD;
    emit_intrinsic(l, id, &type_none, 4 + count, operands);
    return *out = operand_none(), true;
}

/* tma.store(map, index, from); operands: from, map, then the index. */
bool call_tma_store(Lower *l, const Call *call, Operand *out)
{
    IrValue *operands[2 + TILE_MOST_AXES];
    Operand words;
    const Type *array;
    uint32_t count;
    if (!call_arity(l, call, 3, 3) || !map_of(l, call, call->arguments[0], &words, &array) ||
        !check_tile(l, call, call->arguments[2], array) ||
        !box_index(l, call, call->arguments[1], array, operands + 2, &count))
        return false;
    operands[0] = call->arguments[2].ir;
    operands[1] = words.ir;
    emit_intrinsic(l, call->intrinsic, &type_none, 2 + count, operands);
    return *out = operand_none(), true;
}

bool call_tma_prefetch(Lower *l, const Call *call, Operand *out)
{
    Operand words;
    const Type *array;
    if (!call_arity(l, call, 1, 1) || !map_of(l, call, call->arguments[0], &words, &array))
        return false;
    emit_intrinsic(l, call->intrinsic, &type_none, 1, &words.ir);
    return *out = operand_none(), true;
}
