/* Multiplication of matrices by four warps: c (64 x n) += a (64 x k) @ b (n x k) transposed. What a call is made of in IR. */
#ifndef CUJIT_CORE_WGMMA_H
#define CUJIT_CORE_WGMMA_H

#include "core/type/type.h"

/* The operands of WGMMA_MMA; integers are int32. */
typedef enum WgmmaOperand {
    WGMMA_C, /* the array of the accumulators, in the thread's own memory */
    WGMMA_A, /* a place in a swizzled shared array, or the array of a fragment in the thread's own memory */
    WGMMA_A_STEP, /* transposed: bytes from the columns of one row of shared memory to those of the next */
    WGMMA_B,
    WGMMA_B_STEP,
    WGMMA_ACCUMULATE, /* bool: false: c = a @ b */
    WGMMA_ELEMENTS, /* constants from here on: a WgmmaKind */
    WGMMA_COLUMNS, /* n */
    WGMMA_TRANSPOSED, /* of shared arrays: a in bit 0, b in bit 1 */
    WGMMA_OPERANDS
} WgmmaOperand;

enum { WGMMA_ROWS = 64, WGMMA_ROW_BYTES = 32, WGMMA_MOST_COLUMNS = 256, WGMMA_THREADS = 128 };

typedef enum WgmmaTrait {
    WGMMA_TRANSPOSES = 1, /* columns may lie in the place of rows */
    WGMMA_SCALES = 2, /* the instruction has factors for a and b */
    WGMMA_WHOLE = 4, /* sums are int32 */
} WgmmaTrait;

typedef enum WgmmaKind {
#define WGMMA_KIND(id, word, element, is_default, traits) WGMMA_KIND_##id,
#include "core/intrinsic/wgmma_kind.def"
    WGMMA_KIND_COUNT
} WgmmaKind;

typedef struct WgmmaKindInfo {
    const char *word;
    const Type *element;
    bool is_default;
    unsigned traits;
} WgmmaKindInfo;
extern const WgmmaKindInfo wgmma_kinds[WGMMA_KIND_COUNT];

/* Columns of a tile: 32 bytes. */
static inline uint32_t wgmma_depth(const WgmmaKindInfo *kind) { return WGMMA_ROW_BYTES / kind->element->size; }
/* Elements of a fragment of a, of the accumulators, in each thread. */
static inline uint32_t wgmma_fragment_count(const WgmmaKindInfo *kind)
{
    return WGMMA_ROWS * wgmma_depth(kind) / WGMMA_THREADS;
}
static inline uint32_t wgmma_sum_count(uint32_t columns) { return WGMMA_ROWS * columns / WGMMA_THREADS; }
/* Whether the instruction has sums of that type. */
static inline bool wgmma_sums_in(const WgmmaKindInfo *kind, const Type *type)
{
    return type_equal(type, kind->traits & WGMMA_WHOLE ? TYPE_OF(INT32) : TYPE_OF(FLOAT32));
}
/* Whether there is one for so many columns. */
bool wgmma_has_columns(const WgmmaKindInfo *kind, int64_t columns);

#endif
