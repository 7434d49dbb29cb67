/* How far it is to the next row of an array, for a loop that goes from row to row, LLVM computes in 64 bits: an extent is
 * one number of 64 bits to it, that has a range. ptxas does not see the range. Of a product of words it makes one
 * instruction with the sum behind it, an address; else the product has two or more, and the sum two:
 *
 *     ld.param.b64 %rd1, [n];  shl.b64 %rd2, %rd1, 2;           ld.param.b32 %r1, [n];  mul.wide.u32 %rd2, %r1, 4;
 *     add.s64 %rd4, %rd3, %rd2;                          ->     add.s64 %rd4, %rd3, %rd2;
 *
 * So do a row's place, and comparisons with numbers, such as whether a loop runs at all. In launches within the limits, whose
 * extents are below 2^31. */
#include "codegen/nvptx/memory/extent_word.h"

#include "codegen/nvptx/inline_ptx.h"
#include "codegen/nvptx/memory/row_address.h"

enum { MOST_FIELDS = 128 }; /* of the kernel's parameters that are looked at */

typedef struct Words {
    Emitter *emitter;
    LLVMValueRef kernel;
    LLVMValueRef of_fields[MOST_FIELDS]; /* NULL: not made yet */
} Words;

/* The field of the parameters that the value is, an extent; UINT32_MAX: it is none. */
static uint32_t extent_field(const Words *words, LLVMValueRef value)
{
    uint32_t field = field_of(words->emitter, value, ABI_EXTENT);
    return field < MOST_FIELDS ? field : UINT32_MAX;
}

static bool is_extent(const Words *words, LLVMValueRef value) { return extent_field(words, value) != UINT32_MAX; }

static bool is_word(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) <= UINT32_MAX;
}

/* A product of an extent with a number, or with an extent, in 64 bits. */
static bool is_product(const Words *words, LLVMValueRef value)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (LLVMTypeOf(value) != words->emitter->i64 || (opcode != LLVMMul && opcode != LLVMShl))
        return false;
    LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
    if (!is_extent(words, a))
        return false;
    return opcode == LLVMMul ? is_word(b) || is_extent(words, b) : is_word(b) && LLVMConstIntGetZExtValue(b) < 32;
}

/* At the head of the kernel. The code generator would take the word and the extent for one again. */
static LLVMValueRef word_of(Words *words, LLVMValueRef extent)
{
    LLVMBuilderRef builder = words->emitter->builder;
    LLVMValueRef *made = &words->of_fields[extent_field(words, extent)];
    if (*made)
        return *made;
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(words->kernel)));
    LLVMValueRef word = LLVMBuildTrunc(builder, extent, words->emitter->i32, "");
    return *made = opaque_copy(words->emitter, word);
}

/* The code generator looks for what makes a word wide in the block of the product. */
static void multiply_words(Words *words, LLVMValueRef product)
{
    LLVMBuilderRef builder = words->emitter->builder;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef operand = LLVMGetOperand(product, i);
        if (!is_extent(words, operand))
            continue;
        LLVMValueRef word = word_of(words, operand);
        LLVMPositionBuilderBefore(builder, product);
        LLVMSetOperand(product, i, LLVMBuildZExt(builder, word, words->emitter->i64, ""));
    }
}

/* Of an extent with a number, as in front of a loop: both are words without a sign, or positive. */
static void compare_words(Words *words, LLVMValueRef comparison)
{
    LLVMBuilderRef builder = words->emitter->builder;
    LLVMValueRef extent = LLVMGetOperand(comparison, 0), number = LLVMGetOperand(comparison, 1);
    if (!is_extent(words, extent) || !is_word(number) || LLVMConstIntGetZExtValue(number) > INT32_MAX)
        return;
    LLVMValueRef word = word_of(words, extent);
    LLVMValueRef constant = LLVMConstInt(words->emitter->i32, LLVMConstIntGetZExtValue(number), false);
    LLVMPositionBuilderBefore(builder, comparison);
    LLVMReplaceAllUsesWith(comparison, LLVMBuildICmp(builder, LLVMGetICmpPredicate(comparison), word, constant, ""));
}

/* The bytes of a row are a word, too, and how many are before it a product of words. */
static void add_rows(Words *words, LLVMValueRef address)
{
    LLVMBuilderRef builder = words->emitter->builder;
    LLVMTypeRef i32 = words->emitter->i32, i64 = words->emitter->i64;
    LLVMValueRef row, extent;
    if (!is_rows_further(words->emitter, address, &row, &extent) || !is_extent(words, extent))
        return;
    LLVMTargetDataRef layout = words->emitter->data_layout;
    uint64_t size = LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(address));
    LLVMValueRef word = word_of(words, extent);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(word));
    LLVMValueRef bytes = LLVMBuildMul(builder, word, LLVMConstInt(i32, size, false), "");
    LLVMPositionBuilderBefore(builder, address);
    bytes = LLVMBuildZExt(builder, bytes, i64, "");
    LLVMValueRef before = LLVMBuildMul(builder, LLVMBuildZExt(builder, row, i64, ""), bytes, "");
    LLVMValueRef place = LLVMBuildGEP2(builder, words->emitter->i8, LLVMGetOperand(address, 0), &before, 1, "");
    LLVMReplaceAllUsesWith(address, place);
}

void multiply_extents_as_words(Emitter *emitter, LLVMValueRef function)
{
    if (!emitter->ir->first->is_limited || LLVMGetNamedFunction(emitter->llvm_module, emitter->entry) != function)
        return;
    Words words = {.emitter = emitter, .kernel = function};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef each = LLVMGetFirstInstruction(block); each; each = LLVMGetNextInstruction(each))
            if (is_product(&words, each))
                multiply_words(&words, each);
            else if (LLVMIsAICmpInst(each))
                compare_words(&words, each);
            else if (LLVMIsAGetElementPtrInst(each))
                add_rows(&words, each);
}
