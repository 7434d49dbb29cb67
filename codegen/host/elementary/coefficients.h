/* Polynomials and tables of codegen/host/elementary, made by scripts/elementary_coefficients.py. */
#ifndef CUJIT_CODEGEN_COEFFICIENTS_H
#define CUJIT_CODEGEN_COEFFICIENTS_H

/* clang-format off */
/* (sin(r) / r - 1) / r**2 of r**2 from 0 to 0.6169; off by 2**-35.0 */
#define SIN32(x) POLYNOMIAL_BY_TERMS(x, -0x1.555555545df18p-3, 0x1.11110deef0ae3p-7, -0x1.a013a740c35cep-13, \
    0x1.6dbded5452c9bp-19)
/* (cos(r) - 1 + r**2 / 2) / r**4 of r**2 from 0 to 0.6169; off by 2**-28.9 */
#define COS32(x) POLYNOMIAL_BY_TERMS(x, 0x1.55555441635f9p-5, -0x1.6c12d2bbdb37ep-10, 0x1.9bd88004b0139p-16)
/* (exp(r) - 1 - r) / r**2 of r from -0.3466 to 0.3466; off by 2**-29.4 */
#define EXP32(x) POLYNOMIAL(x, 0x1.0000000b9129bp-1, 0x1.5555555a78ed4p-3, 0x1.5554e9063586ep-5, \
    0x1.1110e0f238322p-7, 0x1.6d43246b523b4p-10, 0x1.a124f19fe89acp-13)
/* (log(1 + f) - f) / f**2 of f from -0.2929 to 0.4142; off by 2**-32.9 */
#define LOG32(x) POLYNOMIAL(x, -0x1.0000000061ff9p-1, 0x1.55555586864b2p-2, -0x1.fffffce74e2c2p-3, \
    0x1.99994a95b9f46p-3, -0x1.5556284570739p-3, 0x1.24a46072d3ba4p-3, \
    -0x1.ffed889237cc2p-4, 0x1.c3b92d6129976p-4, -0x1.96fbf813076e4p-4, \
    0x1.967b7baacf66ep-4, -0x1.903d40f182d71p-4, 0x1.b9ce539309aabp-5)
/* (2 atanh(s) - 2 s) / s**3 of s**2 from 0 to 0.02945; off by 2**-44.3 */
#define ATANH32(x) POLYNOMIAL(x, 0x1.55555555553b7p-1, 0x1.9999999b878d7p-2, 0x1.249246299fc8ep-2, \
    0x1.c71fcdfe2f300p-3, 0x1.7382a9fa2e7aep-3, 0x1.546d249f36cb2p-3)
/* (asin(s) / s - 1) / s**2 of s**2 from 0 to 0.25; off by 2**-36.0 */
#define ASIN32(x) POLYNOMIAL(x, 0x1.55555554ee47bp-3, 0x1.333334ceb6520p-4, 0x1.6db5cfb6af282p-5, \
    0x1.f208eb1ddd0fbp-6, 0x1.6a9e3262c37dbp-6, 0x1.3c5053c2afce1p-6, \
    0x1.64b97e009bd03p-8, 0x1.e0231588b1e55p-6)
/* (atan(t) / t - 1) / t**2 of t**2 from 0 to 1; off by 2**-33.9 */
#define ATAN32(x) POLYNOMIAL(x, -0x1.555555543c557p-2, 0x1.9999971f594e7p-3, -0x1.2491d128f2977p-3, \
    0x1.c70a6be6d4163p-4, -0x1.73a719b0b93d9p-4, 0x1.36bfd2210f14ap-4, \
    -0x1.ffb2b9595f5b2p-5, 0x1.837061ab40426p-5, -0x1.ea18af61c3e87p-6, \
    0x1.cd243cc325c05p-7, -0x1.14abab0185470p-8, 0x1.36ecfc48d188bp-11)
/* erf(x) / x of x**2 from 0 to 1; off by 2**-34.8 */
#define ERF32(x) POLYNOMIAL_BY_TERMS(x, 0x1.20dd7504045d6p+0, -0x1.81274665754c3p-2, 0x1.ce2f08fec14fdp-4, \
    -0x1.b829c897922e5p-6, 0x1.562a60ddba6e6p-8, -0x1.bccf664d7f763p-11, \
    0x1.d887505de3ba6p-14, -0x1.445f47d33d87bp-17)
/* exp(x**2) erfc(x) / t of t = 1 / (1 + x / 2) from 0.09 to 1; off by 2**-35.8 */
#define ERFC32(x) POLYNOMIAL_BY_TERMS(x, 0x1.20dd6f162a5d2p-2, 0x1.20de9ca97b2fap-2, 0x1.f9510bbdd9c08p-3, \
    0x1.6b972d32f7626p-3, 0x1.2d80b18bd21e2p-4, 0x1.b5366016056e9p-5, \
    -0x1.2986d104532c6p-2, 0x1.40e97fd961f6fp-1, -0x1.6bd2f223c6fccp+0, \
    0x1.0e7fb8634311dp+1, -0x1.ec7e01ecec446p+0, 0x1.16804f80f722ep+0, \
    -0x1.7c21e6d466d46p-2, 0x1.1725255876b17p-4, -0x1.3978aa3d2f42ap-8)
/* erf(x) / x - 1 of x**2 from 0 to 1; off by 2**-56.2 */
#define ERF64(x) POLYNOMIAL_BY_TERMS(x, 0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042bdep-4, \
    -0x1.b82ce312889bap-6, 0x1.565bcd0e6502dp-8, -0x1.c02db3feeb579p-11, \
    0x1.f9a326c233146p-14, -0x1.f4d2561aeafd4p-17, 0x1.b9e6509b9867dp-20, \
    -0x1.5f6d925a0bc7ap-23, 0x1.fc4356498c2d9p-27, -0x1.4e607b41a6416p-30, \
    0x1.7f072188e194dp-34, -0x1.29b9f1b3df556p-38)
/* exp(x**2) erfc(x) / t of t - 1/2, t = 1 / (1 + x / 2) from -0.435 to 0.5; off by 2**-54.8 */
#define ERFC64(x) POLYNOMIAL_BY_TERMS(x, 0x1.058671b52c776p-1, 0x1.5fd386754eff9p-1, 0x1.1e2deea6b1174p-1, \
    0x1.2a88e6107d682p-3, -0x1.606e415529f7cp-3, -0x1.a89eaff8818ccp-4, \
    0x1.9517bb70ed1f7p-4, 0x1.b6fbf9a455b5fp-5, -0x1.5ba4387455e66p-4, \
    -0x1.20541631a1509p-7, 0x1.2efa311a86562p-4, -0x1.1e7655f40294ep-5, \
    -0x1.6c02f4b5853b5p-5, 0x1.0e789427a4f4cp-4, -0x1.2d979b75ca02bp-7, \
    -0x1.e9437bb8712c6p-5, 0x1.0c113e4724fd7p-4, 0x1.81b537b6c4b0ep-14, \
    -0x1.2ef9bb8136895p-4, 0x1.56c00fc0feaa6p-4, -0x1.5a3b576bbfb45p-8, \
    -0x1.c341a29eff2afp-4, 0x1.0b907f6d77103p-3, 0x1.bc570a1d36be5p-6, \
    -0x1.690da7571647bp-3, 0x1.42001c5460921p-4, 0x1.6c4ba5b4da14ap-4, \
    -0x1.1a4693f2be97cp-4)
/* (sin(r) / r - 1) / r**2 of r**2 from 0 to 0.6169; off by 2**-56.6 */
#define SIN64(x) POLYNOMIAL_BY_TERMS(x, -0x1.5555555555555p-3, 0x1.1111111111110p-7, -0x1.a01a01a019937p-13, \
    0x1.71de3a54607a5p-19, -0x1.ae64541295cdfp-26, 0x1.61217ee5cca1bp-33, \
    -0x1.ab17bdcbd3414p-41)
/* (cos(r) - 1 + r**2 / 2) / r**4 of r**2 from 0 to 0.6169; off by 2**-58.6 */
#define COS64(x) POLYNOMIAL_BY_TERMS(x, 0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d0ap-16, \
    -0x1.27e4fb7712ca2p-22, 0x1.1eed8deb82809p-29, -0x1.9394b9eb4d56dp-37, \
    0x1.ab78473be59d7p-45)
/* (exp(r) - 1 - r) / r**2 of r from -0.3466 to 0.3466; off by 2**-58.4 */
#define EXP64(x) POLYNOMIAL(x, 0x1.0000000000000p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, \
    0x1.11111111100dcp-7, 0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13, \
    0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19, 0x1.27e4db646b17ep-22, \
    0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29)
/* the same from -0.02166 to 0.02166; off by 2**-53.0 */
#define EXP64_SHORT(first, x) POLYNOMIAL_BEHIND(first, x, 0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.55555554e93b7p-5, \
    0x1.11111110e1059p-7, 0x1.6c17ed5c1f49ep-10, 0x1.a01b0c3c80bbcp-13)
/* (2 atanh(s) - 2 s) / s**3 of s**2 from 0 to 0.02945; off by 2**-54.6 */
#define LOG64(x) POLYNOMIAL(x, 0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476ba1p-2, \
    0x1.c71c72017a15cp-3, 0x1.745cf8f6c9119p-3, 0x1.3b1c38474d3eep-3, \
    0x1.0fbe478772696p-3, 0x1.0c06cf14c641bp-3)
/* (log(1 + r) - r + r**2 / 2) / r**3 of r from -0.03126 to 0.03126; off by 2**-50.4 */
#define LOG64_SHORT(x) POLYNOMIAL(x, 0x1.555555555554ap-2, -0x1.fffffffffffebp-3, 0x1.9999999a54719p-3, \
    -0x1.55555556009c4p-3, 0x1.24923a8e9c7b9p-3, -0x1.ffffe54246239p-4, \
    0x1.c7d6f51c12b41p-4, -0x1.9a4492a25b488p-4)
/* (2 atanh(s) - 2 s - 2/3 s**3) / s**5 of s**2 from 0 to 0.02945; off by 2**-55.1 */
#define POW64(x) POLYNOMIAL(x, 0x1.999999999999ap-2, 0x1.2492492492522p-2, 0x1.c71c71c6ea871p-3, \
    0x1.745d177aad02ap-3, 0x1.3b1395c881220p-3, 0x1.1118c9ee5b8a4p-3, \
    0x1.df7c5bc7c7563p-4, 0x1.e032e4d8436a1p-4)
/* (asin(s) / s - 1) / s**2 of s**2 from 0 to 0.25; off by 2**-56.5 */
#define ASIN64(x) POLYNOMIAL(x, 0x1.5555555555555p-3, 0x1.3333333333388p-4, 0x1.6db6db6dac1e0p-5, \
    0x1.f1c71c7a52ba3p-6, 0x1.6e8ba123e494cp-6, 0x1.1c4efce23019fp-6, \
    0x1.c990ad3d8fdcap-7, 0x1.7b027ee1dd585p-7, 0x1.3b49de7121487p-7, \
    0x1.31622469ce5adp-7, 0x1.8f193743418ffp-9, 0x1.406192d124629p-6, \
    -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6)
/* (atan(t) / t - 1) / t**2 of t**2 from 0 to 0.1717; off by 2**-55.5 */
#define ATAN64(x) POLYNOMIAL(x, -0x1.5555555555555p-2, 0x1.9999999999953p-3, -0x1.249249248d768p-3, \
    0x1.c71c71c2fe5d9p-4, -0x1.745d165cb83aap-4, 0x1.3b1392b641b06p-4, \
    -0x1.110e858a72e28p-4, 0x1.e199da4156fd9p-5, -0x1.ac78ec6b8cb98p-5, \
    0x1.74d64aa665b0ap-5, -0x1.1b2058fb5da30p-5, 0x1.0aa87c56e3eb5p-6)

enum { ENTRIES = 16 };
/* 2**(k / ENTRIES) */
static const double POWERS[16] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};
/* and what is missing there, as a part of each */
static const double POWERS_REST[16] = {
    0x0.0p+0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54,
    0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54,
    -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
    0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55,
};
/* An interval of numbers begins with these bits, and each with 1 << 48 more. */
#define LOG_START 0x3fe5800000000000u
/* 1 / c, where c is near the middle of an interval */
static const double RECIPROCALS[16] = {
    0x1.745d1729f3853p+0, 0x1.642c859f7200ep+0, 0x1.5555557ead17ap+0, 0x1.47ae148ef3a53p+0,
    0x1.3b13b155054a2p+0, 0x1.2f684bc7cb93bp+0, 0x1.24924946a2d13p+0, 0x1.1a7b961c3ab7bp+0,
    0x1.11111122b0066p+0, 0x1.0842107935cc4p+0, 0x1.0000000000000p+0, 0x1.e1e1e1ca36f37p-1,
    0x1.c71c71bb5a936p-1, 0x1.af286be32fd70p-1, 0x1.999999b6e253ap-1, 0x1.8618616f269edp-1,
};
/* log(c), off by less than 2**-66 */
static const double LOGARITHMS[16] = {
    -0x1.7fafa370df000p-2, -0x1.522ae09df2000p-2, -0x1.2696218f55000p-2, -0x1.f991c748ae000p-3,
    -0x1.a93ed47150000p-3, -0x1.5bf40639e2000p-3, -0x1.1178e910f2000p-3, -0x1.9335e66ee8000p-4,
    -0x1.08598c6234000p-4, -0x1.0415d74bf8000p-5, 0x0.0p+0, 0x1.f0a30d9370000p-5,
    0x1.e270774c80000p-4, 0x1.5ff3069356000p-3, 0x1.c8ff7be73e000p-3, 0x1.1675caf6f5000p-2,
};
/* clang-format on */

#endif
