/* The known GPU architectures, oldest first. */
#include "core/target.h"

#include <stddef.h>

const TargetInfo target_gpus[] = {
#define GPU(sm, ptx) {sm, ptx, "sm_" #sm},
#include "core/target.def"
#undef GPU
};

const int target_gpu_count = sizeof target_gpus / sizeof target_gpus[0];

const TargetInfo *target_gpu(int sm)
{
    const TargetInfo *best = NULL;
    for (int i = 0; i < target_gpu_count && target_gpus[i].sm <= sm; i++)
        best = &target_gpus[i];
    return best;
}
