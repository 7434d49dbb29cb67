/* What the lane functions of this folder are made of. They have no branches or calls, and entries of tables that fit
 * into registers are given to them, so that the C compiler turns a loop over lanes into vector instructions; every operation
 * is one of IEEE 754, and fma is written where it is meant, so that all lanes of all vector widths have the same bits. */
#ifndef CUJIT_CODEGEN_LANE_H
#define CUJIT_CODEGEN_LANE_H

#include <stdint.h>

#define LANE static inline __attribute__((always_inline))

#define fma __builtin_fma
#define fabs __builtin_fabs
#define sqrt __builtin_sqrt
#define floor __builtin_floor
#define copysign __builtin_copysign

#define INFINITE __builtin_inf()
#define NOT_A_NUMBER __builtin_nan("")
#define PI_HIGH 0x1.921fb54442d18p+1
#define PI_LOW 0x1.1a62633145c07p-53
#define LN2 0x1.62e42fefa39efp-1
#define LN2_REST 0x1.abc9e3b39803fp-56
#define LN2_SHORT 0x1.62e42fee00000p-1 /* its product with an integer below 2**20 is exact */
#define LN2_BEHIND_SHORT 0x1.a39ef35793c76p-33
#define LOG2_E 0x1.71547652b82fep+0
#define LOG2_E_REST 0x1.777d0ffda0d24p-56
#define LOG10_E 0x1.bcb7b1526e50ep-2
#define LOG10_E_REST 0x1.95355baaafad3p-57
#define LOG10_2_SHORT 0x1.34413509f8000p-2
#define LOG10_2_BEHIND_SHORT -0x1.80433b83b532ap-44

LANE uint64_t bits_of(double x)
{
    union {
        double number;
        uint64_t bits;
    } both = {.number = x};
    return both.bits;
}

LANE double number_of(uint64_t bits)
{
    union {
        uint64_t bits;
        double number;
    } both = {.bits = bits};
    return both.number;
}

/* The sum of coefficients[i] * x**i. Four terms at a time are computed beside each other (G. Estrin, 1960): where a result
 * is waited for, e**x takes three quarters of the time. */
LANE double polynomial(double x, const double *coefficients, int count)
{
    double square = x * x, fourth = square * square, sum = 0;
#pragma GCC unroll 8
    for (int i = (count - 1) / 4 * 4; i >= 0; i -= 4) {
        double low = i + 1 < count ? fma(coefficients[i + 1], x, coefficients[i]) : coefficients[i];
        double high = i + 3 < count   ? fma(coefficients[i + 3], x, coefficients[i + 2])
                      : i + 2 < count ? coefficients[i + 2]
                                      : 0;
        double four = i + 2 < count ? fma(high, square, low) : low;
        sum = i + 4 < count ? fma(sum, fourth, four) : four;
    }
    return sum;
}

/* The same, term by term: fewer roundings, where the sum is most of a result. */
LANE double polynomial_by_terms(double x, const double *coefficients, int count)
{
    double sum = coefficients[count - 1];
#pragma GCC unroll 32
    for (int i = count - 2; i >= 0; i--)
        sum = fma(sum, x, coefficients[i]);
    return sum;
}

/* first + x**2 * the same, where first is known late or is most of the sum. */
LANE double polynomial_behind(double first, double x, const double *coefficients, int count)
{
    double square = x * x, some = fma(square, fma(coefficients[1], x, coefficients[0]), first);
    return fma(square * square, polynomial(x, coefficients + 2, count - 2), some);
}

#define COEFFICIENTS(...) (const double[]){__VA_ARGS__}, (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double))
#define POLYNOMIAL(x, ...) polynomial(x, COEFFICIENTS(__VA_ARGS__))
#define POLYNOMIAL_BEHIND(first, x, ...) polynomial_behind(first, x, COEFFICIENTS(__VA_ARGS__))
#define POLYNOMIAL_BY_TERMS(x, ...) polynomial_by_terms(x, COEFFICIENTS(__VA_ARGS__))

/* The integer nearest to x * y, of size below 2**50; its low bits, in two's complement, are the low bits of *bits. */
LANE double nearest(double x, double y, uint64_t *bits)
{
    double shifted = fma(x, y, 0x1.8p52);
    *bits = bits_of(shifted);
    return shifted - 0x1.8p52;
}

LANE double negated_if(double x, uint64_t bit) { return number_of(bits_of(x) ^ bit << 63); }

/* 2**n by the low bits of n, from -1022 to 1023. */
LANE double power_of_two(uint64_t n) { return number_of((n + 1023) << 52); }

/* x * 2**n, also where 2**n or the result is denormal or too large; n from -2000 to 2000. */
LANE double scaled(double x, uint64_t n)
{
    uint64_t half = ((n + 2048) & 4095) / 2 - 1024;
    return x * power_of_two(half) * power_of_two(n - half);
}

LANE double limited(double x, double low, double high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* As wide as the numbers: tests of lanes that are narrower would have to be packed. */
LANE uint64_t is_between(double x, double low, double high)
{
    uint64_t is_above = x > low ? 1 : 0, is_below = x < high ? 1 : 0;
    return is_above & is_below;
}

/* A sum of two numbers that do not overlap. */
typedef struct Pair {
    double high, low;
} Pair;

LANE Pair sum_of(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (Pair){sum, (a - (sum - part)) + (b - part)};
}

/* The same where a is larger, or 0. */
LANE Pair sum_of_ordered(double a, double b)
{
    double sum = a + b;
    return (Pair){sum, (a - sum) + b};
}

LANE Pair product_of(double a, double b)
{
    double product = a * b;
    return (Pair){product, fma(a, b, -product)};
}

/* A positive finite number as 2**exponent * (1 + fraction), where 1 + fraction is from sqrt(1/2) to sqrt(2). */
typedef struct Split {
    double exponent, fraction;
} Split;

LANE Split split_normal(double x)
{
    const uint64_t above = bits_of(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    const uint64_t exponent = above >> 52;
    double number = number_of(0x4330000000000000 | exponent) - (0x1p52 + 1023);
    return (Split){number, number_of(bits_of(x) - ((exponent - 1023) << 52)) - 1};
}

LANE Split split_any(double x)
{
    double is_small = x < 0x1p-1022 ? 1.0 : 0.0;
    Split result = split_normal(x < 0x1p-1022 ? x * 0x1p54 : x);
    result.exponent -= 54 * is_small;
    return result;
}

/* What a logarithm is of x, where `inside` is its value for positive finite x. */
LANE double logarithm_at(double x, double inside)
{
    double outside = x == 0 ? -INFINITE : x < 0 ? NOT_A_NUMBER : x;
    return x > 0 ? (x < INFINITE ? inside : outside) : outside;
}

/* What x**y is, where `size` is |x|**y for numbers that are neither 1 nor to the power of 0. */
LANE double power_at(double x, double y, double size)
{
    double a = fabs(x), half = y * 0.5;
    int is_integer = floor(y) == y, is_odd = is_integer & (floor(half) != half);
    double negative = is_odd ? -size : size;
    negative = ((a > 0) & (a < INFINITE) & !is_integer) ? NOT_A_NUMBER : negative;
    double result = bits_of(x) >> 63 ? (x == x ? negative : size) : size;
    int is_one = (x == 1) | (y == 0) | ((a == 1) & (fabs(y) == INFINITE));
    return is_one ? 1 : result;
}

#endif
