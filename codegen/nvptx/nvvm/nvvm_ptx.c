/* Calls of intrinsics that libNVVM does not know, as the PTX that they stand for. */
#include "codegen/nvptx/nvvm/nvvm_ptx.h"

#include <string.h>

#include "codegen/emit_tools.h"

enum { MOST_OPERANDS = 16, MOST_RESULTS = 8, MOST_CONSTRAINTS = 128 };

/* The type that a register has for a value, NULL: none. */
static LLVMTypeRef register_type(Emitter *emitter, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind || type == emitter->f32 || type == emitter->f64)
        return type;
    if (!LLVMTypeIsSized(type))
        return NULL;
    switch (LLVMSizeOfTypeInBits(emitter->data_layout, type)) {
    case 1: return emitter->i32;
    case 8:
    case 16: return LLVMInt16TypeInContext(emitter->context);
    case 32: return emitter->i32;
    case 64: return emitter->i64;
    default: return NULL;
    }
}

static char constraint(Emitter *emitter, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind || type == emitter->i64)
        return 'l';
    return type == emitter->f32 ? 'f' : type == emitter->f64 ? 'd' : type == emitter->i32 ? 'r' : 'h';
}

static LLVMValueRef to_register(Emitter *emitter, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), to = register_type(emitter, type);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        return LLVMBuildZExt(emitter->builder, value, to, "");
    return LLVMBuildBitCast(emitter->builder, value, to, "");
}

static LLVMValueRef from_register(Emitter *emitter, LLVMValueRef bits, LLVMTypeRef type)
{
    if (type == emitter->i1)
        return LLVMBuildICmp(emitter->builder, LLVMIntNE, bits, LLVMConstNull(emitter->i32), "");
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        return LLVMBuildTrunc(emitter->builder, bits, type, "");
    return LLVMBuildBitCast(emitter->builder, bits, type, "");
}

typedef struct Results {
    LLVMTypeRef types[MOST_RESULTS], registers[MOST_RESULTS];
    unsigned count;
    bool is_struct;
} Results;

static bool find_results(Emitter *emitter, LLVMTypeRef type, Results *out)
{
    *out = (Results){.count = type != emitter->void_type, .types = {type}};
    out->is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
    if (out->is_struct) {
        out->count = LLVMCountStructElementTypes(type);
        if (out->count > MOST_RESULTS)
            return false;
        LLVMGetStructElementTypes(type, out->types);
    }
    for (unsigned i = 0; i < out->count; i++)
        if (!(out->registers[i] = register_type(emitter, out->types[i])))
            return false;
    return true;
}

static LLVMTypeRef assembly_result(Emitter *emitter, Results *results)
{
    if (results->is_struct)
        return LLVMStructTypeInContext(emitter->context, results->registers, results->count, false);
    return results->count ? results->registers[0] : emitter->void_type;
}

static LLVMValueRef result_of(Emitter *emitter, LLVMValueRef made, LLVMTypeRef type, const Results *results)
{
    if (!results->is_struct)
        return results->count ? from_register(emitter, made, type) : made;
    LLVMValueRef whole = LLVMGetUndef(type);
    for (unsigned i = 0; i < results->count; i++) {
        LLVMValueRef part = LLVMBuildExtractValue(emitter->builder, made, i, "");
        part = from_register(emitter, part, results->types[i]);
        whole = LLVMBuildInsertValue(emitter->builder, whole, part, i, "");
    }
    return whole;
}

LLVMValueRef call_ptx(Emitter *emitter, const char *ptx, LLVMTypeRef result, LLVMValueRef *operands, unsigned count,
                      PtxEffect effect)
{
    LLVMValueRef registers[MOST_OPERANDS];
    LLVMTypeRef types[MOST_OPERANDS];
    Results results;
    if (count > MOST_OPERANDS || !find_results(emitter, result, &results))
        return NULL;
    char constraints[MOST_CONSTRAINTS], *end = constraints;
    for (unsigned i = 0; i < results.count; i++) {
        *end++ = '=';
        *end++ = constraint(emitter, results.registers[i]);
        *end++ = ',';
    }
    for (unsigned i = 0; i < count; i++) {
        if (!register_type(emitter, LLVMTypeOf(operands[i])))
            return NULL;
        registers[i] = to_register(emitter, operands[i]);
        types[i] = LLVMTypeOf(registers[i]);
        *end++ = effect == PTX_ACTS_BY_NUMBER ? 'n' : constraint(emitter, types[i]);
        *end++ = ',';
    }
    strcpy(end, "~{memory}");
    size_t length = effect == PTX_COMPUTES ? (size_t)(end - constraints) - (end > constraints) : strlen(constraints);
    LLVMTypeRef type = LLVMFunctionType(assembly_result(emitter, &results), types, count, false);
    LLVMValueRef assembly = LLVMGetInlineAsm(type, ptx, strlen(ptx), constraints, length, effect != PTX_COMPUTES, false,
                                             LLVMInlineAsmDialectATT, false);
    LLVMValueRef made = LLVMBuildCall2(emitter->builder, type, assembly, registers, count, "");
    if (effect == PTX_CONVERGES)
        LLVMAddCallSiteAttribute(made, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 enum_attribute(emitter, "convergent", 0));
    return result_of(emitter, made, result, &results);
}

/* --- intrinsics ----------------------------------------------------------------------------------------------------------- */

typedef struct Unknown {
    const char *name, *ptx;
    PtxEffect effect;
    bool to_llvm7_only;
} Unknown;

static const Unknown unknown[] = {
#define UNKNOWN(name, ptx, effect) {name, ptx, PTX_##effect, false},
#define UNKNOWN_TO_LLVM7(name, ptx, effect) {name, ptx, PTX_##effect, true},
#include "codegen/nvptx/nvvm/nvvm_unknown.def"
};
enum { UNKNOWN_COUNT = sizeof unknown / sizeof *unknown };

const char *callee_name(LLVMValueRef call)
{
    size_t size;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &size) : "";
}

/* The name, or the name and the types of what it is overloaded for. */
static bool is_named(const char *name, const char *row)
{
    size_t length = strlen(row);
    return strncmp(name, row, length) == 0 && (!name[length] || strncmp(name + length, ".p", 2) == 0);
}

static const Unknown *find_unknown(const Emitter *emitter, const char *name)
{
    for (int i = 0; i < UNKNOWN_COUNT; i++)
        if (is_named(name, unknown[i].name) && (emitter->for_llvm7 || !unknown[i].to_llvm7_only))
            return &unknown[i];
    return NULL;
}

void replace_by_ptx(Emitter *emitter, LLVMValueRef call)
{
    const Unknown *by = find_unknown(emitter, callee_name(call));
    LLVMValueRef operands[MOST_OPERANDS];
    unsigned count = LLVMGetNumArgOperands(call);
    if (!by || count > MOST_OPERANDS)
        return;
    for (unsigned i = 0; i < count; i++)
        operands[i] = LLVMGetOperand(call, i);
    LLVMPositionBuilderBefore(emitter->builder, call);
    LLVMValueRef made = call_ptx(emitter, by->ptx, LLVMTypeOf(call), operands, count, by->effect);
    if (!made)
        return;
    if (LLVMTypeOf(call) != emitter->void_type)
        LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
}
