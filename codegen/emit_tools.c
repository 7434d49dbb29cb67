/* Small helpers over LLVM's builder: constants, attributes, intrinsic calls. */
#include <assert.h>
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"

LLVMValueRef const_i64(Emitter *emitter, int64_t value)
{
    return LLVMConstInt(emitter->i64, (unsigned long long)value, true);
}

LLVMValueRef const_i32(Emitter *emitter, int32_t value)
{
    return LLVMConstInt(emitter->i32, (unsigned long long)(int64_t)value, true);
}

static LLVMValueRef placeholder(LLVMTypeRef type) { return LLVMGetPoison(type); }

LLVMAttributeRef enum_attribute(Emitter *emitter, const char *name, uint64_t value)
{
    return LLVMCreateEnumAttribute(emitter->context, LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

void add_function_attribute(Emitter *emitter, LLVMValueRef function, const char *name, uint64_t value)
{
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            enum_attribute(emitter, name, value));
}

void add_text_attribute(Emitter *emitter, LLVMValueRef function, const char *name, const char *value)
{
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(emitter->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

LLVMAttributeRef range_attribute(Emitter *emitter, unsigned bits, int64_t low, int64_t high)
{
    assert(low != high && bits <= 64);
    uint64_t lower = (uint64_t)low, upper = (uint64_t)high;
    return LLVMCreateConstantRangeAttribute(emitter->context, LLVMGetEnumAttributeKindForName("range", 5), bits, &lower,
                                            &upper);
}

void set_load_range(Emitter *emitter, LLVMValueRef load, int64_t low, int64_t high)
{
    LLVMTypeRef type = LLVMTypeOf(load);
    LLVMMetadataRef bounds[2] = {LLVMValueAsMetadata(LLVMConstInt(type, (unsigned long long)low, true)),
                                 LLVMValueAsMetadata(LLVMConstInt(type, (unsigned long long)high, true))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, bounds, 2);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(emitter->context, "range", 5),
                    LLVMMetadataAsValue(emitter->context, node));
}

LLVMValueRef call_llvm_overloaded(Emitter *emitter, const char *name, LLVMTypeRef *overloads, uint32_t overload_count,
                                  uint32_t count, LLVMValueRef *arguments)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) {
        diag_fail(emitter->diag, NULL, DIAG_LLVM, arena_format(emitter->arena, "no intrinsic %s", name));
        return placeholder(overload_count ? overloads[0] : emitter->i32);
    }
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(emitter->llvm_module, id, overloads, overload_count);
    return LLVMBuildCall2(emitter->builder, LLVMGlobalGetValueType(function), function, arguments, count, "");
}

LLVMValueRef call_llvm(Emitter *emitter, const char *name, LLVMTypeRef overload, uint32_t count,
                       LLVMValueRef *arguments)
{
    return call_llvm_overloaded(emitter, name, &overload, overload ? 1 : 0, count, arguments);
}

static LLVMValueRef declare_pure(Emitter *emitter, const char *symbol, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(emitter->llvm_module, symbol);
    if (function)
        return function;
    function = LLVMAddFunction(emitter->llvm_module, symbol, type);
    add_function_attribute(emitter, function, "nounwind", 0);
    add_function_attribute(emitter, function, "willreturn", 0);
    add_function_attribute(emitter, function, "memory", 0);
    return function;
}

LLVMValueRef call_pure(Emitter *emitter, const char *symbol, LLVMTypeRef result, uint32_t count,
                       LLVMValueRef *arguments)
{
    LLVMTypeRef types[8];
    assert(count <= sizeof types / sizeof *types);
    for (uint32_t i = 0; i < count; i++)
        types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    return LLVMBuildCall2(emitter->builder, type, declare_pure(emitter, symbol, type), arguments, count, "");
}

LLVMValueRef with_flags(LLVMValueRef value, unsigned flags)
{
    if (flags && LLVMIsAInstruction(value) && LLVMCanValueUseFastMathFlags(value))
        LLVMSetFastMathFlags(value, flags);
    return value;
}

LLVMMetadataRef loop_property(Emitter *emitter, const char *name, LLVMMetadataRef of)
{
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(emitter->context, name, strlen(name)), of};
    return LLVMMDNodeInContext2(emitter->context, parts, of ? 2 : 1);
}

LLVMValueRef loop_node(Emitter *emitter, const LLVMMetadataRef *properties, unsigned count)
{
    enum { MOST = 2 };
    LLVMMetadataRef operands[1 + MOST] = {NULL};
    assert(count <= MOST);
    for (unsigned i = 0; i < count; i++)
        operands[1 + i] = properties[i];
    LLVMMetadataRef node = LLVMMDNodeInContext2(emitter->context, operands, 1 + count);
    LLVMValueRef as_value = LLVMMetadataAsValue(emitter->context, node);
    LLVMReplaceMDNodeOperandWith(as_value, 0, node);
    return as_value;
}

void set_loop_node(Emitter *emitter, LLVMValueRef branch, LLVMValueRef node)
{
    static const char kind[] = "llvm.loop";
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(emitter->context, kind, sizeof kind - 1), node);
}

static unsigned host_loop_kind(Emitter *emitter)
{
    static const char kind[] = "cujit.host_loop";
    return LLVMGetMDKindIDInContext(emitter->context, kind, sizeof kind - 1);
}

void mark_host_loop(Emitter *emitter, LLVMValueRef branch)
{
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(emitter->context, NULL, 0);
    LLVMSetMetadata(branch, host_loop_kind(emitter), LLVMMetadataAsValue(emitter->context, nothing));
}

bool take_host_loop_mark(Emitter *emitter, LLVMValueRef branch)
{
    bool is_marked = LLVMGetMetadata(branch, host_loop_kind(emitter));
    if (is_marked)
        LLVMSetMetadata(branch, host_loop_kind(emitter), NULL);
    return is_marked;
}

void visit_instructions(Emitter *emitter, void (*visit)(Emitter *emitter, LLVMValueRef instruction, void *user),
                        void *user)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(emitter->llvm_module); function;
         function = LLVMGetNextFunction(function))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef instruction = LLVMGetFirstInstruction(block), next; instruction; instruction = next) {
                next = LLVMGetNextInstruction(instruction);
                visit(emitter, instruction, user);
            }
}

LLVMBasicBlockRef new_block(Emitter *emitter)
{
    return LLVMAppendBasicBlockInContext(emitter->context, emitter->llvm_function, "");
}

LLVMValueRef offset_address(Emitter *emitter, LLVMValueRef address, int64_t bytes)
{
    if (!bytes)
        return address;
    LLVMValueRef offset = const_i64(emitter, bytes);
    return LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, address, &offset, 1, "");
}

LLVMValueRef prologue_alloca(Emitter *emitter, uint64_t size, uint32_t alignment)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    assert(here && emitter->prologue);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    LLVMValueRef address = LLVMBuildAlloca(emitter->builder, LLVMArrayType2(emitter->i8, size), "");
    LLVMSetAlignment(address, alignment);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    return address;
}
