/* What must hold of a launch for accesses to be inside of their arrays, whatever its threads do: ranges of integers as a
 * small program over the launch's arguments and dimensions, and tests on them. The checks made it of the kernel's IR; the
 * launch runs it, and takes the kernel without these checks where it holds. */
#ifndef CUJIT_CORE_LAUNCH_PLAN_H
#define CUJIT_CORE_LAUNCH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Each op has a range, from least to largest. a, b, c are nodes before it. What leaves the node's type is the whole type:
 * it may have wrapped. A range can be empty: threads do not come there. */
typedef enum RangeOp {
    RANGE_WHOLE, /* all of the type */
    RANGE_BETWEEN, /* number to limit */
    RANGE_FIELD, /* of the type, at offset `number` of the parameters; where limit is not 0, none is below 0 or above it */
    RANGE_THREAD, /* threadIdx of axis `number` */
    RANGE_BLOCK,
    RANGE_BLOCK_DIM,
    RANGE_GRID_DIM,
    RANGE_DYNAMIC_SHARED, /* bytes */
    RANGE_ADD,
    RANGE_SUB,
    RANGE_MUL,
    RANGE_FLOORDIV,
    RANGE_MOD,
    RANGE_SHL,
    RANGE_SHR,
    RANGE_AND,
    RANGE_OR, /* also exclusive */
    RANGE_MIN,
    RANGE_MAX,
    RANGE_NEG,
    RANGE_ABS,
    RANGE_CONVERT,
    RANGE_WRAP, /* a, plus b where a is negative */
    RANGE_UNION,
    /* a, of which a comparison with b is known; with c: that of a + c, or of a - c where number is -1. */
    RANGE_LT,
    RANGE_LE,
    RANGE_GT,
    RANGE_GE,
    RANGE_EQ,
    RANGE_NE,
    RANGE_DIVIDED, /* a, of which the quotient by b, rounded down, is in c */
    /* What a variable of a loop that starts in a may be, if every trip leaves it so: it rises, falls, or comes near 0. With
     * a number of 1 it rises by small steps and has 64 bits, with -1 it falls so: it would take years to come to their end,
     * and that side needs no proof. */
    RANGE_RISING,
    RANGE_FALLING,
    RANGE_SHRINKING,
    /* 0 where the a bytes behind the pointer at offset `number` of the parameters and the b bytes behind that at `limit` have
     * none in common, else 1; and c, where there is one. */
    RANGE_OVERLAP,
    /* a, which is one number, with the bits of the pointer at offset `number` of the parameters that are bits of `limit`, too. */
    RANGE_POINTER_BITS,
    /* a, and the int64 at offset `number` of the parameters, none of which is below 0 or above `limit`. */
    RANGE_WITH_FIELD,
    RANGE_WITH_GRID, /* a, and gridDim of axis `number`, each of which stands for `limit` */
    RANGE_BYTES, /* of as many elements of `limit` bytes as the int64 at offset `number` of the parameters says, an extent */
    RANGE_LOOP, /* the variable that starts in a, and is in c after a trip if it was in b before: c inside of b proves b */
    RANGE_OP_COUNT
} RangeOp;

enum { RANGE_NONE = UINT32_MAX, LAUNCH_MOST_NODES = 512, LAUNCH_MOST_TESTS = 256 };

typedef struct RangeNode {
    uint8_t op, bits, is_signed;
    uint8_t padding[5]; /* zero: nodes are compared and kept as bytes */
    uint32_t a, b, c, unused;
    int64_t number, limit;
} RangeNode;

/* Every value of `index` plus what lies between first and last is below every value of `extent`, and 0 or more; with
 * from_end minus the extent or more. */
typedef struct RangeTest {
    uint32_t index, extent, from_end, unused; /* unused: zero, tests are kept as bytes */
    int64_t first, last;
} RangeTest;

typedef struct LaunchPlan {
    const RangeNode *nodes;
    const RangeTest *tests;
    uint32_t node_count, test_count;
} LaunchPlan;

/* Some of a plan's tests, a bit each. It is kept as bytes: nothing lies between the fields. */
typedef struct LaunchTests {
    uint64_t words[LAUNCH_MOST_TESTS / 64];
    uint64_t finds_any_records; /* 0, 1: code for it asks of each record where it lies, and counts on no test of one */
} LaunchTests;

static inline bool launch_tests_have(const LaunchTests *tests, uint32_t i)
{
    return tests->words[i / 64] >> i % 64 & 1;
}
static inline void launch_tests_add(LaunchTests *tests, uint32_t i) { tests->words[i / 64] |= (uint64_t)1 << i % 64; }
/* Whether all of `part` are in `whole`. */
bool launch_tests_cover(const LaunchTests *whole, const LaunchTests *part);

/* What most kernels are made for: elements of an array at most, and blocks on an axis of the grid, so that places in arrays,
 * threads of the grid, and the sum of the two are below 2^31. */
enum { LAUNCH_LIMIT_EXTENT = 1 << 30, LAUNCH_LIMIT_BLOCKS = 1 << 20 };

/* The most that extents of arrays, and blocks of the grid on each axis, may be. */
typedef struct RangeLimits {
    int64_t extent, blocks;
} RangeLimits;

/* What a plan asks about. */
typedef struct LaunchFacts {
    const uint32_t *grid, *block; /* three each */
    uint32_t dynamic_shared;
    const void *parameters; /* the buffer of kernel_abi.h */
} LaunchFacts;

/* Whether all tests hold; *failed: those that do not. facts NULL: of any launch. */
bool launch_plan_holds(const LaunchPlan *plan, const LaunchFacts *facts, LaunchTests *failed);
/* The same of a launch in the least time: what each of them asks first. False as well where words of 64 bits do not tell. */
bool launch_plan_holds_in_words(const LaunchPlan *plan, const LaunchFacts *facts);

/* From least to most; none where least is larger. */
typedef struct LaunchRange {
    __int128 least, most;
} LaunchRange;

/* What each node may be in any launch within the limits; NULL: in any launch. ranges: `count` of them. */
void launch_ranges(const RangeNode *nodes, uint32_t count, const RangeLimits *limits, LaunchRange *ranges);

#endif
