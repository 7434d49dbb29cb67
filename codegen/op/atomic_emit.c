/* Atomic operations on array elements. What hardware lacks is a compare-and-swap loop. Each is relaxed in itself; what it
 * orders beside itself is the matter of fences around it, which also holds for the loops. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/arithmetic.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/atomic_combine.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

static LLVMAtomicOrdering relaxed(void) { return LLVMAtomicOrderingMonotonic; }

/* LLVM's number of the scope. Threads of the CPU device are those of one process: no scope is smaller there. */
static unsigned scope_of(Emitter *emitter, const IrValue *value)
{
    static const char *const names[IR_SCOPE_COUNT] = {
        [IR_SCOPE_DEVICE] = "device", [IR_SCOPE_BLOCK] = "block", [IR_SCOPE_SYSTEM] = ""};
    const char *name = emitter->target->kind == TARGET_NVPTX ? names[value->scope] : "";
    return LLVMGetSyncScopeID(emitter->context, name, strlen(name));
}

static void fence(Emitter *emitter, const IrValue *value, LLVMAtomicOrdering ordering)
{
    LLVMBuildFenceSyncScope(emitter->builder, ordering, scope_of(emitter, value), "");
}

static void fence_before(Emitter *emitter, const IrValue *value)
{
    if (value->order == IR_ORDER_SEQ_CST)
        fence(emitter, value, LLVMAtomicOrderingSequentiallyConsistent);
    else if (value->order >= IR_ORDER_RELEASE)
        fence(emitter, value, LLVMAtomicOrderingRelease);
}

static void fence_after(Emitter *emitter, const IrValue *value)
{
    if (value->order == IR_ORDER_ACQUIRE || value->order >= IR_ORDER_ACQ_REL)
        fence(emitter, value, LLVMAtomicOrderingAcquire);
}

/* What LLVM would make of an addition that the target lacks calls functions for bfloat16 that may be missing. Where the text
 * is LLVM 7's there is what PTX has. */
static bool has_operation(const Emitter *emitter, LLVMAtomicRMWBinOp operation, const Type *type)
{
    bool is_addition = operation == LLVMAtomicRMWBinOpFAdd;
    bool wraps = operation == LLVMAtomicRMWBinOpUIncWrap || operation == LLVMAtomicRMWBinOpUDecWrap;
    if (is_addition && type->scalar == SCALAR_BFLOAT16)
        return has_bfloat_instructions(emitter) && emitter->target->gpu->sm >= 90;
    if (!emitter->for_llvm7 || (is_addition && type->scalar == SCALAR_FLOAT16))
        return true;
    return type->size == 4 || (type->size == 8 && !wraps);
}

/* The threads of a block of the CPU device run on one processor and do not interrupt each other: in memory of the block's own
 * plain loads and stores will do. They are volatile, so that LLVM does not take them for independent of other threads'. */
static bool is_alone(Emitter *emitter, const IrValue *value)
{
    const IrValue *array = ir_memory_of(value->operands[0]);
    return emitter->target->kind == TARGET_HOST && (array->op == IR_SHARED || array->op == IR_LOCAL);
}

static LLVMValueRef load_alone(Emitter *emitter, LLVMTypeRef type, LLVMValueRef address, uint32_t alignment)
{
    LLVMValueRef old = LLVMBuildLoad2(emitter->builder, type, address, "");
    LLVMSetAlignment(old, alignment);
    LLVMSetVolatile(old, true);
    return old;
}

static void store_alone(Emitter *emitter, LLVMValueRef value, LLVMValueRef address, uint32_t alignment)
{
    LLVMValueRef store = LLVMBuildStore(emitter->builder, value, address);
    LLVMSetAlignment(store, alignment);
    LLVMSetVolatile(store, true);
}

static uint32_t size_of_element(const IrValue *value) { return value->operands[0]->type->element->size; }

/* Puts the new bits where the condition holds. */
static void replace_alone(Emitter *emitter, const IrValue *value, LLVMValueRef condition, LLVMValueRef address,
                          LLVMValueRef desired, LLVMValueRef old)
{
    LLVMValueRef chosen = LLVMBuildSelect(emitter->builder, condition, desired, old, "");
    store_alone(emitter, chosen, address, size_of_element(value));
}

/* A locked instruction costs the CPU device more than a load and a branch, and takes the line from other cores. Where the
 * operation would leave what is there, which these often do, the load is all of it: nobody can tell when nothing is ordered
 * by it. */
static bool is_worth_test(const Emitter *emitter, const IrValue *value)
{
    if (emitter->target->kind != TARGET_HOST || value->order != IR_ORDER_RELAXED)
        return false;
    switch (value->atomic) {
    case IR_ATOMIC_MAX:
    case IR_ATOMIC_MIN:
    case IR_ATOMIC_NANMAX:
    case IR_ATOMIC_NANMIN:
    case IR_ATOMIC_AND:
    case IR_ATOMIC_OR:
    case IR_ATOMIC_CAS: return true;
    default: return false;
    }
}

static LLVMValueRef load_relaxed(Emitter *emitter, const IrValue *value, LLVMTypeRef bits, LLVMValueRef address)
{
    LLVMValueRef old = LLVMBuildLoad2(emitter->builder, bits, address, "");
    LLVMSetOrdering(old, relaxed());
    LLVMSetAtomicSyncScopeID(old, scope_of(emitter, value));
    LLVMSetAlignment(old, size_of_element(value));
    return old;
}

static LLVMValueRef read_modify_write_at_once(Emitter *emitter, const IrValue *value, LLVMAtomicRMWBinOp operation,
                                              LLVMValueRef address, LLVMValueRef operand)
{
    return LLVMBuildAtomicRMWSyncScope(emitter->builder, operation, address, operand, relaxed(),
                                       scope_of(emitter, value));
}

/* Where the condition holds of what is there, control goes on in a block that changes it, to be left by changed(). */
typedef struct Change {
    LLVMValueRef there;
    LLVMBasicBlockRef before, done;
} Change;

static Change change_where(Emitter *emitter, LLVMValueRef condition, LLVMValueRef there)
{
    Change change = {there, LLVMGetInsertBlock(emitter->builder), NULL};
    LLVMBasicBlockRef changes = new_block(emitter);
    change.done = new_block(emitter);
    LLVMBuildCondBr(emitter->builder, condition, changes, change.done);
    LLVMPositionBuilderAtEnd(emitter->builder, changes);
    return change;
}

/* The old value, which the operation saw. */
static LLVMValueRef changed(Emitter *emitter, const Change *change, LLVMValueRef seen)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMBuildBr(emitter->builder, change->done);
    LLVMPositionBuilderAtEnd(emitter->builder, change->done);
    LLVMValueRef old = LLVMBuildPhi(emitter->builder, LLVMTypeOf(seen), "");
    LLVMAddIncoming(old, (LLVMValueRef[]){change->there, seen}, (LLVMBasicBlockRef[]){change->before, here}, 2);
    return old;
}

static LLVMValueRef read_modify_write_where_needed(Emitter *emitter, const IrValue *value, LLVMAtomicRMWBinOp operation,
                                                   LLVMValueRef address, LLVMValueRef operand)
{
    LLVMValueRef there = load_relaxed(emitter, value, LLVMTypeOf(operand), address);
    LLVMValueRef wanted = combine_atomic(emitter, operation, there, operand);
    Change change = change_where(emitter, LLVMBuildICmp(emitter->builder, LLVMIntNE, wanted, there, ""), there);
    return changed(emitter, &change, read_modify_write_at_once(emitter, value, operation, address, operand));
}

static LLVMValueRef read_modify_write(Emitter *emitter, const IrValue *value, LLVMAtomicRMWBinOp operation,
                                      LLVMValueRef address, LLVMValueRef operand)
{
    if (is_alone(emitter, value)) {
        LLVMValueRef old = load_alone(emitter, LLVMTypeOf(operand), address, size_of_element(value));
        store_alone(emitter, combine_atomic(emitter, operation, old, operand), address, size_of_element(value));
        return old;
    }
    emitter->takes_turns |= operation == LLVMAtomicRMWBinOpFAdd;
    if (!has_operation(emitter, operation, value->operands[0]->type->element))
        return read_modify_write_by_exchange(emitter, operation, address, operand, scope_of(emitter, value));
    if (emitter->lowering->scoped_read_modify_write && value->scope != IR_SCOPE_DEVICE && !emitter->for_llvm7)
        return emitter->lowering->scoped_read_modify_write(emitter, value->scope == IR_SCOPE_SYSTEM, operation, address,
                                                           operand);
    return (is_worth_test(emitter, value) ? read_modify_write_where_needed
                                          : read_modify_write_at_once)(emitter, value, operation, address, operand);
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

/* The old bits, and whether they are `expected` and have been exchanged. */
static LLVMValueRef compare_exchange(Emitter *emitter, const IrValue *value, LLVMValueRef address,
                                     LLVMValueRef expected, LLVMValueRef desired)
{
    return LLVMBuildAtomicCmpXchgSyncScope(emitter->builder, address, expected, desired, relaxed(), relaxed(),
                                           scope_of(emitter, value));
}

static bool is_nan_ignoring(IrAtomic kind) { return kind == IR_ATOMIC_NANMAX || kind == IR_ATOMIC_NANMIN; }

/* Whether `value` replaces `old`: max and min keep a NaN of the array and drop one that comes; nanmax and nanmin drop
 * both. */
static LLVMValueRef replaces(Emitter *emitter, IrAtomic kind, LLVMValueRef old, LLVMValueRef value)
{
    bool is_max = kind == IR_ATOMIC_MAX || kind == IR_ATOMIC_NANMAX;
    if (LLVMTypeOf(old) == part_type(emitter, TYPE_OF(BFLOAT16))) {
        old = float_cast(emitter, old, emitter->f32);
        value = float_cast(emitter, value, emitter->f32);
    }
    if (!is_nan_ignoring(kind))
        return LLVMBuildFCmp(emitter->builder, is_max ? LLVMRealOLT : LLVMRealOGT, old, value, "");
    LLVMValueRef better = LLVMBuildFCmp(emitter->builder, is_max ? LLVMRealULT : LLVMRealUGT, old, value, "");
    return LLVMBuildAnd(emitter->builder, better, LLVMBuildFCmp(emitter->builder, LLVMRealORD, value, value, ""), "");
}

/* Blocks: check (does the value replace what is there?), attempt (try to exchange), done. */
static LLVMValueRef float_extreme(Emitter *emitter, const IrValue *atomic, const Type *type, LLVMValueRef address,
                                  LLVMValueRef value)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMTypeRef bits = bits_type(emitter, type);
    if (is_alone(emitter, atomic)) {
        LLVMValueRef there = load_alone(emitter, bits, address, type->size);
        LLVMValueRef is_better = replaces(emitter, atomic->atomic, from_bits(emitter, type, there), value);
        replace_alone(emitter, atomic, is_better, address, to_bits(emitter, type, value), there);
        return from_bits(emitter, type, there);
    }
    LLVMValueRef first = load_relaxed(emitter, atomic, bits, address);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), check = new_block(emitter), attempt = new_block(emitter),
                      done = new_block(emitter);
    LLVMBuildBr(builder, check);
    LLVMPositionBuilderAtEnd(builder, check);
    LLVMValueRef old = LLVMBuildPhi(builder, bits, "");
    LLVMValueRef better = replaces(emitter, atomic->atomic, from_bits(emitter, type, old), value);
    LLVMBuildCondBr(builder, better, attempt, done);
    LLVMPositionBuilderAtEnd(builder, attempt);
    LLVMValueRef pair = compare_exchange(emitter, atomic, address, old, to_bits(emitter, type, value));
    LLVMValueRef seen = LLVMBuildExtractValue(builder, pair, 0, "");
    LLVMBuildCondBr(builder, LLVMBuildExtractValue(builder, pair, 1, ""), done, check);
    LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, attempt}, 2);
    LLVMPositionBuilderAtEnd(builder, done);
    return from_bits(emitter, type, old);
}

static LLVMValueRef extreme(Emitter *emitter, const IrValue *atomic, const Type *type, LLVMValueRef address,
                            LLVMValueRef value)
{
    bool is_max = atomic->atomic == IR_ATOMIC_MAX || atomic->atomic == IR_ATOMIC_NANMAX;
    if (type->kind == TYPE_FLOAT)
        return float_extreme(emitter, atomic, type, address, value);
    LLVMAtomicRMWBinOp of_signed = is_max ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpMin;
    LLVMAtomicRMWBinOp of_unsigned = is_max ? LLVMAtomicRMWBinOpUMax : LLVMAtomicRMWBinOpUMin;
    return read_modify_write(emitter, atomic, type->kind == TYPE_INT ? of_signed : of_unsigned, address, value);
}

/* Subtracting is adding the negative: GPUs have no other. */
static LLVMValueRef add(Emitter *emitter, const IrValue *atomic, const Type *type, LLVMValueRef address,
                        LLVMValueRef value)
{
    bool subtract = atomic->atomic == IR_ATOMIC_SUB;
    if (type->kind == TYPE_FLOAT)
        return read_modify_write(emitter, atomic, LLVMAtomicRMWBinOpFAdd, address,
                                 subtract ? float_negate(emitter, type, value) : value);
    return read_modify_write(emitter, atomic, LLVMAtomicRMWBinOpAdd, address,
                             subtract ? LLVMBuildNeg(emitter->builder, value, "") : value);
}

static LLVMValueRef exchange(Emitter *emitter, const IrValue *atomic, const Type *type, LLVMValueRef address,
                             LLVMValueRef value)
{
    return from_bits(
        emitter, type,
        read_modify_write(emitter, atomic, LLVMAtomicRMWBinOpXchg, address, to_bits(emitter, type, value)));
}

/* The old bits. */
static LLVMValueRef swap_where_same(Emitter *emitter, const IrValue *atomic, LLVMValueRef address,
                                    LLVMValueRef expected, LLVMValueRef desired)
{
    LLVMBuilderRef builder = emitter->builder;
    Change change;
    bool is_tested = is_worth_test(emitter, atomic);
    if (is_tested) {
        LLVMValueRef there = load_relaxed(emitter, atomic, LLVMTypeOf(expected), address);
        change = change_where(emitter, LLVMBuildICmp(builder, LLVMIntEQ, there, expected, ""), there);
    }
    LLVMValueRef pair = compare_exchange(emitter, atomic, address, expected, desired);
    LLVMValueRef seen = LLVMBuildExtractValue(builder, pair, 0, "");
    return is_tested ? changed(emitter, &change, seen) : seen;
}

static LLVMValueRef compare_and_swap(Emitter *emitter, const IrValue *atomic, const Type *type, LLVMValueRef address,
                                     LLVMValueRef desired)
{
    LLVMValueRef expected = to_bits(emitter, type, operand_scalar(emitter, atomic, atomic->operand_count - 2));
    desired = to_bits(emitter, type, desired);
    if (is_alone(emitter, atomic)) {
        LLVMValueRef old = load_alone(emitter, LLVMTypeOf(desired), address, type->size);
        LLVMValueRef is_same = LLVMBuildICmp(emitter->builder, LLVMIntEQ, old, expected, "");
        replace_alone(emitter, atomic, is_same, address, desired, old);
        return from_bits(emitter, type, old);
    }
    return from_bits(emitter, type, swap_where_same(emitter, atomic, address, expected, desired));
}

static LLVMValueRef emit_atomic(Emitter *emitter, const IrValue *value, LLVMValueRef address, LLVMValueRef operand)
{
    static const LLVMAtomicRMWBinOp operations[IR_ATOMIC_COUNT] = {
        [IR_ATOMIC_AND] = LLVMAtomicRMWBinOpAnd,      [IR_ATOMIC_OR] = LLVMAtomicRMWBinOpOr,
        [IR_ATOMIC_XOR] = LLVMAtomicRMWBinOpXor,      [IR_ATOMIC_INC] = LLVMAtomicRMWBinOpUIncWrap,
        [IR_ATOMIC_DEC] = LLVMAtomicRMWBinOpUDecWrap,
    };
    const Type *type = value->operands[0]->type->element;
    switch (value->atomic) {
    case IR_ATOMIC_ADD:
    case IR_ATOMIC_SUB: return add(emitter, value, type, address, operand);
    case IR_ATOMIC_MAX:
    case IR_ATOMIC_MIN:
    case IR_ATOMIC_NANMAX:
    case IR_ATOMIC_NANMIN: return extreme(emitter, value, type, address, operand);
    case IR_ATOMIC_EXCH: return exchange(emitter, value, type, address, operand);
    case IR_ATOMIC_CAS: return compare_and_swap(emitter, value, type, address, operand);
    default: return read_modify_write(emitter, value, operations[value->atomic], address, operand);
    }
}

/* What is marked as private: plain in the worker's copy where that has the place, else like any other. The old value is
 * not used. */
static void emit_private_atomic(Emitter *emitter, const IrValue *value, LLVMValueRef address, LLVMValueRef operand)
{
    LLVMBuilderRef builder = emitter->builder;
    const Type *type = value->operands[0]->type->element;
    LLVMAtomicRMWBinOp operation = value->atomic == IR_ATOMIC_OR    ? LLVMAtomicRMWBinOpOr
                                   : value->atomic == IR_ATOMIC_XOR ? LLVMAtomicRMWBinOpXor
                                                                    : LLVMAtomicRMWBinOpAdd;
    LLVMValueRef size, copy = emitter->lowering->private_copy(emitter, &size);
    LLVMValueRef addend = value->atomic == IR_ATOMIC_SUB ? LLVMBuildNeg(builder, operand, "") : operand;
    LLVMBasicBlockRef is_own = new_block(emitter), is_common = new_block(emitter), done = new_block(emitter);
    LLVMValueRef first = LLVMBuildPtrToInt(builder, operand_parts(emitter, value, 0)[0], emitter->i64, "");
    LLVMValueRef offset = LLVMBuildSub(builder, LLVMBuildPtrToInt(builder, address, emitter->i64, ""), first, "");
    LLVMValueRef is_inside = LLVMBuildICmp(builder, LLVMIntULT, offset, size, "");
    LLVMBuildCondBr(builder, is_inside, is_own, is_common);
    LLVMPositionBuilderAtEnd(builder, is_own);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(builder, emitter->i8, copy, &offset, 1, "");
    LLVMValueRef old = load_alone(emitter, LLVMTypeOf(operand), place, type->size);
    store_alone(emitter, combine_atomic(emitter, operation, old, addend), place, type->size);
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, is_common);
    emit_atomic(emitter, value, address, operand);
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, done);
}

void emit_op_ATOMIC(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef address = element_address(emitter, value, 1);
    LLVMValueRef operand = operand_scalar(emitter, value, value->operand_count - 1);
    if (value->hint == IR_PRIVATE && emitter->lowering->private_copy) {
        emit_private_atomic(emitter, value, address, operand);
        out[0] = LLVMGetPoison(LLVMTypeOf(operand));
        return;
    }
    fence_before(emitter, value);
    out[0] = emit_atomic(emitter, value, address, operand);
    fence_after(emitter, value);
}
