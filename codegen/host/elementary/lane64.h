/* Functions of float64 numbers, with errors of little more than half a unit of the last place where no more is said: what
 * rounding would lose on the way is kept in a second number. Arguments for which a function is not made are those of
 * too_large_64. */
#ifndef CUJIT_CODEGEN_LANE64_H
#define CUJIT_CODEGEN_LANE64_H

#include "codegen/host/elementary/coefficients.h"
#include "codegen/host/elementary/lane.h"

/* What two tables have at one place. */
typedef struct Entry {
    double first, second;
} Entry;

/* --- trigonometry ----------------------------------------------------------------------------------------------------------- */

typedef struct Angle64 {
    Pair sine, cosine;
    uint64_t quarters;
} Angle64;

LANE uint64_t too_large_64(double x) { return is_between(fabs(x), 0x1p30, INFINITE); }

/* What x is beyond a multiple of pi / 2, which is a sum of three numbers here. */
LANE Pair beyond_quarters(double x, uint64_t *quarters)
{
    double n = nearest(x, 2 / PI_HIGH, quarters);
    Pair first = product_of(n, PI_HIGH / 2), second = product_of(n, PI_LOW / 2);
    Pair rest = sum_of(x - first.high, -first.low), angle = sum_of(rest.high, -second.high);
    double low = angle.low + rest.low - second.low - n * -0x1.f1976b7ed8fbcp-109 / 2;
    return sum_of_ordered(angle.high, low);
}

LANE Angle64 angle64(double x)
{
    Angle64 angle;
    Pair r = beyond_quarters(x, &angle.quarters), square = product_of(r.high, r.high);
    double z = square.high;
    double behind = fma(r.high * z, SIN64(z), fma(-0.5 * z, r.low, r.low));
    angle.sine = sum_of_ordered(r.high, behind);
    Pair most = sum_of_ordered(1, -0.5 * z);
    double rest = fma(z * z, COS64(z), fma(-0.5, square.low, -r.high * r.low));
    angle.cosine = sum_of_ordered(most.high, most.low + rest);
    return angle;
}

LANE double sin64(double x)
{
    Angle64 angle = angle64(x);
    double size = angle.quarters & 1 ? angle.cosine.high : angle.sine.high;
    return x == 0 ? x : negated_if(size, angle.quarters >> 1);
}

LANE double cos64(double x)
{
    Angle64 angle = angle64(x);
    return negated_if(angle.quarters & 1 ? angle.sine.high : angle.cosine.high, (angle.quarters + 1) >> 1);
}

LANE double tan64(double x)
{
    Angle64 angle = angle64(x);
    int is_odd = angle.quarters & 1;
    double above = is_odd ? -angle.cosine.high : angle.sine.high;
    double above_low = is_odd ? -angle.cosine.low : angle.sine.low;
    double below = is_odd ? angle.sine.high : angle.cosine.high;
    double below_low = is_odd ? angle.sine.low : angle.cosine.low;
    double inverse = 1 / below, quotient = above * inverse;
    double rest = fma(-quotient, below, above) + fma(-quotient, below_low, above_low);
    return x == 0 ? x : fma(rest, inverse, quotient);
}

/* asin of a number from 0 to 1 as root + rest; above 1/2 of sqrt((1 - a) / 2). */
LANE Pair asin_parts_64(double a)
{
    double z = a < 0.5 ? a * a : (1 - a) * 0.5;
    double s = a < 0.5 ? a : sqrt(z);
    double lost = a < 0.5 ? 0 : (s > 0 ? fma(-s, s, z) / (s + s) : 0);
    return (Pair){s, fma(s * z, ASIN64(z), lost)};
}

/* pi / 2 or pi, less twice or once what has been found. */
LANE double less_from(double high, double low, double part, double rest)
{
    Pair most = sum_of_ordered(high, -part);
    return most.high + (most.low + (low - rest));
}

LANE double asin64(double x)
{
    double a = fabs(x);
    Pair p = asin_parts_64(a);
    double far = less_from(PI_HIGH / 2, PI_LOW / 2, 2 * p.high, 2 * p.low);
    double y = a < 0.5 ? p.high + p.low : far;
    return copysign(a > 1 ? NOT_A_NUMBER : y, x);
}

LANE double acos64(double x)
{
    double a = fabs(x);
    Pair p = asin_parts_64(a);
    double near = less_from(PI_HIGH / 2, PI_LOW / 2, copysign(p.high, x), negated_if(p.low, bits_of(x) >> 63));
    double far = x > 0 ? 2 * (p.high + p.low) : less_from(PI_HIGH, PI_LOW, 2 * p.high, 2 * p.low);
    return a > 1 ? NOT_A_NUMBER : a < 0.5 ? near : far;
}

LANE double atan64(double x)
{
    double a = fabs(x);
    int is_far = a > 2.414213562373095, is_middle = (a > 0.41421356237309503) & !is_far;
    Pair less = sum_of(a, -1), more = sum_of(a, 1);
    double above = is_far ? -1 : is_middle ? less.high : a, below = is_far ? a : is_middle ? more.high : 1;
    double inverse = 1 / below, t = above * inverse, z = t * t;
    double lost = is_middle ? less.low - t * more.low : 0;
    double rest = a < INFINITE ? (fma(-t, below, above) + lost) * inverse : 0;
    double behind = fma(t * z, ATAN64(z), rest);
    double high = is_far ? PI_HIGH / 2 : PI_HIGH / 4, low = is_far ? PI_LOW / 2 : PI_LOW / 4;
    Pair most = sum_of_ordered(high, t);
    return copysign(is_far | is_middle ? most.high + (most.low + (low + behind)) : t + behind, x);
}

/* A power of two that keeps sums of a number and a smaller one from overflowing, and what is lost from underflowing; the
 * same for squares. */
LANE double scale_of_sums(double more) { return more > 0x1p1000 ? 0x1p-4 : more < 0x1p-900 ? 0x1p100 : 1; }
LANE double scale_of_squares(double more) { return more > 0x1p500 ? 0x1p-520 : more < 0x1p-400 ? 0x1p600 : 1; }

LANE double atan2_64(double y, double x)
{
    double a = fabs(y), b = fabs(x), less = a > b ? b : a, more = a > b ? a : b, scale = scale_of_sums(more);
    double equal = less == 0 ? 0 : 1; /* both 0, or both infinite */
    int is_equal = less == more;
    less = is_equal ? equal : less * scale;
    more = is_equal ? 1 : more * scale;
    int is_middle = less > 0.41421356237309503 * more;
    Pair difference = sum_of(less, -more), sum = sum_of(more, less);
    double above = is_middle ? difference.high : less, below = is_middle ? sum.high : more;
    double inverse = 1 / below, t = above * inverse, z = t * t;
    double lost = is_middle ? difference.low - t * sum.low : 0;
    double rest = ((below < INFINITE) & (below > 0x1p-1000)) ? (fma(-t, below, above) + lost) * inverse : 0;
    double behind = fma(t * z, ATAN64(z), rest);
    /* So many times pi / 4, and t and what is behind it, turned round where the angle is counted from the far side. */
    int is_steep = a > b, is_left = bits_of(x) >> 63 ? 1 : 0, is_turned = is_steep != is_left;
    double eighths = is_middle ? 1 : 0;
    eighths = is_steep ? 2 - eighths : eighths;
    eighths = is_left ? 4 - eighths : eighths;
    t = is_turned ? -t : t;
    behind = is_turned ? -behind : behind;
    Pair base = product_of(eighths, PI_HIGH / 4), most = sum_of_ordered(base.high, t);
    double angle = most.high + (most.low + (fma(eighths, PI_LOW / 4, base.low) + behind));
    return copysign(eighths == 0 ? t + behind : angle, y);
}

LANE double hypot64(double x, double y)
{
    double a = fabs(x), b = fabs(y), less = a > b ? b : a, more = a > b ? a : b, scale = scale_of_squares(more);
    less *= scale;
    more *= scale;
    Pair square = product_of(more, more), other = product_of(less, less), sum = sum_of_ordered(square.high, other.high);
    double low = sum.low + (square.low + other.low), root = sqrt(sum.high);
    double rest = (fma(-root, root, sum.high) + low) / (root + root);
    double length = (root > 0 ? root + rest : root) / scale;
    return ((a == INFINITE) | (b == INFINITE)) ? INFINITE : length;
}

/* --- exponential functions ------------------------------------------------------------------------------------------------------ */

/* e**r less 1, of a number from -ln(2) / 2 to ln(2) / 2. */
LANE Pair exp_near_zero_64(double high, double low)
{
    return (Pair){high, fma(high * high, EXP64(high), fma(high, low, low))};
}

LANE Pair beyond_ln2(double x, uint64_t *bits)
{
    double n = nearest(x, LOG2_E, bits), rest = fma(-n, LN2_SHORT, x);
    Pair behind = product_of(n, LN2_BEHIND_SHORT);
    Pair r = sum_of(rest, -behind.high);
    return (Pair){r.high, r.low - behind.low};
}

LANE double one_and(Pair p)
{
    Pair sum = sum_of_ordered(1, p.high);
    return sum.high + (sum.low + p.low);
}

/* e**x and 2**x as 2**(n / ENTRIES) * e**by, where the low bits of n choose the first from a table (P. T. P. Tang, Table-
 * driven implementation of the exponential function in IEEE floating-point arithmetic, 1989). The tables are small: a
 * polynomial with two terms more than one of 128 entries needs costs no time where its terms are computed beside each other,
 * and vectors find their entries in registers. */
typedef struct Beyond {
    double by;
    uint64_t n;
} Beyond;

LANE Beyond beyond_entry_e(double x)
{
    Beyond beyond;
    double n = nearest(x, ENTRIES * LOG2_E, &beyond.n);
    beyond.by = fma(-n, LN2_BEHIND_SHORT / ENTRIES, fma(-n, LN2_SHORT / ENTRIES, x));
    return beyond;
}

LANE Beyond beyond_entry_2(double x)
{
    Beyond beyond;
    double n = nearest(x, ENTRIES, &beyond.n);
    beyond.by = fma(-n, 1.0 / ENTRIES, x) * LN2;
    return beyond;
}

/* e**by less 1, and rest, what the entry is off, more. */
LANE double less_one_short(double by, double rest) { return EXP64_SHORT(by + rest, by); }

/* Where neither the power of two nor the result is denormal or too large, and where either may be: the same bits. */
LANE double usual_power(Beyond beyond, Entry entry)
{
    double power = number_of(bits_of(entry.first) + (beyond.n / ENTRIES << 52));
    return fma(power, less_one_short(beyond.by, entry.second), power);
}

LANE double any_power(Beyond beyond, Entry entry)
{
    double size = fma(entry.first, less_one_short(beyond.by, entry.second), entry.first);
    return scaled(size, beyond.n / ENTRIES);
}

LANE int is_usual_exp64(double x) { return fabs(x) < 708; }
LANE double narrowed_exp64(double x) { return limited(x, -800, 800); }
LANE uint64_t place_exp64(double x) { return beyond_entry_e(x).n; }
LANE double usual_exp64(double x, Entry entry) { return usual_power(beyond_entry_e(x), entry); }
LANE double any_exp64(double x, Entry entry) { return any_power(beyond_entry_e(narrowed_exp64(x)), entry); }

LANE int is_usual_exp2_64(double x) { return fabs(x) < 1022; }
LANE double narrowed_exp2_64(double x) { return limited(x, -1200, 1200); }
LANE uint64_t place_exp2_64(double x) { return beyond_entry_2(x).n; }
LANE double usual_exp2_64(double x, Entry entry) { return usual_power(beyond_entry_2(x), entry); }
LANE double any_exp2_64(double x, Entry entry) { return any_power(beyond_entry_2(narrowed_exp2_64(x)), entry); }

/* e**x as 2**bits times (1 + high + low). */
typedef struct Exponential {
    Pair beyond_one;
    uint64_t bits;
} Exponential;

LANE Exponential exponential(double x)
{
    Exponential e;
    Pair r = beyond_ln2(x, &e.bits);
    e.beyond_one = exp_near_zero_64(r.high, r.low);
    return e;
}

/* Less 1; infinite from 709.79 on. */
LANE Pair less_one(Exponential e)
{
    double half = power_of_two(e.bits - 1);
    Pair power = sum_of(half, -0.5), most = sum_of(power.high, half * e.beyond_one.high);
    Pair sum = sum_of_ordered(most.high, fma(half, e.beyond_one.low, most.low + power.low));
    return (Pair){2 * sum.high, 2 * sum.low};
}

LANE double expm1_64(double x)
{
    double y = less_one(exponential(limited(x, -60, 710))).high;
    return copysign(((fabs(x) < 0x1p-54) | (x == INFINITE)) ? x : y, x);
}

LANE double half_exp(Exponential e) { return scaled(one_and(e.beyond_one), e.bits - 1); }

LANE double sinh64(double x)
{
    double a = fabs(x);
    Exponential whole = exponential(limited(a, 0, 720));
    Pair e = less_one(whole);
    Pair below = sum_of(e.high, 1);
    double inverse = 1 / below.high, part = e.high * inverse;
    double rest = (fma(-part, below.high, e.high) + fma(-part, below.low + e.low, e.low)) * inverse;
    Pair sum = sum_of_ordered(e.high, part);
    double y = 0.5 * (sum.high + (sum.low + (rest + e.low)));
    y = a < 0x1p-30 ? a : y;
    return copysign(a < 40 ? y : half_exp(whole), x);
}

LANE double cosh64(double x)
{
    double a = fabs(x);
    Exponential exponent = exponential(limited(a, 0, 720));
    Pair e = less_one(exponent);
    Pair whole = sum_of(1, e.high), sum = sum_of_ordered(whole.high, 1 / whole.high);
    double y = 0.5 * (sum.high + (sum.low + whole.low + e.low));
    return a < 40 ? y : half_exp(exponent);
}

LANE double tanh64(double x)
{
    double doubled = 2 * fabs(x);
    Pair e = less_one(exponential(doubled > 50 ? 50 : doubled));
    Pair below = sum_of(e.high, 2);
    double inverse = 1 / below.high, quotient = e.high * inverse;
    double rest = fma(-quotient, below.high, e.high) + fma(-quotient, below.low + e.low, e.low);
    return copysign(fma(rest, inverse, quotient), x);
}

/* --- logarithms ----------------------------------------------------------------------------------------------------------------- */

/* log(1 + f) for f from sqrt(1/2) - 1 to sqrt(2) - 1. */
LANE Pair log_near_one_64(double f)
{
    double s = f / (2 + f), z = s * s;
    Pair half_square = product_of(0.5 * f, f);
    Pair most = sum_of_ordered(f, -half_square.high);
    double rest = s * fma(z, LOG64(z), half_square.high);
    return (Pair){most.high, most.low - half_square.low + rest};
}

/* The logarithm in a base whose factor is factor + factor_rest, and that of 2 in it unit + unit_rest. */
LANE double log_in_base(Split split, Pair y, Pair factor, Pair unit)
{
    Pair in_base = product_of(y.high, factor.high);
    in_base.low += fma(y.high, factor.low, y.low * factor.high);
    Pair sum = sum_of_ordered(split.exponent * unit.high, in_base.high);
    sum.high = split.exponent == 0 ? in_base.high : sum.high;
    sum.low = split.exponent == 0 ? 0 : sum.low;
    return sum.high + (sum.low + fma(split.exponent, unit.low, in_base.low));
}

LANE double log_of_split_64(Split split, double lost)
{
    Pair y = log_near_one_64(split.fraction);
    y.low += lost;
    return log_in_base(split, y, (Pair){1, 0}, (Pair){LN2_SHORT, LN2_BEHIND_SHORT});
}

/* log(x) of a positive normal number as exponent * log(2) + log(c) + log(1 + r), where c is near the middle of the interval
 * that x / 2**exponent lies in, and an entry has 1 / c and log(c) (P. T. P. Tang, Table-driven implementation of the
 * logarithm function in IEEE floating-point arithmetic, 1990). c is 1 in the interval around 1, so that nothing is lost
 * there. */
LANE uint64_t place_of_normal(double x) { return (bits_of(x) - LOG_START) >> 48; }

/* r is high + low. */
typedef struct Ratio {
    double exponent, high, low;
} Ratio;

LANE Ratio ratio_to_entry(double x, uint64_t start, double reciprocal)
{
    const uint64_t above = bits_of(x) - (start - 0x3ff0000000000000);
    const uint64_t exponent = above >> 52;
    double number = number_of(0x4330000000000000 | exponent) - (0x1p52 + 1023);
    Pair ratio = product_of(number_of(bits_of(x) - ((exponent - 1023) << 52)), reciprocal);
    return (Ratio){number, ratio.high - 1, ratio.low};
}

/* log(1 + r.high) less r.high, and low more. */
LANE double log_short(Ratio r, double low)
{
    double square = r.high * r.high;
    return fma(square * r.high, LOG64_SHORT(r.high), fma(-0.5, square, low));
}

LANE double log_of_normal(double x, double shift, Entry entry)
{
    Ratio r = ratio_to_entry(x, LOG_START, entry.first);
    r.exponent -= shift;
    Pair sum = sum_of_ordered(fma(r.exponent, LN2_SHORT, entry.second), r.high);
    double low = fma(r.exponent, LN2_BEHIND_SHORT, fma(-r.high, r.low, r.low));
    return sum.high + log_short(r, sum.low + low);
}

LANE double in_base_of_normal(double x, double shift, Entry entry, Pair factor, Pair unit)
{
    Ratio r = ratio_to_entry(x, LOG_START, entry.first);
    Pair sum = sum_of_ordered(entry.second, r.high);
    sum.low = log_short(r, sum.low + fma(-r.high, r.low, r.low));
    return log_in_base((Split){r.exponent - shift, 0}, sum, factor, unit);
}

LANE double log2_of_normal(double x, double shift, Entry entry)
{
    return in_base_of_normal(x, shift, entry, (Pair){LOG2_E, LOG2_E_REST}, (Pair){1, 0});
}

LANE double log10_of_normal(double x, double shift, Entry entry)
{
    Pair factor = {LOG10_E, LOG10_E_REST}, unit = {LOG10_2_SHORT, LOG10_2_BEHIND_SHORT};
    return in_base_of_normal(x, shift, entry, factor, unit);
}

LANE double made_normal(double x) { return x < 0x1p-1022 ? x * 0x1p54 : x; }
LANE double shift_of(double x) { return x < 0x1p-1022 ? 54 : 0; }
LANE int is_usual_log(double x) { return bits_of(x) - bits_of(0x1p-1022) < bits_of(INFINITE) - bits_of(0x1p-1022); }

LANE double usual_log64(double x, Entry entry) { return log_of_normal(x, 0, entry); }
LANE double any_log64(double x, Entry entry)
{
    return logarithm_at(x, log_of_normal(made_normal(x), shift_of(x), entry));
}

LANE double usual_log2_64(double x, Entry entry) { return log2_of_normal(x, 0, entry); }
LANE double any_log2_64(double x, Entry entry)
{
    return logarithm_at(x, log2_of_normal(made_normal(x), shift_of(x), entry));
}

LANE double usual_log10_64(double x, Entry entry) { return log10_of_normal(x, 0, entry); }
LANE double any_log10_64(double x, Entry entry)
{
    return logarithm_at(x, log10_of_normal(made_normal(x), shift_of(x), entry));
}

/* log(1 + high + low), for a sum above -1. */
LANE double log_above_one_64(double high, double low)
{
    Pair whole = sum_of(1, high);
    Split split = split_normal(whole.high);
    int is_near = split.exponent == 0;
    double lost = is_near ? low / (1 + high) : (whole.low + low) / whole.high;
    split.fraction = is_near ? high : split.fraction;
    return logarithm_at(whole.high, log_of_split_64(split, lost));
}

LANE double log1p_64(double x) { return copysign(x < INFINITE ? log_above_one_64(x, 0) : x, x); }

LANE double asinh64(double x)
{
    double a = fabs(x), square = a * a, root = sqrt(1 + square), part = square / (1 + root);
    Pair sum = sum_of(a, part);
    double near = log_above_one_64(sum.high, sum.low);
    Split far = split_any(a);
    far.exponent += 1;
    double y = a < 0x1p30 ? near : log_of_split_64(far, 0);
    return copysign(a < INFINITE ? y : a, x);
}

LANE double acosh64(double x)
{
    double above = x - 1;
    Pair more = sum_of(above, 2), square = product_of(above, more.high);
    double root = sqrt(square.high), lost = fma(-root, root, square.high) + fma(above, more.low, square.low);
    Pair sum = sum_of(above, root);
    double near = log_above_one_64(sum.high, root > 0 ? sum.low + lost / (root + root) : 0);
    Split far = split_any(x);
    far.exponent += 1;
    double y = x < 0x1p30 ? near : log_of_split_64(far, 0);
    return x < 1 ? NOT_A_NUMBER : x < INFINITE ? y : x;
}

LANE double atanh64(double x)
{
    double a = fabs(x);
    Pair below = sum_of(1, -a);
    double inverse = 1 / below.high, ratio = 2 * a * inverse;
    double rest = (fma(-ratio, below.high, 2 * a) - ratio * below.low) * inverse;
    double y = 0.5 * log_above_one_64(ratio, a < 1 ? rest : 0);
    y = a < 0x1p-30 ? a : y;
    return copysign(a > 1 ? NOT_A_NUMBER : a == 1 ? INFINITE : y, x);
}

/* --- powers ------------------------------------------------------------------------------------------------------------------------ */

/* The natural logarithm of a positive normal number, divided by 2**shift, with 15 bits more than one number has. Its tables
 * have more entries: what would have to be a pair of numbers is smaller. */
LANE Pair precise_log_of_normal(double x, double shift)
{
    uint64_t place = ((bits_of(x) - FINE_START) >> 45) % FINE_ENTRIES;
    Ratio r = ratio_to_entry(x, FINE_START, FINE_RECIPROCALS[place]);
    double exponent = r.exponent - shift, low = fma(-r.high, fma(-r.high, r.low, r.low), r.low);
    Pair most = sum_of_ordered(fma(exponent, LN2_SHORT, FINE_LOGARITHMS[place]), r.high);
    Pair square = product_of(r.high, r.high);
    double high = fma(-0.5, square.high, most.high), lost = fma(-0.5, square.high, most.high - high);
    low += fma(exponent, LN2_BEHIND_SHORT, FINE_LOGARITHMS_REST[place]);
    low = fma(square.high * r.high, LOG64_SHORTEST(r.high), low);
    low += fma(-0.5, square.low, most.low + lost);
    return sum_of_ordered(high, low);
}

LANE Pair product_with_log(Pair logarithm, double y)
{
    Pair product = product_of(logarithm.high, y);
    product.low = fma(logarithm.low, y, product.low);
    return product;
}

LANE Entry power_entry(uint64_t n) { return (Entry){POWERS[n % ENTRIES], POWERS_REST[n % ENTRIES]}; }

/* Where x is positive and normal, and neither the result nor y is special; elsewhere the result is none. */
LANE int usual_pow64(double x, double y, double *result)
{
    Pair exponent = product_with_log(precise_log_of_normal(x, 0), y);
    Beyond beyond = beyond_entry_e(exponent.high);
    beyond.by += exponent.low;
    *result = usual_power(beyond, power_entry(beyond.n));
    return is_usual_log(x) && is_usual_exp64(exponent.high);
}

LANE double pow64(double x, double y)
{
    double a = fabs(x);
    Pair exponent = product_with_log(precise_log_of_normal(made_normal(a), shift_of(a)), y);
    Beyond beyond = beyond_entry_e(limited(exponent.high, -800, 800));
    beyond.by += fabs(exponent.high) < 800 ? exponent.low : 0;
    double size = any_power(beyond, power_entry(beyond.n)), at_ends = (a > 1) == (y > 0) ? INFINITE : 0;
    int is_end = (a == 0) | (a == INFINITE) | (fabs(y) == INFINITE);
    size = is_end ? at_ends : size;
    return power_at(x, y, ((a == a) & (y == y)) ? size : a + y);
}

/* --- error function --------------------------------------------------------------------------------------------------------------- */

/* erfc of a number that is not negative. The part of t that is lost changes the product by about 1 + 1.3 * t times as much. */
LANE double erfc_from_zero_64(double a)
{
    uint64_t bits;
    Pair below = sum_of(1, limited(a, 0, 30) * 0.5);
    double t = 1 / below.high, lost = (fma(-t, below.high, 1) - t * below.low) * t;
    Pair first = product_of(t, ERFC64(t - 0.5));
    Pair square = product_of(limited(a, 0, 30), limited(a, 0, 30)), r = beyond_ln2(-square.high, &bits);
    Pair power = sum_of(r.high, r.low - square.low);
    power = exp_near_zero_64(power.high, power.low);
    Pair second = sum_of_ordered(1, power.high), result = product_of(first.high, second.high);
    double low = fma(first.high, second.low + power.low, first.low * second.high);
    low = fma(result.high, lost * (below.high + 1.3), low + result.low);
    return scaled(result.high + low, bits);
}

/* Of a number from -1 to 1. */
LANE double erf_near_zero_64(double x) { return fma(x, ERF64(x * x), x); }

LANE double erf64(double x)
{
    double a = fabs(x);
    return a < 1 ? erf_near_zero_64(x) : copysign(1 - erfc_from_zero_64(a), x);
}

LANE double erfc64(double x)
{
    double a = fabs(x), tail = erfc_from_zero_64(a), far = x < 0 ? 2 - tail : tail;
    return a < 0.5 ? 1 - erf_near_zero_64(x) : far;
}

#endif
