/* Read-modify-write operations of a GPU for a scope that is not the device: LLVM keeps the scope of compare-and-exchange only.
 * Where NVPTX has an intrinsic with the scope it is that; else, for the system, a loop of compare-and-exchange; and a block
 * is part of the device. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/nvptx/memory/atomic_scope.h"
#include "codegen/op/atomic_combine.h"

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
