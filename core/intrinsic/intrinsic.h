/* Everything callable or readable in a kernel that is not Python code, from intrinsic.def. */
#ifndef CUJIT_CORE_INTRINSIC_H
#define CUJIT_CORE_INTRINSIC_H

#include "core/type/type.h"

typedef enum IntrinsicId {
    INTRINSIC_NONE,
#define BUILTIN(id, path, doc) INTRINSIC_##id,
#define ATOMIC(id, path, operation, parameters, doc) INTRINSIC_##id,
#define CACHED_LOAD(id, path, hint, doc) INTRINSIC_##id,
#define CACHED_STORE(id, path, hint, doc) INTRINSIC_##id,
#define REGISTER(id, path, type, nvptx, low, high, doc) INTRINSIC_##id,
#define AXES(id, name, family, nvptx, low, high_x, high_y, high_z, doc) \
    INTRINSIC_##id, INTRINSIC_##id##_X, INTRINSIC_##id##_Y, INTRINSIC_##id##_Z,
#define MATH(id, path, arity, promotion, f64, f32, host64, host32, doc) INTRINSIC_##id,
#define DEVICE(id, path, family, arity, nvptx, doc) INTRINSIC_##id,
#define CALL(id, path, family, parameters, shape, sm, nvptx, doc) INTRINSIC_##id,
#define MMA(id, path, m, n, k, input, output, sm, nvptx, doc) INTRINSIC_##id,
#define LDMATRIX(id, path, matrices, is_transposed, nvptx, doc) INTRINSIC_##id,
#define COPY(id, path, bytes, nvptx, doc) INTRINSIC_##id,
#define COPY_GROUP(id, path, arity, nvptx, doc) INTRINSIC_##id,
#define PTX(id, path, family, parameters, shape, ptx, doc) INTRINSIC_##id,
#define BULK(id, path, family, doc) INTRINSIC_##id,
#define WGMMA(id, path, doc) INTRINSIC_##id,
#define LIBDEVICE(name, signature, doc) INTRINSIC_LIBDEVICE_##name,
#include "core/intrinsic/intrinsic.def"
    INTRINSIC_COUNT
} IntrinsicId;

typedef enum IntrinsicKind {
    INTRINSIC_KIND_NONE,
    INTRINSIC_KIND_BUILTIN,   /* the frontend turns it into IR operations */
    INTRINSIC_KIND_REGISTER,  /* a special register: an IR intrinsic without operands */
    INTRINSIC_KIND_MATH, /* a pure function of scalars, all of the result's type: an IR intrinsic, one symbol a type */
    INTRINSIC_KIND_DEVICE, /* an IR intrinsic with an emitter of its own in codegen */
    INTRINSIC_KIND_LIBDEVICE, /* a function of NVIDIA's device math library: an IR intrinsic with its signature's types */
} IntrinsicKind;

/* What an intrinsic does beside computing its result. */
typedef enum IntrinsicEffects {
    EFFECT_NONE = 0,
    EFFECT_READS = 1,
    EFFECT_WRITES = 2,
    EFFECT_BLOCK_SYNC = 4, /* every thread of the block takes part: the CPU device needs real threads */
    EFFECT_WARP_SYNC = 8, /* likewise: lanes of a warp take part, threads vote, or one lets the others run */
    EFFECT_CONVERGENT = 16,
    EFFECT_GRID_SYNC = 32, /* every thread of the grid takes part: the launch is cooperative */
    EFFECT_CLUSTER = 64, /* blocks of a cluster must exist at once: they wait for each other or share memory */
    EFFECT_PRINTS = 128, /* the operation print; no intrinsic has it */
    EFFECT_WATCHED = 512, /* WATCH, an operation: the CPU device runs real threads, which tell it what they do */
    EFFECT_GRID_DEPENDENCY = 256, /* waits for the stream's earlier launches by itself: it may start before they end */
    EFFECT_TILES = 1024, /* PTX 8.0 has it: tiles, barriers in shared memory */
    EFFECT_SPECIFIC = 2048, /* only its own architecture has it: code for sm_90a, which runs on no newer GPU */
} IntrinsicEffects;

typedef enum IntrinsicFamily {
#define FAMILY(name, effects, who) FAMILY_##name,
#include "core/intrinsic/intrinsic_family.def"
} IntrinsicFamily;

/* d = a @ b + c over a warp, for tensor cores. */
typedef struct MmaShape {
    int m, n, k;
    const Type *input, *output; /* elements of a and b, of c and d */
} MmaShape;

/* Elements of a, b or c in each lane. */
static inline uint32_t mma_fragment_count(const MmaShape *mma, uint32_t operand)
{
    const int elements[3] = {mma->m * mma->k, mma->k * mma->n, mma->m * mma->n};
    return (uint32_t)elements[operand] / 32;
}

typedef struct IntrinsicInfo {
    IntrinsicKind kind;
    IntrinsicFamily family;
    const char *id; /* "CUDA_THREAD_IDX_X" */
    const char *path; /* "cuda.threadIdx.x", "math.sin", "builtins.len"; several spellings apart by spaces */
    const char *doc;
    int arity; /* operands of the IR intrinsic; -1: varies */
    unsigned effects; /* the family's */
    PromotionId promotion; /* MATH */
    const Type *type; /* REGISTER: the result */
    const char *parameters; /* CALL: "mask, value, width=32" */
    /* CALL: the result, then the parameters: n none, b bool, i int32, u uint32, l int64, q uint64, f float32, d float64,
     * w an integer of 32 bits, each with its own sign; v an integer of 32 bits, x one of 32 or 64, both with a result of
     * the operand's type. i and u, l and q differ for the frontend only. PTX also: p a place in shared memory, c a constant. */
    const char *shape;
    int sm; /* CALL, MMA: the oldest architecture that has it; 0: all do */
    const char *nvptx; /* LLVM intrinsic, NULL: emitter by hand */
    const char *assembly; /* PTX: its text */
    int64_t low, high; /* REGISTER: the values it can have, both included */
    const char *libdevice64, *libdevice32; /* MATH: libdevice symbols for float64 and float32 */
    const char *numpy; /* UFUNC: "numpy.sin"; NULL: none */
    const char *host64, *host32; /* MATH: symbols of libm or libdevice, or LLVM intrinsics ("llvm.sqrt") */
    MmaShape mma; /* MMA */
    uint32_t matrices; /* LDMATRIX */
    bool is_transposed; /* LDMATRIX */
    uint32_t bytes; /* COPY */
    const char *signature; /* LIBDEVICE: as libdevice.def says; the symbol is "__nv_" and the path's last word */
} IntrinsicInfo;

extern const IntrinsicInfo intrinsic_info[INTRINSIC_COUNT];

/* The register of an AXES row for x, y or z: 0, 1 or 2. */
static inline IntrinsicId intrinsic_on_axis(IntrinsicId axes, uint32_t axis) { return (IntrinsicId)(axes + 1 + axis); }

/* The axis of a register of the AXES row; -1: it is none of these. */
static inline int intrinsic_axis(IntrinsicId axes, IntrinsicId id)
{
    int axis = (int)id - (int)axes - 1;
    return axis >= 0 && axis < 3 ? axis : -1;
}

/* Lanes of a warp give each other values; the first operand is their mask. */
static inline bool intrinsic_is_exchange(IntrinsicId id)
{
    switch (intrinsic_info[id].family) {
    case FAMILY_SHUFFLE:
    case FAMILY_VOTE:
    case FAMILY_MATCH:
    case FAMILY_WARP_REDUCTION: return true;
    default: return false;
    }
}

/* A row of intrinsic_tensor.def that is no BUILTIN. */
static inline bool intrinsic_is_tensor(IntrinsicId id)
{
    switch (intrinsic_info[id].family) {
    case FAMILY_MMA:
    case FAMILY_LDMATRIX:
    case FAMILY_COPY:
    case FAMILY_COPY_GROUP: return true;
    default: return false;
    }
}

/* A LIBDEVICE row's signature as types. */
typedef struct IntrinsicSignature {
    uint32_t result_count, argument_count;
    const Type *results[2], *arguments[4];
    bool returns_nothing; /* the C function: all results come through pointers */
} IntrinsicSignature;
IntrinsicSignature intrinsic_signature(IntrinsicId id);

/* Whether `paths`, words apart by spaces, has `path` as one of them. */
bool intrinsic_has_spelling(const char *paths, const char *path);
/* The intrinsic with that path as one of its spellings, or INTRINSIC_NONE. */
IntrinsicId intrinsic_by_path(const char *path);

#endif
