/* Results of operations on the CPU device, at the edges of their definitions. */
#include "codegen_tests.h"

static void check_integers(void)
{
    check_values("  %9: i64 = add %1, %2", "i64 i64 i64", "1 2 3  9223372036854775807 1 -9223372036854775808", 0);
    check_values("  %9: u64 = sub %1, %2", "u64 u64 u64", "1 2 18446744073709551615  7 7 0", 0);
    check_values("  %9: i64 = mul %1, %2", "i64 i64 i64", "-3 7 -21  4611686018427387904 4 0", 0);
    check_values("  %9: i64 = floordiv %1, %2", "i64 i64 i64",
                 "7 2 3  -7 2 -4  7 -2 -4  -7 -2 3  6 3 2  -6 3 -2  5 0 0  -5 -1 5  -9223372036854775808 -1 0", 0);
    check_values("  %9: i64 = mod %1, %2", "i64 i64 i64",
                 "7 2 1  -7 2 1  7 -2 -1  -7 -2 -1  6 3 0  5 0 0  5 -1 0  -9223372036854775808 -1 0", 0);
    check_values("  %9: u64 = floordiv %1, %2", "u64 u64 u64",
                 "7 2 3  18446744073709551615 2 9223372036854775807 5 0 0", 0);
    check_values("  %9: u64 = mod %1, %2", "u64 u64 u64", "7 2 1  18446744073709551615 10 5  5 0 0", 0);
    check_values("  %9: i64 = shl %1, %2", "i64 i64 i64", "1 3 8  1 64 1  -1 63 -9223372036854775808", 0);
    check_values("  %9: i64 = shr %1, %2", "i64 i64 i64", "-8 1 -4  8 65 4", 0);
    check_values("  %9: u64 = shr %1, %2", "u64 u64 u64", "18446744073709551608 1 9223372036854775804", 0);
    check_values("  %9: i64 = neg %1", "i64 i64", "5 -5  -9223372036854775808 -9223372036854775808", 0);
    check_values("  %9: i32 = abs %1", "i32 i32", "5 5  -5 5  -2147483648 -2147483648", 0);
    check_values("  %9: u8 = abs %1", "u8 u8", "5 5  255 255", 0);
    check_values("  %9: i64 = not %1", "i64 i64", "5 -6  -1 0", 0);
    check_values("  %9: bool = not %1", "bool bool", "1 0  0 1", 0);
    check_values("  %9: i64 = and %1, %2", "i64 i64 i64", "12 10 8", 0);
    check_values("  %9: bool = or %1, %2", "bool bool bool", "0 0 0  1 0 1", 0);
    check_values("  %9: u32 = xor %1, %2", "u32 u32 u32", "12 10 6", 0);
}

static void check_bits(void)
{
    check_values("  %9: u32 = popcount %1", "u32 u32", "0 0  255 8  4294967295 32", 0);
    check_values("  %9: i64 = leadzeros %1", "i64 i64", "0 64  1 63  -1 0", 0);
    check_values("  %9: u32 = leadzeros %1", "u32 u32", "0 32  256 23", 0);
    check_values("  %9: u64 = trailzeros %1", "u64 u64", "0 64  8 3", 0);
    check_values("  %9: u32 = bitreverse %1", "u32 u32", "1 2147483648  6 1610612736", 0);
    check_values("  %9: i64 = bitcast %1", "f64 i64", "1 4607182418800017408  -0.0 -9223372036854775808", 0);
    check_values("  %9: f32 = bitcast %1", "i32 f32", "1065353216 1", 0);
    check_values("  %9: f16 = bitcast %1", "u16 f16", "15360 1", 0);
}

static void check_floats(void)
{
    check_values("  %9: f64 = add %1, %2", "f64 f64 f64", "0.1 0.2 0.30000000000000004", 0);
    check_values("  %9: f32 = div %1, %2", "f32 f32 f32", "1 3 0.333333343  1 0 inf  -1 0 -inf  0 0 nan", 0);
    check_values("  %9: f16 = mul %1, %2", "f16 f16 f16", "0.1 3 0.2998046875  60000 2 inf", 0);
    check_values("  %9: f64 = floordiv %1, %2", "f64 f64 f64",
                 "7.5 2 3  -7.5 2 -4  7.5 -2 -4  -0.0 1 -0.0  1 0.1 9  1 0 inf  -1 0 -inf  0 0 nan  nan 1 nan", 0);
    check_values("  %9: f64 = mod %1, %2", "f64 f64 f64",
                 "7.5 2 1.5  -7.5 2 0.5  7.5 -2 -0.5  -4 2 0  4 -2 -0.0  1 0 nan  5 inf 5  -5 inf inf", 0);
    check_values("  %9: f32 = mod %1, %2", "f32 f32 f32", "1e30 3 0  -1 3 2", 0);
    check_values("  %9: f64 = neg %1", "f64 f64", "0 -0.0  -1.5 1.5", 0);
    check_values("  %9: f32 = abs %1", "f32 f32", "-0.0 0  -1.5 1.5  -inf inf", 0);
    check_values("  %9: f64 = fma %1, %2, %3", "f64 f64 f64 f64", "1e16 1.0000000000000002 -1e16 2.2204460492503131",
                 0);
    check_values("  %9: f16 = fma %1, %2, %3", "f16 f16 f16 f16", "2 3 1 7", 0);
}

static void check_comparisons(void)
{
    check_values("  %9: bool = lt %1, %2", "i64 i64 bool", "-1 0 1  0 -1 0  3 3 0", 0);
    check_values("  %9: bool = lt %1, %2", "u64 u64 bool", "18446744073709551615 0 0  0 1 1", 0);
    check_values("  %9: bool = le %1, %2", "f64 f64 bool", "1 1 1  nan 1 0  1 nan 0", 0);
    check_values("  %9: bool = gt %1, %2", "f32 f32 bool", "2 1 1  nan 1 0", 0);
    check_values("  %9: bool = ge %1, %2", "i8 i8 bool", "-1 1 0  1 1 1", 0);
    check_values("  %9: bool = eq %1, %2", "f64 f64 bool", "nan nan 0  0 -0.0 1", 0);
    check_values("  %9: bool = ne %1, %2", "f64 f64 bool", "nan nan 1  0 -0.0 0", 0);
    check_values("  %9: bool = eq %1, %2", "c128 c128 bool", "1 2 1 2 1  1 2 1 3 0", 0);
    check_values("  %9: bool = ne %1, %2", "c64 c64 bool", "1 2 1 2 0  1 2 0 2 1", 0);
    check_values("  %9: bool = lt %1, %2", "bool bool bool", "0 1 1  1 0 0", 0);
    check_values("  %9: f64 = min %1, %2", "f64 f64 f64", "1 2 1  nan 1 1  1 nan nan  0 -0.0 -0.0", 0);
    check_values("  %9: f32 = max %1, %2", "f32 f32 f32", "1 2 2  nan 1 1  1 nan nan", 0);
    check_values("  %9: u64 = max %1, %2", "u64 u64 u64", "1 18446744073709551615 18446744073709551615", 0);
    check_values("  %9: i64 = min %1, %2", "i64 i64 i64", "1 -1 -1", 0);
}

static void check_complex(void)
{
    check_values("  %9: c128 = add %1, %2", "c128 c128 c128", "1 2 3 4 4 6", 0);
    check_values("  %9: c128 = mul %1, %2", "c128 c128 c128", "1 2 3 4 -5 10", 0);
    check_values("  %9: c128 = div %1, %2", "c128 c128 c128", "-5 10 3 4 1 2  1e300 1e300 1e300 1e300 1 0", 1);
    check_values("  %9: c64 = div %1, %2", "c64 c64 c64", "1 0 0 1 0 -1  3 4 2 0 1.5 2", 1);
    check_values("  %9: c64 = neg %1", "c64 c64", "1 -2 -1 2", 0);
    check_values("  %9: c128 = complex %1, %2", "f64 f64 c128", "1 2 1 2", 0);
    check_values("  %9: f64 = real %1", "c128 f64", "1 2 1", 0);
    check_values("  %9: f32 = imag %1", "c64 f32", "1 2 2", 0);
}

void test_operation_values(void)
{
    check_integers();
    check_bits();
    check_floats();
    check_comparisons();
    check_complex();
}

void test_power_values(void)
{
    check_values("  %9: i64 = powi %1, %2", "i64 i64 i64",
                 "2 10 1024  -3 3 -27  7 0 1  0 0 1  2 -1 0  1 -5 1  -1 -3 -1  -1 -2 1  255 7 70110209207109375", 0);
    check_values("  %9: u64 = powi %1, %2", "u64 u8 u64", "2 63 9223372036854775808  3 3 27", 0);
    check_values("  %9: f64 = powi %1, %2", "f64 i64 f64",
                 "2 10 1024  2 -2 0.25  0 -1 inf  1.0000001 100000 1.0100501665850403", 4);
    check_values("  %9: f32 = powi %1, %2", "f32 i32 f32", "1.5 3 3.375  -2 3 -8", 0);
    check_values("  %9: f16 = powi %1, %2", "f16 i64 f16", "1.5 2 2.25", 0);
    check_values("  %9: c128 = powi %1, %2", "c128 i64 c128", "0 1 2 -1 0  1 1 -2 0 -0.5", 4);
    check_values("  %3: i64 = const 3\n  %9: f64 = powi %1, %3", "f64 f64", "3 27  -0.5 -0.125", 0);
    check_values("  %3: i64 = const -2\n  %9: f64 = powi %1, %3", "f64 f64", "4 0.0625", 0);
    check_values("  %3: i64 = const 0\n  %9: i64 = powi %1, %3", "i64 i64", "4 1  0 1", 0);
    check_values("  %9: f64 = pow %1, %2", "f64 f64 f64", "2 0.5 1.4142135623730951  -8 0.5 nan  0 0 1", 1);
    check_values("  %9: f32 = pow %1, %2", "f32 f32 f32", "2 0.5 1.41421354", 1);
    check_values("  %9: f16 = pow %1, %2", "f16 f16 f16", "4 0.5 2", 1);
    check_values("  %9: c128 = pow %1, %2", "c128 c128 c128", "3 0 2 0 9 0  0 0 0 0 1 0  0 0 2 0 0 0", 4);
}

void test_conversion_values(void)
{
    check_values("  %9: i32 = convert %1", "f64 i32", "1.9 1  -1.9 -1  1e10 2147483647  -inf -2147483648  nan 0", 0);
    check_values("  %9: u8 = convert %1", "f32 u8", "300 255  -1 0  nan 0  7.9 7", 0);
    check_values("  %9: i64 = convert %1", "f64 i64", "1e30 9223372036854775807  -1e30 -9223372036854775808", 0);
    check_values("  %9: u64 = convert %1", "f64 u64", "1.8446744073709552e19 18446744073709551615  -5 0", 0);
    check_values("  %9: i16 = convert %1", "f16 i16", "-1.5 -2  2.5 2  inf 32767  nan 0", 0);
    check_values("  %9: f32 = convert %1", "f64 f32", "0.1 0.1  1e300 inf", 0);
    check_values("  %9: f16 = convert %1", "f64 f16", "1.0009765625 1.0009765625  1e9 inf", 0);
    check_values("  %9: f64 = convert %1", "f16 f64", "0.5 0.5", 0);
    check_values("  %9: f64 = convert %1", "u64 f64", "18446744073709551615 1.8446744073709552e19", 0);
    check_values("  %9: f16 = convert %1", "i64 f16", "-3 -3  2049 2048", 0);
    check_values("  %9: bool = convert %1", "i64 bool", "0 0  -3 1  256 1", 0);
    check_values("  %9: bool = convert %1", "f64 bool", "0 0  -0.0 0  nan 1  0.5 1", 0);
    check_values("  %9: bool = convert %1", "c64 bool", "0 0 0  0 1 1", 0);
    check_values("  %9: i64 = convert %1", "bool i64", "1 1  0 0", 0);
    check_values("  %9: f32 = convert %1", "bool f32", "1 1", 0);
    check_values("  %9: i8 = convert %1", "i64 i8", "200 -56", 0);
    check_values("  %9: i64 = convert %1", "u8 i64", "200 200", 0);
    check_values("  %9: i64 = convert %1", "i8 i64", "-56 -56", 0);
    check_values("  %9: c128 = convert %1", "i32 c128", "-7 -7 0", 0);
    check_values("  %9: c64 = convert %1", "c128 c64", "0.5 2 0.5 2", 0);
}
