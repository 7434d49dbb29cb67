/* Instructions in LLVM 7's text. What later LLVMs say besides (nneg, disjoint, samesign, flags of select and phi) is left
 * out: it makes nothing right that is wrong without it. */
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/nvvm/typed_text.h"

/* --- attributes -------------------------------------------------------------------------------------------------------------- */

static unsigned attribute_kind(const char *name) { return LLVMGetEnumAttributeKindForName(name, strlen(name)); }

static LLVMAttributeRef find_attribute(LLVMValueRef owner, LLVMAttributeIndex index, const char *name)
{
    return LLVMIsAFunction(owner) ? LLVMGetEnumAttributeAtIndex(owner, index, attribute_kind(name))
                                  : LLVMGetCallSiteEnumAttribute(owner, index, attribute_kind(name));
}

LLVMTypeRef typed_by_value(LLVMValueRef function_or_call, unsigned index)
{
    LLVMAttributeRef attribute = find_attribute(function_or_call, index + 1, "byval");
    return attribute ? LLVMGetTypeAttributeValue(attribute) : NULL;
}

/* Denormal numbers are zero. */
static void typed_flush(TypedText *t, LLVMValueRef function)
{
    static const char name[] = "denormal-fp-math-f32";
    LLVMAttributeRef found =
        LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name, sizeof name - 1);
    if (found)
        buf_add(&t->out, " \"nvptx-f32ftz\"=\"true\"");
}

void typed_attributes(TypedText *t, LLVMValueRef function_or_call, LLVMAttributeIndex index)
{
    static const char *const of_functions[] = {"alwaysinline", "noinline", "convergent", "nounwind"};
    static const char *const of_values[] = {"byval", "signext", "zeroext", "noalias"};
    bool is_function = index == (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const char *const *words = is_function ? of_functions : of_values;
    for (int i = 0; i < 4; i++)
        if (find_attribute(function_or_call, index, words[i]))
            buf_printf(&t->out, " %s", words[i]);
    LLVMAttributeRef memory = is_function ? find_attribute(function_or_call, index, "memory") : NULL;
    LLVMAttributeRef align = is_function ? NULL : find_attribute(function_or_call, index, "align");
    if (memory && !LLVMGetEnumAttributeValue(memory))
        buf_add(&t->out, " readnone");
    if (align)
        buf_printf(&t->out, " align %u", (unsigned)LLVMGetEnumAttributeValue(align));
    if (is_function && LLVMIsAFunction(function_or_call))
        typed_flush(t, function_or_call);
    if (index == LLVMAttributeReturnIndex)
        buf_add(&t->out, " ");
}

/* --- parts ------------------------------------------------------------------------------------------------------------------- */

static void begin_result(TypedText *t, LLVMValueRef instruction)
{
    buf_printf(&t->out, "  %%v%u = ", typed_number(t, instruction, &t->value_count));
}

static void typed_flags(TypedText *t, LLVMValueRef instruction)
{
    static const struct {
        unsigned flag;
        const char *word;
    } flags[] = {{LLVMFastMathNoNaNs, "nnan"},
                 {LLVMFastMathNoInfs, "ninf"},
                 {LLVMFastMathNoSignedZeros, "nsz"},
                 {LLVMFastMathAllowReciprocal, "arcp"},
                 {LLVMFastMathAllowContract, "contract"},
                 {LLVMFastMathApproxFunc, "afn"},
                 {LLVMFastMathAllowReassoc, "reassoc"}};
    unsigned found = LLVMCanValueUseFastMathFlags(instruction) ? LLVMGetFastMathFlags(instruction) : 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (found & flags[i].flag)
            buf_printf(&t->out, " %s", flags[i].word);
}

/* A pointer to what is accessed, made of one to bytes in an instruction of its own. Its number. */
static uint32_t cast_pointer(TypedText *t, LLVMValueRef pointer, LLVMTypeRef pointee)
{
    uint32_t number = ++t->cast_count;
    buf_printf(&t->out, "  %%c%u = bitcast ", number);
    typed_operand(t, pointer);
    buf_add(&t->out, " to ");
    typed_pointer(t, pointee, LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)));
    buf_add(&t->out, "\n");
    return number;
}

static void typed_cast_pointer(TypedText *t, LLVMValueRef pointer, LLVMTypeRef pointee, uint32_t number)
{
    typed_pointer(t, pointee, LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)));
    buf_printf(&t->out, " %%c%u", number);
}

static void typed_label(TypedText *t, LLVMBasicBlockRef block)
{
    buf_printf(&t->out, "label %%b%u", typed_number(t, block, &t->value_count));
}

static bool is_bfloat(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMBFloatTypeKind;
}

/* --- arithmetic ---------------------------------------------------------------------------------------------------------------- */

static const char *binary_word(LLVMOpcode opcode)
{
    switch (opcode) {
    case LLVMAdd: return "add";
    case LLVMFAdd: return "fadd";
    case LLVMSub: return "sub";
    case LLVMFSub: return "fsub";
    case LLVMMul: return "mul";
    case LLVMFMul: return "fmul";
    case LLVMUDiv: return "udiv";
    case LLVMSDiv: return "sdiv";
    case LLVMFDiv: return "fdiv";
    case LLVMURem: return "urem";
    case LLVMSRem: return "srem";
    case LLVMFRem: return "frem";
    case LLVMShl: return "shl";
    case LLVMLShr: return "lshr";
    case LLVMAShr: return "ashr";
    case LLVMAnd: return "and";
    case LLVMOr: return "or";
    case LLVMXor: return "xor";
    default: return NULL;
    }
}

static void typed_binary(TypedText *t, LLVMValueRef instruction, const char *word)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    bool wraps = opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMMul || opcode == LLVMShl;
    bool divides = opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMLShr || opcode == LLVMAShr;
    if (is_bfloat(LLVMTypeOf(instruction)))
        typed_fail(t, "arithmetic of bfloat16");
    begin_result(t, instruction);
    buf_add(&t->out, word);
    typed_flags(t, instruction);
    if (wraps && LLVMGetNUW(instruction))
        buf_add(&t->out, " nuw");
    if (wraps && LLVMGetNSW(instruction))
        buf_add(&t->out, " nsw");
    if (divides && LLVMGetExact(instruction))
        buf_add(&t->out, " exact");
    buf_add(&t->out, " ");
    typed_operand(t, LLVMGetOperand(instruction, 0));
    buf_add(&t->out, ", ");
    typed_value(t, LLVMGetOperand(instruction, 1));
}

/* -x is -0.0 - x. */
static void typed_negation(TypedText *t, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMTypeOf(instruction);
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMValueRef zero = LLVMConstReal(is_vector ? LLVMGetElementType(type) : type, -0.0);
    LLVMValueRef zeros[16];
    if (is_vector && LLVMGetVectorSize(type) > 16) {
        typed_fail(t, "a vector");
        return;
    }
    for (unsigned i = 0; i < 16; i++)
        zeros[i] = zero;
    begin_result(t, instruction);
    buf_add(&t->out, "fsub");
    typed_flags(t, instruction);
    buf_add(&t->out, " ");
    typed_operand(t, is_vector ? LLVMConstVector(zeros, LLVMGetVectorSize(type)) : zero);
    buf_add(&t->out, ", ");
    typed_value(t, LLVMGetOperand(instruction, 0));
}

static const char *cast_word(LLVMOpcode opcode)
{
    switch (opcode) {
    case LLVMTrunc: return "trunc";
    case LLVMZExt: return "zext";
    case LLVMSExt: return "sext";
    case LLVMFPToUI: return "fptoui";
    case LLVMFPToSI: return "fptosi";
    case LLVMUIToFP: return "uitofp";
    case LLVMSIToFP: return "sitofp";
    case LLVMFPTrunc: return "fptrunc";
    case LLVMFPExt: return "fpext";
    case LLVMPtrToAddr:
    case LLVMPtrToInt: return "ptrtoint";
    case LLVMIntToPtr: return "inttoptr";
    case LLVMBitCast: return "bitcast";
    case LLVMAddrSpaceCast: return "addrspacecast";
    default: return NULL;
    }
}

static void typed_cast(TypedText *t, LLVMValueRef instruction, const char *word)
{
    LLVMTypeRef to = LLVMTypeOf(instruction), from = LLVMTypeOf(LLVMGetOperand(instruction, 0));
    if (LLVMGetInstructionOpcode(instruction) != LLVMBitCast && (is_bfloat(to) || is_bfloat(from)))
        typed_fail(t, "a conversion of bfloat16");
    begin_result(t, instruction);
    buf_printf(&t->out, "%s ", word);
    typed_operand(t, LLVMGetOperand(instruction, 0));
    buf_add(&t->out, " to ");
    typed_type(t, to);
}

static void typed_comparison(TypedText *t, LLVMValueRef instruction)
{
    static const char *const of_integers[] = {"eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"};
    static const char *const of_floats[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                            "uno",   "ueq", "ugt", "uge", "ult", "ule", "une", "true"};
    bool is_integer = LLVMGetInstructionOpcode(instruction) == LLVMICmp;
    begin_result(t, instruction);
    if (is_integer) {
        buf_printf(&t->out, "icmp %s ", of_integers[LLVMGetICmpPredicate(instruction) - LLVMIntEQ]);
    } else {
        if (is_bfloat(LLVMTypeOf(LLVMGetOperand(instruction, 0))))
            typed_fail(t, "a comparison of bfloat16");
        buf_add(&t->out, "fcmp");
        typed_flags(t, instruction);
        buf_printf(&t->out, " %s ", of_floats[LLVMGetFCmpPredicate(instruction)]);
    }
    typed_operand(t, LLVMGetOperand(instruction, 0));
    buf_add(&t->out, ", ");
    typed_value(t, LLVMGetOperand(instruction, 1));
}

/* --- memory -------------------------------------------------------------------------------------------------------------------- */

static void end_access(TypedText *t, LLVMValueRef instruction)
{
    if (LLVMGetAlignment(instruction))
        buf_printf(&t->out, ", align %u", LLVMGetAlignment(instruction));
}

/* libNVVM puts loads of neighbours together, of more halves than it can split again; their bits it can. */
static LLVMTypeRef bits_of_half(TypedText *t, LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMHalfTypeKind ? LLVMInt16TypeInContext(t->emitter->context) : NULL;
}

static void typed_load(TypedText *t, LLVMValueRef instruction)
{
    LLVMValueRef pointer = LLVMGetOperand(instruction, 0);
    LLVMTypeRef bits = bits_of_half(t, LLVMTypeOf(instruction)), type = bits ? bits : LLVMTypeOf(instruction);
    uint32_t number = cast_pointer(t, pointer, type), loaded = ++t->cast_count;
    if (bits)
        buf_printf(&t->out, "  %%c%u = ", loaded);
    else
        begin_result(t, instruction);
    buf_add(&t->out, LLVMGetVolatile(instruction) ? "load volatile " : "load ");
    typed_type(t, type);
    buf_add(&t->out, ", ");
    typed_cast_pointer(t, pointer, type, number);
    end_access(t, instruction);
    if (!bits)
        return;
    typed_attachments(t, instruction);
    buf_add(&t->out, "\n");
    begin_result(t, instruction);
    buf_printf(&t->out, "bitcast i16 %%c%u to half", loaded);
}

static void typed_store(TypedText *t, LLVMValueRef instruction)
{
    LLVMValueRef value = LLVMGetOperand(instruction, 0), pointer = LLVMGetOperand(instruction, 1);
    LLVMTypeRef bits = bits_of_half(t, LLVMTypeOf(value)), type = bits ? bits : LLVMTypeOf(value);
    uint32_t number = cast_pointer(t, pointer, type), stored = ++t->cast_count;
    if (bits) {
        buf_printf(&t->out, "  %%c%u = bitcast ", stored);
        typed_operand(t, value);
        buf_add(&t->out, " to i16\n");
    }
    buf_add(&t->out, LLVMGetVolatile(instruction) ? "  store volatile " : "  store ");
    if (bits)
        buf_printf(&t->out, "i16 %%c%u", stored);
    else
        typed_operand(t, value);
    buf_add(&t->out, ", ");
    typed_cast_pointer(t, pointer, type, number);
    end_access(t, instruction);
}

static void typed_gep(TypedText *t, LLVMValueRef instruction)
{
    LLVMValueRef base = LLVMGetOperand(instruction, 0);
    LLVMTypeRef source = LLVMGetGEPSourceElementType(instruction), element = typed_element(source, instruction);
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(base));
    uint32_t from = cast_pointer(t, base, source), to = ++t->cast_count;
    buf_printf(&t->out, "  %%c%u = getelementptr %s", to, LLVMIsInBounds(instruction) ? "inbounds " : "");
    typed_type(t, source);
    buf_add(&t->out, ", ");
    typed_cast_pointer(t, base, source, from);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(instruction); i++) {
        buf_add(&t->out, ", ");
        typed_operand(t, LLVMGetOperand(instruction, i));
    }
    buf_add(&t->out, "\n");
    begin_result(t, instruction);
    buf_add(&t->out, "bitcast ");
    typed_pointer(t, element, space);
    buf_printf(&t->out, " %%c%u to ", to);
    typed_type(t, LLVMTypeOf(instruction));
}

static void typed_alloca(TypedText *t, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMGetAllocatedType(instruction);
    uint32_t number = ++t->cast_count;
    buf_printf(&t->out, "  %%c%u = alloca ", number);
    typed_type(t, type);
    buf_add(&t->out, ", ");
    typed_operand(t, LLVMGetOperand(instruction, 0));
    end_access(t, instruction);
    buf_add(&t->out, "\n");
    begin_result(t, instruction);
    buf_add(&t->out, "bitcast ");
    typed_pointer(t, type, 0);
    buf_printf(&t->out, " %%c%u to i8*", number);
}

/* --- calls --------------------------------------------------------------------------------------------------------------------- */

static void typed_assembly(TypedText *t, LLVMValueRef assembly)
{
    size_t length;
    const char *text = LLVMGetInlineAsmAsmString(assembly, &length);
    buf_printf(&t->out, "asm %s", LLVMGetInlineAsmHasSideEffects(assembly) ? "sideeffect " : "");
    typed_quoted(t, text, length);
    text = LLVMGetInlineAsmConstraintString(assembly, &length);
    buf_add(&t->out, ", ");
    typed_quoted(t, text, length);
}

/* What a function is declared with is what it is called with, but where memory is passed by value. */
static void typed_callee(TypedText *t, LLVMValueRef call, uint32_t cast)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee))
        typed_assembly(t, callee);
    else if (cast)
        buf_printf(&t->out, "%%c%u", cast);
    else
        typed_global_name(t, callee);
}

static bool is_direct(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAInlineAsm(callee) ||
           (LLVMIsAFunction(callee) && LLVMGlobalGetValueType(callee) == LLVMGetCalledFunctionType(call));
}

static void typed_arguments(TypedText *t, LLVMValueRef call, const uint32_t *casts)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef argument = LLVMGetOperand(call, i);
        LLVMTypeRef by_value = typed_by_value(call, i);
        buf_add(&t->out, i ? ", " : "");
        if (by_value)
            typed_pointer(t, by_value, 0);
        else
            typed_type(t, LLVMTypeOf(argument));
        typed_attributes(t, call, i + 1);
        buf_add(&t->out, " ");
        if (by_value)
            buf_printf(&t->out, "%%c%u", casts[i]);
        else
            typed_value(t, argument);
    }
}

static void typed_call(TypedText *t, LLVMValueRef call)
{
    unsigned count = LLVMGetNumArgOperands(call);
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    uint32_t *casts = ARENA_ARRAY(t->emitter->arena, uint32_t, count + 1);
    for (unsigned i = 0; i < count; i++) {
        LLVMTypeRef by_value = typed_by_value(call, i);
        casts[i] = by_value ? cast_pointer(t, LLVMGetOperand(call, i), by_value) : 0;
    }
    uint32_t callee = is_direct(call) ? 0 : cast_pointer(t, LLVMGetCalledValue(call), type);
    if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
        buf_add(&t->out, "  ");
    else
        begin_result(t, call);
    buf_add(&t->out, "call");
    typed_flags(t, call);
    typed_attributes(t, call, LLVMAttributeReturnIndex);
    typed_type(t, LLVMIsFunctionVarArg(type) ? type : LLVMGetReturnType(type));
    buf_add(&t->out, " ");
    typed_callee(t, call, callee);
    buf_add(&t->out, "(");
    typed_arguments(t, call, casts);
    buf_add(&t->out, ")");
    typed_attributes(t, call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
}

/* --- control flow -------------------------------------------------------------------------------------------------------------- */

static void typed_branch(TypedText *t, LLVMValueRef instruction)
{
    buf_add(&t->out, "  br ");
    if (LLVMIsConditional(instruction)) {
        typed_operand(t, LLVMGetCondition(instruction));
        buf_add(&t->out, ", ");
        typed_label(t, LLVMGetSuccessor(instruction, 0));
        buf_add(&t->out, ", ");
    }
    typed_label(t, LLVMGetSuccessor(instruction, LLVMIsConditional(instruction) ? 1 : 0));
}

static void typed_switch(TypedText *t, LLVMValueRef instruction)
{
    buf_add(&t->out, "  switch ");
    typed_operand(t, LLVMGetOperand(instruction, 0));
    buf_add(&t->out, ", ");
    typed_label(t, LLVMGetSwitchDefaultDest(instruction));
    buf_add(&t->out, " [");
    for (unsigned i = 1; i < LLVMGetNumSuccessors(instruction); i++) {
        buf_add(&t->out, "\n    ");
        typed_operand(t, LLVMGetSwitchCaseValue(instruction, i));
        buf_add(&t->out, ", ");
        typed_label(t, LLVMGetSuccessor(instruction, i));
    }
    buf_add(&t->out, " ]");
}

static void typed_phi(TypedText *t, LLVMValueRef instruction)
{
    begin_result(t, instruction);
    buf_add(&t->out, "phi ");
    typed_type(t, LLVMTypeOf(instruction));
    for (unsigned i = 0; i < LLVMCountIncoming(instruction); i++) {
        buf_add(&t->out, i ? ", [ " : " [ ");
        typed_value(t, LLVMGetIncomingValue(instruction, i));
        buf_printf(&t->out, ", %%b%u ]", typed_number(t, LLVMGetIncomingBlock(instruction, i), &t->value_count));
    }
}

static void typed_return(TypedText *t, LLVMValueRef instruction)
{
    buf_add(&t->out, "  ret ");
    if (LLVMGetNumOperands(instruction))
        typed_operand(t, LLVMGetOperand(instruction, 0));
    else
        buf_add(&t->out, "void");
}

/* --- the rest ------------------------------------------------------------------------------------------------------------------- */

/* A word, the operands with their types, and numbers behind them. */
static void typed_plain(TypedText *t, LLVMValueRef instruction, const char *word)
{
    begin_result(t, instruction);
    buf_printf(&t->out, "%s ", word);
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(instruction); i++) {
        buf_add(&t->out, i ? ", " : "");
        typed_operand(t, LLVMGetOperand(instruction, i));
    }
}

static void typed_indexed(TypedText *t, LLVMValueRef instruction, const char *word)
{
    typed_plain(t, instruction, word);
    for (unsigned i = 0; i < LLVMGetNumIndices(instruction); i++)
        buf_printf(&t->out, ", %u", LLVMGetIndices(instruction)[i]);
}

static void typed_shuffle(TypedText *t, LLVMValueRef instruction)
{
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(instruction));
    typed_plain(t, instruction, "shufflevector");
    buf_printf(&t->out, ", <%u x i32> <", count);
    for (unsigned i = 0; i < count; i++) {
        int lane = LLVMGetMaskValue(instruction, i);
        if (lane == LLVMGetUndefMaskElem())
            buf_printf(&t->out, "%si32 undef", i ? ", " : "");
        else
            buf_printf(&t->out, "%si32 %d", i ? ", " : "", lane);
    }
    buf_add(&t->out, ">");
}

static void typed_other(TypedText *t, LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    switch (opcode) {
    case LLVMFNeg: typed_negation(t, instruction); return;
    case LLVMICmp:
    case LLVMFCmp: typed_comparison(t, instruction); return;
    case LLVMLoad: typed_load(t, instruction); return;
    case LLVMStore: typed_store(t, instruction); return;
    case LLVMGetElementPtr: typed_gep(t, instruction); return;
    case LLVMAlloca: typed_alloca(t, instruction); return;
    case LLVMCall: typed_call(t, instruction); return;
    case LLVMBr: typed_branch(t, instruction); return;
    case LLVMSwitch: typed_switch(t, instruction); return;
    case LLVMPHI: typed_phi(t, instruction); return;
    case LLVMRet: typed_return(t, instruction); return;
    case LLVMUnreachable: buf_add(&t->out, "  unreachable"); return;
    case LLVMSelect: typed_plain(t, instruction, "select"); return;
    case LLVMExtractElement: typed_plain(t, instruction, "extractelement"); return;
    case LLVMInsertElement: typed_plain(t, instruction, "insertelement"); return;
    case LLVMExtractValue: typed_indexed(t, instruction, "extractvalue"); return;
    case LLVMInsertValue: typed_indexed(t, instruction, "insertvalue"); return;
    case LLVMShuffleVector: typed_shuffle(t, instruction); return;
    default: typed_fail(t, arena_format(t->emitter->arena, "LLVM's instruction %d", (int)opcode)); return;
    }
}

void typed_instruction(TypedText *t, LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    t->place = instruction;
    const char *word = binary_word(opcode);
    if (word)
        typed_binary(t, instruction, word);
    else if ((word = cast_word(opcode)))
        typed_cast(t, instruction, word);
    else
        typed_other(t, instruction);
    if (!bits_of_half(t, LLVMTypeOf(instruction)))
        typed_attachments(t, instruction);
    buf_add(&t->out, "\n");
}
