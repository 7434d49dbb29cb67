/* Atomic operations on array elements: relaxed, for the whole device. What hardware lacks is a compare-and-swap loop. */
#include "codegen/emit.h"

static LLVMAtomicOrdering relaxed(void) { return LLVMAtomicOrderingMonotonic; }

static unsigned device_scope(Emitter *emitter)
{
    return emitter->target->kind == TARGET_NVPTX ? LLVMGetSyncScopeID(emitter->context, "device", 6)
                                                 : LLVMGetSyncScopeID(emitter->context, "", 0);
}

static LLVMValueRef read_modify_write(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMValueRef address,
                                      LLVMValueRef operand)
{
    return LLVMBuildAtomicRMWSyncScope(emitter->builder, operation, address, operand, relaxed(), device_scope(emitter));
}

static LLVMTypeRef bits_type(Emitter *emitter, const Type *type)
{
    return LLVMIntTypeInContext(emitter->context, type->size * 8);
}

static LLVMValueRef to_bits(Emitter *emitter, const Type *type, LLVMValueRef value)
{
    if (type->kind == TYPE_BOOL)
        return LLVMBuildZExt(emitter->builder, value, emitter->i8, "");
    return LLVMBuildBitCast(emitter->builder, value, bits_type(emitter, type), "");
}

static LLVMValueRef from_bits(Emitter *emitter, const Type *type, LLVMValueRef bits)
{
    if (type->kind == TYPE_BOOL)
        return LLVMBuildTrunc(emitter->builder, bits, emitter->i1, "");
    return LLVMBuildBitCast(emitter->builder, bits, part_type(emitter, type), "");
}

/* The old bits; the exchange happened where they are `expected`. */
static LLVMValueRef compare_exchange(Emitter *emitter, LLVMValueRef address, LLVMValueRef expected,
                                     LLVMValueRef desired)
{
    return LLVMBuildAtomicCmpXchgSyncScope(emitter->builder, address, expected, desired, relaxed(), relaxed(),
                                           device_scope(emitter));
}

static bool is_nan_ignoring(IrAtomic kind) { return kind == IR_ATOMIC_NANMAX || kind == IR_ATOMIC_NANMIN; }

/* Whether `value` replaces `old`: max and min keep a NaN of the array and drop one that comes; nanmax and nanmin drop
 * both. */
static LLVMValueRef replaces(Emitter *emitter, IrAtomic kind, LLVMValueRef old, LLVMValueRef value)
{
    bool is_max = kind == IR_ATOMIC_MAX || kind == IR_ATOMIC_NANMAX;
    if (!is_nan_ignoring(kind))
        return LLVMBuildFCmp(emitter->builder, is_max ? LLVMRealOLT : LLVMRealOGT, old, value, "");
    LLVMValueRef better = LLVMBuildFCmp(emitter->builder, is_max ? LLVMRealULT : LLVMRealUGT, old, value, "");
    return LLVMBuildAnd(emitter->builder, better, LLVMBuildFCmp(emitter->builder, LLVMRealORD, value, value, ""), "");
}

/* Blocks: check (does the value replace what is there?), attempt (try to exchange), done. */
static LLVMValueRef float_extreme(Emitter *emitter, IrAtomic kind, const Type *type, LLVMValueRef address,
                                  LLVMValueRef value)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef bits = bits_type(emitter, type);
    LLVMValueRef first = LLVMBuildLoad2(builder, bits, address, "");
    LLVMSetOrdering(first, relaxed());
    LLVMSetAtomicSyncScopeID(first, device_scope(emitter));
    LLVMSetAlignment(first, type->size);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), check = new_block(emitter), attempt = new_block(emitter),
                      done = new_block(emitter);
    LLVMBuildBr(builder, check);
    LLVMPositionBuilderAtEnd(builder, check);
    LLVMValueRef old = LLVMBuildPhi(builder, bits, "");
    LLVMValueRef better = replaces(emitter, kind, from_bits(emitter, type, old), value);
    LLVMBuildCondBr(builder, better, attempt, done);
    LLVMPositionBuilderAtEnd(builder, attempt);
    LLVMValueRef pair = compare_exchange(emitter, address, old, to_bits(emitter, type, value));
    LLVMValueRef seen = LLVMBuildExtractValue(builder, pair, 0, "");
    LLVMBuildCondBr(builder, LLVMBuildExtractValue(builder, pair, 1, ""), done, check);
    LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, attempt}, 2);
    LLVMPositionBuilderAtEnd(builder, done);
    return from_bits(emitter, type, old);
}

static LLVMValueRef extreme(Emitter *emitter, IrAtomic kind, const Type *type, LLVMValueRef address, LLVMValueRef value)
{
    bool is_max = kind == IR_ATOMIC_MAX || kind == IR_ATOMIC_NANMAX;
    if (type->kind == TYPE_FLOAT)
        return float_extreme(emitter, kind, type, address, value);
    LLVMAtomicRMWBinOp of_signed = is_max ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpMin;
    LLVMAtomicRMWBinOp of_unsigned = is_max ? LLVMAtomicRMWBinOpUMax : LLVMAtomicRMWBinOpUMin;
    return read_modify_write(emitter, type->kind == TYPE_INT ? of_signed : of_unsigned, address, value);
}

/* Subtracting is adding the negative: GPUs have no other. */
static LLVMValueRef add(Emitter *emitter, const Type *type, LLVMValueRef address, LLVMValueRef value, bool subtract)
{
    if (type->kind == TYPE_FLOAT)
        return read_modify_write(emitter, LLVMAtomicRMWBinOpFAdd, address,
                                 subtract ? LLVMBuildFNeg(emitter->builder, value, "") : value);
    return read_modify_write(emitter, LLVMAtomicRMWBinOpAdd, address,
                             subtract ? LLVMBuildNeg(emitter->builder, value, "") : value);
}

static LLVMValueRef exchange(Emitter *emitter, const Type *type, LLVMValueRef address, LLVMValueRef value)
{
    LLVMValueRef old = read_modify_write(emitter, LLVMAtomicRMWBinOpXchg, address, to_bits(emitter, type, value));
    return from_bits(emitter, type, old);
}

static LLVMValueRef compare_and_swap(Emitter *emitter, const Type *type, LLVMValueRef address, LLVMValueRef expected,
                                     LLVMValueRef desired)
{
    LLVMValueRef pair =
        compare_exchange(emitter, address, to_bits(emitter, type, expected), to_bits(emitter, type, desired));
    return from_bits(emitter, type, LLVMBuildExtractValue(emitter->builder, pair, 0, ""));
}

void emit_op_ATOMIC(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const Type *type = value->operands[0]->type->element;
    uint32_t last = value->operand_count - 1;
    LLVMValueRef address = element_address(emitter, value, 1), operand = operand_scalar(emitter, value, last);
    switch (value->atomic) {
    case IR_ATOMIC_ADD: out[0] = add(emitter, type, address, operand, false); return;
    case IR_ATOMIC_SUB: out[0] = add(emitter, type, address, operand, true); return;
    case IR_ATOMIC_MAX:
    case IR_ATOMIC_MIN:
    case IR_ATOMIC_NANMAX:
    case IR_ATOMIC_NANMIN: out[0] = extreme(emitter, value->atomic, type, address, operand); return;
    case IR_ATOMIC_AND: out[0] = read_modify_write(emitter, LLVMAtomicRMWBinOpAnd, address, operand); return;
    case IR_ATOMIC_OR: out[0] = read_modify_write(emitter, LLVMAtomicRMWBinOpOr, address, operand); return;
    case IR_ATOMIC_XOR: out[0] = read_modify_write(emitter, LLVMAtomicRMWBinOpXor, address, operand); return;
    case IR_ATOMIC_EXCH: out[0] = exchange(emitter, type, address, operand); return;
    case IR_ATOMIC_INC: out[0] = read_modify_write(emitter, LLVMAtomicRMWBinOpUIncWrap, address, operand); return;
    case IR_ATOMIC_DEC: out[0] = read_modify_write(emitter, LLVMAtomicRMWBinOpUDecWrap, address, operand); return;
    case IR_ATOMIC_CAS:
        out[0] = compare_and_swap(emitter, type, address, operand_scalar(emitter, value, last - 1), operand);
        return;
    case IR_ATOMIC_COUNT: return;
    }
}
