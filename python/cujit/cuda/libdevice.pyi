"""cuda.libdevice. Made by scripts/intrinsics_stub.py from the tables."""
# ruff: noqa: E501, I001
from cujit._annotations import Integer, Real


def abs(x: Integer) -> int:
    """The absolute value of an int32."""
def acos(x: Real) -> float:
    """Arc cosine."""
def acosf(x: Real) -> float:
    """Arc cosine."""
def acosh(x: Real) -> float:
    """Inverse hyperbolic cosine."""
def acoshf(x: Real) -> float:
    """Inverse hyperbolic cosine."""
def asin(x: Real) -> float:
    """Arc sine."""
def asinf(x: Real) -> float:
    """Arc sine."""
def asinh(x: Real) -> float:
    """Inverse hyperbolic sine."""
def asinhf(x: Real) -> float:
    """Inverse hyperbolic sine."""
def atan(x: Real) -> float:
    """Arc tangent."""
def atan2(x: Real, y: Real) -> float:
    """The angle of the point (y, x): atan2(y, x)."""
def atan2f(x: Real, y: Real) -> float:
    """The angle of the point (y, x): atan2(y, x)."""
def atanf(x: Real) -> float:
    """Arc tangent."""
def atanh(x: Real) -> float:
    """Inverse hyperbolic tangent."""
def atanhf(x: Real) -> float:
    """Inverse hyperbolic tangent."""
def brev(x: Integer) -> int:
    """The 32 bits in reverse order."""
def brevll(x: Integer) -> int:
    """The 64 bits in reverse order."""
def byte_perm(x: Integer, y: Integer, z: Integer) -> int:
    """Four bytes that the digits of the selector pick from eight."""
def cbrt(x: Real) -> float:
    """Cube root."""
def cbrtf(x: Real) -> float:
    """Cube root."""
def ceil(x: Real) -> float:
    """Smallest whole number not below x."""
def ceilf(x: Real) -> float:
    """Smallest whole number not below x."""
def clz(x: Integer) -> int:
    """The number of leading zero bits of an int32."""
def clzll(x: Integer) -> int:
    """The number of leading zero bits of an int64."""
def copysign(x: Real, y: Real) -> float:
    """The size of x with the sign of y."""
def copysignf(x: Real, y: Real) -> float:
    """The size of x with the sign of y."""
def cos(x: Real) -> float:
    """Cosine."""
def cosf(x: Real) -> float:
    """Cosine."""
def cosh(x: Real) -> float:
    """Hyperbolic cosine."""
def coshf(x: Real) -> float:
    """Hyperbolic cosine."""
def cospi(x: Real) -> float:
    """Cosine of pi * x."""
def cospif(x: Real) -> float:
    """Cosine of pi * x."""
def cyl_bessel_i0(x: Real) -> float:
    """Modified Bessel function of order 0."""
def cyl_bessel_i0f(x: Real) -> float:
    """Modified Bessel function of order 0."""
def cyl_bessel_i1(x: Real) -> float:
    """Modified Bessel function of order 1."""
def cyl_bessel_i1f(x: Real) -> float:
    """Modified Bessel function of order 1."""
def dadd_rd(x: Real, y: Real) -> float:
    """x + y, rounded down."""
def dadd_rn(x: Real, y: Real) -> float:
    """x + y, rounded to nearest."""
def dadd_ru(x: Real, y: Real) -> float:
    """x + y, rounded up."""
def dadd_rz(x: Real, y: Real) -> float:
    """x + y, rounded towards zero."""
def ddiv_rd(x: Real, y: Real) -> float:
    """x / y, rounded down."""
def ddiv_rn(x: Real, y: Real) -> float:
    """x / y, rounded to nearest."""
def ddiv_ru(x: Real, y: Real) -> float:
    """x / y, rounded up."""
def ddiv_rz(x: Real, y: Real) -> float:
    """x / y, rounded towards zero."""
def dmul_rd(x: Real, y: Real) -> float:
    """x * y, rounded down."""
def dmul_rn(x: Real, y: Real) -> float:
    """x * y, rounded to nearest."""
def dmul_ru(x: Real, y: Real) -> float:
    """x * y, rounded up."""
def dmul_rz(x: Real, y: Real) -> float:
    """x * y, rounded towards zero."""
def double2float_rd(x: Real) -> float:
    """A float64 as a float32, rounded down."""
def double2float_rn(x: Real) -> float:
    """A float64 as a float32, rounded to nearest."""
def double2float_ru(x: Real) -> float:
    """A float64 as a float32, rounded up."""
def double2float_rz(x: Real) -> float:
    """A float64 as a float32, rounded towards zero."""
def double2hiint(x: Real) -> int:
    """The high 32 bits of a float64."""
def double2int_rd(x: Real) -> int:
    """A float64 as an int32, rounded down."""
def double2int_rn(x: Real) -> int:
    """A float64 as an int32, rounded to nearest."""
def double2int_ru(x: Real) -> int:
    """A float64 as an int32, rounded up."""
def double2int_rz(x: Real) -> int:
    """A float64 as an int32, rounded towards zero."""
def double2ll_rd(x: Real) -> int:
    """A float64 as an int64, rounded down."""
def double2ll_rn(x: Real) -> int:
    """A float64 as an int64, rounded to nearest."""
def double2ll_ru(x: Real) -> int:
    """A float64 as an int64, rounded up."""
def double2ll_rz(x: Real) -> int:
    """A float64 as an int64, rounded towards zero."""
def double2loint(x: Real) -> int:
    """The low 32 bits of a float64."""
def double2uint_rd(x: Real) -> int:
    """A float64 as an unsigned 32-bit number, rounded down."""
def double2uint_rn(x: Real) -> int:
    """A float64 as an unsigned 32-bit number, rounded to nearest."""
def double2uint_ru(x: Real) -> int:
    """A float64 as an unsigned 32-bit number, rounded up."""
def double2uint_rz(x: Real) -> int:
    """A float64 as an unsigned 32-bit number, rounded towards zero."""
def double2ull_rd(x: Real) -> int:
    """A float64 as an unsigned 64-bit number, rounded down."""
def double2ull_rn(x: Real) -> int:
    """A float64 as an unsigned 64-bit number, rounded to nearest."""
def double2ull_ru(x: Real) -> int:
    """A float64 as an unsigned 64-bit number, rounded up."""
def double2ull_rz(x: Real) -> int:
    """A float64 as an unsigned 64-bit number, rounded towards zero."""
def double_as_longlong(x: Real) -> int:
    """The bits of a float64."""
def drcp_rd(x: Real) -> float:
    """1 / x, rounded down."""
def drcp_rn(x: Real) -> float:
    """1 / x, rounded to nearest."""
def drcp_ru(x: Real) -> float:
    """1 / x, rounded up."""
def drcp_rz(x: Real) -> float:
    """1 / x, rounded towards zero."""
def dsqrt_rd(x: Real) -> float:
    """sqrt(x), rounded down."""
def dsqrt_rn(x: Real) -> float:
    """sqrt(x), rounded to nearest."""
def dsqrt_ru(x: Real) -> float:
    """sqrt(x), rounded up."""
def dsqrt_rz(x: Real) -> float:
    """sqrt(x), rounded towards zero."""
def dsub_rd(x: Real, y: Real) -> float:
    """x - y, rounded down."""
def dsub_rn(x: Real, y: Real) -> float:
    """x - y, rounded to nearest."""
def dsub_ru(x: Real, y: Real) -> float:
    """x - y, rounded up."""
def dsub_rz(x: Real, y: Real) -> float:
    """x - y, rounded towards zero."""
def erf(x: Real) -> float:
    """Error function."""
def erfc(x: Real) -> float:
    """1 - erf(x)."""
def erfcf(x: Real) -> float:
    """1 - erf(x)."""
def erfcinv(x: Real) -> float:
    """The inverse of erfc."""
def erfcinvf(x: Real) -> float:
    """The inverse of erfc."""
def erfcx(x: Real) -> float:
    """exp(x * x) * erfc(x)."""
def erfcxf(x: Real) -> float:
    """exp(x * x) * erfc(x)."""
def erff(x: Real) -> float:
    """Error function."""
def erfinv(x: Real) -> float:
    """The inverse of erf."""
def erfinvf(x: Real) -> float:
    """The inverse of erf."""
def exp(x: Real) -> float:
    """e to the power x."""
def exp10(x: Real) -> float:
    """10 to the power x."""
def exp10f(x: Real) -> float:
    """10 to the power x."""
def exp2(x: Real) -> float:
    """2 to the power x."""
def exp2f(x: Real) -> float:
    """2 to the power x."""
def expf(x: Real) -> float:
    """e to the power x."""
def expm1(x: Real) -> float:
    """exp(x) - 1."""
def expm1f(x: Real) -> float:
    """exp(x) - 1."""
def fabs(x: Real) -> float:
    """The absolute value."""
def fabsf(x: Real) -> float:
    """The absolute value."""
def fadd_rd(x: Real, y: Real) -> float:
    """x + y, rounded down."""
def fadd_rn(x: Real, y: Real) -> float:
    """x + y, rounded to nearest."""
def fadd_ru(x: Real, y: Real) -> float:
    """x + y, rounded up."""
def fadd_rz(x: Real, y: Real) -> float:
    """x + y, rounded towards zero."""
def fast_cosf(x: Real) -> float:
    """Cosine, fast and approximate."""
def fast_exp10f(x: Real) -> float:
    """10 to the power x, fast and approximate."""
def fast_expf(x: Real) -> float:
    """e to the power x, fast and approximate."""
def fast_fdividef(x: Real, y: Real) -> float:
    """x / y, fast and approximate."""
def fast_log10f(x: Real) -> float:
    """Logarithm to base 10, fast and approximate."""
def fast_log2f(x: Real) -> float:
    """Logarithm to base 2, fast and approximate."""
def fast_logf(x: Real) -> float:
    """Natural logarithm, fast and approximate."""
def fast_powf(x: Real, y: Real) -> float:
    """x to the power y, fast and approximate."""
def fast_sincosf(x: Real) -> tuple[float, float]:
    """(sine, cosine), fast and approximate."""
def fast_sinf(x: Real) -> float:
    """Sine, fast and approximate."""
def fast_tanf(x: Real) -> float:
    """Tangent, fast and approximate."""
def fast_tanhf(x: Real) -> float:
    """Hyperbolic tangent, fast and approximate."""
def fdim(x: Real, y: Real) -> float:
    """x - y where that is positive, else 0."""
def fdimf(x: Real, y: Real) -> float:
    """x - y where that is positive, else 0."""
def fdiv_rd(x: Real, y: Real) -> float:
    """x / y, rounded down."""
def fdiv_rn(x: Real, y: Real) -> float:
    """x / y, rounded to nearest."""
def fdiv_ru(x: Real, y: Real) -> float:
    """x / y, rounded up."""
def fdiv_rz(x: Real, y: Real) -> float:
    """x / y, rounded towards zero."""
def ffs(x: Integer) -> int:
    """The place of the lowest one bit of an int32, from 1; 0 where there is none."""
def ffsll(x: Integer) -> int:
    """The place of the lowest one bit of an int64, from 1; 0 where there is none."""
def finitef(x: Real) -> int:
    """Whether x is finite."""
def float2half_rn(x: Real) -> int:
    """The bits of x as a float16, rounded to nearest."""
def float2int_rd(x: Real) -> int:
    """A float32 as an int32, rounded down."""
def float2int_rn(x: Real) -> int:
    """A float32 as an int32, rounded to nearest."""
def float2int_ru(x: Real) -> int:
    """A float32 as an int32, rounded up."""
def float2int_rz(x: Real) -> int:
    """A float32 as an int32, rounded towards zero."""
def float2ll_rd(x: Real) -> int:
    """A float32 as an int64, rounded down."""
def float2ll_rn(x: Real) -> int:
    """A float32 as an int64, rounded to nearest."""
def float2ll_ru(x: Real) -> int:
    """A float32 as an int64, rounded up."""
def float2ll_rz(x: Real) -> int:
    """A float32 as an int64, rounded towards zero."""
def float2uint_rd(x: Real) -> int:
    """A float32 as an unsigned 32-bit number, rounded down."""
def float2uint_rn(x: Real) -> int:
    """A float32 as an unsigned 32-bit number, rounded to nearest."""
def float2uint_ru(x: Real) -> int:
    """A float32 as an unsigned 32-bit number, rounded up."""
def float2uint_rz(x: Real) -> int:
    """A float32 as an unsigned 32-bit number, rounded towards zero."""
def float2ull_rd(x: Real) -> int:
    """A float32 as an unsigned 64-bit number, rounded down."""
def float2ull_rn(x: Real) -> int:
    """A float32 as an unsigned 64-bit number, rounded to nearest."""
def float2ull_ru(x: Real) -> int:
    """A float32 as an unsigned 64-bit number, rounded up."""
def float2ull_rz(x: Real) -> int:
    """A float32 as an unsigned 64-bit number, rounded towards zero."""
def float_as_int(x: Real) -> int:
    """The bits of a float32."""
def float_as_uint(x: Real) -> int:
    """The bits of a float32."""
def floor(x: Real) -> float:
    """Largest whole number not above x."""
def floorf(x: Real) -> float:
    """Largest whole number not above x."""
def fma(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once."""
def fma_rd(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, down."""
def fma_rn(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, to nearest."""
def fma_ru(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, up."""
def fma_rz(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, towards zero."""
def fmaf(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once."""
def fmaf_ieee_rd(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, down, never flushing denormals."""
def fmaf_ieee_rn(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, to nearest, never flushing denormals."""
def fmaf_ieee_ru(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, up, never flushing denormals."""
def fmaf_ieee_rz(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, towards zero, never flushing denormals."""
def fmaf_rd(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, down."""
def fmaf_rn(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, to nearest."""
def fmaf_ru(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, up."""
def fmaf_rz(x: Real, y: Real, z: Real) -> float:
    """x * y + z, rounded once, towards zero."""
def fmax(x: Real, y: Real) -> float:
    """The larger number; the other one where one is NaN."""
def fmaxf(x: Real, y: Real) -> float:
    """The larger number; the other one where one is NaN."""
def fmin(x: Real, y: Real) -> float:
    """The smaller number; the other one where one is NaN."""
def fminf(x: Real, y: Real) -> float:
    """The smaller number; the other one where one is NaN."""
def fmod(x: Real, y: Real) -> float:
    """Remainder with the sign of x, exact."""
def fmodf(x: Real, y: Real) -> float:
    """Remainder with the sign of x, exact."""
def fmul_rd(x: Real, y: Real) -> float:
    """x * y, rounded down."""
def fmul_rn(x: Real, y: Real) -> float:
    """x * y, rounded to nearest."""
def fmul_ru(x: Real, y: Real) -> float:
    """x * y, rounded up."""
def fmul_rz(x: Real, y: Real) -> float:
    """x * y, rounded towards zero."""
def frcp_rd(x: Real) -> float:
    """1 / x, rounded down."""
def frcp_rn(x: Real) -> float:
    """1 / x, rounded to nearest."""
def frcp_ru(x: Real) -> float:
    """1 / x, rounded up."""
def frcp_rz(x: Real) -> float:
    """1 / x, rounded towards zero."""
def frexp(x: Real) -> tuple[float, int]:
    """of x."""
def frexpf(x: Real) -> tuple[float, int]:
    """of x."""
def frsqrt_rn(x: Real) -> float:
    """1 / sqrt(x), rounded to nearest."""
def fsqrt_rd(x: Real) -> float:
    """sqrt(x), rounded down."""
def fsqrt_rn(x: Real) -> float:
    """sqrt(x), rounded to nearest."""
def fsqrt_ru(x: Real) -> float:
    """sqrt(x), rounded up."""
def fsqrt_rz(x: Real) -> float:
    """sqrt(x), rounded towards zero."""
def fsub_rd(x: Real, y: Real) -> float:
    """x - y, rounded down."""
def fsub_rn(x: Real, y: Real) -> float:
    """x - y, rounded to nearest."""
def fsub_ru(x: Real, y: Real) -> float:
    """x - y, rounded up."""
def fsub_rz(x: Real, y: Real) -> float:
    """x - y, rounded towards zero."""
def hadd(x: Integer, y: Integer) -> int:
    """/ 2 without overflow, rounded down."""
def half2float(x: Integer) -> float:
    """The float32 of the bits of a float16."""
def hiloint2double(x: Integer, y: Integer) -> float:
    """The float64 with these high and low bits."""
def hypot(x: Real, y: Real) -> float:
    """sqrt(x * x + y * y)."""
def hypotf(x: Real, y: Real) -> float:
    """sqrt(x * x + y * y)."""
def ilogb(x: Real) -> int:
    """The exponent of x as an int32."""
def ilogbf(x: Real) -> int:
    """The exponent of x as an int32."""
def int2double_rn(x: Integer) -> float:
    """An int32 as a float64, rounded to nearest."""
def int2float_rd(x: Integer) -> float:
    """An int32 as a float32, rounded down."""
def int2float_rn(x: Integer) -> float:
    """An int32 as a float32, rounded to nearest."""
def int2float_ru(x: Integer) -> float:
    """An int32 as a float32, rounded up."""
def int2float_rz(x: Integer) -> float:
    """An int32 as a float32, rounded towards zero."""
def int_as_float(x: Integer) -> float:
    """The float32 with these bits."""
def isfinited(x: Real) -> int:
    """Whether x is finite."""
def isinfd(x: Real) -> int:
    """Whether x is infinite."""
def isinff(x: Real) -> int:
    """Whether x is infinite."""
def isnand(x: Real) -> int:
    """Whether x is not a number."""
def isnanf(x: Real) -> int:
    """Whether x is not a number."""
def j0(x: Real) -> float:
    """Bessel function of the first kind, order 0."""
def j0f(x: Real) -> float:
    """Bessel function of the first kind, order 0."""
def j1(x: Real) -> float:
    """Bessel function of the first kind, order 1."""
def j1f(x: Real) -> float:
    """Bessel function of the first kind, order 1."""
def jn(x: Integer, y: Real) -> float:
    """Bessel function of the first kind, order n."""
def jnf(x: Integer, y: Real) -> float:
    """Bessel function of the first kind, order n."""
def ldexp(x: Real, y: Integer) -> float:
    """x * 2 ** n."""
def ldexpf(x: Real, y: Integer) -> float:
    """x * 2 ** n."""
def lgamma(x: Real) -> float:
    """Logarithm of the absolute value of the Gamma function."""
def lgammaf(x: Real) -> float:
    """Logarithm of the absolute value of the Gamma function."""
def ll2double_rd(x: Integer) -> float:
    """An int64 as a float64, rounded down."""
def ll2double_rn(x: Integer) -> float:
    """An int64 as a float64, rounded to nearest."""
def ll2double_ru(x: Integer) -> float:
    """An int64 as a float64, rounded up."""
def ll2double_rz(x: Integer) -> float:
    """An int64 as a float64, rounded towards zero."""
def ll2float_rd(x: Integer) -> float:
    """An int64 as a float32, rounded down."""
def ll2float_rn(x: Integer) -> float:
    """An int64 as a float32, rounded to nearest."""
def ll2float_ru(x: Integer) -> float:
    """An int64 as a float32, rounded up."""
def ll2float_rz(x: Integer) -> float:
    """An int64 as a float32, rounded towards zero."""
def llabs(x: Integer) -> int:
    """The absolute value of an int64."""
def llmax(x: Integer, y: Integer) -> int:
    """The larger int64."""
def llmin(x: Integer, y: Integer) -> int:
    """The smaller int64."""
def llrint(x: Real) -> int:
    """The nearest int64, halves to even."""
def llrintf(x: Real) -> int:
    """The nearest int64, halves to even."""
def llround(x: Real) -> int:
    """The nearest int64, halves away from zero."""
def llroundf(x: Real) -> int:
    """The nearest int64, halves away from zero."""
def log(x: Real) -> float:
    """Natural logarithm."""
def log10(x: Real) -> float:
    """Logarithm to base 10."""
def log10f(x: Real) -> float:
    """Logarithm to base 10."""
def log1p(x: Real) -> float:
    """log(1 + x)."""
def log1pf(x: Real) -> float:
    """log(1 + x)."""
def log2(x: Real) -> float:
    """Logarithm to base 2."""
def log2f(x: Real) -> float:
    """Logarithm to base 2."""
def logb(x: Real) -> float:
    """The exponent of x as a float."""
def logbf(x: Real) -> float:
    """The exponent of x as a float."""
def logf(x: Real) -> float:
    """Natural logarithm."""
def longlong_as_double(x: Integer) -> float:
    """The float64 with these bits."""
def max(x: Integer, y: Integer) -> int:
    """The larger int32."""
def min(x: Integer, y: Integer) -> int:
    """The smaller int32."""
def modf(x: Real) -> tuple[float, float]:
    """of x."""
def modff(x: Real) -> tuple[float, float]:
    """of x."""
def mul24(x: Integer, y: Integer) -> int:
    """The product of the low 24 bits."""
def mul64hi(x: Integer, y: Integer) -> int:
    """The high 64 bits of a product."""
def mulhi(x: Integer, y: Integer) -> int:
    """The high 32 bits of a product."""
def nearbyint(x: Real) -> float:
    """The nearest whole number, halves to even."""
def nearbyintf(x: Real) -> float:
    """The nearest whole number, halves to even."""
def nextafter(x: Real, y: Real) -> float:
    """The next number after x towards y."""
def nextafterf(x: Real, y: Real) -> float:
    """The next number after x towards y."""
def norm3d(x: Real, y: Real, z: Real) -> float:
    """sqrt(x * x + y * y + z * z)."""
def norm3df(x: Real, y: Real, z: Real) -> float:
    """sqrt(x * x + y * y + z * z)."""
def norm4d(x: Real, y: Real, z: Real, w: Real) -> float:
    """sqrt(x * x + y * y + z * z + w * w)."""
def norm4df(x: Real, y: Real, z: Real, w: Real) -> float:
    """sqrt(x * x + y * y + z * z + w * w)."""
def normcdf(x: Real) -> float:
    """Distribution function of the standard normal distribution."""
def normcdff(x: Real) -> float:
    """Distribution function of the standard normal distribution."""
def normcdfinv(x: Real) -> float:
    """The inverse of normcdf."""
def normcdfinvf(x: Real) -> float:
    """The inverse of normcdf."""
def popc(x: Integer) -> int:
    """The number of one bits of an int32."""
def popcll(x: Integer) -> int:
    """The number of one bits of an int64."""
def pow(x: Real, y: Real) -> float:
    """x to the power y."""
def powf(x: Real, y: Real) -> float:
    """x to the power y."""
def powi(x: Real, y: Integer) -> float:
    """x to an integer power."""
def powif(x: Real, y: Integer) -> float:
    """x to an integer power."""
def rcbrt(x: Real) -> float:
    """1 / cbrt(x)."""
def rcbrtf(x: Real) -> float:
    """1 / cbrt(x)."""
def rcp64h(x: Real) -> float:
    """A rough 1 / x of 20 bits."""
def remainder(x: Real, y: Real) -> float:
    """x - n * y for the integer n nearest to x / y, exact."""
def remainderf(x: Real, y: Real) -> float:
    """x - n * y for the integer n nearest to x / y, exact."""
def remquo(x: Real, y: Real) -> tuple[float, int]:
    """(remainder, low bits of the quotient)."""
def remquof(x: Real, y: Real) -> tuple[float, int]:
    """(remainder, low bits of the quotient)."""
def rhadd(x: Integer, y: Integer) -> int:
    """/ 2 without overflow, rounded up."""
def rhypot(x: Real, y: Real) -> float:
    """1 / sqrt(x * x + y * y)."""
def rhypotf(x: Real, y: Real) -> float:
    """1 / sqrt(x * x + y * y)."""
def rint(x: Real) -> float:
    """The nearest whole number, halves to even."""
def rintf(x: Real) -> float:
    """The nearest whole number, halves to even."""
def rnorm3d(x: Real, y: Real, z: Real) -> float:
    """1 / sqrt(x * x + y * y + z * z)."""
def rnorm3df(x: Real, y: Real, z: Real) -> float:
    """1 / sqrt(x * x + y * y + z * z)."""
def rnorm4d(x: Real, y: Real, z: Real, w: Real) -> float:
    """1 / sqrt(x * x + y * y + z * z + w * w)."""
def rnorm4df(x: Real, y: Real, z: Real, w: Real) -> float:
    """1 / sqrt(x * x + y * y + z * z + w * w)."""
def round(x: Real) -> float:
    """The nearest whole number, halves away from zero."""
def roundf(x: Real) -> float:
    """The nearest whole number, halves away from zero."""
def rsqrt(x: Real) -> float:
    """1 / sqrt(x)."""
def rsqrtf(x: Real) -> float:
    """1 / sqrt(x)."""
def sad(x: Integer, y: Integer, z: Integer) -> int:
    """|x - y| + z."""
def saturatef(x: Real) -> float:
    """x clamped to 0..1; 0 for NaN."""
def scalbn(x: Real, y: Integer) -> float:
    """x * 2 ** n."""
def scalbnf(x: Real, y: Integer) -> float:
    """x * 2 ** n."""
def signbitd(x: Real) -> int:
    """Whether x has a minus sign."""
def signbitf(x: Real) -> int:
    """Whether x has a minus sign."""
def sin(x: Real) -> float:
    """Sine."""
def sincos(x: Real) -> tuple[float, float]:
    """(sine, cosine)."""
def sincosf(x: Real) -> tuple[float, float]:
    """(sine, cosine)."""
def sincospi(x: Real) -> tuple[float, float]:
    """of pi * x."""
def sincospif(x: Real) -> tuple[float, float]:
    """of pi * x."""
def sinf(x: Real) -> float:
    """Sine."""
def sinh(x: Real) -> float:
    """Hyperbolic sine."""
def sinhf(x: Real) -> float:
    """Hyperbolic sine."""
def sinpi(x: Real) -> float:
    """Sine of pi * x."""
def sinpif(x: Real) -> float:
    """Sine of pi * x."""
def sqrt(x: Real) -> float:
    """Square root."""
def sqrtf(x: Real) -> float:
    """Square root."""
def tan(x: Real) -> float:
    """Tangent."""
def tanf(x: Real) -> float:
    """Tangent."""
def tanh(x: Real) -> float:
    """Hyperbolic tangent."""
def tanhf(x: Real) -> float:
    """Hyperbolic tangent."""
def tgamma(x: Real) -> float:
    """Gamma function."""
def tgammaf(x: Real) -> float:
    """Gamma function."""
def trunc(x: Real) -> float:
    """x without its fraction."""
def truncf(x: Real) -> float:
    """x without its fraction."""
def uhadd(x: Integer, y: Integer) -> int:
    """/ 2 of unsigned numbers without overflow, rounded down."""
def uint2double_rn(x: Integer) -> float:
    """An unsigned 32-bit number as a float64, rounded to nearest."""
def uint2float_rd(x: Integer) -> float:
    """An unsigned 32-bit number as a float32, rounded down."""
def uint2float_rn(x: Integer) -> float:
    """An unsigned 32-bit number as a float32, rounded to nearest."""
def uint2float_ru(x: Integer) -> float:
    """An unsigned 32-bit number as a float32, rounded up."""
def uint2float_rz(x: Integer) -> float:
    """An unsigned 32-bit number as a float32, rounded towards zero."""
def uint_as_float(x: Integer) -> float:
    """The float32 with these bits."""
def ull2double_rd(x: Integer) -> float:
    """An unsigned 64-bit number as a float64, rounded down."""
def ull2double_rn(x: Integer) -> float:
    """An unsigned 64-bit number as a float64, rounded to nearest."""
def ull2double_ru(x: Integer) -> float:
    """An unsigned 64-bit number as a float64, rounded up."""
def ull2double_rz(x: Integer) -> float:
    """An unsigned 64-bit number as a float64, rounded towards zero."""
def ull2float_rd(x: Integer) -> float:
    """An unsigned 64-bit number as a float32, rounded down."""
def ull2float_rn(x: Integer) -> float:
    """An unsigned 64-bit number as a float32, rounded to nearest."""
def ull2float_ru(x: Integer) -> float:
    """An unsigned 64-bit number as a float32, rounded up."""
def ull2float_rz(x: Integer) -> float:
    """An unsigned 64-bit number as a float32, rounded towards zero."""
def ullmax(x: Integer, y: Integer) -> int:
    """The larger unsigned 64-bit number."""
def ullmin(x: Integer, y: Integer) -> int:
    """The smaller unsigned 64-bit number."""
def umax(x: Integer, y: Integer) -> int:
    """The larger unsigned 32-bit number."""
def umin(x: Integer, y: Integer) -> int:
    """The smaller unsigned 32-bit number."""
def umul24(x: Integer, y: Integer) -> int:
    """The product of the low 24 bits, unsigned."""
def umul64hi(x: Integer, y: Integer) -> int:
    """The high 64 bits of an unsigned product."""
def umulhi(x: Integer, y: Integer) -> int:
    """The high 32 bits of an unsigned product."""
def urhadd(x: Integer, y: Integer) -> int:
    """/ 2 of unsigned numbers without overflow, rounded up."""
def usad(x: Integer, y: Integer, z: Integer) -> int:
    """|x - y| + z of unsigned x and y."""
def y0(x: Real) -> float:
    """Bessel function of the second kind, order 0."""
def y0f(x: Real) -> float:
    """Bessel function of the second kind, order 0."""
def y1(x: Real) -> float:
    """Bessel function of the second kind, order 1."""
def y1f(x: Real) -> float:
    """Bessel function of the second kind, order 1."""
def yn(x: Integer, y: Real) -> float:
    """Bessel function of the second kind, order n."""
def ynf(x: Integer, y: Real) -> float:
    """Bessel function of the second kind, order n."""
