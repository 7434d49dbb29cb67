/* What code is generated for: a GPU architecture or the host CPU, and the options of one kernel. */
#ifndef CUJIT_CORE_TARGET_H
#define CUJIT_CORE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/fields.h"
#include "core/diagnostic/diag.h"

typedef enum TargetKind { TARGET_NVPTX, TARGET_HOST } TargetKind;

typedef struct TargetInfo {
    int sm;            /* 75, 80, 90, ... */
    int ptx;           /* the lowest PTX ISA that knows it: 63 for sm_75 */
    const char *name;  /* "sm_75" */
} TargetInfo;

#define TARGET_FIELDS(FIELD)            \
    FIELD(TargetKind, kind, , number, ) \
    FIELD(const TargetInfo *, gpu, , processor, ) /* TARGET_NVPTX, else NULL */
typedef struct Target {
    TARGET_FIELDS(DECLARE_FIELD)
} Target;

/* The row for exactly this architecture, or the newest known one that code for `sm` can be made with (a driver newer
 * than this table compiles older PTX). NULL below sm_75. Rows: target.def. */
const TargetInfo *target_gpu(int sm);
extern const TargetInfo target_gpus[];
extern const int target_gpu_count;

enum {
#define FLOAT_FLAG(id, word, llvm, doc) FLOAT_BIT_##id,
#include "core/float_flag.def"
#undef FLOAT_FLAG
    FLOAT_FLAG_COUNT
};
typedef enum FloatFlags {
    FLOAT_EXACT = 0,
#define FLOAT_FLAG(id, word, llvm, doc) FLOAT_##id = 1 << FLOAT_BIT_##id,
#include "core/float_flag.def"
#undef FLOAT_FLAG
    /* what CUDA's -use_fast_math gives up: kernels test for NaN and infinity */
    FLOAT_FAST = FLOAT_NSZ | FLOAT_ARCP | FLOAT_CONTRACT | FLOAT_AFN,
    FLOAT_ALL = (1 << FLOAT_FLAG_COUNT) - 1,
    FLOAT_FLUSH = 1 << FLOAT_FLAG_COUNT /* GPU: denormal float32 numbers are zero */
} FloatFlags;
extern const char *const float_flag_words[FLOAT_FLAG_COUNT];

/* --- options of a function: the types of option.def ------------------------------------------------------------------------ */
typedef unsigned FloatRules; /* FloatFlags: what of exact floating point is given up */
typedef enum LiteralTypes {
    LITERALS_WIDE, /* Python's numbers, or integers, widen what is beside them, as numba has it */
    LITERALS_WEAK, /* they do not */
} LiteralTypes;
typedef enum Observation {
    OBSERVE_DEFAULT, /* what the program wants of all kernels, or nothing */
    OBSERVE_NOTHING,
    OBSERVE_LINES, /* which lines run, and which after which */
    OBSERVE_ACCESSES, /* how often they run, and what the lanes of a warp do there */
    OBSERVE_COUNT
} Observation;
extern const char *const observation_words[OBSERVE_COUNT]; /* "lines", "accesses"; "" for those that have none */
typedef struct LaunchBounds {
    int threads, blocks, cluster; /* 0: none */
} LaunchBounds;

/* What check mode looks for, a bit for each row of check.def. */
typedef unsigned CheckSet;
enum {
#define CHECK_ROW(id, word, all, doc) CHECK_BIT_##id,
#include "core/check.def"
#undef CHECK_ROW
    CHECK_COUNT
};
enum {
    CHECKS_NONE = 0,
#define CHECK_ROW(id, word, all, doc) CHECK_##id = 1 << CHECK_BIT_##id,
#include "core/check.def"
#undef CHECK_ROW
    CHECKS_ALL = (1 << CHECK_COUNT) - 1,
    CHECKS_OF_TRUE = 0
#define CHECK_ROW(id, word, all, doc) | all << CHECK_BIT_##id
#include "core/check.def"
#undef CHECK_ROW
    ,
    CHECKS_OF_OVERFLOW = CHECK_OVERFLOW | CHECK_OVERFLOW_RAISES,
    CHECKS_TOLD = CHECK_RACE | CHECK_INIT | CHECK_BARRIER |
                  CHECK_OVERFLOW, /* of what the code tells, faults are found behind it */
    CHECKS_SCHEDULED = 1 << (CHECK_COUNT + 2), /* CPU device: not a check; its threads run in another order */
    CHECKS_EVERY = 1 << (CHECK_COUNT + 1), /* those that the device has */
    CHECKS_DEFAULT = 1 << CHECK_COUNT /* nothing was said: checks_of() decides */
};
extern const char *const check_words[CHECK_COUNT];

/* What code is made with. fmad: false: a * b + c is rounded twice, unless FLOAT_CONTRACT is set. exceptions: the host is told
 * of exceptions; with debug, by the launch itself. opt: 0..3. max_registers: 0: no limit. shared_memory_carveout: percent
 * + 1; 0: the driver chooses. */
typedef struct CompileOptions {
#define OPTION(name, kind, type, value, default, loops, doc) type name;
#include "core/option.def"
} CompileOptions;
extern const CompileOptions default_options;

/* What these options check on such a device. */
CheckSet checks_of(const CompileOptions *options, TargetKind kind);

#endif
