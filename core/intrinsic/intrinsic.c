/* The table of intrinsic.def, and the way from a Python path to its row. */
#include "core/intrinsic/intrinsic.h"

#include <assert.h>
#include <string.h>

enum { CLUSTER_SM = 90, TILE_SM = 90 }; /* the oldest architectures that have clusters, and copies of tiles */

enum {
#define FAMILY(NAME, EFFECTS, WHO) EFFECTS_OF_##NAME = EFFECTS,
#include "core/intrinsic/intrinsic_family.def"
};

#define COMMON(KIND, FAMILY, ID, PATH, DOC)                                                                           \
    .kind = INTRINSIC_KIND_##KIND, .family = FAMILY_##FAMILY, .effects = EFFECTS_OF_##FAMILY, .id = ID, .path = PATH, \
    .doc = DOC
#define FRONTEND(FAMILY, ID, PATH, DOC) [INTRINSIC_##ID] = {COMMON(BUILTIN, FAMILY, #ID, PATH, DOC), .arity = -1}
#define AXIS(ID, AXIS_ID, NAME, FAMILY, AXIS, NVPTX, LOW, HIGH)                                         \
    [INTRINSIC_##ID##_##AXIS_ID] = {                                                                    \
        COMMON(REGISTER, FAMILY, #ID "_" #AXIS_ID, "cuda." #NAME "." #AXIS, #NAME " along " #AXIS "."), \
        .type = TYPE_OF(INT32), .nvptx = "llvm.nvvm.read.ptx.sreg." #NVPTX "." #AXIS, .low = LOW, .high = HIGH}

const IntrinsicInfo intrinsic_info[INTRINSIC_COUNT] = {
    [INTRINSIC_NONE] = {.kind = INTRINSIC_KIND_NONE, .id = "NONE", .path = "", .doc = ""},
#define BUILTIN(ID, PATH, DOC) FRONTEND(VALUE, ID, PATH, DOC),
#define ATOMIC(ID, PATH, OPERATION, PARAMETERS, DOC) \
    FRONTEND(ATOMIC, ID, PATH, "(array, " PARAMETERS ", *, scope='device', order='relaxed') " DOC),
#define CACHED_LOAD(ID, PATH, HINT, DOC) FRONTEND(CACHED_LOAD, ID, PATH, "(array, i) " DOC),
#define CACHED_STORE(ID, PATH, HINT, DOC) FRONTEND(CACHED_STORE, ID, PATH, "(array, i, value) " DOC),
#define REGISTER(ID, PATH, TYPE, NVPTX, LOW, HIGH, DOC)                                                           \
    [INTRINSIC_##ID] = {COMMON(REGISTER, THREAD_REGISTER, #ID, PATH, DOC), .type = TYPE_OF(TYPE), .nvptx = NVPTX, \
                        .low = LOW, .high = HIGH},
#define AXES(ID, NAME, FAMILY, NVPTX, LOW, HIGH_X, HIGH_Y, HIGH_Z, DOC)                        \
    FRONTEND(VALUE, ID, "cuda." #NAME, DOC), AXIS(ID, X, NAME, FAMILY, x, NVPTX, LOW, HIGH_X), \
        AXIS(ID, Y, NAME, FAMILY, y, NVPTX, LOW, HIGH_Y), AXIS(ID, Z, NAME, FAMILY, z, NVPTX, LOW, HIGH_Z),
#define MATH(ID, PATH, ...) UFUNC(ID, PATH, NULL, __VA_ARGS__)
#define UFUNC(ID, PATH, NUMPY, ARITY, RULE, F64, F32, HOST64, HOST32, DOC) \
    [INTRINSIC_##ID] = {COMMON(MATH, VALUE, #ID, PATH, DOC),               \
                        .numpy = NUMPY,                                    \
                        .arity = ARITY,                                    \
                        .promotion = PROMOTION_##RULE,                     \
                        .libdevice64 = F64,                                \
                        .libdevice32 = F32,                                \
                        .host64 = HOST64,                                  \
                        .host32 = HOST32},
#define DEVICE(ID, PATH, FAMILY, ARITY, NVPTX, DOC)                             \
    [INTRINSIC_##ID] = {COMMON(DEVICE, FAMILY, #ID, PATH, DOC), .arity = ARITY, \
                        .sm = EFFECTS_OF_##FAMILY & EFFECT_CLUSTER ? CLUSTER_SM : 0, .nvptx = NVPTX},
#define CALL(ID, PATH, FAMILY, PARAMETERS, SHAPE, SM, NVPTX, DOC) \
    [INTRINSIC_##ID] = {COMMON(DEVICE, FAMILY, #ID, PATH, DOC),   \
                        .arity = (int)sizeof(SHAPE) - 2,          \
                        .parameters = PARAMETERS,                 \
                        .shape = SHAPE,                           \
                        .sm = SM,                                 \
                        .nvptx = NVPTX},
#define MMA(ID, PATH, M, N, K, INPUT, OUTPUT, SM, NVPTX, DOC)                                      \
    [INTRINSIC_##ID] = {COMMON(DEVICE, MMA, #ID, PATH, DOC), .arity = 3, .sm = SM, .nvptx = NVPTX, \
                        .mma = {M, N, K, TYPE_OF(INPUT), TYPE_OF(OUTPUT)}},
#define LDMATRIX(ID, PATH, MATRICES, IS_TRANSPOSED, NVPTX, DOC)                                                     \
    [INTRINSIC_##ID] = {COMMON(DEVICE, LDMATRIX, #ID, PATH, DOC), .arity = 1, .nvptx = NVPTX, .matrices = MATRICES, \
                        .is_transposed = IS_TRANSPOSED},
#define COPY(ID, PATH, BYTES, NVPTX, DOC) \
    [INTRINSIC_##ID] = {COMMON(DEVICE, COPY, #ID, PATH, DOC), .arity = 2, .nvptx = NVPTX, .bytes = BYTES},
#define COPY_GROUP(ID, PATH, ARITY, NVPTX, DOC) \
    [INTRINSIC_##ID] = {COMMON(DEVICE, COPY_GROUP, #ID, PATH, DOC), .arity = ARITY, .nvptx = NVPTX},
#define PTX(ID, PATH, FAMILY, PARAMETERS, SHAPE, TEXT, DOC)     \
    [INTRINSIC_##ID] = {COMMON(DEVICE, FAMILY, #ID, PATH, DOC), \
                        .arity = (int)sizeof(SHAPE) - 2,        \
                        .parameters = PARAMETERS,               \
                        .shape = SHAPE,                         \
                        .sm = TILE_SM,                          \
                        .assembly = TEXT},
#define BULK(ID, PATH, FAMILY, DOC) \
    [INTRINSIC_##ID] = {COMMON(DEVICE, FAMILY, #ID, PATH, DOC), .arity = -1, .sm = TILE_SM},
#define WGMMA(ID, PATH, DOC) [INTRINSIC_##ID] = {COMMON(DEVICE, WGMMA, #ID, PATH, DOC), .arity = -1, .sm = TILE_SM},
#define LIBDEVICE(NAME, SIGNATURE, DOC)                                                                         \
    [INTRINSIC_LIBDEVICE_##NAME] = {COMMON(LIBDEVICE, VALUE, "LIBDEVICE_" #NAME, "cuda.libdevice." #NAME, DOC), \
                                    .arity = -1, .signature = SIGNATURE},
#include "core/intrinsic/intrinsic.def"
};

static const Type *signature_type(char letter)
{
    switch (letter) {
    case 'h': return TYPE_OF(INT16);
    case 'i': return TYPE_OF(INT32);
    case 'l': return TYPE_OF(INT64);
    case 'f': return TYPE_OF(FLOAT32);
    default: return TYPE_OF(FLOAT64);
    }
}

IntrinsicSignature intrinsic_signature(IntrinsicId id)
{
    const char *text = intrinsic_info[id].signature;
    assert(intrinsic_info[id].kind == INTRINSIC_KIND_LIBDEVICE && text);
    IntrinsicSignature signature = {.returns_nothing = *text == 'v'};
    for (text += signature.returns_nothing; *text != ':'; text++)
        signature.results[signature.result_count++] = signature_type(*text);
    assert(signature.result_count <= 2);
    for (text++; *text; text++)
        signature.arguments[signature.argument_count++] = signature_type(*text);
    assert(signature.argument_count <= 4);
    return signature;
}

bool intrinsic_has_spelling(const char *paths, const char *path)
{
    size_t length = strlen(path);
    for (const char *word = paths; *word;) {
        size_t word_length = strcspn(word, " ");
        if (word_length == length && !memcmp(word, path, length))
            return true;
        word += word_length;
        word += strspn(word, " ");
    }
    return false;
}

IntrinsicId intrinsic_by_path(const char *path)
{
    for (int id = INTRINSIC_NONE + 1; id < INTRINSIC_COUNT; id++)
        if (intrinsic_has_spelling(intrinsic_info[id].path, path))
            return (IntrinsicId)id;
    return INTRINSIC_NONE;
}
