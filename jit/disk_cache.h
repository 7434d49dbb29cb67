/* Compiled kernels on disk, one file each under the hash of what they depend on: for the next process. */
#ifndef CUJIT_JIT_DISK_CACHE_H
#define CUJIT_JIT_DISK_CACHE_H

#include "codegen/codegen.h"
#include "core/base/hash.h"

/* A kernel as it is kept: the image holds PTX for a GPU, an object file for the CPU device. */
typedef struct CachedKernel {
    CodeImage image;
    uint32_t parameter_count;
    bool *written; /* for each parameter; malloc'd */
} CachedKernel;

/* Whether CUJIT_CACHE allows it and there is a folder: CUJIT_CACHE_DIR, or cujit below XDG_CACHE_HOME or ~/.cache. */
bool disk_cache_is_on(void);
/* The kernel of that key; false where there is none, or none that is whole. Fill a zeroed one; cached_kernel_free it. */
bool disk_cache_load(const Hash *key, CachedKernel *kernel);
/* Keeps the kernel, and drops the ones that were used longest ago where there are too many. Failures are silent: the
 * cache is an optimization. */
void disk_cache_store(const Hash *key, const CachedKernel *kernel);
void cached_kernel_free(CachedKernel *kernel);

#endif
