/* Functions of float32 numbers, computed in float64 with errors near 2**-32, so that results are nearly always the
 * nearest ones. Arguments are float32 numbers; those for which trigonometric functions are not made are too_large_32. */
#ifndef CUJIT_CODEGEN_LANE32_H
#define CUJIT_CODEGEN_LANE32_H

#include "codegen/host/elementary/coefficients.h"
#include "codegen/host/elementary/lane.h"

/* --- trigonometry ----------------------------------------------------------------------------------------------------------- */

/* Sine and cosine of what x is beyond a multiple of pi / 2. */
typedef struct Angle32 {
    double sine, cosine;
    uint64_t quarters;
} Angle32;

LANE uint64_t too_large_32(double x) { return is_between(fabs(x), 0x1p40, INFINITE); }

LANE Angle32 angle32(double x)
{
    Angle32 angle;
    double n = nearest(x, 2 / PI_HIGH, &angle.quarters);
    double r = fma(-n, PI_LOW / 2, fma(-n, PI_HIGH / 2, x));
    double z = r * r;
    angle.sine = r * fma(z, SIN32(z), 1);
    angle.cosine = fma(z, fma(z, COS32(z), -0.5), 1);
    return angle;
}

LANE double sin32(double x)
{
    Angle32 angle = angle32(x);
    return negated_if(angle.quarters & 1 ? angle.cosine : angle.sine, angle.quarters >> 1);
}

LANE double cos32(double x)
{
    Angle32 angle = angle32(x);
    return negated_if(angle.quarters & 1 ? angle.sine : angle.cosine, (angle.quarters + 1) >> 1);
}

LANE double tan32(double x)
{
    Angle32 angle = angle32(x);
    double above = angle.quarters & 1 ? -angle.cosine : angle.sine;
    return above / (angle.quarters & 1 ? angle.sine : angle.cosine);
}

LANE double asin_from_zero_32(double a)
{
    double z = a < 0.5 ? a * a : (1 - a) * 0.5;
    double s = a < 0.5 ? a : sqrt(z);
    return s * fma(z, ASIN32(z), 1);
}

LANE double asin32(double x)
{
    double a = fabs(x), p = asin_from_zero_32(a);
    return copysign(a < 0.5 ? p : PI_HIGH / 2 - 2 * p, x);
}

LANE double acos32(double x)
{
    double a = fabs(x), p = asin_from_zero_32(a);
    double far = x > 0 ? 2 * p : PI_HIGH - 2 * p;
    return a < 0.5 ? PI_HIGH / 2 - copysign(p, x) : far;
}

/* Of a number from 0 to 1. */
LANE double atan_to_one_32(double t)
{
    double z = t * t;
    return t * fma(z, ATAN32(z), 1);
}

LANE double atan32(double x)
{
    double a = fabs(x);
    double p = atan_to_one_32((a > 1 ? 1 : a) / (a > 1 ? a : 1));
    return copysign(a > 1 ? PI_HIGH / 2 - p : p, x);
}

LANE double atan2_32(double y, double x)
{
    double a = fabs(y), b = fabs(x);
    double less = a > b ? b : a, more = a > b ? a : b;
    double equal = less == 0 ? 0 : 1;
    double p = atan_to_one_32(less == more ? equal : less / more);
    p = a > b ? PI_HIGH / 2 - p : p;
    p = bits_of(x) >> 63 ? PI_HIGH - p : p;
    return copysign(p, y);
}

/* --- exponential functions ------------------------------------------------------------------------------------------------------ */

/* e**r of a number from -ln(2) / 2 to ln(2) / 2, times 2**n. */
LANE double exp_near_zero_32(double r, uint64_t n) { return fma(r, fma(r, EXP32(r), 1), 1) * power_of_two(n); }

LANE double exp32(double x)
{
    uint64_t bits;
    x = limited(x, -500, 500);
    double n = nearest(x, LOG2_E, &bits);
    return exp_near_zero_32(fma(-n, LN2, x), bits);
}

LANE double exp2_32(double x)
{
    uint64_t bits;
    x = limited(x, -700, 700);
    double n = nearest(x, 1, &bits);
    return exp_near_zero_32((x - n) * LN2, bits);
}

/* Has the relative precision near 0, too. */
LANE double exp_less_one_32(double x)
{
    uint64_t bits;
    x = limited(x, -500, 500);
    double n = nearest(x, LOG2_E, &bits), r = fma(-n, LN2, x);
    double power = power_of_two(bits);
    return fma(power, r * fma(r, EXP32(r), 1), power - 1);
}

LANE double expm1_32(double x) { return copysign(exp_less_one_32(x), x); }

LANE double sinh32(double x)
{
    double e = exp_less_one_32(fabs(x));
    return copysign(0.5 * (e + e / (e + 1)), x);
}

LANE double cosh32(double x)
{
    double e = exp32(fabs(x));
    return 0.5 * (e + 1 / e);
}

LANE double tanh32(double x)
{
    double e = exp_less_one_32(2 * fabs(x));
    return copysign(e / (e + 2), x);
}

/* --- logarithms ----------------------------------------------------------------------------------------------------------------- */

/* Not of 0, negative, infinite numbers and NaN. */
LANE double log_inside_32(double x, double *exponent)
{
    Split split = split_normal(x);
    double f = split.fraction;
    *exponent = split.exponent;
    return f * fma(f, LOG32(f), 1);
}

LANE double log32(double x)
{
    double exponent, y = log_inside_32(x, &exponent);
    return logarithm_at(x, fma(exponent, LN2, y));
}

LANE double log2_32(double x)
{
    double exponent, y = log_inside_32(x, &exponent);
    return logarithm_at(x, fma(y, LOG2_E, exponent));
}

LANE double log10_32(double x)
{
    double exponent, y = log_inside_32(x, &exponent);
    return logarithm_at(x, fma(y, LOG10_E, exponent * (LOG10_E * LN2)));
}

/* log(1 + x) of any float64 number above -1, with relative precision near 0. */
LANE double log_above_one_32(double x)
{
    Split split = split_normal(1 + x);
    double f = split.exponent == 0 ? x : split.fraction;
    return logarithm_at(1 + x, fma(split.exponent, LN2, f * fma(f, LOG32(f), 1)));
}

LANE double log1p_32(double x) { return copysign(log_above_one_32(x), x); }

LANE double asinh32(double x)
{
    double a = fabs(x), y = log_above_one_32(a + a * a / (1 + sqrt(a * a + 1)));
    return copysign(a < INFINITE ? y : a, x);
}

LANE double acosh32(double x)
{
    double above = x - 1, y = log_above_one_32(above + sqrt(above * (above + 2)));
    return x < 1 ? NOT_A_NUMBER : y;
}

LANE double atanh32(double x)
{
    double a = fabs(x);
    return copysign(0.5 * log_above_one_32(2 * a / (1 - a)), x);
}

/* --- powers ------------------------------------------------------------------------------------------------------------------------ */

/* Base 2, of a number that is not negative. */
LANE double precise_log2_32(double a)
{
    Split split = split_normal(a);
    double s = split.fraction / (2 + split.fraction), z = s * s;
    double inside = fma(s * fma(z, ATANH32(z), 2), LOG2_E, split.exponent);
    double outside = a == 0 ? -INFINITE : a;
    return a > 0 ? (a < INFINITE ? inside : outside) : outside;
}

LANE double pow32(double x, double y) { return power_at(x, y, exp2_32(y * precise_log2_32(fabs(x)))); }

LANE double hypot32(double x, double y)
{
    double length = sqrt(fma(x, x, y * y));
    return ((fabs(x) == INFINITE) | (fabs(y) == INFINITE)) ? INFINITE : length;
}

/* --- error function --------------------------------------------------------------------------------------------------------------- */

/* erfc of a number that is not negative. */
LANE double erfc_from_zero_32(double a)
{
    double t = 1 / fma(a, 0.5, 1);
    return t * ERFC32(t) * exp32(-a * a);
}

LANE double erf32(double x)
{
    double a = fabs(x), z = x * x;
    return a < 1 ? x * ERF32(z) : copysign(1 - erfc_from_zero_32(a), x);
}

LANE double erfc32(double x)
{
    double tail = erfc_from_zero_32(fabs(x));
    return x < 0 ? 2 - tail : tail;
}

#endif
