/* LLVM does arithmetic of bytes in 8 or 16 bits where that is wide enough; PTX has instructions of 16. GPUs have none for one
 * number: ptxas makes instructions of 32 bits of them and cuts what each leaves to 16. Here they are of 32 bits from the
 * bytes on, and nothing is cut where LLVM has found that the 8 or 16 bits do not overflow (nuw). */
#include "codegen/nvptx/wide_word.h"

#include "codegen/emit_tools.h"
#include "core/base/table.h"

enum { BITS = 16, BITS_OF_BYTE = 8 };

/* What a value of 8 or 16 bits was computed as. */
typedef struct Word {
    LLVMValueRef wide; /* 32 bits, of which the lower ones are the value */
    bool is_exact; /* the upper ones are 0 */
} Word;

typedef struct Widening {
    Emitter *emitter;
    LLVMTypeRef wide;
    Table *words; /* values of 8 or 16 bits, each made of its Word, to that; NULL: none so far */
} Widening;

static const Word *word_of(const Widening *w, LLVMValueRef value)
{
    return w->words ? table_get(w->words, &value, sizeof value) : NULL;
}

static unsigned bits_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static bool is_narrow(LLVMValueRef value) { return bits_of(value) == BITS || bits_of(value) == BITS_OF_BYTE; }

/* A byte, or 16 bits of one. */
static bool is_byte(LLVMValueRef value)
{
    return bits_of(value) == BITS_OF_BYTE ||
           (LLVMIsAZExtInst(value) && bits_of(LLVMGetOperand(value, 0)) <= BITS_OF_BYTE);
}

/* An operand in 32 bits. */
static Word widened(const Widening *w, LLVMValueRef value)
{
    const Word *word = word_of(w, value);
    if (word)
        return *word;
    if (LLVMIsAConstantInt(value))
        return (Word){LLVMConstInt(w->wide, LLVMConstIntGetZExtValue(value), false), true};
    LLVMValueRef source = LLVMIsAZExtInst(value) ? LLVMGetOperand(value, 0) : value;
    return (Word){LLVMBuildZExt(w->emitter->builder, source, w->wide, ""), true};
}

static LLVMValueRef cut(const Widening *w, const Word *word, unsigned bits)
{
    LLVMValueRef mask = LLVMConstInt(w->wide, (1u << bits) - 1, false);
    return word->is_exact ? word->wide : LLVMBuildAnd(w->emitter->builder, word->wide, mask, "");
}

static bool is_shift_by_constant(LLVMValueRef instruction)
{
    LLVMValueRef count = LLVMGetOperand(instruction, 1);
    return LLVMIsAConstantInt(count) && LLVMConstIntGetZExtValue(count) < bits_of(count);
}

static bool is_widened(const Widening *w, LLVMValueRef instruction, LLVMOpcode opcode)
{
    switch (opcode) {
    case LLVMShl:
    case LLVMLShr:
        if (!is_shift_by_constant(instruction))
            return false;
        break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: break;
    default: return false;
    }
    if (!is_narrow(instruction))
        return false;
    bool from_wide = false;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, i);
        from_wide |= word_of(w, operand) || is_byte(operand);
    }
    return from_wide;
}

static Word compute(const Widening *w, LLVMValueRef instruction, LLVMOpcode opcode)
{
    Word a = widened(w, LLVMGetOperand(instruction, 0)), b = widened(w, LLVMGetOperand(instruction, 1));
    bool are_exact = a.is_exact && b.is_exact, may_overflow = false;
    Word out = {0};
    switch (opcode) {
    case LLVMLShr:
        a.wide = cut(w, &a, bits_of(instruction));
        out.is_exact = true;
        break;
    case LLVMAnd: out.is_exact = a.is_exact || b.is_exact; break;
    case LLVMOr:
    case LLVMXor: out.is_exact = are_exact; break;
    default: may_overflow = true; out.is_exact = are_exact && LLVMGetNUW(instruction);
    }
    out.wide = LLVMBuildBinOp(w->emitter->builder, opcode, a.wide, b.wide, "");
    if (may_overflow && out.is_exact && LLVMIsAInstruction(out.wide)) {
        LLVMSetNUW(out.wide, true);
        LLVMSetNSW(out.wide, true);
    }
    return out;
}

static void replace(LLVMValueRef instruction, LLVMValueRef with)
{
    LLVMReplaceAllUsesWith(instruction, with);
    LLVMInstructionEraseFromParent(instruction);
}

static void widen(Widening *w, LLVMValueRef instruction, LLVMOpcode opcode)
{
    LLVMPositionBuilderBefore(w->emitter->builder, instruction);
    Word *word = ARENA_NEW(w->emitter->arena, Word);
    *word = compute(w, instruction, opcode);
    LLVMValueRef narrow = LLVMBuildTrunc(w->emitter->builder, word->wide, LLVMTypeOf(instruction), "");
    if (!w->words)
        w->words = table_create();
    table_set(w->words, &narrow, sizeof narrow, word);
    replace(instruction, narrow);
}

/* A conversion of such a value is one of what it was computed as. */
static void convert(Widening *w, LLVMValueRef instruction, LLVMOpcode opcode)
{
    LLVMValueRef narrow = LLVMGetOperand(instruction, 0);
    const Word *word = word_of(w, narrow);
    if (!word)
        return;
    unsigned bits = bits_of(narrow);
    LLVMBuilderRef builder = w->emitter->builder;
    LLVMTypeRef type = LLVMTypeOf(instruction);
    LLVMPositionBuilderBefore(builder, instruction);
    replace(instruction, opcode == LLVMTrunc ? LLVMBuildTrunc(builder, word->wide, type, "")
                                             : LLVMBuildZExtOrBitCast(builder, cut(w, word, bits), type, ""));
}

static void visit(Emitter *emitter, LLVMValueRef instruction, void *user)
{
    (void)emitter;
    Widening *w = user;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode == LLVMTrunc || (opcode == LLVMZExt && bits_of(instruction) > BITS))
        convert(w, instruction, opcode);
    else if (is_widened(w, instruction, opcode))
        widen(w, instruction, opcode);
}

void widen_words(Emitter *emitter)
{
    Widening w = {emitter, emitter->i32, NULL};
    visit_instructions(emitter, visit, &w);
    table_destroy(w.words);
}
