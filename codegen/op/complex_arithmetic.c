/* Products, quotients and powers of complex numbers, as two floats each. */
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/op/arithmetic.h"
#include "codegen/op/complex_arithmetic.h"
#include "codegen/op/intrinsic_emit.h"
#include "codegen/op/value/parts.h"

void complex_multiply(Emitter *emitter, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out)
{
    LLVMValueRef reals = float_multiply(emitter, a[0], b[0]), imaginaries = float_multiply(emitter, a[1], b[1]);
    LLVMValueRef first = float_multiply(emitter, a[0], b[1]), second = float_multiply(emitter, a[1], b[0]);
    out[0] = float_subtract(emitter, reals, imaginaries);
    out[1] = float_add(emitter, first, second);
}

static LLVMValueRef magnitude(Emitter *emitter, LLVMValueRef value)
{
    return call_llvm(emitter, "llvm.fabs", LLVMTypeOf(value), 1, &value);
}

static LLVMValueRef choose(Emitter *emitter, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(emitter->builder, condition, yes, no, "");
}

/* Smith's method, as CPython divides: by the larger part of the divisor first, so that nothing overflows on the way. */
void complex_divide(Emitter *emitter, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out)
{
    LLVMValueRef of_real = magnitude(emitter, b[0]), of_imaginary = magnitude(emitter, b[1]);
    LLVMValueRef real_is_larger = LLVMBuildFCmp(emitter->builder, LLVMRealOGE, of_real, of_imaginary, "");
    LLVMValueRef larger = choose(emitter, real_is_larger, b[0], b[1]);
    LLVMValueRef smaller = choose(emitter, real_is_larger, b[1], b[0]);
    LLVMValueRef ratio = float_divide(emitter, smaller, larger);
    LLVMValueRef divisor = float_add(emitter, larger, float_multiply(emitter, smaller, ratio));
    LLVMValueRef first = choose(emitter, real_is_larger, a[0], a[1]);
    LLVMValueRef second = choose(emitter, real_is_larger, a[1], a[0]);
    LLVMValueRef real = float_add(emitter, first, float_multiply(emitter, second, ratio));
    LLVMValueRef scaled = float_multiply(emitter, first, ratio);
    LLVMValueRef less = float_subtract(emitter, second, scaled), more = float_subtract(emitter, scaled, second);
    LLVMValueRef imaginary = choose(emitter, real_is_larger, less, more);
    out[0] = float_divide(emitter, real, divisor);
    out[1] = float_divide(emitter, imaginary, divisor);
}

static LLVMValueRef math1(Emitter *emitter, IntrinsicId id, const Type *type, LLVMValueRef a)
{
    return emit_math(emitter, id, type, 1, &a);
}

static LLVMValueRef math2(Emitter *emitter, IntrinsicId id, const Type *type, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef both[2] = {a, b};
    return emit_math(emitter, id, type, 2, both);
}

static LLVMValueRef is_zero(Emitter *emitter, LLVMValueRef value)
{
    return LLVMBuildFCmp(emitter->builder, LLVMRealOEQ, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

/* |a| ** b and the angle of a times b, in polar form; what numba gives for zero bases and exponents. */
void complex_power(Emitter *emitter, const Type *type, const LLVMValueRef *a, const LLVMValueRef *b, LLVMValueRef *out)
{
    const Type *part = type->scalar == SCALAR_COMPLEX64 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
    LLVMValueRef zero = LLVMConstNull(part_type(emitter, part)), one = LLVMConstReal(part_type(emitter, part), 1);
    LLVMValueRef size = math2(emitter, INTRINSIC_HYPOT, part, a[0], a[1]);
    LLVMValueRef angle = math2(emitter, INTRINSIC_ATAN2, part, a[1], a[0]);
    LLVMValueRef length = math2(emitter, INTRINSIC_MATH_POW, part, size, b[0]);
    LLVMValueRef phase = float_multiply(emitter, angle, b[0]);
    LLVMValueRef shrink = math1(emitter, INTRINSIC_EXP, part, float_multiply(emitter, angle, b[1]));
    LLVMValueRef turn = float_multiply(emitter, b[1], math1(emitter, INTRINSIC_LOG_NATURAL, part, size));
    LLVMValueRef is_real = is_zero(emitter, b[1]);
    length = choose(emitter, is_real, length, float_divide(emitter, length, shrink));
    phase = choose(emitter, is_real, phase, float_add(emitter, phase, turn));
    out[0] = float_multiply(emitter, length, math1(emitter, INTRINSIC_COS, part, phase));
    out[1] = float_multiply(emitter, length, math1(emitter, INTRINSIC_SIN, part, phase));
    LLVMValueRef zero_base = is_zero(emitter, a[0]);
    zero_base = LLVMBuildAnd(emitter->builder, zero_base, is_zero(emitter, a[1]), "");
    LLVMValueRef shrinks = LLVMBuildFCmp(emitter->builder, LLVMRealUGE, b[0], zero, "");
    zero_base = LLVMBuildAnd(emitter->builder, zero_base, shrinks, "");
    LLVMValueRef zero_exponent = LLVMBuildAnd(emitter->builder, is_zero(emitter, b[0]), is_real, "");
    out[0] = choose(emitter, zero_exponent, one, choose(emitter, zero_base, zero, out[0]));
    out[1] = choose(emitter, zero_exponent, zero, choose(emitter, zero_base, zero, out[1]));
}
