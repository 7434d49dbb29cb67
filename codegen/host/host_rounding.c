/* Arithmetic in a rounding mode (one of fenv.h), for code of the CPU device: floating point code that LLVM makes is always in the
 * mode "to nearest". Operands go through volatile variables, so that no operation leaves its place between the modes. */
#include "codegen/host/host_rounding.h"

#include <fenv.h>
#include <math.h>

#define ROUNDED(type, expression) \
    volatile type result;         \
    fesetround(mode);             \
    result = (expression);        \
    fesetround(FE_TONEAREST);     \
    return result

#define ARITHMETIC(suffix, type, root, fused)                   \
    type rounded_add_##suffix(type x, type y, int mode)         \
    {                                                           \
        volatile type a = x, b = y;                             \
        ROUNDED(type, a + b);                                   \
    }                                                           \
    type rounded_mul_##suffix(type x, type y, int mode)         \
    {                                                           \
        volatile type a = x, b = y;                             \
        ROUNDED(type, a * b);                                   \
    }                                                           \
    type rounded_div_##suffix(type x, type y, int mode)         \
    {                                                           \
        volatile type a = x, b = y;                             \
        ROUNDED(type, a / b);                                   \
    }                                                           \
    type rounded_sqrt_##suffix(type x, int mode)                \
    {                                                           \
        volatile type a = x;                                    \
        ROUNDED(type, root(a));                                 \
    }                                                           \
    type rounded_fma_##suffix(type x, type y, type z, int mode) \
    {                                                           \
        volatile type a = x, b = y, c = z;                      \
        ROUNDED(type, fused(a, b, c));                          \
    }                                                           \
    type rounded_i64_##suffix(int64_t x, int mode)              \
    {                                                           \
        volatile int64_t a = x;                                 \
        ROUNDED(type, (type)a);                                 \
    }                                                           \
    type rounded_u64_##suffix(uint64_t x, int mode)             \
    {                                                           \
        volatile uint64_t a = x;                                \
        ROUNDED(type, (type)a);                                 \
    }

ARITHMETIC(f32, float, sqrtf, fmaf)
ARITHMETIC(f64, double, sqrt, fma)

float rounded_f64_f32(double x, int mode)
{
    volatile double a = x;
    ROUNDED(float, (float)a);
}
