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
/* the same from -0.003907 to 0.003907; off by 2**-54.6 */
#define LOG64_SHORTEST(x) POLYNOMIAL(x, 0x1.5555555555556p-2, -0x1.0000000000000p-2, 0x1.99999999197fdp-3, \
    -0x1.55555554e20afp-3, 0x1.24939e9cb0ce4p-3, -0x1.00013352871bcp-3)
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
/* The same of more intervals, each with 1 << 45 more; a logarithm is a multiple of 2**-42 and a rest. */
enum { FINE_ENTRIES = 128 };
#define FINE_START 0x3fe5f00000000000u
/* 1 / c */
static const double FINE_RECIPROCALS[128] = {
    0x1.745d1745d1746p+0, 0x1.724287f46debcp+0, 0x1.702e05c0b8170p+0, 0x1.6e1f76b4337c7p+0,
    0x1.6c16c16c16c17p+0, 0x1.6a13cd1537290p+0, 0x1.6816816816817p+0, 0x1.661ec6a5122f9p+0,
    0x1.642c8590b2164p+0, 0x1.623fa77016240p+0, 0x1.6058160581606p+0, 0x1.5e75bb8d015e7p+0,
    0x1.5c9882b931057p+0, 0x1.5ac056b015ac0p+0, 0x1.58ed2308158edp+0, 0x1.571ed3c506b3ap+0,
    0x1.5555555555555p+0, 0x1.5390948f40febp+0, 0x1.51d07eae2f815p+0, 0x1.5015015015015p+0,
    0x1.4e5e0a72f0539p+0, 0x1.4cab88725af6ep+0, 0x1.4afd6a052bf5bp+0, 0x1.49539e3b2d067p+0,
    0x1.47ae147ae147bp+0, 0x1.460cbc7f5cf9ap+0, 0x1.446f86562d9fbp+0, 0x1.42d6625d51f87p+0,
    0x1.4141414141414p+0, 0x1.3fb013fb013fbp+0, 0x1.3e22cbce4a902p+0, 0x1.3c995a47babe7p+0,
    0x1.3b13b13b13b14p+0, 0x1.3991c2c187f63p+0, 0x1.3813813813814p+0, 0x1.3698df3de0748p+0,
    0x1.3521cfb2b78c1p+0, 0x1.33ae45b57bcb2p+0, 0x1.323e34a2b10bfp+0, 0x1.30d190130d190p+0,
    0x1.2f684bda12f68p+0, 0x1.2e025c04b8097p+0, 0x1.2c9fb4d812ca0p+0, 0x1.2b404ad012b40p+0,
    0x1.29e4129e4129ep+0, 0x1.288b01288b013p+0, 0x1.27350b8812735p+0, 0x1.25e22708092f1p+0,
    0x1.2492492492492p+0, 0x1.23456789abcdfp+0, 0x1.21fb78121fb78p+0, 0x1.20b470c67c0d9p+0,
    0x1.1f7047dc11f70p+0, 0x1.1e2ef3b3fb874p+0, 0x1.1cf06ada2811dp+0, 0x1.1bb4a4046ed29p+0,
    0x1.1a7b9611a7b96p+0, 0x1.19453808ca29cp+0, 0x1.1811811811812p+0, 0x1.16e0689427379p+0,
    0x1.15b1e5f75270dp+0, 0x1.1485f0e0acd3bp+0, 0x1.135c81135c811p+0, 0x1.12358e75d3033p+0,
    0x1.1111111111111p+0, 0x1.0fef010fef011p+0, 0x1.0ecf56be69c90p+0, 0x1.0db20a88f4696p+0,
    0x1.0c9714fbcda3bp+0, 0x1.0b7e6ec259dc8p+0, 0x1.0a6810a6810a7p+0, 0x1.0953f39010954p+0,
    0x1.0842108421084p+0, 0x1.073260a47f7c6p+0, 0x1.0624dd2f1a9fcp+0, 0x1.05197f7d73404p+0,
    0x1.0410410410410p+0, 0x1.03091b51f5e1ap+0, 0x1.0204081020408p+0, 0x1.0101010101010p+0,
    0x1.0000000000000p+0, 0x1.fc07f01fc07f0p-1, 0x1.f81f81f81f820p-1, 0x1.f44659e4a4271p-1,
    0x1.f07c1f07c1f08p-1, 0x1.ecc07b301ecc0p-1, 0x1.e9131abf0b767p-1, 0x1.e573ac901e574p-1,
    0x1.e1e1e1e1e1e1ep-1, 0x1.de5d6e3f8868ap-1, 0x1.dae6076b981dbp-1, 0x1.d77b654b82c34p-1,
    0x1.d41d41d41d41dp-1, 0x1.d0cb58f6ec074p-1, 0x1.cd85689039b0bp-1, 0x1.ca4b3055ee191p-1,
    0x1.c71c71c71c71cp-1, 0x1.c3f8f01c3f8f0p-1, 0x1.c0e070381c0e0p-1, 0x1.bdd2b899406f7p-1,
    0x1.bacf914c1bad0p-1, 0x1.b7d6c3dda338bp-1, 0x1.b4e81b4e81b4fp-1, 0x1.b2036406c80d9p-1,
    0x1.af286bca1af28p-1, 0x1.ac5701ac5701bp-1, 0x1.a98ef606a63bep-1, 0x1.a6d01a6d01a6dp-1,
    0x1.a41a41a41a41ap-1, 0x1.a16d3f97a4b02p-1, 0x1.9ec8e951033d9p-1, 0x1.9c2d14ee4a102p-1,
    0x1.999999999999ap-1, 0x1.970e4f80cb872p-1, 0x1.948b0fcd6e9e0p-1, 0x1.920fb49d0e229p-1,
    0x1.8f9c18f9c18fap-1, 0x1.8d3018d3018d3p-1, 0x1.8acb90f6bf3aap-1, 0x1.886e5f0abb04ap-1,
    0x1.8618618618618p-1, 0x1.83c977ab2beddp-1, 0x1.8181818181818p-1, 0x1.7f405fd017f40p-1,
    0x1.7d05f417d05f4p-1, 0x1.7ad2208e0ecc3p-1, 0x1.78a4c8178a4c8p-1, 0x1.767dce434a9b1p-1,
};
/* log(c) */
static const double FINE_LOGARITHMS[128] = {
    -0x1.7fafa3bd81000p-2, -0x1.79e26687d0000p-2, -0x1.741d876c68000p-2, -0x1.6e60ee6af2000p-2,
    -0x1.68ac83e9c7000p-2, -0x1.630030b3ab000p-2, -0x1.5d5bddf596000p-2, -0x1.57bf753c8d000p-2,
    -0x1.522ae0738a000p-2, -0x1.4c9e09e173000p-2, -0x1.4718dc271c000p-2, -0x1.419b423d5f000p-2,
    -0x1.3c25277333000p-2, -0x1.36b6776be1000p-2, -0x1.314f1e1d36000p-2, -0x1.2bef07cdc9000p-2,
    -0x1.269621134e000p-2, -0x1.214456d0ec000p-2, -0x1.1bf99635a7000p-2, -0x1.16b5ccbad0000p-2,
    -0x1.1178e8227e000p-2, -0x1.0c42d67616000p-2, -0x1.07138604d6000p-2, -0x1.01eae5626c000p-2,
    -0x1.f991c6cb3c000p-3, -0x1.ef5ade4dd0000p-3, -0x1.e530effe72000p-3, -0x1.db13db0d48000p-3,
    -0x1.d1037f2656000p-3, -0x1.c6ffbc6f00000p-3, -0x1.bd087383be000p-3, -0x1.b31d8575bc000p-3,
    -0x1.a93ed3c8ae000p-3, -0x1.9f6c40708a000p-3, -0x1.95a5adcf70000p-3, -0x1.8beafeb390000p-3,
    -0x1.823c16551a000p-3, -0x1.7898d85444000p-3, -0x1.6f0128b756000p-3, -0x1.6574ebe8c2000p-3,
    -0x1.5bf406b544000p-3, -0x1.527e5e4a1c000p-3, -0x1.4913d8333c000p-3, -0x1.3fb45a5992000p-3,
    -0x1.365fcb015a000p-3, -0x1.2d1610c868000p-3, -0x1.23d712a49c000p-3, -0x1.1aa2b7e240000p-3,
    -0x1.1178e8227e000p-3, -0x1.08598b59e4000p-3, -0x1.fe89139dbc000p-4, -0x1.ec739830a0000p-4,
    -0x1.da72763844000p-4, -0x1.c885801bc4000p-4, -0x1.b6ac88dad4000p-4, -0x1.a4e7640b1c000p-4,
    -0x1.9335e5d594000p-4, -0x1.8197e2f410000p-4, -0x1.700d30aeac000p-4, -0x1.5e95a4d978000p-4,
    -0x1.4d3115d208000p-4, -0x1.3bdf5a7d20000p-4, -0x1.2aa04a4470000p-4, -0x1.1973bd1464000p-4,
    -0x1.08598b59e4000p-4, -0x1.eea31c0068000p-5, -0x1.ccb73cddd8000p-5, -0x1.aaef2d0fb0000p-5,
    -0x1.894aa149f8000p-5, -0x1.67c94f2d48000p-5, -0x1.466aed42e0000p-5, -0x1.252f32f8d0000p-5,
    -0x1.0415d89e78000p-5, -0x1.c63d2ec150000p-6, -0x1.8492528c90000p-6, -0x1.432a925980000p-6,
    -0x1.0205658930000p-6, -0x1.82448a3880000p-7, -0x1.0101575880000p-7, -0x1.0080559580000p-8,
    0x0.0p+0, 0x1.fe02a6b100000p-8, 0x1.fc0a8b0fc0000p-7, 0x1.7b91b07d60000p-6,
    0x1.f829b0e780000p-6, 0x1.39e87b9fe8000p-5, 0x1.77458f6330000p-5, 0x1.b42dd71198000p-5,
    0x1.f0a30c0118000p-5, 0x1.16536eea38000p-4, 0x1.341d7961bc000p-4, 0x1.51b073f060000p-4,
    0x1.6f0d28ae58000p-4, 0x1.8c345d6318000p-4, 0x1.a926d3a4ac000p-4, 0x1.c5e548f5bc000p-4,
    0x1.e27076e2b0000p-4, 0x1.fec9131dc0000p-4, 0x1.0d77e7cd08000p-3, 0x1.1b72ad52f6000p-3,
    0x1.29552f8200000p-3, 0x1.371fc201e8000p-3, 0x1.44d2b6ccb8000p-3, 0x1.526e5e3a1c000p-3,
    0x1.5ff3070a7a000p-3, 0x1.6d60fe719e000p-3, 0x1.7ab890210e000p-3, 0x1.87fa06520c000p-3,
    0x1.9525a9cf46000p-3, 0x1.a23bc1fe2c000p-3, 0x1.af3c94e80c000p-3, 0x1.bc286742d8000p-3,
    0x1.c8ff7c79aa000p-3, 0x1.d5c216b4fc000p-3, 0x1.e27076e2b0000p-3, 0x1.ef0adcbdc6000p-3,
    0x1.fb9186d5e4000p-3, 0x1.0402594b4d000p-2, 0x1.0a324e2739000p-2, 0x1.1058bf9ae5000p-2,
    0x1.1675cababa000p-2, 0x1.1c898c169a000p-2, 0x1.22941fbcf8000p-2, 0x1.2895a13de8000p-2,
    0x1.2e8e2bae12000p-2, 0x1.347dd9a988000p-2, 0x1.3a64c55694000p-2, 0x1.404308686a000p-2,
};
/* and what is missing there */
static const double FINE_LOGARITHMS_REST[128] = {
    -0x1.471b79bf6d4cbp-44, 0x1.30a0168817444p-44, 0x1.13c7b5b11cfa7p-44, 0x1.a3556a0f7749ep-44,
    0x1.7acd66c548a30p-44, 0x1.dbc23e731ae00p-45, 0x1.9de2a08a465dcp-47, -0x1.fadadee5d40efp-46,
    -0x1.eba708164c759p-45, 0x1.e18891b0ad8a4p-45, -0x1.071d8fb4c14c5p-44, 0x1.ce7a9226de3ecp-44,
    -0x1.83454b606bd5cp-46, -0x1.15ecdb0f177c8p-46, 0x1.8e5bad3213cb8p-45, -0x1.aa5ba4a5004f4p-45,
    0x1.1ba1f10522625p-44, 0x1.cac5428b728a3p-44, 0x1.1ade9575c2125p-44, 0x1.232a9042d74bfp-44,
    -0x1.1e9b8ce2d07f2p-44, -0x1.70d4b163ceae9p-45, 0x1.e70124e912b17p-44, -0x1.a44ecfade85aep-44,
    0x1.90b84cd7cc834p-44, 0x1.ad11565bb8e11p-51, 0x1.fdafbb13f7c18p-44, -0x1.2813a847527e6p-44,
    0x1.8527e75b6f6e4p-47, -0x1.ee128d3a69d43p-44, 0x1.d5844595412b6p-45, -0x1.c75de562a63cbp-44,
    0x1.86a4350562169p-45, 0x1.33aa94bcd3f43p-44, -0x1.8262858a0ff6fp-47, 0x1.71154aae92cd1p-47,
    -0x1.e02db9a631e83p-46, -0x1.8e81be3dbaf3fp-44, -0x1.571d90d31ef0fp-44, 0x1.98d1d34f0f462p-44,
    0x1.28023eb68981cp-46, 0x1.4e61b8d4b411dp-44, 0x1.53a43558124c4p-44, -0x1.19313c0cae559p-44,
    0x1.fd720afb9691bp-44, -0x1.3d0eccb81b4a1p-47, -0x1.00aa38fd3df5cp-46, 0x1.1ad48dde3b366p-44,
    -0x1.1e778ce2d07f2p-45, 0x1.7e5fd7009902cp-45, -0x1.56494d82f7a82p-44, -0x1.1267ba80cdd10p-44,
    -0x1.a79401fa71733p-46, -0x1.63f51c65aacd3p-45, -0x1.b1cbff50225c7p-44, 0x1.e4336b94407c8p-47,
    -0x1.30f5c3abd47dap-45, 0x1.c102460d20041p-44, -0x1.d068da99ded32p-49, -0x1.1ccace1d17171p-44,
    0x1.53e2582f4e1efp-48, 0x1.1a1e0ad125895p-44, -0x1.7a16ba8b1cb41p-44, -0x1.560a154f930b3p-44,
    0x1.7e9dd7009902cp-46, -0x1.c3de83606d891p-44, -0x1.967c36e09f5fep-44, -0x1.1085a353bb42ep-45,
    -0x1.9a55a8be97661p-44, -0x1.db2a0827cca0cp-44, 0x1.c073375bdfd28p-45, -0x1.8401ae021b67bp-45,
    0x1.ddfc7f461c516p-44, 0x1.54a3ce030a687p-44, 0x1.a9dba325a0c34p-45, -0x1.97739928637fep-47,
    -0x1.60dd27c8e8417p-44, -0x1.4506412c584e0p-44, -0x1.bcd251998b506p-44, -0x1.164afcb31c67bp-45,
    0x0.0p+0, 0x1.9e63f0dda40e4p-46, 0x1.e1e7cf6d3a69cp-50, -0x1.3b685b602ace4p-44,
    0x1.97c267c7e09e4p-45, 0x1.eb3d480ad9015p-44, -0x1.1807ce586af09p-44, -0x1.c8d7ae5d6704cp-46,
    -0x1.d579e83368e91p-45, -0x1.472de768fa309p-46, 0x1.1cfb299837610p-44, 0x1.83ba9278e686ap-44,
    -0x1.4b2241b664613p-44, 0x1.b22b5acb42a66p-44, 0x1.561c50bd22a9cp-44, 0x1.d0c97585fbe06p-46,
    -0x1.a2c2c2af0003cp-45, -0x1.54455d1ae6607p-44, 0x1.cb6cd2ee2f482p-44, 0x1.e86041811a396p-45,
    -0x1.5bd67f4471dfcp-44, 0x1.eea079b2d8abcp-44, -0x1.71f416135783cp-46, -0x1.790aa37fc5238p-44,
    -0x1.8546f183bebf2p-44, -0x1.bc91557134767p-44, -0x1.be51072534a58p-45, 0x1.22130401202fcp-44,
    -0x1.294937d9f158fp-44, -0x1.53d6d91dc9f0bp-44, -0x1.92e633fcd9066p-52, 0x1.9a873f39d121cp-44,
    -0x1.7814f689f8434p-45, -0x1.1b0d1bbca681bp-45, -0x1.a302c2af0003cp-44, -0x1.b2a179c86af24p-45,
    -0x1.d6b2aab993c87p-47, 0x1.037b89ef42d7fp-48, 0x1.c4dee7ef4030ep-47, -0x1.4affd817d52cdp-44,
    0x1.83c0e731f55c4p-44, -0x1.81260e5c62affp-44, -0x1.a6876f5eb0963p-44, 0x1.a917ad24c13f0p-44,
    -0x1.6791e99b72bd8p-45, -0x1.5522dd4c58092p-45, 0x1.7a81cbcd735d0p-44, 0x1.f8f043049f7d3p-44,
};
/* clang-format on */

#endif
