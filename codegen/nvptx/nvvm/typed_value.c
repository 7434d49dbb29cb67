/* Types, constants and names in LLVM 7's text. */
#include "codegen/nvptx/nvvm/typed_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codegen/nvptx/nvvm/llvm7_rewrite.h"

bool typed_fail(TypedText *t, const char *what)
{
    if (!t->failed && t->place)
        fail_for_llvm7(t->emitter, t->place, what);
    else if (!t->failed)
        diag_fail(t->emitter->diag, NULL, DIAG_LLVM7, t->emitter->target->gpu->sm / 10,
                  t->emitter->target->gpu->sm % 10, what, "the module");
    t->failed = true;
    return false;
}

uint32_t typed_number(TypedText *t, const void *thing, uint32_t *count)
{
    uintptr_t number = (uintptr_t)table_get(t->numbers, &thing, sizeof thing);
    if (!number) {
        number = ++*count;
        table_set(t->numbers, &thing, sizeof thing, (void *)number); /* NOLINT: a number, not an address */
    }
    return (uint32_t)number;
}

/* --- types ----------------------------------------------------------------------------------------------------------------- */

void typed_space(TypedText *t, unsigned space)
{
    if (space)
        buf_printf(&t->out, "addrspace(%u) ", space);
}

void typed_pointer(TypedText *t, LLVMTypeRef pointee, unsigned space)
{
    typed_type(t, pointee);
    if (space)
        buf_printf(&t->out, " addrspace(%u)", space);
    buf_add(&t->out, "*");
}

static void typed_struct(TypedText *t, LLVMTypeRef type)
{
    bool is_packed = LLVMIsPackedStruct(type);
    buf_add(&t->out, is_packed ? "<{ " : "{ ");
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        buf_add(&t->out, i ? ", " : "");
        typed_type(t, LLVMStructGetTypeAtIndex(type, i));
    }
    buf_add(&t->out, is_packed ? " }>" : " }");
}

static void typed_function(TypedText *t, LLVMTypeRef type)
{
    unsigned count = LLVMCountParamTypes(type);
    LLVMTypeRef *types = ARENA_ARRAY(t->emitter->arena, LLVMTypeRef, count + 1);
    LLVMGetParamTypes(type, types);
    typed_type(t, LLVMGetReturnType(type));
    buf_add(&t->out, " (");
    for (unsigned i = 0; i < count; i++) {
        buf_add(&t->out, i ? ", " : "");
        typed_type(t, types[i]);
    }
    buf_add(&t->out, LLVMIsFunctionVarArg(type) ? count ? ", ...)" : "...)" : ")");
}

void typed_type(TypedText *t, LLVMTypeRef type)
{
    Buf *out = &t->out;
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind: buf_add(out, "void"); return;
    case LLVMHalfTypeKind: buf_add(out, "half"); return;
    case LLVMBFloatTypeKind: buf_add(out, "i16"); return; /* only its bits are there */
    case LLVMFloatTypeKind: buf_add(out, "float"); return;
    case LLVMDoubleTypeKind: buf_add(out, "double"); return;
    case LLVMIntegerTypeKind: buf_printf(out, "i%u", LLVMGetIntTypeWidth(type)); return;
    case LLVMPointerTypeKind: typed_pointer(t, t->emitter->i8, LLVMGetPointerAddressSpace(type)); return;
    case LLVMStructTypeKind: typed_struct(t, type); return;
    case LLVMFunctionTypeKind: typed_function(t, type); return;
    case LLVMArrayTypeKind: buf_printf(out, "[%" PRIu64 " x ", (uint64_t)LLVMGetArrayLength2(type)); break;
    case LLVMVectorTypeKind: buf_printf(out, "<%u x ", LLVMGetVectorSize(type)); break;
    default: typed_fail(t, "a type"); return;
    }
    typed_type(t, LLVMGetElementType(type));
    buf_add(out, LLVMGetTypeKind(type) == LLVMArrayTypeKind ? "]" : ">");
}

LLVMTypeRef typed_element(LLVMTypeRef source, LLVMValueRef instruction)
{
    for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(instruction); i++)
        source =
            LLVMGetTypeKind(source) == LLVMStructTypeKind
                ? LLVMStructGetTypeAtIndex(source, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, i)))
                : LLVMGetElementType(source);
    return source;
}

/* --- names -------------------------------------------------------------------------------------------------------------------- */

void typed_quoted(TypedText *t, const char *text, size_t length)
{
    buf_add(&t->out, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            buf_printf(&t->out, "\\%02X", c);
        else
            buf_add_bytes(&t->out, text + i, 1);
    }
    buf_add(&t->out, "\"");
}

/* With the types of what an intrinsic is overloaded for: ".p0" is ".p0i8" there. */
static const char *intrinsic_name(TypedText *t, const char *name)
{
    Buf text = {0};
    for (const char *c = name; *c; c++) {
        buf_add_bytes(&text, c, 1);
        bool is_pointer = c[0] == '.' && c[1] == 'p' && c[2] >= '0' && c[2] <= '9';
        if (!is_pointer)
            continue;
        size_t digits = strspn(c + 2, "0123456789");
        buf_add_bytes(&text, c + 1, digits + 1);
        buf_add(&text, "i8");
        c += digits + 1;
    }
    name = arena_string(t->emitter->arena, buf_text(&text));
    buf_free(&text);
    return name;
}

void typed_global_name(TypedText *t, LLVMValueRef global)
{
    size_t length;
    const char *name = LLVMGetValueName2(global, &length);
    if (LLVMIsAFunction(global) && LLVMGetIntrinsicID(global)) {
        name = intrinsic_name(t, name);
        length = strlen(name);
    }
    buf_add(&t->out, "@");
    if (length)
        typed_quoted(t, name, length);
    else
        buf_printf(&t->out, "cujit.unnamed.%u", typed_number(t, global, &t->value_count));
}

/* --- constants ------------------------------------------------------------------------------------------------------------------ */

static void typed_real(TypedText *t, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), bits_type = NULL;
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(t->emitter->data_layout, type);
    bits_type = LLVMIntTypeInContext(t->emitter->context, bits);
    uint64_t pattern = LLVMConstIntGetZExtValue(LLVMConstBitCast(value, bits_type));
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind: buf_printf(&t->out, "0xH%04" PRIX64, pattern); return;
    case LLVMBFloatTypeKind: buf_printf(&t->out, "%" PRIu64, pattern); return;
    case LLVMDoubleTypeKind: buf_printf(&t->out, "0x%016" PRIX64, pattern); return;
    default: break;
    }
    /* float is written as the double of the same value, a NaN with the same fraction */
    enum { FRACTION = 23, EXPONENT = 0xff, SHIFT = 52 - FRACTION };
    uint64_t sign = pattern >> 31, fraction = pattern & ((1u << FRACTION) - 1);
    uint32_t word = (uint32_t)pattern;
    float number;
    memcpy(&number, &word, sizeof number);
    double wide = number;
    uint64_t wide_pattern;
    memcpy(&wide_pattern, &wide, sizeof wide);
    if (isnan(number))
        wide_pattern = sign << 63 | 0x7ffull << 52 | fraction << SHIFT;
    buf_printf(&t->out, "0x%016" PRIX64, wide_pattern);
}

/* Of any width: behind the type as LLVM prints it. */
static void typed_integer(TypedText *t, LLVMValueRef value)
{
    char *text = LLVMPrintValueToString(value);
    const char *number = strchr(text, ' ');
    buf_add(&t->out, number ? number + 1 : text);
    LLVMDisposeMessage(text);
}

static unsigned aggregate_size(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMStructTypeKind: return LLVMCountStructElementTypes(type);
    case LLVMArrayTypeKind: return (unsigned)LLVMGetArrayLength2(type);
    default: return LLVMGetVectorSize(type);
    }
}

static void typed_aggregate(TypedText *t, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool is_packed = kind == LLVMStructTypeKind && LLVMIsPackedStruct(type);
    const char *opening = kind == LLVMStructTypeKind ? is_packed ? "<{ " : "{ " : kind == LLVMArrayTypeKind ? "[" : "<";
    const char *closing = kind == LLVMStructTypeKind ? is_packed ? " }>" : " }" : kind == LLVMArrayTypeKind ? "]" : ">";
    buf_add(&t->out, opening);
    for (unsigned i = 0; i < aggregate_size(type); i++) {
        buf_add(&t->out, i ? ", " : "");
        typed_operand(t, LLVMGetAggregateElement(value, i));
    }
    buf_add(&t->out, closing);
}

static void typed_global(TypedText *t, LLVMValueRef value)
{
    buf_add(&t->out, "bitcast (");
    typed_pointer(t, LLVMGlobalGetValueType(value), LLVMGetPointerAddressSpace(LLVMTypeOf(value)));
    buf_add(&t->out, " ");
    typed_global_name(t, value);
    buf_add(&t->out, " to ");
    typed_type(t, LLVMTypeOf(value));
    buf_add(&t->out, ")");
}

/* bitcast (float* getelementptr (float, float* bitcast (i8* @x to float*), i64 3) to i8*) */
static void typed_constant_gep(TypedText *t, LLVMValueRef value)
{
    LLVMTypeRef source = LLVMGetGEPSourceElementType(value), base = LLVMTypeOf(LLVMGetOperand(value, 0));
    unsigned space = LLVMGetPointerAddressSpace(base);
    buf_add(&t->out, "bitcast (");
    typed_pointer(t, typed_element(source, value), space);
    buf_add(&t->out, LLVMIsInBounds(value) ? " getelementptr inbounds (" : " getelementptr (");
    typed_type(t, source);
    buf_add(&t->out, ", ");
    typed_pointer(t, source, space);
    buf_add(&t->out, " bitcast (");
    typed_operand(t, LLVMGetOperand(value, 0));
    buf_add(&t->out, " to ");
    typed_pointer(t, source, space);
    buf_add(&t->out, ")");
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(value); i++) {
        buf_add(&t->out, ", ");
        typed_operand(t, LLVMGetOperand(value, i));
    }
    buf_add(&t->out, ") to ");
    typed_type(t, LLVMTypeOf(value));
    buf_add(&t->out, ")");
}

static void typed_constant_cast(TypedText *t, LLVMValueRef value, const char *word)
{
    buf_printf(&t->out, "%s (", word);
    typed_operand(t, LLVMGetOperand(value, 0));
    buf_add(&t->out, " to ");
    typed_type(t, LLVMTypeOf(value));
    buf_add(&t->out, ")");
}

static void typed_constant_pair(TypedText *t, LLVMValueRef value, const char *word)
{
    buf_printf(&t->out, "%s (", word);
    typed_operand(t, LLVMGetOperand(value, 0));
    buf_add(&t->out, ", ");
    typed_operand(t, LLVMGetOperand(value, 1));
    buf_add(&t->out, ")");
}

static void typed_expression(TypedText *t, LLVMValueRef value)
{
    switch (LLVMGetConstOpcode(value)) {
    case LLVMGetElementPtr: typed_constant_gep(t, value); return;
    case LLVMAddrSpaceCast: typed_constant_cast(t, value, "addrspacecast"); return;
    case LLVMPtrToInt:
    case LLVMPtrToAddr: typed_constant_cast(t, value, "ptrtoint"); return;
    case LLVMIntToPtr: typed_constant_cast(t, value, "inttoptr"); return;
    case LLVMBitCast: typed_constant_cast(t, value, "bitcast"); return;
    case LLVMTrunc: typed_constant_cast(t, value, "trunc"); return;
    case LLVMAdd: typed_constant_pair(t, value, "add"); return;
    case LLVMSub: typed_constant_pair(t, value, "sub"); return;
    case LLVMXor: typed_constant_pair(t, value, "xor"); return;
    default: typed_fail(t, "a constant expression"); return;
    }
}

static bool is_aggregate(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind || kind == LLVMVectorTypeKind;
}

static void typed_constant(TypedText *t, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    size_t length;
    if (LLVMIsUndef(value) || LLVMIsPoison(value))
        buf_add(&t->out, "undef");
    else if (LLVMIsAConstantInt(value))
        typed_integer(t, value);
    else if (LLVMIsAConstantFP(value))
        typed_real(t, value);
    else if (LLVMIsNull(value))
        buf_add(&t->out, LLVMGetTypeKind(type) == LLVMPointerTypeKind ? "null" : "zeroinitializer");
    else if (LLVMIsAGlobalValue(value))
        typed_global(t, value);
    else if (LLVMIsAConstantExpr(value))
        typed_expression(t, value);
    else if (LLVMIsConstantString(value)) {
        const char *text = LLVMGetAsString(value, &length);
        buf_add(&t->out, "c");
        typed_quoted(t, text, length);
    } else if (is_aggregate(type))
        typed_aggregate(t, value);
    else
        typed_fail(t, "a constant");
}

void typed_value(TypedText *t, LLVMValueRef value)
{
    if (LLVMIsConstant(value))
        typed_constant(t, value);
    else
        buf_printf(&t->out, "%%v%u", typed_number(t, value, &t->value_count));
}

void typed_operand(TypedText *t, LLVMValueRef value)
{
    typed_type(t, LLVMTypeOf(value));
    buf_add(&t->out, " ");
    typed_value(t, value);
}
