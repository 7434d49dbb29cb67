/* The table of intrinsic.def, and the way from a Python path to its row. */
#include "core/intrinsic.h"

#include <string.h>

enum { CLUSTER_SM = 90 }; /* the oldest architecture that has clusters */

const IntrinsicInfo intrinsic_info[INTRINSIC_COUNT] = {
    [INTRINSIC_NONE] = {.kind = INTRINSIC_KIND_NONE, .id = "NONE", .path = "", .doc = ""},
#define COMMON(KIND, ID, PATH, DOC) .kind = INTRINSIC_KIND_##KIND, .id = ID, .path = PATH, .doc = DOC
#define BUILTIN(ID, PATH, DOC) [INTRINSIC_##ID] = {COMMON(BUILTIN, #ID, PATH, DOC), .arity = -1},
#define REGISTER(ID, PATH, TYPE, NVPTX, LOW, HIGH, DOC) \
    [INTRINSIC_##                                       \
        ID] = {COMMON(REGISTER, #ID, PATH, DOC), .type = TYPE_OF(TYPE), .nvptx = NVPTX, .low = LOW, .high = HIGH},
#define MATH(ID, PATH, ARITY, RULE, F64, F32, HOST64, HOST32, DOC) \
    [INTRINSIC_##ID] = {COMMON(MATH, #ID, PATH, DOC),              \
                        .arity = ARITY,                            \
                        .promotion = PROMOTION_##RULE,             \
                        .libdevice64 = F64,                        \
                        .libdevice32 = F32,                        \
                        .host64 = HOST64,                          \
                        .host32 = HOST32},
#define DEVICE(ID, PATH, ARITY, EFFECTS, NVPTX, DOC)                                        \
    [INTRINSIC_##ID] = {COMMON(DEVICE, #ID, PATH, DOC), .arity = ARITY, .effects = EFFECTS, \
                        .sm = (EFFECTS) & EFFECT_CLUSTER ? CLUSTER_SM : 0, .nvptx = NVPTX},
#define CALL(ID, PATH, PARAMETERS, SHAPE, EFFECTS, SM, NVPTX, DOC) \
    [INTRINSIC_##ID] = {COMMON(DEVICE, #ID, PATH, DOC),            \
                        .arity = (int)sizeof(SHAPE) - 2,           \
                        .effects = EFFECTS,                        \
                        .parameters = PARAMETERS,                  \
                        .shape = SHAPE,                            \
                        .sm = SM,                                  \
                        .nvptx = NVPTX},
#define MMA(ID, PATH, M, N, K, INPUT, OUTPUT, SM, NVPTX, DOC)            \
    [INTRINSIC_##ID] = {COMMON(DEVICE, #ID, PATH, DOC),                  \
                        .arity = 3,                                      \
                        .effects = EFFECT_WARP_SYNC | EFFECT_CONVERGENT, \
                        .sm = SM,                                        \
                        .nvptx = NVPTX,                                  \
                        .tensor = TENSOR_MMA,                            \
                        .mma = {M, N, K, TYPE_OF(INPUT), TYPE_OF(OUTPUT)}},
#define LDMATRIX(ID, PATH, MATRICES, IS_TRANSPOSED, NVPTX, DOC)                         \
    [INTRINSIC_##ID] = {COMMON(DEVICE, #ID, PATH, DOC),                                 \
                        .arity = 1,                                                     \
                        .effects = EFFECT_READS | EFFECT_WARP_SYNC | EFFECT_CONVERGENT, \
                        .nvptx = NVPTX,                                                 \
                        .tensor = TENSOR_LDMATRIX,                                      \
                        .matrices = MATRICES,                                           \
                        .is_transposed = IS_TRANSPOSED},
#define COPY(ID, PATH, BYTES, NVPTX, DOC)                                                                              \
    [INTRINSIC_##                                                                                                      \
        ID] = {COMMON(DEVICE, #ID, PATH, DOC), .arity = 2,    .effects = EFFECT_READS | EFFECT_WRITES, .nvptx = NVPTX, \
               .tensor = TENSOR_COPY,          .bytes = BYTES},
#define COPY_GROUP(ID, PATH, ARITY, NVPTX, DOC)                                                                  \
    [INTRINSIC_##ID] = {COMMON(DEVICE, #ID, PATH, DOC), .arity = ARITY, .effects = EFFECT_READS | EFFECT_WRITES, \
                        .nvptx = NVPTX, .tensor = TENSOR_COPY_GROUP},
#define LIBRARY(ID, PATH, FUNCTION, DOC) \
    [INTRINSIC_##ID] = {COMMON(LIBRARY, #ID, PATH, DOC), .python_function = FUNCTION},
#define GENERAL(ID, PATH, FUNCTION, DOC) \
    [INTRINSIC_##ID] = {COMMON(BUILTIN, #ID, PATH, DOC), .python_function = FUNCTION},
#define LIBDEVICE(NAME, SIGNATURE, DOC)                                                                               \
    [INTRINSIC_LIBDEVICE_##NAME] = {COMMON(LIBDEVICE, "LIBDEVICE_" #NAME, "cuda.libdevice." #NAME, DOC), .arity = -1, \
                                    .signature = SIGNATURE},
#include "core/intrinsic.def"
#undef COMMON
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
    IntrinsicSignature signature = {.returns_nothing = *text == 'v'};
    for (text += signature.returns_nothing; *text != ':'; text++)
        signature.results[signature.result_count++] = signature_type(*text);
    for (text++; *text; text++)
        signature.arguments[signature.argument_count++] = signature_type(*text);
    return signature;
}

/* Whether `paths` has `path` as one of its words. */
static bool has_spelling(const char *paths, const char *path, size_t length)
{
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
    size_t length = strlen(path);
    for (int id = INTRINSIC_NONE + 1; id < INTRINSIC_COUNT; id++)
        if (has_spelling(intrinsic_info[id].path, path, length))
            return (IntrinsicId)id;
    return INTRINSIC_NONE;
}
