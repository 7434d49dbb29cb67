/* cuda.*: warp shuffles, votes, matches and masks, votes of a block, nanosleep, the grid's barrier. Their IR intrinsics take masks and lanes
 * as 32-bit integers, predicates as bool, and what is shuffled or matched as bits in an integer of 32 or 64. */
#include "frontend/lower.h"

static const Type *u32(void) { return TYPE_OF(UINT32); }

/* --- arguments ------------------------------------------------------------------------------------------------------ */

/* Parameters are named and all given. */
static bool take_arguments(Lower *l, const Call *call, const char *const *names, uint32_t count, Operand *out)
{
    if (!call_arity(l, call, count, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const Operand *given = call_argument(call, i, names[i]);
        if (!given)
            return call_refuse(l, call, arena_format(l->arena, "; its parameter %s is missing", names[i]));
        out[i] = *given;
    }
    return true;
}

/* A mask, a lane or a count: any integer, of which the low 32 bits count. */
static bool word_of(Lower *l, const Call *call, Operand given, IrValue **out)
{
    Operand converted;
    if (!type_is_integer(given.type) && given.type->kind != TYPE_BOOL)
        return call_refuse(l, call, "; masks and lanes are integers");
    if (!lower_convert(l, given, u32(), &converted))
        return false;
    return *out = operand_ir(l, converted), true;
}

static bool predicate_of(Lower *l, const Call *call, Operand given, IrValue **out)
{
    Operand truth;
    if (!type_is_scalar(given.type))
        return call_refuse(l, call, "");
    if (!lower_truth(l, given, &truth))
        return false;
    return *out = operand_ir(l, truth), true;
}

/* The type in which a value travels: its own, where it has 32 or 64 bits or is a float16; small integers become int32. */
static const Type *travel_type(const Type *type)
{
    if (type->kind == TYPE_BOOL || (type_is_integer(type) && type->size < 4))
        return TYPE_OF(INT32);
    return type_is_real(type) && type->size <= 8 ? type : NULL;
}

/* The integer that carries a travelling value. */
static const Type *bits_type(const Type *type)
{
    if (type->kind != TYPE_FLOAT)
        return type;
    return type->size == 8 ? TYPE_OF(UINT64) : u32();
}

static IrValue *to_bits(Lower *l, const Type *type, IrValue *value)
{
    if (type->kind != TYPE_FLOAT)
        return value;
    if (type->size == 2)
        return emit1(l, IR_CONVERT, u32(), emit1(l, IR_BITCAST, TYPE_OF(UINT16), value));
    return emit1(l, IR_BITCAST, bits_type(type), value);
}

static IrValue *from_bits(Lower *l, const Type *type, IrValue *bits)
{
    if (type->kind != TYPE_FLOAT)
        return bits;
    return emit1(l, IR_BITCAST, type, type->size == 2 ? emit1(l, IR_CONVERT, TYPE_OF(UINT16), bits) : bits);
}

static bool bits_of(Lower *l, const Call *call, Operand given, const Type **type, IrValue **out)
{
    Operand converted;
    if (!type_is_scalar(given.type) || !(*type = travel_type(given.type)))
        return call_refuse(l, call, "; it takes integers and floats of at most 64 bits");
    if (!lower_convert(l, given, *type, &converted))
        return false;
    return *out = to_bits(l, *type, operand_ir(l, converted)), true;
}

/* --- calls ---------------------------------------------------------------------------------------------------------- */

static bool call_shuffle(Lower *l, const Call *call, Operand *out)
{
    const char *last = call->intrinsic == INTRINSIC_CUDA_SHFL_SYNC       ? "src_lane"
                       : call->intrinsic == INTRINSIC_CUDA_SHFL_XOR_SYNC ? "lane_mask"
                                                                         : "delta";
    const char *names[] = {"mask", "value", last};
    const Type *type;
    Operand given[3];
    IrValue *operands[3];
    if (!take_arguments(l, call, names, 3, given) || !word_of(l, call, given[0], &operands[0]) ||
        !bits_of(l, call, given[1], &type, &operands[1]) || !word_of(l, call, given[2], &operands[2]))
        return false;
    IrValue *moved = emit_intrinsic(l, call->intrinsic, bits_type(type), 3, operands);
    return *out = operand_value(type, from_bits(l, type, moved)), true;
}

static bool call_vote(Lower *l, const Call *call, Operand *out)
{
    static const char *const names[] = {"mask", "predicate"};
    Operand given[2];
    IrValue *operands[2];
    if (!take_arguments(l, call, names, 2, given) || !word_of(l, call, given[0], &operands[0]) ||
        !predicate_of(l, call, given[1], &operands[1]))
        return false;
    const Type *type = call->intrinsic == INTRINSIC_CUDA_BALLOT_SYNC ? TYPE_OF(INT32) : TYPE_OF(BOOL);
    return *out = operand_value(type, emit_intrinsic(l, call->intrinsic, type, 2, operands)), true;
}

static bool call_match(Lower *l, const Call *call, Operand *out)
{
    static const char *const names[] = {"mask", "value"};
    const Type *type, *i32 = TYPE_OF(INT32);
    Operand given[2];
    IrValue *operands[2];
    if (!take_arguments(l, call, names, 2, given) || !word_of(l, call, given[0], &operands[0]) ||
        !bits_of(l, call, given[1], &type, &operands[1]))
        return false;
    IrValue *mask = emit_intrinsic(l, call->intrinsic, i32, 2, operands);
    *out = operand_value(i32, mask);
    if (call->intrinsic == INTRINSIC_CUDA_MATCH_ALL_SYNC) {
        IrValue *agree = emit2(l, IR_NE, TYPE_OF(BOOL), mask, emit_int(l, i32, 0));
        *out = lower_make_tuple(l, (Operand[]){*out, operand_value(TYPE_OF(BOOL), agree)}, 2, TUPLE_PLAIN);
    }
    return true;
}

/* syncthreads_count, _and, _or. */
static bool call_block_vote(Lower *l, const Call *call, Operand *out)
{
    static const char *const names[] = {"predicate"};
    bool is_count = call->intrinsic == INTRINSIC_CUDA_SYNCTHREADS_COUNT;
    const Type *type = is_count ? TYPE_OF(INT32) : TYPE_OF(BOOL);
    Operand given;
    IrValue *predicate;
    if (!take_arguments(l, call, names, 1, &given) || !predicate_of(l, call, given, &predicate))
        return false;
    *out = operand_value(type, emit_intrinsic(l, call->intrinsic, type, 1, &predicate));
    return lower_convert(l, *out, TYPE_OF(INT32), out);
}

static bool call_syncwarp(Lower *l, const Call *call, Operand *out)
{
    static const char *const names[] = {"mask"};
    bool is_whole = call->count + call->keyword_count == 0;
    Operand given = operand_int_typed(l, u32(), UINT32_MAX);
    IrValue *mask;
    if ((!is_whole && !take_arguments(l, call, names, 1, &given)) || !word_of(l, call, given, &mask))
        return false;
    emit_intrinsic(l, call->intrinsic, &type_none, 1, &mask);
    return *out = operand_none(), true;
}

static bool call_nanosleep(Lower *l, const Call *call, Operand *out)
{
    static const char *const names[] = {"ns"};
    Operand given;
    IrValue *time;
    if (!take_arguments(l, call, names, 1, &given) || !word_of(l, call, given, &time))
        return false;
    emit_intrinsic(l, call->intrinsic, &type_none, 1, &time);
    return *out = operand_none(), true;
}

static bool call_lane_mask(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 0, 0))
        return false;
    return *out = operand_value(u32(), emit_intrinsic(l, call->intrinsic, u32(), 0, NULL)), true;
}

/* The group has no value: its type names the row whose path its methods extend. */
static bool call_this_grid(Lower *l, const Call *call, Operand *out)
{
    if (!call_arity(l, call, 0, 0))
        return false;
    Constant *group = ARENA_NEW(l->arena, Constant);
    group->kind = CONSTANT_INTRINSIC;
    group->intrinsic = call->intrinsic;
    group->shown_as = "a grid group";
    return *out = operand_object(l, group), true;
}

typedef bool (*Handler)(Lower *l, const Call *call, Operand *out);

static const Handler handlers[INTRINSIC_COUNT] = {
    [INTRINSIC_CUDA_SHFL_SYNC] = call_shuffle,
    [INTRINSIC_CUDA_SHFL_UP_SYNC] = call_shuffle,
    [INTRINSIC_CUDA_SHFL_DOWN_SYNC] = call_shuffle,
    [INTRINSIC_CUDA_SHFL_XOR_SYNC] = call_shuffle,
    [INTRINSIC_CUDA_ALL_SYNC] = call_vote,
    [INTRINSIC_CUDA_ANY_SYNC] = call_vote,
    [INTRINSIC_CUDA_EQ_SYNC] = call_vote,
    [INTRINSIC_CUDA_BALLOT_SYNC] = call_vote,
    [INTRINSIC_CUDA_MATCH_ANY_SYNC] = call_match,
    [INTRINSIC_CUDA_MATCH_ALL_SYNC] = call_match,
    [INTRINSIC_CUDA_SYNCTHREADS_COUNT] = call_block_vote,
    [INTRINSIC_CUDA_SYNCTHREADS_AND] = call_block_vote,
    [INTRINSIC_CUDA_SYNCTHREADS_OR] = call_block_vote,
    [INTRINSIC_CUDA_SYNCWARP] = call_syncwarp,
    [INTRINSIC_CUDA_THIS_GRID] = call_this_grid,
    [INTRINSIC_CUDA_GRID_SYNC] = lower_device_call,
    [INTRINSIC_CUDA_NANOSLEEP] = call_nanosleep,
    [INTRINSIC_CUDA_ACTIVEMASK] = call_lane_mask,
    [INTRINSIC_CUDA_LANEMASK_LT] = call_lane_mask,
    [INTRINSIC_CUDA_LANEMASK_LE] = call_lane_mask,
    [INTRINSIC_CUDA_LANEMASK_EQ] = call_lane_mask,
    [INTRINSIC_CUDA_LANEMASK_GE] = call_lane_mask,
    [INTRINSIC_CUDA_LANEMASK_GT] = call_lane_mask,
};

bool lower_is_warp_call(IntrinsicId id) { return handlers[id] != NULL; }

bool lower_warp_call(Lower *l, const Call *call, Operand *out) { return handlers[call->intrinsic](l, call, out); }
