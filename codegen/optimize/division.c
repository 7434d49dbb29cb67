/* The code generator's strength reduction writes addresses as sums of products, and a quotient or remainder that is in one
 * is computed again where the address is: a division in front of a loop comes into the loop, and takes longer than all else
 * there. Behind a freeze, which costs nothing, it does not see the division. */
#include "codegen/optimize/division.h"

#include "codegen/emit_tools.h"
#include "codegen/nvptx/inline_ptx.h"

static bool is_division(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return true;
    default: return false;
    }
}

static void hide(Emitter *emitter, LLVMValueRef division)
{
    LLVMPositionBuilderBefore(emitter->builder, LLVMGetNextInstruction(division));
    LLVMValueRef kept = LLVMBuildFreeze(emitter->builder, division, "");
    LLVMReplaceAllUsesWith(division, kept);
    LLVMSetOperand(kept, 0, division);
}

/* Before a GPU divides 64 bits, the code generator has it look whether 32 are enough, but not for an exclusive or, which it
 * takes for a hash. Ours takes a sign away. */
static void look_at_words_of(Emitter *emitter, LLVMValueRef division)
{
    LLVMValueRef number = LLVMGetOperand(division, 0);
    if (LLVMTypeOf(number) != emitter->i64 || !LLVMIsAInstruction(number) ||
        LLVMGetInstructionOpcode(number) != LLVMXor)
        return;
    LLVMPositionBuilderBefore(emitter->builder, division);
    LLVMSetOperand(division, 0, opaque_copy(emitter, number));
}

static void keep_where_it_is(Emitter *emitter, LLVMValueRef instruction, void *user)
{
    (void)user;
    if (!is_division(instruction))
        return;
    hide(emitter, instruction);
    if (emitter->target->kind == TARGET_NVPTX)
        look_at_words_of(emitter, instruction);
}

void keep_divisions_where_they_are(Emitter *emitter) { visit_instructions(emitter, keep_where_it_is, NULL); }
