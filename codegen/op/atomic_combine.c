/* What atomic operations make of the old value, and the loop of compare-and-exchange for those that the device has not. */
#include "codegen/emit_tools.h"
#include "codegen/op/atomic_combine.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

static LLVMValueRef call_extreme(Emitter *emitter, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    return call_llvm(emitter, name, LLVMTypeOf(a), 2, (LLVMValueRef[]){a, b});
}

/* old >= limit ? 0 : old + 1, or old == 0 || old > limit ? limit : old - 1 */
static LLVMValueRef count(Emitter *emitter, bool up, LLVMValueRef old, LLVMValueRef limit)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(old);
    LLVMValueRef zero = LLVMConstNull(type), one = LLVMConstInt(type, 1, false);
    if (up) {
        LLVMValueRef ends = LLVMBuildICmp(builder, LLVMIntUGE, old, limit, "");
        return LLVMBuildSelect(builder, ends, zero, LLVMBuildAdd(builder, old, one, ""), "");
    }
    LLVMValueRef wraps = LLVMBuildICmp(builder, LLVMIntEQ, old, zero, "");
    wraps = LLVMBuildOr(builder, wraps, LLVMBuildICmp(builder, LLVMIntUGT, old, limit, ""), "");
    return LLVMBuildSelect(builder, wraps, limit, LLVMBuildSub(builder, old, one, ""), "");
}

static LLVMValueRef add_floats(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a), wide = type;
    if (type == part_type(emitter, TYPE_OF(BFLOAT16)))
        wide = emitter->f32;
    LLVMValueRef x = float_cast(emitter, a, wide), y = float_cast(emitter, b, wide);
    LLVMValueRef sum = LLVMBuildFAdd(emitter->builder, x, y, "");
    return float_cast(emitter, sum, type);
}

LLVMValueRef combine_atomic(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMValueRef old, LLVMValueRef operand)
{
    LLVMBuilderRef builder = emitter->builder;
    switch (operation) {
    case LLVMAtomicRMWBinOpAdd: return LLVMBuildAdd(builder, old, operand, "");
    case LLVMAtomicRMWBinOpFAdd: return add_floats(emitter, old, operand);
    case LLVMAtomicRMWBinOpAnd: return LLVMBuildAnd(builder, old, operand, "");
    case LLVMAtomicRMWBinOpOr: return LLVMBuildOr(builder, old, operand, "");
    case LLVMAtomicRMWBinOpXor: return LLVMBuildXor(builder, old, operand, "");
    case LLVMAtomicRMWBinOpMax: return call_extreme(emitter, "llvm.smax", old, operand);
    case LLVMAtomicRMWBinOpMin: return call_extreme(emitter, "llvm.smin", old, operand);
    case LLVMAtomicRMWBinOpUMax: return call_extreme(emitter, "llvm.umax", old, operand);
    case LLVMAtomicRMWBinOpUMin: return call_extreme(emitter, "llvm.umin", old, operand);
    case LLVMAtomicRMWBinOpUIncWrap: return count(emitter, true, old, operand);
    case LLVMAtomicRMWBinOpUDecWrap: return count(emitter, false, old, operand);
    default: return operand;
    }
}

LLVMValueRef read_modify_write_by_exchange(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMValueRef address,
                                           LLVMValueRef operand, unsigned scope)
{
    LLVMBuilderRef builder = emitter->builder;
    unsigned bits = (unsigned)LLVMABISizeOfType(emitter->data_layout, LLVMTypeOf(operand)) * 8;
    LLVMTypeRef type = LLVMTypeOf(operand), word = LLVMIntTypeInContext(emitter->context, bits);
    LLVMValueRef first = LLVMBuildLoad2(builder, word, address, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAtomicSyncScopeID(first, scope);
    LLVMSetAlignment(first, bits / 8);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), attempt = new_block(emitter), done = new_block(emitter);
    LLVMBuildBr(builder, attempt);
    LLVMPositionBuilderAtEnd(builder, attempt);
    LLVMValueRef old = LLVMBuildPhi(builder, word, "");
    LLVMValueRef value = combine_atomic(emitter, operation, LLVMBuildBitCast(builder, old, type, ""), operand);
    LLVMValueRef pair =
        LLVMBuildAtomicCmpXchgSyncScope(builder, address, old, LLVMBuildBitCast(builder, value, word, ""),
                                        LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, scope);
    LLVMValueRef seen = LLVMBuildExtractValue(builder, pair, 0, "");
    LLVMBuildCondBr(builder, LLVMBuildExtractValue(builder, pair, 1, ""), done, attempt);
    LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, attempt}, 2);
    LLVMPositionBuilderAtEnd(builder, done);
    return LLVMBuildBitCast(builder, old, type, "");
}
