/* The known GPU architectures, oldest first; the words for what of exact floating point is given up, and for what is
 * checked; options that nobody has given. */
#include "core/target.h"

#include <stddef.h>

const TargetInfo target_gpus[] = {
#define GPU(sm, ptx) {sm, ptx, "sm_" #sm},
#include "core/target.def"
#undef GPU
};

const int target_gpu_count = sizeof target_gpus / sizeof target_gpus[0];

const char *const float_flag_words[FLOAT_FLAG_COUNT] = {
#define FLOAT_FLAG(id, word, llvm, doc) [FLOAT_BIT_##id] = word,
#include "core/float_flag.def"
#undef FLOAT_FLAG
};

const char *const check_words[CHECK_COUNT] = {
#define CHECK_ROW(id, word, all, doc) [CHECK_BIT_##id] = word,
#include "core/check.def"
#undef CHECK_ROW
};

const char *const observation_words[OBSERVE_COUNT] = {
    [OBSERVE_DEFAULT] = "", [OBSERVE_NOTHING] = "", [OBSERVE_LINES] = "lines", [OBSERVE_ACCESSES] = "accesses"};

const CompileOptions default_options = {
#define OPTION(name, kind, type, value, default, loops, doc) .name = value,
#include "core/option.def"
};

CheckSet checks_of(const CompileOptions *options, TargetKind kind)
{
    CheckSet said = options->check & ~CHECKS_SCHEDULED;
    CheckSet order = kind == TARGET_HOST ? options->check & CHECKS_SCHEDULED : CHECKS_NONE;
    if (said & CHECKS_EVERY)
        return CHECKS_OF_TRUE | order;
    if (said == CHECKS_DEFAULT)
        return (kind == TARGET_HOST || options->debug ? CHECK_BOUNDS : CHECKS_NONE) | order;
    return (said & CHECKS_ALL) | order;
}

const TargetInfo *target_gpu(int sm)
{
    const TargetInfo *best = NULL;
    for (int i = 0; i < target_gpu_count && target_gpus[i].sm <= sm; i++)
        best = &target_gpus[i];
    return best;
}
