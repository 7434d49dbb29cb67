/* What a compiled kernel depends on, as a key: the same in every process for the same code. */
#ifndef CUJIT_JIT_CACHE_KEY_H
#define CUJIT_JIT_CACHE_KEY_H

#include "core/base/hash.h"
#include "jit/cache/cache.h"

/* The function with all that it reaches, the specialization's types, options, target, this build of cujit. False where the
 * code holds something that means nothing to another process: addresses of device arrays. */
bool jit_cache_key(const JitFunction *function, const JitSpecialization *specialization, const Target *target,
                   Hash *key);

#endif
