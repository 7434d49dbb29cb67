/* cuda.*: warp shuffles and matches of values of any type, votes of a block. Their IR intrinsics take masks and lanes
 * as 32-bit integers, and what is shuffled or matched as bits in an integer of 32 or 64. */
#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/call/cuda/lower_device.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/lower_convert.h"

static const Type *u32(void) { return TYPE_OF(UINT32); }

/* --- values as bits ------------------------------------------------------------------------------------------------- */

/* The real type in which a value travels: small integers become int32. NULL: it does not. */
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

static bool refuse_value(Lower *l, const Call *call)
{
    return call_refuse(l, call, "; it takes numbers and booleans of at most 64 bits, and complex ones");
}

/* --- calls ---------------------------------------------------------------------------------------------------------- */

/* operands: mask, room for the value, lane, width. */
static bool shuffle_real(Lower *l, const Call *call, Operand given, IrValue **operands, Operand *out)
{
    const Type *type = travel_type(given.type);
    Operand converted;
    if (!lower_convert(l, given, type, &converted))
        return false;
    operands[1] = to_bits(l, type, operand_ir(l, converted));
    IrValue *moved = emit_intrinsic(l, call->intrinsic, bits_type(type), 4, operands);
    *out = operand_value(type, from_bits(l, type, moved));
    return given.type->kind == TYPE_BOOL ? lower_truth(l, *out, out) : lower_convert(l, *out, given.type, out);
}

/* A complex number goes as its parts. */
static bool shuffle_complex(Lower *l, const Call *call, Operand given, IrValue **operands, Operand *out)
{
    const Type *part = given.type->size == 8 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
    IrValue *value = operand_ir(l, given);
    Operand parts[2] = {operand_value(part, emit1(l, IR_REAL, part, value))};
    parts[1] = operand_value(part, emit1(l, IR_IMAG, part, value));
    for (int i = 0; i < 2; i++)
        if (!shuffle_real(l, call, parts[i], operands, &parts[i]))
            return false;
    return *out = operand_value(given.type, emit2(l, IR_COMPLEX, given.type, parts[0].ir, parts[1].ir)), true;
}

bool call_shuffle(Lower *l, const Call *call, Operand *out)
{
    Operand given[4];
    IrValue *operands[4];
    int64_t width;
    if (!call_bind(l, call, given))
        return false;
    if (!operand_const_int(given[3], &width))
        width = 32;
    if (width < 1 || width > 32 || (width & (width - 1)))
        return lower_fail(l, DIAG_CONSTANT_RANGE, "the width of a shuffle is 1, 2, 4, 8, 16 or 32");
    for (uint32_t i = 0; i < 4; i++)
        if (i != 1 && !call_shaped_argument(l, call, i, given[i], &operands[i]))
            return false;
    if (given[1].type->kind == TYPE_COMPLEX)
        return shuffle_complex(l, call, given[1], operands, out);
    if (!travel_type(given[1].type))
        return refuse_value(l, call);
    return shuffle_real(l, call, given[1], operands, out);
}

/* What is compared: the bits of the value. */
static bool match_bits(Lower *l, const Call *call, Operand given, IrValue **out)
{
    Operand converted;
    const Type *type = travel_type(given.type);
    if (given.type->kind == TYPE_COMPLEX && given.type->size == 8)
        return *out = emit1(l, IR_BITCAST, TYPE_OF(UINT64), operand_ir(l, given)), true;
    if (!type)
        return call_refuse(l, call, "; it takes numbers and booleans of at most 64 bits");
    if (!lower_convert(l, given, type, &converted))
        return false;
    return *out = to_bits(l, type, operand_ir(l, converted)), true;
}

bool call_match(Lower *l, const Call *call, Operand *out)
{
    const Type *i32 = TYPE_OF(INT32);
    Operand given[2];
    IrValue *operands[2];
    if (!call_bind(l, call, given) || !call_shaped_argument(l, call, 0, given[0], &operands[0]) ||
        !match_bits(l, call, given[1], &operands[1]))
        return false;
    IrValue *mask = emit_intrinsic(l, call->intrinsic, i32, 2, operands);
    *out = operand_value(i32, mask);
    if (call->intrinsic == INTRINSIC_CUDA_MATCH_ALL_SYNC) {
        IrValue *agree = emit2(l, IR_NE, TYPE_OF(BOOL), mask, emit_int(l, i32, 0));
        *out = lower_make_tuple(l, (Operand[]){*out, operand_value(TYPE_OF(BOOL), agree)}, 2, TUPLE_PLAIN);
    }
    return true;
}

/* syncthreads_and, _or: the IR's result is bool, Python's 0 or 1. */
bool call_block_vote(Lower *l, const Call *call, Operand *out)
{
    return lower_shaped_call(l, call, out) && lower_convert(l, *out, TYPE_OF(INT32), out);
}

/* Numbers and counts that are constants are checked; hardware takes others as they come. */
bool call_numbered_barrier(Lower *l, const Call *call, Operand *out)
{
    Operand given[2];
    int64_t number, count;
    if (!call_bind(l, call, given))
        return false;
    if (operand_const_int(given[0], &number) && (number < 1 || number > 15))
        return lower_fail(l, DIAG_CONSTANT_RANGE, "numbered barriers are 1 to 15; 0 is cuda.syncthreads()");
    if (operand_const_int(given[1], &count) && (count < 32 || count % 32 || count > 1024))
        return lower_fail(l, DIAG_CONSTANT_RANGE, "whole warps come to a barrier: the count is a multiple of 32");
    return lower_shaped_call(l, call, out);
}
