/* Atomics on arrays of the thread become plain reads and writes: GPUs have none on local memory, and no other thread sees
 * it. After LLVM's passes, when functions are inlined and it shows which memory an address is of. */
#include "codegen/emit_tools.h"
#include "codegen/nvptx/memory/local_atomic.h"
#include "codegen/op/atomic_combine.h"

static bool is_of_thread(LLVMValueRef address)
{
    for (;;) {
        if (LLVMIsAAllocaInst(address))
            return true;
        if (!LLVMIsAGetElementPtrInst(address) && !LLVMIsAAddrSpaceCastInst(address))
            return false;
        address = LLVMGetOperand(address, 0);
    }
}

static LLVMValueRef load_aligned(Emitter *emitter, LLVMValueRef atomic, LLVMTypeRef type)
{
    LLVMValueRef value = LLVMBuildLoad2(emitter->builder, type, LLVMGetOperand(atomic, 0), "");
    LLVMSetAlignment(value, LLVMGetAlignment(atomic));
    return value;
}

static void store_aligned(Emitter *emitter, LLVMValueRef atomic, LLVMValueRef value)
{
    LLVMSetAlignment(LLVMBuildStore(emitter->builder, value, LLVMGetOperand(atomic, 0)), LLVMGetAlignment(atomic));
}

static LLVMValueRef plain_update(Emitter *emitter, LLVMValueRef atomic)
{
    LLVMValueRef old = load_aligned(emitter, atomic, LLVMTypeOf(atomic));
    store_aligned(emitter, atomic,
                  combine_atomic(emitter, LLVMGetAtomicRMWBinOp(atomic), old, LLVMGetOperand(atomic, 1)));
    return old;
}

static LLVMValueRef plain_exchange(Emitter *emitter, LLVMValueRef atomic)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef expected = LLVMGetOperand(atomic, 1), desired = LLVMGetOperand(atomic, 2);
    LLVMValueRef old = load_aligned(emitter, atomic, LLVMTypeOf(expected));
    LLVMValueRef is_same = LLVMBuildICmp(builder, LLVMIntEQ, old, expected, "");
    store_aligned(emitter, atomic, LLVMBuildSelect(builder, is_same, desired, old, ""));
    LLVMValueRef pair = LLVMBuildInsertValue(builder, LLVMGetPoison(LLVMTypeOf(atomic)), old, 0, "");
    return LLVMBuildInsertValue(builder, pair, is_same, 1, "");
}

static void make_plain(Emitter *emitter, LLVMValueRef instruction, void *user)
{
    (void)user;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    bool is_load = opcode == LLVMLoad && LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
    if ((!is_load && opcode != LLVMAtomicRMW && opcode != LLVMAtomicCmpXchg) ||
        !is_of_thread(LLVMGetOperand(instruction, 0)))
        return;
    if (is_load) {
        LLVMSetOrdering(instruction, LLVMAtomicOrderingNotAtomic);
        return;
    }
    LLVMPositionBuilderBefore(emitter->builder, instruction);
    LLVMValueRef plain =
        opcode == LLVMAtomicRMW ? plain_update(emitter, instruction) : plain_exchange(emitter, instruction);
    LLVMReplaceAllUsesWith(instruction, plain);
    LLVMInstructionEraseFromParent(instruction);
}

void make_local_atomics_plain(Emitter *emitter) { visit_instructions(emitter, make_plain, NULL); }
