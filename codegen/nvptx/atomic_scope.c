/* Read-modify-write operations of a GPU for a scope that is not the device: LLVM keeps the scope of compare-and-exchange only.
 * Where NVPTX has an intrinsic with the scope it is that; else, for the system, a loop of compare-and-exchange; and a block
 * is part of the device. */
#include <string.h>

#include "codegen/emit.h"

/* The word for the operation in the names of intrinsics; NULL: there is none for this type. */
static const char *intrinsic_word(LLVMAtomicRMWBinOp operation, unsigned bits)
{
    switch (operation) {
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpFAdd: return bits >= 32 ? "add" : NULL;
    case LLVMAtomicRMWBinOpAnd: return bits >= 32 ? "and" : NULL;
    case LLVMAtomicRMWBinOpOr: return bits >= 32 ? "or" : NULL;
    case LLVMAtomicRMWBinOpXor: return bits >= 32 ? "xor" : NULL;
    case LLVMAtomicRMWBinOpXchg: return bits >= 32 ? "exch" : NULL;
    case LLVMAtomicRMWBinOpMax: return bits >= 32 ? "max" : NULL;
    case LLVMAtomicRMWBinOpMin: return bits >= 32 ? "min" : NULL;
    case LLVMAtomicRMWBinOpUIncWrap: return bits == 32 ? "inc" : NULL;
    case LLVMAtomicRMWBinOpUDecWrap: return bits == 32 ? "dec" : NULL;
    default: return NULL;
    }
}

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
    if (up)
        return LLVMBuildSelect(builder, LLVMBuildICmp(builder, LLVMIntUGE, old, limit, ""), zero,
                               LLVMBuildAdd(builder, old, one, ""), "");
    LLVMValueRef wraps = LLVMBuildOr(builder, LLVMBuildICmp(builder, LLVMIntEQ, old, zero, ""),
                                     LLVMBuildICmp(builder, LLVMIntUGT, old, limit, ""), "");
    return LLVMBuildSelect(builder, wraps, limit, LLVMBuildSub(builder, old, one, ""), "");
}

static LLVMValueRef add_floats(Emitter *emitter, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a), wide = type;
    if (type == part_type(emitter, TYPE_OF(BFLOAT16)))
        wide = emitter->f32;
    LLVMValueRef sum = LLVMBuildFAdd(emitter->builder, float_cast(emitter, a, wide), float_cast(emitter, b, wide), "");
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

LLVMValueRef scoped_read_modify_write(Emitter *emitter, bool is_system, LLVMAtomicRMWBinOp operation,
                                      LLVMValueRef address, LLVMValueRef operand)
{
    LLVMTypeRef type = LLVMTypeOf(operand);
    bool is_float = LLVMGetTypeKind(type) != LLVMIntegerTypeKind;
    unsigned bits = is_float ? (unsigned)LLVMABISizeOfType(emitter->data_layout, type) * 8 : LLVMGetIntTypeWidth(type);
    const char *word = intrinsic_word(operation, bits);
    if (word) {
        const char *name = arena_format(emitter->arena, "llvm.nvvm.atomic.%s.gen.%c.%s", word, is_float ? 'f' : 'i',
                                        is_system ? "sys" : "cta");
        LLVMTypeRef overloads[2] = {type, emitter->pointer_type};
        return call_llvm_overloaded(emitter, name, overloads, 2, 2, (LLVMValueRef[]){address, operand});
    }
    unsigned scope = LLVMGetSyncScopeID(emitter->context, is_system ? "" : "block", is_system ? 0 : strlen("block"));
    if (is_system)
        return read_modify_write_by_exchange(emitter, operation, address, operand, scope);
    return LLVMBuildAtomicRMWSyncScope(emitter->builder, operation, address, operand, LLVMAtomicOrderingMonotonic,
                                       scope);
}
