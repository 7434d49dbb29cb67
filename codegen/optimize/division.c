/* The code generator's strength reduction writes addresses as sums of products, and a quotient or remainder that is in one
 * is computed again where the address is: a division in front of a loop comes into the loop, and takes longer than all else
 * there. Behind a freeze, which costs nothing, it does not see the division. */
#include "codegen/optimize/division.h"

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

void keep_divisions_where_they_are(Emitter *emitter)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module); function;
         function = LLVMGetNextFunction(function))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef next = LLVMGetFirstInstruction(block), each; (each = next);) {
                next = LLVMGetNextInstruction(each);
                if (is_division(each))
                    hide(emitter, each);
            }
}
