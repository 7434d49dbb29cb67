/* Intrinsics of intrinsic.def, by their kind: registers and device operations as the target does them, mathematics as an
 * LLVM intrinsic or a symbol of the math library. */
#include <string.h>

#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/memory/array_emit.h"
#include "codegen/op/value/convert.h"
#include "codegen/op/value/integer_emit.h"
#include "codegen/op/intrinsic_emit.h"
#include "codegen/op/value/parts.h"
#include "codegen/op/value/small_float.h"

/* The type's own name for messages; in the arena. */
static const char *describe(Emitter *emitter, const Type *type)
{
    Buf text = {0};
    type_describe(&text, type);
    const char *copy = arena_string(emitter->arena, buf_text(&text));
    buf_free(&text);
    return copy;
}

static const char *target_name(Emitter *emitter)
{
    return emitter->target->kind == TARGET_NVPTX ? emitter->target->gpu->name : "the CPU device";
}

static const char *first_spelling(Emitter *emitter, IntrinsicId id)
{
    const IntrinsicInfo *info = &intrinsic_info[id];
    size_t length = strcspn(info->path, " ");
    return length ? arena_format(emitter->arena, "%.*s", (int)length, info->path) : info->id;
}

/* --- mathematics ------------------------------------------------------------------------------------------------------------ */

/* LLVM takes fmod for a remainder that is never NaN once the dividend is finite and the divisor not known to be 0, and
 * forgets that the divisor may be NaN. So it must not know the function. */
static void hide_from_llvm(Emitter *emitter, LLVMValueRef call)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("nobuiltin", strlen("nobuiltin"));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(emitter->context, kind, 0));
}

static LLVMValueRef call_math(Emitter *emitter, IntrinsicId id, LLVMTypeRef type, uint32_t count,
                              LLVMValueRef *arguments)
{
    const char *symbol = emitter->lowering->math_symbol(emitter, id, type == emitter->f64);
    LLVMValueRef result = !strncmp(symbol, "llvm.", 5) ? call_llvm(emitter, symbol, type, count, arguments)
                                                       : call_pure(emitter, symbol, type, count, arguments);
    if (id == INTRINSIC_FMOD)
        hide_from_llvm(emitter, result);
    if (emitter->lowering->describe_math_call)
        emitter->lowering->describe_math_call(emitter, symbol, result);
    return with_flags(result, emitter->division_flags);
}

LLVMValueRef emit_math(Emitter *emitter, IntrinsicId id, const Type *type, uint32_t count, LLVMValueRef *arguments)
{
    if (!type_is_half(type))
        return call_math(emitter, id, part_type(emitter, type), count, arguments);
    LLVMValueRef wide[4];
    for (uint32_t i = 0; i < count; i++)
        wide[i] = float_cast(emitter, arguments[i], emitter->f32);
    LLVMValueRef result = call_math(emitter, id, emitter->f32, count, wide);
    return float_cast(emitter, result, part_type(emitter, type));
}

static bool emit_math_intrinsic(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[4];
    if (value->type->kind != TYPE_FLOAT || value->operand_count > 4)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        arguments[i] = operand_scalar(emitter, value, i);
    out[0] = emit_math(emitter, value->intrinsic, value->type, value->operand_count, arguments);
    return true;
}

/* A function of the math library that is no row of its own: the same name on both devices but for libdevice's prefix. */
static LLVMValueRef call_library(Emitter *emitter, const char *name, LLVMTypeRef type, uint32_t count,
                                 LLVMValueRef *arguments)
{
    const char *prefix = emitter->target->kind == TARGET_NVPTX ? "__nv_" : "";
    const char *symbol = arena_format(emitter->arena, "%s%s%s", prefix, name, type == emitter->f64 ? "" : "f");
    return call_pure(emitter, symbol, type, count, arguments);
}

static void emit_ldexp(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef arguments[2] = {operand_scalar(emitter, value, 0), operand_scalar(emitter, value, 1)};
    if (type_is_half(value->type))
        arguments[0] = float_cast(emitter, arguments[0], emitter->f32);
    out[0] = call_library(emitter, "ldexp", LLVMTypeOf(arguments[0]), 2, arguments);
    out[0] = float_cast(emitter, out[0], part_type(emitter, value->type));
}

/* The bits of a float around its exponent. */
typedef struct FloatShape {
    LLVMTypeRef bits;
    unsigned fraction_bits;
    uint64_t exponent_mask; /* at bit 0 */
} FloatShape;

static FloatShape shape_of(Emitter *emitter, LLVMTypeRef type)
{
    return type == emitter->f64 ? (FloatShape){emitter->i64, 52, 0x7ff} : (FloatShape){emitter->i32, 23, 0xff};
}

/* x * 2 ** fraction_bits where x is below the smallest normal number, so that its exponent can be read. */
static LLVMValueRef normalized(Emitter *emitter, LLVMValueRef x, const FloatShape *shape, LLVMValueRef *is_small)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef smallest = LLVMConstReal(type, type == emitter->f64 ? 0x1p-1022 : 0x1p-126);
    LLVMValueRef size = call_llvm(emitter, "llvm.fabs", type, 1, &x);
    *is_small = LLVMBuildFCmp(emitter->builder, LLVMRealOLT, size, smallest, "");
    LLVMValueRef scale = LLVMConstReal(type, (double)(1ull << shape->fraction_bits));
    return LLVMBuildSelect(emitter->builder, *is_small, LLVMBuildFMul(emitter->builder, x, scale, ""), x, "");
}

/* Zero, infinity and NaN have no fraction in [0.5, 1): they stay, with the exponent 0. */
static LLVMValueRef is_ordinary(Emitter *emitter, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef size = call_llvm(emitter, "llvm.fabs", type, 1, &x);
    LLVMValueRef infinity = LLVMConstReal(type, __builtin_inf());
    LLVMValueRef is_finite = LLVMBuildFCmp(emitter->builder, LLVMRealOLT, size, infinity, "");
    LLVMValueRef is_nonzero = LLVMBuildFCmp(emitter->builder, LLVMRealUNE, x, LLVMConstNull(type), "");
    return LLVMBuildAnd(emitter->builder, is_finite, is_nonzero, "");
}

static LLVMValueRef wide_argument(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef x = operand_scalar(emitter, value, 0);
    return type_is_half(value->operands[0]->type) ? float_cast(emitter, x, emitter->f32) : x;
}

static void emit_frexp_fraction(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef x = wide_argument(emitter, value), is_small;
    FloatShape shape = shape_of(emitter, LLVMTypeOf(x));
    LLVMValueRef bits = LLVMBuildBitCast(builder, normalized(emitter, x, &shape, &is_small), shape.bits, "");
    LLVMValueRef kept = LLVMConstInt(shape.bits, ~(shape.exponent_mask << shape.fraction_bits), false);
    LLVMValueRef half = LLVMConstInt(shape.bits, (shape.exponent_mask / 2 - 1) << shape.fraction_bits, false);
    bits = LLVMBuildOr(builder, LLVMBuildAnd(builder, bits, kept, ""), half, "");
    LLVMValueRef fraction = LLVMBuildBitCast(builder, bits, LLVMTypeOf(x), "");
    fraction = LLVMBuildSelect(builder, is_ordinary(emitter, x), fraction, x, "");
    out[0] = float_cast(emitter, fraction, part_type(emitter, value->type));
}

static void emit_frexp_exponent(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef x = wide_argument(emitter, value), is_small;
    FloatShape shape = shape_of(emitter, LLVMTypeOf(x));
    LLVMValueRef bits = LLVMBuildBitCast(builder, normalized(emitter, x, &shape, &is_small), shape.bits, "");
    bits = LLVMBuildLShr(builder, bits, LLVMConstInt(shape.bits, shape.fraction_bits, false), "");
    bits = LLVMBuildAnd(builder, bits, LLVMConstInt(shape.bits, shape.exponent_mask, false), "");
    LLVMValueRef exponent = LLVMBuildIntCast2(builder, bits, emitter->i32, false, "");
    int bias = (int)(shape.exponent_mask / 2 - 1);
    LLVMValueRef shift = LLVMBuildSelect(builder, is_small, const_i32(emitter, bias + (int)shape.fraction_bits),
                                         const_i32(emitter, bias), "");
    exponent = LLVMBuildSub(builder, exponent, shift, "");
    exponent = LLVMBuildSelect(builder, is_ordinary(emitter, x), exponent, const_i32(emitter, 0), "");
    out[0] = LLVMBuildIntCast2(builder, exponent, part_type(emitter, value->type), true, "");
}

/* --- libdevice ----------------------------------------------------------------------------------------------------------------- */

enum { RESULT_BYTES = 8 }; /* of memory for a result that comes through a pointer */

/* The call, with memory for the results that the C function leaves behind pointers. */
static bool emit_libdevice(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    IntrinsicSignature signature = intrinsic_signature(value->intrinsic);
    LLVMValueRef arguments[6];
    LLVMTypeRef types[6], result = emitter->void_type;
    uint32_t count = signature.argument_count, first = signature.returns_nothing ? 0 : 1;
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = operand_scalar(emitter, value, i);
    for (uint32_t i = first; i < signature.result_count; i++)
        arguments[count++] = prologue_alloca(emitter, RESULT_BYTES, RESULT_BYTES);
    for (uint32_t i = 0; i < count; i++)
        types[i] = LLVMTypeOf(arguments[i]);
    if (first)
        result = part_type(emitter, signature.results[0]);
    const char *path = intrinsic_info[value->intrinsic].path;
    const char *symbol = arena_format(emitter->arena, "__nv_%s", strrchr(path, '.') + 1);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    LLVMValueRef function = LLVMGetNamedFunction(emitter->llvm_module, symbol);
    if (!function)
        function = LLVMAddFunction(emitter->llvm_module, symbol, type);
    LLVMValueRef call = LLVMBuildCall2(emitter->builder, type, function, arguments, count, "");
    if (first)
        out[0] = call;
    for (uint32_t i = first; i < signature.result_count; i++)
        out[i] = LLVMBuildLoad2(emitter->builder, part_type(emitter, signature.results[i]),
                                arguments[signature.argument_count + i - first], "");
    return true;
}

/* DEVICE intrinsics that are the same on both devices. */
static bool emit_common(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    switch (value->intrinsic) {
    case INTRINSIC_LDEXP_SCALE: emit_ldexp(emitter, value, out); return true;
    case INTRINSIC_FREXP_FRACTION: emit_frexp_fraction(emitter, value, out); return true;
    case INTRINSIC_FREXP_EXPONENT: emit_frexp_exponent(emitter, value, out); return true;
    case INTRINSIC_CUDA_WIDE_LOAD: emit_wide_load(emitter, value, out); return true;
    case INTRINSIC_CUDA_WIDE_STORE: emit_wide_store(emitter, value); return true;
    default: return emit_integer_intrinsic(emitter, value, out);
    }
}

/* --- all kinds --------------------------------------------------------------------------------------------------------------- */

static bool emit_register(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    LLVMValueRef number = emitter->lowering->read_register(emitter, value->intrinsic);
    if (!number)
        return false;
    const Type *row = intrinsic_info[value->intrinsic].type;
    convert_parts(emitter, row, value->type, &number, out);
    return true;
}

/* LLVM ends the process over an instruction that the architecture does not have. */
static bool is_elsewhere(Emitter *emitter, IntrinsicId id)
{
    const IntrinsicInfo *info = &intrinsic_info[id];
    if (emitter->target->kind != TARGET_NVPTX)
        return false;
    return info->sm > emitter->target->gpu->sm ||
           (info->effects & EFFECT_SPECIFIC && info->sm != emitter->target->gpu->sm);
}

static const char *why_not(Emitter *emitter, const IrValue *value)
{
    const IntrinsicInfo *info = &intrinsic_info[value->intrinsic];
    if (is_elsewhere(emitter, value->intrinsic))
        return arena_format(emitter->arena, ": sm_%d %s", info->sm,
                            info->effects & EFFECT_SPECIFIC ? "alone has it" : "is the first that has it");
    return value->type->kind == TYPE_NONE ? ""
                                          : arena_format(emitter->arena, " (for %s)", describe(emitter, value->type));
}

void emit_op_INTRINSIC(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    bool done = false;
    switch (is_elsewhere(emitter, value->intrinsic) ? INTRINSIC_KIND_NONE : intrinsic_info[value->intrinsic].kind) {
    case INTRINSIC_KIND_REGISTER: done = emit_register(emitter, value, out); break;
    case INTRINSIC_KIND_MATH: done = emit_math_intrinsic(emitter, value, out); break;
    case INTRINSIC_KIND_LIBDEVICE: done = emit_libdevice(emitter, value, out); break;
    case INTRINSIC_KIND_DEVICE:
        done = emit_common(emitter, value, out) || emitter->lowering->device_intrinsic(emitter, value, out);
        break;
    case INTRINSIC_KIND_BUILTIN:
    case INTRINSIC_KIND_NONE: break;
    }
    if (!done)
        diag_fail(emitter->diag, &value->pos, DIAG_INTRINSIC_TARGET, first_spelling(emitter, value->intrinsic),
                  target_name(emitter), why_not(emitter, value));
}
