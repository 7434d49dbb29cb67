/* What code is generated for: a GPU architecture or the host CPU, and the options of one kernel. */
#ifndef CUJIT_CORE_TARGET_H
#define CUJIT_CORE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/diag.h"

typedef enum TargetKind { TARGET_NVPTX, TARGET_HOST } TargetKind;

typedef struct TargetInfo {
    int sm;            /* 75, 80, 90, ... */
    int ptx;           /* the lowest PTX ISA that knows it: 63 for sm_75 */
    const char *name;  /* "sm_75" */
} TargetInfo;

typedef struct Target {
    TargetKind kind;
    const TargetInfo *gpu;    /* TARGET_NVPTX, else NULL */
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
    FLOAT_ALL = (1 << FLOAT_FLAG_COUNT) - 1
} FloatFlags;
extern const char *const float_flag_words[FLOAT_FLAG_COUNT];

typedef struct CompileOptions {
    unsigned float_flags;     /* FloatFlags: what of exact floating point is given up */
    bool flush_denormals;     /* GPU: denormal float32 numbers are zero */
    bool no_fmad;             /* true: a * b + c is rounded twice, unless FLOAT_CONTRACT is set */
    bool debug, lineinfo;
    bool weak_literals;       /* Python's numbers do not widen float16 and float32 */
    bool exceptions;          /* the host is told of exceptions; with debug, by the launch itself */
    bool device_function;     /* the first function of the module is a device function to be kept, not a kernel */
    int optimization;         /* 0..3 */
    int max_registers;        /* 0: no limit */
    int max_threads, min_blocks, max_cluster;   /* launch bounds; 0: none */
    int carveout;             /* of the L1 cache for shared memory: percent + 1; 0: the driver chooses */
} CompileOptions;

#endif
