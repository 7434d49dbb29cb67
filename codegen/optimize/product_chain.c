/* A generator of random numbers or a hash that goes on from its own last number is a chain of products:
 *
 *     s1 = s0 * 1664525 + 1013904223                      s1 = s0 * 1664525 + 1013904223
 *     s2 = s1 * 1664525 + 1013904223              ->      s2 = s0 * 389569705 + 1196435762
 *
 * The code generator makes each number of the first one, by factors and summands of its own: as many products, but each of
 * them has to come into a register, in every trip of a loop. Behind PTX without an instruction it does not see where a number
 * is from; a freeze it moves to where the chain begins. */
#include "codegen/optimize/product_chain.h"

#include "codegen/emit_tools.h"
#include "codegen/nvptx/inline_ptx.h"

static bool has_constant(LLVMValueRef instruction, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(instruction) && LLVMGetInstructionOpcode(instruction) == opcode &&
           LLVMIsAConstantInt(LLVMGetOperand(instruction, 1));
}

static bool has_other_uses(LLVMValueRef value)
{
    LLVMUseRef first = LLVMGetFirstUse(value);
    return first && LLVMGetNextUse(first);
}

/* The sum is of a product, and is used besides: it is there anyway. */
static void hide_factor(Emitter *emitter, LLVMValueRef product, void *user)
{
    (void)user;
    if (!has_constant(product, LLVMMul))
        return;
    LLVMValueRef sum = LLVMGetOperand(product, 0);
    LLVMTypeRef type = LLVMTypeOf(product);
    if ((type != emitter->i32 && type != emitter->i64) || !has_constant(sum, LLVMAdd) ||
        !has_constant(LLVMGetOperand(sum, 0), LLVMMul) || !has_other_uses(sum))
        return;
    LLVMPositionBuilderBefore(emitter->builder, product);
    LLVMSetOperand(product, 0, opaque_copy(emitter, sum));
}

void keep_product_chains(Emitter *emitter) { visit_instructions(emitter, hide_factor, NULL); }
