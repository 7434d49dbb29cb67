/* Compiled kernels on disk, one file each under the hash of what they depend on: for the next process. */
#ifndef CUJIT_JIT_DISK_CACHE_H
#define CUJIT_JIT_DISK_CACHE_H

#include "core/base/hash.h"
#include "core/kernel/kernel_image.h"

/* Whether CUJIT_CACHE allows it and there is a folder: CUJIT_CACHE_DIR, or cujit below XDG_CACHE_HOME or ~/.cache. */
bool disk_cache_is_on(void);
/* What to tell the user once, since the folder belongs to somebody else or others may write to it; false where there is
 * nothing to tell. */
bool disk_cache_tell_refusal(char *text, size_t size);
/* The folder's path; false where there is none to use. */
bool disk_cache_folder(char *path, size_t size);
/* The text of jit_list_cached(). */
char *disk_cache_list(Diag *diag);
/* The kernel of that key; false where there is none, or none that is whole. Fills a zeroed image, which
 * the caller frees. */
bool disk_cache_load(const Hash *key, KernelImage *image);
/* Keeps the kernel, and drops the ones that were used longest ago where there are too many. Failures are silent: the
 * cache is an optimization. */
void disk_cache_store(const Hash *key, const KernelImage *image);

#endif
