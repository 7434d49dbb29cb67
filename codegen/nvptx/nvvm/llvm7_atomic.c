/* Atomic instructions as PTX: LLVM 7 knows fewer operations, and libNVVM no scopes. */
#include <string.h>

#include "codegen/nvptx/nvvm/llvm7_rewrite.h"
#include "codegen/nvptx/nvvm/nvvm_ptx.h"

static const char *scope_word(Emitter *emitter, LLVMValueRef instruction)
{
    static const char *const names[][2] = {{"block", "cta"}, {"cluster", "cluster"}, {"device", "gpu"}};
    unsigned scope = LLVMGetAtomicSyncScopeID(instruction);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (scope == LLVMGetSyncScopeID(emitter->context, names[i][0], strlen(names[i][0])))
            return names[i][1];
    return "sys";
}

static const char *space_word(LLVMValueRef address)
{
    switch (LLVMGetPointerAddressSpace(LLVMTypeOf(address))) {
    case ADDRESS_GLOBAL: return ".global";
    case ADDRESS_SHARED: return ".shared";
    default: return "";
    }
}

static const char *order_word(LLVMAtomicOrdering ordering)
{
    switch (ordering) {
    case LLVMAtomicOrderingAcquire: return "acquire";
    case LLVMAtomicOrderingRelease: return "release";
    case LLVMAtomicOrderingAcquireRelease:
    case LLVMAtomicOrderingSequentiallyConsistent: return "acq_rel";
    default: return "relaxed";
    }
}

static unsigned bits_of(Emitter *emitter, LLVMTypeRef type)
{
    return LLVMTypeIsSized(type) ? (unsigned)LLVMSizeOfTypeInBits(emitter->data_layout, type) : 0;
}

/* "add.u32" and its like; NULL: PTX has none. */
static const char *operation_word(Emitter *emitter, LLVMAtomicRMWBinOp operation, LLVMTypeRef type)
{
    bool is_integer = LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
    unsigned bits = bits_of(emitter, type);
    if (operation == LLVMAtomicRMWBinOpFAdd && LLVMGetTypeKind(type) == LLVMHalfTypeKind)
        return "add.noftz.f16";
    if (bits != 32 && bits != 64)
        return NULL;
    const char *name = NULL;
    switch (operation) {
    case LLVMAtomicRMWBinOpXchg: name = "exch.b"; break;
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpSub: name = "add.u"; break;
    case LLVMAtomicRMWBinOpAnd: name = "and.b"; break;
    case LLVMAtomicRMWBinOpOr: name = "or.b"; break;
    case LLVMAtomicRMWBinOpXor: name = "xor.b"; break;
    case LLVMAtomicRMWBinOpMax: name = "max.s"; break;
    case LLVMAtomicRMWBinOpMin: name = "min.s"; break;
    case LLVMAtomicRMWBinOpUMax: name = "max.u"; break;
    case LLVMAtomicRMWBinOpUMin: name = "min.u"; break;
    case LLVMAtomicRMWBinOpFAdd: name = is_integer ? NULL : "add.f"; break;
    case LLVMAtomicRMWBinOpUIncWrap: name = bits == 32 ? "inc.u" : NULL; break;
    case LLVMAtomicRMWBinOpUDecWrap: name = bits == 32 ? "dec.u" : NULL; break;
    default: break;
    }
    return name ? arena_format(emitter->arena, "%s%u", name, bits) : NULL;
}

static bool replace(Emitter *emitter, LLVMValueRef instruction, LLVMValueRef made)
{
    if (!made)
        return fail_for_llvm7(emitter, instruction, "an atomic access of this type");
    if (LLVMTypeOf(instruction) != emitter->void_type)
        LLVMReplaceAllUsesWith(instruction, made);
    LLVMInstructionEraseFromParent(instruction);
    return true;
}

static bool rewrite_read_modify_write(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMValueRef operands[2] = {LLVMGetOperand(instruction, 0), LLVMGetOperand(instruction, 1)};
    LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(instruction);
    const char *word = operation_word(emitter, operation, LLVMTypeOf(instruction));
    if (!word)
        return fail_for_llvm7(emitter, instruction, "an atomic operation of this type");
    if (operation == LLVMAtomicRMWBinOpSub)
        operands[1] = LLVMBuildNeg(emitter->builder, operands[1], "");
    const char *ptx =
        arena_format(emitter->arena, "atom.%s.%s%s.%s $0, [$1], $2;", order_word(LLVMGetOrdering(instruction)),
                     scope_word(emitter, instruction), space_word(operands[0]), word);
    return replace(emitter, instruction, call_ptx(emitter, ptx, LLVMTypeOf(instruction), operands, 2, PTX_ACTS));
}

/* PTX exchanges no bytes: the word around the byte is exchanged until the byte is another one than expected, or nothing of
 * the word has changed in between. */
static const char exchange[] = "atom.%1$s.%2$s%3$s.cas.b%4$u $0, [$1], $2, $3;";
static const char exchange_byte[] =
    "{ .reg .pred p; .reg .b64 a; .reg .b32 at, want, byte, old, seen, new; "
    "and.b64 a, $1, -4; cvt.u32.u64 at, $1; and.b32 at, at, 3; shl.b32 at, at, 3; cvt.u32.u16 want, $2; "
    "ld.relaxed.%2$s%3$s.b32 old, [a]; "
    "AGAIN: bfe.u32 byte, old, at, 8; setp.ne.u32 p, byte, want; @p bra DONE; "
    "cvt.u32.u16 new, $3; bfi.b32 new, new, old, at, 8; atom.%1$s.%2$s%3$s.cas.b32 seen, [a], old, new; "
    "setp.ne.u32 p, seen, old; mov.b32 old, seen; @p bra AGAIN; DONE: cvt.u16.u32 $0, byte; }";

/* The result is what was there, and whether it was what was expected. */
static bool rewrite_exchange(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef operands[3];
    for (unsigned i = 0; i < 3; i++)
        operands[i] = LLVMGetOperand(instruction, i);
    LLVMTypeRef type = LLVMTypeOf(operands[1]);
    unsigned bits = bits_of(emitter, type);
    const char *ptx = arena_format(emitter->arena, bits == 8 ? exchange_byte : exchange,
                                   order_word(LLVMGetCmpXchgSuccessOrdering(instruction)),
                                   scope_word(emitter, instruction), space_word(operands[0]), bits);
    LLVMValueRef old = call_ptx(emitter, ptx, type, operands, 3, PTX_ACTS);
    if (!old)
        return replace(emitter, instruction, NULL);
    LLVMValueRef is_same = LLVMBuildICmp(builder, LLVMIntEQ, old, operands[1], "");
    LLVMValueRef pair = LLVMBuildInsertValue(builder, LLVMGetUndef(LLVMTypeOf(instruction)), old, 0, "");
    return replace(emitter, instruction, LLVMBuildInsertValue(builder, pair, is_same, 1, ""));
}

static void fence(Emitter *emitter, LLVMAtomicOrdering ordering, const char *scope)
{
    const char *word = ordering == LLVMAtomicOrderingSequentiallyConsistent ? "sc" : "acq_rel";
    call_ptx(emitter, arena_format(emitter->arena, "fence.%s.%s;", word, scope), emitter->void_type, NULL, 0, PTX_ACTS);
}

static bool rewrite_fence(Emitter *emitter, LLVMValueRef instruction)
{
    fence(emitter, LLVMGetOrdering(instruction), scope_word(emitter, instruction));
    LLVMInstructionEraseFromParent(instruction);
    return true;
}

static bool rewrite_access(Emitter *emitter, LLVMValueRef instruction, bool is_store)
{
    LLVMValueRef address = LLVMGetOperand(instruction, is_store), value = LLVMGetOperand(instruction, 0);
    LLVMTypeRef type = is_store ? LLVMTypeOf(value) : LLVMTypeOf(instruction);
    LLVMAtomicOrdering ordering = LLVMGetOrdering(instruction);
    const char *scope = scope_word(emitter, instruction), *order = order_word(ordering);
    if (ordering == LLVMAtomicOrderingSequentiallyConsistent) {
        fence(emitter, ordering, scope);
        order = is_store ? "relaxed" : "acquire";
    }
    const char *ptx = arena_format(emitter->arena, "%s.%s.%s%s.b%u %s;", is_store ? "st" : "ld", order, scope,
                                   space_word(address), bits_of(emitter, type), is_store ? "[$0], $1" : "$0, [$1]");
    LLVMValueRef operands[2] = {address, value};
    return replace(emitter, instruction,
                   call_ptx(emitter, ptx, is_store ? emitter->void_type : type, operands, is_store ? 2 : 1, PTX_ACTS));
}

bool rewrite_atomic(Emitter *emitter, LLVMValueRef instruction)
{
    LLVMPositionBuilderBefore(emitter->builder, instruction);
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAtomicRMW: return rewrite_read_modify_write(emitter, instruction);
    case LLVMAtomicCmpXchg: return rewrite_exchange(emitter, instruction);
    case LLVMFence: return rewrite_fence(emitter, instruction);
    case LLVMLoad: return rewrite_access(emitter, instruction, false);
    default: return rewrite_access(emitter, instruction, true);
    }
}
